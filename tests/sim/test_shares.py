"""An independent validator accepts runs with sharing jobs under every policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.coupled.test_chopping import Chop
from tests.oracles.shares import read, spent, violations
from tests.oracles.workloads import CHECK
from tests.sim.sharing import ORDER_NAMES, SHARERS, Case, Done, RandomSharer, busy, cases, order_of, run
from windlass.model.timetable import NodeTimetable
from windlass.share import ShareView
from windlass.sim import replay
from windlass.sim.ledger import Ledger
from windlass.sim.part import Part


def capacity(case: Case, cores: int | None = None) -> Callable[[float], int]:
    """Return the number of processors of the site as a function of time; of nodes of some cores, or a pooled one."""
    table, whole = case.outages, cores or case.processors

    def at(time: float) -> int:
        lacking = dict.fromkeys(table.node.tolist(), 0)
        for row in np.flatnonzero(table.time <= time).tolist():
            lacking[int(table.node[row])] = whole - int(table.cores[row])
        return case.processors - sum(lacking.values())

    return at


def problems_of(case: Case, done: Done, *, kill: bool = True, cores: int | None = None) -> list[str]:
    """Return the violations that the validator finds; check that the ledger is free again."""
    found = violations(
        case.jobs,
        case.use,
        capacity(case, cores),
        done.replay,
        done.shared,
        case.physics,
        memory_per_core=case.memory_per_core,
        every=case.every,
        kill=kill,
    )
    nodes = done.ledger.nodes
    if nodes.held.any() or nodes.idle.tolist() != nodes.capacity.tolist():
        found.append(f"{nodes.held.sum()} processors are still held")
    return found


def wrong_elapsed(case: Case, done: Done, views: Sequence[ShareView]) -> list[str]:
    """Return hosts and guests in views whose elapsed walltime is wrong."""
    made, found = read(case.jobs, case.use, done.replay, done.shared, case.physics), []
    row_of = {job: row for row, job in enumerate(case.jobs.job.tolist())}
    for view in views:
        for host in view.running:
            mine = [each for each in made.attempts if each.row == row_of[host.job]]
            of = max((each for each in mine if each.start <= view.now), key=lambda each: each.start)
            if host.elapsed != pytest.approx(spent(of, view.now), abs=1e-6):
                found.append(f"at {view.now} s, job {host.job} has {host.elapsed} s")
    return found


_SHARER, _ORDER = st.sampled_from(list(SHARERS)), st.sampled_from(ORDER_NAMES)


@settings(CHECK, max_examples=100)
@given(case=cases(), sharer=_SHARER, order=_ORDER, kill=st.booleans(), seed=st.integers(0, 3))
def test_random_runs_are_valid(case: Case, sharer: str, order: str, kill: bool, seed: int) -> None:
    done = run(case, SHARERS[sharer](seed), order, kill=kill, seed=seed)
    assert problems_of(case, done, kill=kill) == []


@pytest.mark.slow
@settings(CHECK, max_examples=250)
@given(
    case=cases(outages=True), order=_ORDER, kill=st.booleans(), vacate=st.booleans(), seed=st.integers(0, 30)
)
def test_random_answers_and_outages_give_valid_runs(
    case: Case, order: str, kill: bool, vacate: bool, seed: int
) -> None:
    views: list[ShareView] = []

    def log(decision: str, view: Any, answer: Any) -> None:
        if decision == "share":
            views.append(view)

    sharer = RandomSharer(np.random.default_rng(seed))
    done = run(case, sharer, order, kill=kill, seed=seed, vacate=vacate, log=log)
    assert problems_of(case, done, kill=kill) == []
    assert wrong_elapsed(case, done, views) == []


@st.composite
def outages_of_nodes(draw: st.DrawFn, case: Case, cores: int) -> NodeTimetable:
    """Draw outages of the nodes of a case; some kill jobs, and several may be at one instant."""
    begin, made = float(case.jobs.submit[0]), NodeTimetable.none()
    for node in range(case.processors // cores):
        if draw(st.booleans()):
            down = begin + draw(st.integers(0, 30))
            up = down + draw(st.integers(1, 9))
            left, kill = draw(st.integers(0, cores - 1)), draw(st.sampled_from([True, True, False]))
            made += NodeTimetable.outage(node, down, up, cores=cores, left=left, kill=kill)
    return made


@settings(CHECK, max_examples=150)
@given(data=st.data(), case=cases(), order=_ORDER, kill=st.booleans(), seed=st.integers(0, 30))
def test_sharing_on_nodes_that_fail_gives_valid_runs(
    data: st.DataObject, case: Case, order: str, kill: bool, seed: int
) -> None:
    # A site of one row is a pooled one, on which no job is killed.
    assume(case.processors > 1)
    cores = data.draw(st.sampled_from([each for each in (1, 2, 4) if case.processors >= 2 * each]))
    case = replace(case, outages=data.draw(outages_of_nodes(case, cores)))
    sharer = RandomSharer(np.random.default_rng(seed))
    done = run(case, sharer, order, kill=kill, seed=seed, cores=cores)
    assert problems_of(case, done, kill=kill, cores=cores) == []


@pytest.mark.matrix(0)
@settings(CHECK, max_examples=60)
@given(case=cases(), sharer=_SHARER, order=_ORDER, seed=st.integers(0, 3))
def test_nodes_that_do_not_fail_share_as_a_pooled_site_does(
    case: Case, sharer: str, order: str, seed: int
) -> None:
    pooled, nodes = (run(case, SHARERS[sharer](seed), order, seed=seed, cores=cores) for cores in (None, 1))
    assert bits(pooled.replay) == bits(nodes.replay)
    assert bits(pooled.shared) == bits(nodes.shared)


@pytest.mark.matrix(0)
@pytest.mark.parametrize("order", ORDER_NAMES)
@pytest.mark.parametrize("sharer", SHARERS)
def test_longer_runs_are_valid(sharer: str, order: str) -> None:
    case = busy(len(sharer) + len(order))
    done = run(case, SHARERS[sharer](1), order)
    assert problems_of(case, done) == []
    # All policies except none have pairs.
    assert (len(done.shared.host) > 0) == (sharer != "none")


def bits(result: Any) -> list[Any]:
    """Return all fields of a result, for exact comparison."""
    values = [getattr(result, each.name) for each in fields(result)]
    return [value.tobytes() if isinstance(value, np.ndarray) else value for value in values]


@settings(CHECK, max_examples=100)
@given(case=cases(), order=_ORDER, kill=st.booleans())
def test_runs_without_sharing_are_identical_to_the_replay(case: Case, order: str, kill: bool) -> None:
    alone = replay(case.jobs, case.processors, order_of(order), kill=kill)
    done = run(case, SHARERS["none"](0), order, kill=kill)
    assert bits(done.replay)[1:] == bits(alone)[1:]
    assert len(done.shared.host) == done.shared.evicted == 0


@pytest.mark.matrix
@pytest.mark.parametrize("order", ORDER_NAMES)
def test_longer_runs_without_sharing_are_identical_to_the_replay(order: str) -> None:
    case = busy(5, jobs=200)
    alone = replay(case.jobs, case.processors, order_of(order))
    assert bits(run(case, SHARERS["none"](0), order).replay)[1:] == bits(alone)[1:]


@pytest.mark.matrix
@pytest.mark.parametrize("sharer", SHARERS)
def test_the_same_seed_gives_identical_results(sharer: str) -> None:
    found = []
    for _ in range(2):
        done = run(busy(7), SHARERS[sharer](2), "easy", seed=4)
        found.append([*bits(done.replay)[1:], *bits(done.shared)])
    assert found[0] == found[1]


def run_with_stops(case: Case, sharer: str, order: str, instants: Sequence[float]) -> Done:
    """Run a case with additional stops at instants without events."""

    def also(ledger: Ledger) -> list[Part]:
        return [Chop(instants)]

    return run(case, SHARERS[sharer](3), order, also=also)


@pytest.mark.slow
@settings(CHECK, max_examples=80)
@given(case=cases(), sharer=_SHARER, order=_ORDER, seed=st.integers(0, 99))
def test_additional_stops_do_not_change_random_runs(case: Case, sharer: str, order: str, seed: int) -> None:
    whole = run(case, SHARERS[sharer](3), order)
    own = np.concatenate((whole.replay.start, whole.replay.end, whole.shared.start))
    until = np.random.default_rng(seed).uniform(case.jobs.submit[0], own.max() + 1.0, 20)
    done = run_with_stops(case, sharer, order, [*own, *np.nextafter(own, np.inf), *until])
    # Speeds change only with a stage, a quota or a partner, so rounding is the same.
    assert bits(done.replay)[1:] == bits(whole.replay)[1:]
    assert bits(done.shared) == bits(whole.shared)


@pytest.mark.matrix(0)
@pytest.mark.parametrize("sharer", ["always", "asax, printed", "pairs", "nasty"])
def test_additional_stops_do_not_change_longer_runs(sharer: str) -> None:
    case = busy(9)
    whole = run(case, SHARERS[sharer](3), "easy")
    instants = np.random.default_rng(1).uniform(0.0, whole.replay.end.max(), 300)
    done = run_with_stops(case, sharer, "easy", instants.tolist())
    assert bits(done.replay)[1:] == bits(whole.replay)[1:]
    assert bits(done.shared) == bits(whole.shared)
