"""Speeds of pairs worked out by hand, defaults of a sharing run, and counts in its result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.sim.sharing import SHARERS, Case, busy, run
from tests.sim.test_shares_instants import FixedQuotas, case_of
from windlass.drive import drive
from windlass.model import InputError
from windlass.model.use import JobUse, UseStage
from windlass.order.site.policies.easy import Easy
from windlass.share import Interference, ShareView, Sharing
from windlass.share.interference import HostTime
from windlass.share.view import Back
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.shares.course import JobStages
from windlass.sim.shares.log import QuotaLog
from windlass.sim.shares.neighbours import NeighbourSpeeds
from windlass.sim.shares.part import SharesPart
from windlass.sim.site.rated import RatedSite

ROWS = ("a", "b", "a", "b")
USE = JobUse.of(list(ROWS), [0.0] * 4, [[UseStage(60.0, 50.0)]] * 4)


@pytest.mark.parametrize(
    ("own", "other", "quota", "of_guest", "of_host"),
    [
        # What is taken of a pair's factor is the part of its wanted time that the neighbour has.
        (50.0, 80.0, 20, 0.25, 1.0),
        (90.0, 10.0, 70, 1.0, 30.0 / 90.0),
        (60.0, 80.0, 40, 0.5, 1.0),
        (100.0, 100.0, 50, 0.5, 0.5),
        (0.0, 0.0, 90, 1.0, 1.0),
    ],
)
def test_the_factor_of_a_pair_scales_with_the_time_share_of_the_neighbour(
    own: float, other: float, quota: int, of_guest: float, of_host: float
) -> None:
    model = Interference(0.1, 0.2, 0.3)
    found = NeighbourSpeeds(model, USE, np.array([0.6]))(0, 1, own, other, quota)
    clean = model.speeds(own, other, quota)
    assert found.host == pytest.approx(clean.host * 0.6**of_guest)
    assert found.guest == pytest.approx(clean.guest * 0.6**of_host)


@pytest.mark.parametrize(("host_time", "of_host"), [("capped", 5.0 / 9.0), ("weighted", 8.0 / 9.0)])
def test_the_factor_of_a_guest_scales_with_the_time_that_the_model_leaves_to_its_host(
    host_time: HostTime, of_host: float
) -> None:
    # The host wants 90 %; of its guest's 50 %, 20 are used.
    model = Interference(0.1, 0.2, 0.3, host_time)
    found, clean = (
        NeighbourSpeeds(model, USE, np.array([0.6]))(0, 1, 90.0, 20.0, 50),
        model.speeds(90, 20, 50),
    )
    assert found.guest == pytest.approx(clean.guest * 0.6**of_host)
    assert found.host == pytest.approx(clean.host * 0.6)


@pytest.mark.parametrize(("host_time", "end"), [("capped", 8.0 / 5.0), ("weighted", 1.0)])
def test_a_host_next_to_a_light_guest_ends_by_the_chosen_reading(host_time: HostTime, end: float) -> None:
    # The host needs 80 % of the time and the guest, with a quota of 50 %, needs 20.
    case = case_of(4, [(0.0, 40.0, 4, 900.0), (0.0, 400.0, 4, 900.0)], every=5.0)
    use = JobUse.of(["a"] * 2, [0.0] * 2, [[UseStage(40.0, 80.0)], [UseStage(400.0, 20.0)]])
    done = run(
        replace(case, use=use, model=Interference(0.0, 0.0, 0.0, host_time)),
        FixedQuotas((5.0, 1, 2, 50)),
        noise=0.0,
    )
    assert done.replay.end[0] == pytest.approx(5.0 + 35.0 * end)


def test_speeds_are_at_most_1_and_without_factors_equal_the_model() -> None:
    model = Interference(0.1, 0.2, 0.3)
    fast = NeighbourSpeeds(model, USE, np.array([3.0]))(0, 1, 50.0, 50.0, 50)
    assert (fast.host, fast.guest) == (1.0, 1.0)
    assert NeighbourSpeeds(model, USE)(0, 1, 50.0, 60.0, 30) == model.speeds(50.0, 60.0, 30)


def test_the_factors_of_a_pair_depend_on_its_classes_and_the_seed() -> None:
    factors, model = np.linspace(0.2, 0.9, 50), Interference(0.0, 0.0, 0.0)

    def of(host: int, guest: int, **options: Any) -> tuple[float, float]:
        found = NeighbourSpeeds(model, USE, factors, **options)(host, guest, 50.0, 50.0, 50)
        return found.host, found.guest

    # Pairs of the same classes are equal, host and guest have separate factors, and their order matters.
    assert of(0, 1) == of(2, 3) == of(0, 3) == of(0, 1, seed=0)
    assert len({of(0, 1), of(1, 0), of(0, 2), of(1, 3), of(0, 1, seed=1)}) == 5
    assert all(host != guest for host, guest in (of(0, 1), of(1, 0), of(0, 2)))
    assert all(np.isclose(factors, each).any() for each in (*of(0, 1), *of(1, 0)))
    # A table with other jobs before these has the same.
    more = JobUse.of(["z", "a", "b"], [0.0] * 3, [[UseStage(60.0, 50.0)]] * 3)
    shifted = NeighbourSpeeds(model, more, factors)(1, 2, 50.0, 50.0, 50)
    assert (shifted.host, shifted.guest) == of(0, 1)


def part_of(case: Case, sharer: Any, **options: Any) -> tuple[Any, list[ShareView]]:
    views: list[ShareView] = []

    class Sees:
        name = "sees"

        def decide(self, view: ShareView) -> Sharing:
            views.append(view)
            return sharer.decide(view)

    ledger, order, watched = Ledger([[case.processors]], parts=1), Easy(), Sees()
    site = RatedSite(case.jobs, order, ledger)
    part = SharesPart(
        site, case.jobs, case.use, watched, case.physics, ledger, np.random.default_rng(3), **options
    )
    results = drive(Coupled([site, part], ledger), {"order": order, "share": watched})
    return results[1], views


def test_defaults_are_as_documented() -> None:
    case = busy(3, jobs=14)
    defaults = {"memory_per_core": 0.0, "restarts": True, "every": 60.0, "noise": 0.02, "at_site": 0}
    shared, views = part_of(case, SHARERS["static"](1))
    other, recorded = part_of(case, SHARERS["static"](1), **defaults)
    assert repr(views) == repr(recorded)
    assert shared.start.tolist() == other.start.tolist()
    gaps = np.diff([view.now for view in views])
    assert gaps.min() == pytest.approx(60.0)
    for changed in ({"noise": 0.04}, {"memory_per_core": 8e9}, {"restarts": False}, {"every": 30.0}):
        assert repr(part_of(case, SHARERS["static"](1), **{**defaults, **changed})[1]) != repr(views)


@pytest.mark.parametrize("sharer", ["none", "static", "nasty"])
def test_a_result_counts_decisions_and_evicted_guests(sharer: str) -> None:
    case = busy(4)
    decisions: list[str] = []
    done = run(case, SHARERS[sharer](1), log=lambda decision, view, answer: decisions.append(decision))
    assert done.shared.decisions == decisions.count("share") > 0
    # No other cause restarts a job here.
    assert done.shared.evicted == len(done.replay.lost)


def test_an_evicted_guest_runs_again_and_is_counted() -> None:
    class Changes(FixedQuotas):
        def decide(self, view: ShareView) -> Sharing:
            answer = super().decide(view)
            if view.now < 10.0:
                return answer
            guests = [host.guest.job.job for host in view.running if host.guest is not None]
            return Sharing((), tuple(Back(job, "told") for job in guests))

    case = case_of(4, [(0.0, 40.0, 4, 40.0), (0.0, 30.0, 4, 30.0)], every=5.0)
    done = run(case, Changes((5.0, 1, 2, 50)), noise=0.0)
    assert (done.replay.lost.tolist(), done.replay.lost_end.tolist(), done.shared.evicted) == ([1], [10.0], 1)
    assert (done.shared.start.tolist(), done.shared.end.tolist()) == ([5.0], [10.0])


def test_task_counts_scatter_with_the_given_noise() -> None:
    use = JobUse.of(["a"], [0.0], [[UseStage(4000.0, 0.0, tasks=4000.0)]])
    course = JobStages(use, 0, 1, 0.1, np.random.default_rng(1))
    recorded = [course.read(float(done), 0.0, 0.0).done for done in range(4001)]
    steps = np.diff(recorded)
    assert (steps.mean(), steps.std()) == (pytest.approx(1.0, abs=0.01), pytest.approx(0.1, abs=0.01))


def test_a_stage_within_rounding_of_its_end_is_over() -> None:
    use = JobUse.of(["a"], [8e9], [[UseStage(10.0, 20.0, memory=50.0), UseStage(5.0, 70.0, memory=10.0)]])
    course = JobStages(use, 0, 2, 0.0, np.random.default_rng(1))
    for done, cpu, until in (
        (9.99, 20.0, 10.0),
        (10.0 - 1e-7, 70.0, 15.0),
        (10.0, 70.0, 15.0),
        (16.0, 70.0, 15.0),
    ):
        assert (course.cpu(done), course.until(done)) == (cpu, until)
    read = course.read(12.0, at=99.0, waited=3.0)
    assert (read.at, read.waited, read.stage, read.memory) == (99.0, 3.0, 1, 4e9)
    assert read.cpu == pytest.approx(2 * (10.0 * 0.2 + 2.0 * 0.7))


def test_a_log_has_a_line_for_each_quota_of_each_pair() -> None:
    log = QuotaLog()
    log.change(0, 1, 30, 5.0, "a")
    log.change(2, 3, 30, 6.0, "b")
    log.change(0, 1, 0, 7.0, "c")
    assert (log.pair(0), log.pair(2)) == ((1, 0), (3, 30))
    log.end(0, 8.0)
    log.end(0, 9.0)
    log.change(0, 4, 0, 10.0, "d")
    found = log.result(20.0, evicted=4, decisions=9)
    assert [*zip(found.host, found.guest, found.quota, found.start, found.end, found.why, strict=True)] == [
        (0, 1, 30, 5.0, 7.0, "a"),
        (2, 3, 30, 6.0, 20.0, "b"),
        (0, 1, 0, 7.0, 8.0, "c"),
        (0, 4, 0, 10.0, 20.0, "d"),
    ]
    assert (found.evicted, found.decisions) == (4, 9)


@pytest.mark.parametrize("off", [2e-6, -2e-6])
def test_use_that_does_not_match_the_jobs_is_rejected(off: float) -> None:
    case = case_of(4, [(0.0, 20.0, 4, 20.0), (0.0, 0.5, 4, 30.0)], every=5.0)
    with pytest.raises(InputError, match=r"^use is of 1 jobs, expected 2$"):
        run(replace(case, use=JobUse.of(["a"], [0.0], [[UseStage(20.0, 50.0)]])), FixedQuotas())
    stages = [[UseStage(20.0 + 1e-5, 50.0)], [UseStage(0.5 + off, 50.0)]]
    with pytest.raises(
        InputError,
        match=r"^job 2: its stages take 0\.5\d* s, expected its run time of 0\.5 s$|stages take 0\.49",
    ):
        run(replace(case, use=JobUse.of(["a"] * 2, [0.0] * 2, stages)), FixedQuotas())


def test_the_waiting_time_of_a_host_includes_the_share_of_its_guest() -> None:
    # From 5 s on it has a tenth of the time, and needs half: it stands still for four fifths.
    case = case_of(4, [(0.0, 40.0, 4, 90.0), (0.0, 30.0, 4, 300.0), (0.0, 1.0, 4, 1.0)], every=5.0)
    recorded = FixedQuotas((5.0, 1, 2, 90))
    run(case, recorded, noise=0.0)
    waited = {
        view.now: view.running[0].waited for view in recorded.views if view.now <= 15.0 and view.running
    }
    assert waited == {5.0: 0.0, 10.0: pytest.approx(80.0), 15.0: pytest.approx(80.0)}
