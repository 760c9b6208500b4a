"""Policies on a site that shrinks below the requests of jobs, and their views."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.cases import Case, cases, jobs_of, none, run
from tests.coupled.test_instants import drained, gone, run_checked
from tests.coupled.test_random import run_or_stuck
from tests.oracles.plain import Plain
from tests.oracles.workloads import CHECK, busy
from windlass.model import JobTable, PolicyError
from windlass.model.timetable import NodeTimetable
from windlass.order.site import POLICIES
from windlass.sim import replay

_NAMES = ("fcfs", "easy", "sjf", "conservative")
#: The first wants the whole site, of which half is gone from 1 to 50 s.
_WIDE = jobs_of((2, 10, 4), (3, 100, 1), (4, 1, 2), (5, 3, 1))


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("fcfs", [50.0, 60.0, 60.0, 60.0]),
        # What fits runs meanwhile, however long: the head has no shadow time until the site grows again.
        ("easy", [103.0, 3.0, 50.0, 5.0]),
        ("conservative", [103.0, 3.0, 50.0, 5.0]),
        # The shortest goes first; the longest waits until those that ask for less have started.
        ("sjf", [50.0, 60.0, 4.0, 5.0]),
    ],
)
@pytest.mark.parametrize("outage", [drained(1, 1.0, 50.0), gone(0, 1.0, 50.0)], ids=["drained", "vacated"])
def test_a_head_wider_than_the_remaining_site_waits(
    name: str, starts: list[float], outage: NodeTimetable
) -> None:
    assert run_checked(Case(_WIDE, [2, 2], outage), name).start.tolist() == starts


@pytest.mark.parametrize("name", _NAMES)
def test_jobs_run_after_a_full_outage(name: str) -> None:
    times = gone(0, 3.0, 9.0) + drained(1, 3.0, 9.0)
    ran = run_checked(Case(jobs_of((0, 5, 4), (1, 2, 1), (4, 1, 3)), [2, 2], times), name)
    assert (ran.lost.tolist(), ran.lost_end.tolist()) == ([0], [3.0])
    assert min(ran.start) >= 9.0


@pytest.mark.parametrize("name", _NAMES)
def test_jobs_that_wait_for_a_lost_node_are_an_error(name: str) -> None:
    case = Case(jobs_of((0, 5, 3), (1, 2, 1), (2, 1, 4)), [2, 2], drained(1, 1.0))
    for policy in (POLICIES.find(name)(), Plain(POLICIES.find(name)())):
        with pytest.raises(PolicyError, match=r"left [12] jobs waiting"):
            run(case, policy)


def test_owed_counts_held_cores_beyond_the_capacity() -> None:
    plain = Plain(POLICIES.find("easy")())
    # Held: 2 and 2, then of node 1 only one core is left, then none; then all is back.
    outages = drained(1, 2.0, 8.0, left=1) + drained(1, 4.0, 9.0)
    jobs = jobs_of((0, 10, 4), (1, 1, 1), (3, 1, 1), (5, 1, 1), (8, 1, 1), (9, 1, 1))
    run(Case(jobs, [2, 2], outages), plain)
    seen = {view.now: (view.free, view.owed) for view in plain.views}
    assert [seen[now] for now in (1.0, 3.0, 5.0, 8.0, 9.0)] == [(0, 0), (0, 1), (0, 2), (0, 0), (0, 0)]


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_reservations_do_not_count_owed_cores(name: str) -> None:
    # Of the 4 cores of the first, which ends at 10, 2 are lost; those of the second are free at 20.
    jobs = jobs_of((0, 10, 4), (0, 20, 2), (3, 5, 5), (4, 12, 1))
    ran = run_checked(Case(jobs, [2, 2, 3], drained(0, 1.0)), name)
    # At 4 s the head is expected at 20 s, and the last over by then. Were it expected at 10 s, that had to wait.
    assert ran.start.tolist() == [0.0, 0.0, 20.0, 4.0]


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_reservations_do_not_count_owed_cores_when_others_start(name: str) -> None:
    jobs = jobs_of((0, 10, 4), (0, 20, 2), (3, 6, 1), (3, 5, 6), (3, 12, 1))
    ran = run_checked(Case(jobs, [2, 2, 4], drained(0, 1.0)), name)
    assert ran.start.tolist() == [0.0, 0.0, 3.0, 20.0, 3.0]


def capacity_at(case: Case, now: float) -> int:
    """Return the cores of all nodes after the changes due at a time."""
    left = list(case.cores)
    rows = zip(case.outages.time, case.outages.node, case.outages.cores, strict=True)
    for time, node, cores in rows:
        if time <= now:
            left[node] = int(cores)
    return sum(left)


@settings(CHECK, max_examples=200)
@given(case=cases(), name=st.sampled_from(_NAMES))
def test_cores_in_views_add_up(case: Case, name: str) -> None:
    plain = Plain(POLICIES.find(name)())
    run_or_stuck(case, plain)
    for view in plain.views:
        assert view.free >= 0
        assert view.owed >= 0
        assert view.free + view.running.procs.sum() - view.owed == capacity_at(case, view.now)
        assert view.processors == sum(case.cores)
        assert (view.waiting.submit <= view.now).all()
        assert 0 <= view.refused <= len(view.waiting.job)
        order = list(zip(view.running.expected_end.tolist(), view.running.procs.tolist(), strict=True))
        assert order == sorted(order)


def random_split(processors: int, rng: np.random.Generator) -> list[int]:
    """Split processors randomly into nodes, some without cores."""
    cuts = np.sort(rng.integers(0, processors + 1, int(rng.integers(1, 100))))
    return np.diff(cuts, prepend=0, append=processors).tolist()


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_without_outages_nodes_behave_as_a_pooled_site(name: str, seed: int) -> None:
    case, rng = busy(seed, processors=200), np.random.default_rng(seed)
    jobs = JobTable.of(case.jobs.submit, case.jobs.run, case.jobs.procs * 7, case.jobs.request)
    whole = replay(jobs, 200, POLICIES.find(name)())
    # One core each makes more rows than a word has bits.
    for cores in ([200], [1] * 200, random_split(200, rng), random_split(200, rng)):
        ran = run_checked(Case(jobs, cores, none()), name)
        assert [ran.start.tobytes(), ran.end.tobytes()] == [whole.start.tobytes(), whole.end.tobytes()]
        assert [ran.reasons[code] for code in ran.why] == [whole.reasons[code] for code in whole.why]


def test_a_blocked_job_backfills_once_a_drain_delays_the_head() -> None:
    # The head, 5 cores wide, is expected at 10 s and would need what the last asks for, until at 3 s a node is drained.
    jobs = jobs_of((0, 10, 4), (0, 100, 1), (1, 5, 5), (2, 15, 1))
    ran = run_checked(Case(jobs, [2, 2, 2], drained(0, 3.0, 50.0)), "easy")
    assert ran.start.tolist() == [0.0, 0.0, 50.0, 3.0]
