"""The compiled world under random valid placements compared with a plain simulation."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from tests.fleet.plain_fleet import PlainFleet
from tests.place.validator import check_bytes, check_links
from windlass.drive import drive
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.model.timetable import SiteTimetable
from windlass.place.view import Placement
from windlass.sim.coupled import SinglePart
from windlass.sim.fleet.part import PlacedFleet


def answer(view, starts, moves, why=(), **further):
    """Build a placement from lists of rows."""
    rows = (np.array(lines, np.int64).reshape(-1, 4) for lines in (starts, moves))
    return Placement(next(rows), np.array(why, np.int64), ("one", "other"), moves=next(rows), **further)


class Roulette:
    """A policy that starts and moves tasks at random, and records its views."""

    name = "roulette"

    def __init__(self, seed, linked):
        self.rng, self.linked, self.views = np.random.default_rng(seed), linked, []

    def decide(self, view):
        self.views.append(view)
        rng, ready, n = self.rng, view.ready, len(view.sites.slots)
        free, waiting, here = view.sites.free.copy(), ready.waiting.copy(), ready.here.copy()
        moves, starts = [], []
        for row in np.flatnonzero((view.fresh > 0) & (ready.shuffles == 0)) if rng.random() < 0.5 else ():
            for source in np.flatnonzero(here[row])[:2]:
                tasks, site = int(rng.integers(1, here[row, source] + 1)), int(rng.integers(n))
                if not self.linked or site == source or ready.data[row, source] == 0.0:
                    # The data arrives at once, and the policy is called again before links are shared.
                    if not moves:
                        return answer(view, [], [(row, source, site, tasks)])
                    continue
                moves.append((row, source, site, tasks))
                here[row, source] -= tasks
                waiting[row] -= tasks
        for _ in range(rng.integers(0, 8)):
            row, site = rng.integers(len(waiting)), rng.integers(n)
            source = -1 if ready.shuffles[row] else rng.integers(n)
            most = min(free[site], waiting[row], here[row, source] if source >= 0 else waiting[row])
            if most > 0:
                tasks = int(rng.integers(1, most + 1))
                starts.append((row, source, site, tasks))
                free[site] -= tasks
                waiting[row] -= tasks
                if source >= 0:
                    here[row, source] -= tasks
        wish = rng.choice([0.5, 3.0, np.inf]) if starts else 1.5
        return answer(
            view,
            starts,
            moves,
            why=rng.integers(0, 2, len(starts)),
            plan=rng.integers(-1, 9, here.shape) if rng.random() < 0.4 else None,
            largest_first=bool(rng.integers(2)),
            wake=view.now + wish,
        )


def drawn(seed, *, linked):
    """Draw a few jobs with trees of stages; with links there are no ties, without them times are half seconds."""
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(1, 5)), int(rng.integers(2, 6))
    slots, seconds = rng.integers(1, 6, n), (lambda: float(rng.choice([0.0, 0.5, 1.0, 3.0])))
    submit = np.cumsum(rng.choice([0.0, 0.5, 2.0], count))
    fleet = Fleet.of(slots)
    if linked:
        submit, seconds = np.cumsum(rng.uniform(0, 3, count)), (lambda: float(rng.uniform(0.2, 3.0)))
        up, down = rng.uniform(1.0, 9.0, (2, n))
        fleet = Fleet.of(slots, up, down, pair=rng.uniform(0.5, 9.0, (n, n)) if rng.random() < 0.5 else None)
    jobs = []
    for _ in range(count):
        stages = []
        for place in range(int(rng.integers(1, 4))):
            parents = (
                () if place == 0 or rng.random() < 0.3 else tuple(range(int(rng.integers(place)), place))
            )
            input_at = rng.integers(0, 4, n)
            input_at[rng.integers(n)] += 1
            stages.append(
                StageSpec(
                    seconds(),
                    here=() if parents else tuple(input_at.tolist()),
                    task_bytes=0.0 if parents else float(rng.choice([0.0, rng.uniform(0.5, 5.0)])),
                    tasks=int(rng.integers(1, 7)) if parents else 0,
                    ratio=float(rng.choice([0.0, 0.5, 2.0])),
                    parents=parents,
                    estimate_s=float(rng.choice([1.0, 4.0])),
                )
            )
        jobs.append(stages)
    tasks = sum(sum(stage.here) + stage.tasks for job in jobs for stage in job)
    factor = rng.uniform(0.5, 2.0, tasks) if linked else rng.choice([0.0, 1.0, 2.0], tasks)
    size = rng.uniform(0.5, 2.0, tasks) if rng.random() < 0.6 else None
    if size is not None and not linked:
        size = rng.choice([1.0, 2.0], tasks)
    changes = int(rng.integers(0, 7))
    last = float(submit[-1]) + 8.0
    times = np.sort(rng.uniform(0, last, changes) if linked else rng.integers(0, 2 * int(last), changes) / 2)
    links = rng.uniform(1.0, 9.0, (2, changes))
    own, left = rng.integers(0, n, changes), rng.integers(0, 5, changes)
    # At the end all sites have slots.
    back = np.full(n, last + 1.0), np.arange(n), slots, *(rng.uniform(1.0, 9.0, (2, n)))
    timetable = SiteTimetable(*map(np.concatenate, zip((times, own, left, *links), back, strict=True)))
    return FleetCase(fleet, FleetJobs.of(submit, jobs, factor, size), timetable)


def close(one, other):
    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-7)


def with_little_room(state):
    """Return a state with room for one read and one poll, so that every further one grows the arrays."""
    rates = state.rate_log[: state.weight.size]
    return state._replace(
        flows=state.flows[:1], batches=state.batches[:1], flow_log=state.flow_log[:1], rate_log=rates
    )


def same_views(found, expected):
    """Check every field of every view."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        close(one.now, other.now)
        for column, twin in zip(
            (*one.sites, *one.ready, one.fresh), (*other.sites, *other.ready, other.fresh), strict=True
        ):
            close(column, twin)
        assert (one.changed, one.moved) == (other.changed, other.moved)


def same(run, plain):
    """Check every column of the results."""
    for each in fields(run):
        if each.name in ("end", "sent", "site", "source", "begun", "read", "computed"):
            close(getattr(run, each.name), getattr(plain, each.name))
    assert run.carried.shape == ((plain.n, plain.n) if plain.linked else (0, 0))
    close(run.carried.sum(), plain.carried.sum())
    if plain.linked:
        close(run.carried, plain.carried)
    close(np.array(sorted(run.flows.tolist())).reshape(-1, 6), np.array(sorted(plain.log)).reshape(-1, 6))
    assert (run.decisions, run.reasons) == (plain.decisions, plain.reasons)
    close(run.response, plain.end - plain.jobs.submit)


@pytest.mark.matrix
@pytest.mark.parametrize("linked", [True, False], ids=["linked", "without links"])
@pytest.mark.parametrize("decide_every", [0.0, 0.75])
@pytest.mark.parametrize("estimates", ["true", "finished"])
def test_random_placements_run_as_in_the_plain_simulation(linked, decide_every, estimates):
    # Other cases for each setting.
    first = 1000 * linked + 100 * (estimates == "true") + 10 * (decide_every > 0.0)
    for seed in range(first, first + 6):
        case = drawn(seed, linked=linked)
        one, other = Roulette(seed, linked), Roulette(seed, linked)
        plain = PlainFleet(case, other, decide_every=decide_every, finished=estimates == "finished").run()
        part = PlacedFleet(case, decide_every=decide_every, estimates=estimates, log=True)
        if linked and seed % 2:
            part._grown(with_little_room(part._state))
        run = drive(SinglePart(part), {"place": one})
        same_views(one.views, other.views)
        same(run, plain)
        if linked:
            check_links(run, case.timetable)
            check_bytes(run, moves=True)
