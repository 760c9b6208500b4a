"""The order of events at one instant: ends, capacity and kills, arrivals and starts, jobs before tasks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.coupled.cases import Case, Tasks, jobs_of, none, run
from tests.oracles import ledger
from tests.oracles.plain import Answers, Plain
from windlass.model import InputError
from windlass.model.timetable import NodeTimetable
from windlass.order.site import POLICIES
from windlass.order.site.policies.fcfs import Fcfs
from windlass.order.site.view import SiteView, Start
from windlass.sim import Replay
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.site.part import SitePart

_NAMES = ("fcfs", "easy", "sjf", "conservative")


def gone(node: int, down: float, up: float | None = None, *, cores: int = 2, left: int = 0) -> NodeTimetable:
    """A node is vacated."""
    return NodeTimetable.outage(node, down, up, cores=cores, left=left, kill=True)


def drained(
    node: int, down: float, up: float | None = None, *, cores: int = 2, left: int = 0
) -> NodeTimetable:
    """A node is drained."""
    return NodeTimetable.outage(node, down, up, cores=cores, left=left)


def run_checked(case: Case, name: str = "fcfs") -> Replay:
    """Run a case compiled and through Python, compare and validate both, and return the result."""
    compiled = run(case, name).replay
    in_python = run(case, Plain(POLICIES.find(name)())).replay
    for column in ("start", "end", "lost", "lost_start", "lost_end", "held"):
        assert getattr(compiled, column).tolist() == getattr(in_python, column).tolist()
    assert ledger.violations(compiled, case.cores, case.outages) == []
    return compiled


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("end", [5.0, 0.1 + 0.2, 1 / 3])
def test_an_outage_at_the_end_of_a_job_kills_no_job(name: str, end: float) -> None:
    ran = run_checked(Case(jobs_of((0, end, 4), (0, 2 * end, 1)), [2, 2], gone(1, end, end + 1)), name)
    assert (len(ran.lost), ran.end.tolist()) == (0, [end, end + 2 * end])


@pytest.mark.parametrize("name", _NAMES)
def test_an_outage_just_before_the_end_kills_the_job(name: str) -> None:
    ran = run_checked(Case(jobs_of((0, 5, 4)), [2, 2], gone(1, np.nextafter(5.0, 0), 6)), name)
    assert (ran.lost.tolist(), ran.start.tolist(), ran.end.tolist()) == ([0], [6.0], [11.0])


@pytest.mark.parametrize("name", _NAMES)
def test_no_job_is_started_and_killed_at_one_instant(name: str) -> None:
    # At 5 s the first ends, the third arrives, the second waits, and node 0, which is free then, goes.
    jobs = jobs_of((0, 5, 4), (1, 3, 2), (5, 3, 2), (5, 0, 1))
    ran = run_checked(Case(jobs, [2, 2], gone(0, 5.0, 20.0)), name)
    assert len(ran.lost) == 0
    # One of the two at a time is all that node 1 takes.
    assert sorted(ran.start.tolist()[1:3]) == [5.0, 8.0]


@pytest.mark.parametrize("name", _NAMES)
def test_a_killed_job_restarts_elsewhere_at_the_same_instant(name: str) -> None:
    jobs = jobs_of((0, 10, 2), (0, 4, 2))
    ran = run_checked(Case(jobs, [2, 2], gone(int(name == "sjf"), 4.0)), name)
    # The second ends at 4 s and leaves its node.
    assert (ran.lost.tolist(), ran.lost_start.tolist(), ran.lost_end.tolist()) == ([0], [0.0], [4.0])
    assert (ran.start.tolist(), ran.end.tolist()) == ([4.0, 0.0], [14.0, 4.0])


@pytest.mark.parametrize("name", _NAMES)
def test_a_killed_job_restarts_at_once_if_it_fits(name: str) -> None:
    # Nothing else happens at that instant: no more is idle than before.
    ran = run_checked(Case(jobs_of((0, 10, 2)), [2, 2], gone(0, 4.0, 8.0)), name)
    assert (ran.lost.tolist(), ran.start.tolist()) == ([0], [4.0])


def test_an_arrival_just_before_an_outage_does_not_advance_it() -> None:
    jobs = jobs_of((np.nextafter(5.0, 0), 1, 1), (5, 3, 2))
    ran = run_checked(Case(jobs, [1, 2, 2], gone(1, 5.0)))
    assert (len(ran.lost), ran.start[1]) == (0, 5.0)


def test_kills_precede_decisions_for_any_order_of_the_parts() -> None:
    nodes = Ledger([[2, 2]], parts=1)
    part = SitePart(jobs_of((0, 10, 2), (4, 1, 2)), Fcfs(), nodes)
    cluster = Coupled([part, Outages(gone(0, 4.0), nodes)], nodes)
    assert cluster.wait() is None
    assert cluster.result()[0].start.tolist() == [4.0, 14.0]


def test_notes_of_a_killed_job_are_cleared() -> None:
    seen: list[tuple[float, list[float]]] = []

    def answer(view: SiteView) -> Start:
        seen.append((view.now, view.waiting.note.tolist()))
        fits = view.waiting.job[view.waiting.procs <= view.free][:1]
        return Start(tuple(fits.tolist()), notes=np.full(len(view.waiting.job), 7.0))

    run(Case(jobs_of((0, 10, 4), (1, 1, 4)), [2, 2], gone(0, 4.0, 6.0)), Answers(answer))
    # Node 1 is idle from the kill on, so that the policy is called then; at 6 s it has left another note.
    assert [(now, str(notes)) for now, notes in seen] == [
        (0.0, "[nan]"),
        (1.0, "[nan]"),
        (4.0, "[7.0, nan]"),
        (6.0, "[7.0, 7.0]"),
        (7.0, "[7.0]"),
    ]


def test_a_killed_job_is_requeued_last_and_restarts() -> None:
    jobs = jobs_of((0, 10, 2), (1, 3, 2), (3, 3, 2))
    ran = run_checked(Case(jobs, [2, 1], gone(0, 4.0, 5.0)))
    assert ran.lost.tolist() == [0]
    assert ran.start.tolist() == [11.0, 5.0, 8.0]
    assert ran.end.tolist() == [21.0, 8.0, 11.0]


def test_a_job_may_be_killed_repeatedly() -> None:
    times = none()
    for step in range(100):
        times += gone(0, 2.0 + 3 * step, 3.0 + 3 * step)
    ran = run_checked(Case(jobs_of((0, 10, 4), (0, 300, 4)), [2, 2], times))
    assert (len(ran.lost), set(ran.lost_end - ran.lost_start)) == (100, {2.0})
    assert sorted(ran.start.tolist()) == [300.0, 310.0]


def test_the_latest_jobs_are_killed_first_and_no_more_than_needed() -> None:
    # Node 0 has the first three, one core each; one may stay.
    jobs = jobs_of((0, 20, 1), (1, 20, 1), (2, 20, 1), (3, 20, 3))
    ran = run_checked(Case(jobs, [3, 3], gone(0, 5.0, cores=3, left=1)), "easy")
    assert ran.lost.tolist() == [2, 1]


def test_a_drained_node_can_be_vacated_later() -> None:
    times = drained(0, 1.0) + gone(0, 3.0)
    ran = run_checked(Case(jobs_of((0, 9, 2), (2, 1, 2)), [2, 2], times))
    assert (ran.lost.tolist(), ran.lost_end.tolist()) == ([0], [3.0])
    assert ran.start.tolist() == [3.0, 2.0]


def test_a_drained_node_finishes_its_jobs_and_accepts_no_more() -> None:
    jobs = jobs_of((0, 9, 2), (2, 1, 2), (2, 1, 2), (12, 1, 4))
    ran = run_checked(Case(jobs, [2, 2], drained(0, 1.0, 20.0)))
    assert (len(ran.lost), ran.start.tolist()) == (0, [0.0, 2.0, 3.0, 20.0])


def test_the_last_change_of_an_instant_counts() -> None:
    times = gone(0, 5.0) + NodeTimetable(np.array([5.0]), np.array([0]), np.array([2]), np.array([False]))
    ran = run_checked(Case(jobs_of((0, 9, 4)), [2, 2], times))
    assert (len(ran.lost), ran.end.tolist()) == (0, [9.0])


def test_jobs_are_not_killed_on_a_pooled_site() -> None:
    with pytest.raises(InputError, match="pooled"):
        run(Case(jobs_of((0, 1, 1)), [2], gone(0, 1.0)))


@pytest.mark.parametrize("hidden", [False, True], ids=["compiled", "in python"])
@pytest.mark.parametrize("policy", ["sed", "ppot", "pss"])
def test_tasks_that_arrive_when_shares_change_use_the_new_ones(policy: str, hidden: bool) -> None:
    # The job takes all of node 0 when the tasks come, and stays until they are over.
    tasks = Tasks([5.0] * 8, [0.5] * 8, [10.0, 1.0], floor=0.0)
    order = Plain(Fcfs()) if hidden else Fcfs()
    ran = run(Case(jobs_of((5, 100, 4)), [4, 4], none(), tasks), order, dispatch=policy).tasks
    assert ran is not None
    assert ran.worker.tolist() == [1] * 8
    assert ran.response.tolist() == [0.5 * (task + 1) for task in range(8)]


def test_tasks_that_arrive_when_a_job_ends_have_the_whole_node() -> None:
    tasks = Tasks([5.0], [1.0], [1.0], floor=0.0)
    ran = run(Case(jobs_of((0, 5, 4)), [4], none(), tasks)).tasks
    assert ran is not None
    assert ran.response.tolist() == [1.0]


@pytest.mark.parametrize("kill", [True, False])
def test_tasks_that_arrive_when_a_node_fails_are_not_sent_there(kill: bool) -> None:
    outages = NodeTimetable.outage(0, 5.0, 9.0, cores=4, kill=kill)
    tasks = Tasks([5.0] * 4 + [9.0] * 4, [0.5] * 8, [1.0, 1.0])
    ran = run(Case(jobs_of((0, 1, 1)), [4, 4], outages, tasks)).tasks
    assert ran is not None
    assert (ran.worker.tolist()[:4], ran.moved) == ([1] * 4, 0)
    assert sorted(ran.worker.tolist()[4:]) == [0, 0, 1, 1]


def test_a_task_that_ends_when_its_node_fails_is_complete() -> None:
    tasks = Tasks([3.0], [2.0], [1.0, 1.0])
    for node in (0, 1):
        ran = run(Case(jobs_of((0, 1, 1)), [1, 1], gone(node, 5.0, cores=1), tasks)).tasks
        assert ran is not None
        assert (ran.response.tolist(), ran.moved) == ([2.0], 0)


def test_tasks_wait_while_no_node_has_cores() -> None:
    outages = gone(0, 1.0, 4.0) + gone(1, 1.0, 6.0)
    tasks = Tasks([0.5, 2.0, 3.0], [1.0, 1.0, 1.0], [1.0, 1.0])
    ran = run(Case(jobs_of((0, 0, 1)), [2, 2], outages, tasks)).tasks
    assert ran is not None
    assert (ran.end.tolist(), ran.worker.tolist(), ran.moved) == ([5.0, 6.0, 7.0], [0, 0, 0], 1)


def test_a_killed_job_precedes_arrivals_of_the_same_instant() -> None:
    jobs = jobs_of((0, 10, 2), (1, 3, 2), (4, 3, 2))
    ran = run_checked(Case(jobs, [2, 1], gone(0, 4.0, 5.0)))
    assert ran.start.tolist() == [8.0, 5.0, 18.0]


def test_two_parts_share_one_site_and_decide_in_order() -> None:
    both = Ledger([[2, 2]], parts=2)
    first = SitePart(jobs_of((0, 5, 3), (5, 2, 2)), Fcfs(), both, number=0, record=True)
    second = SitePart(jobs_of((0, 5, 2), (0, 3, 1)), Fcfs(), both, number=1, record=True)
    both.watch(0)
    cluster = Coupled([first, second], both)
    assert cluster.wait() is None
    assert [part.start.tolist() for part in cluster.result()] == [[0.0, 5.0], [5.0, 7.0]]


def test_an_outage_of_an_unknown_node_is_rejected() -> None:
    with pytest.raises(InputError, match=r"^outages: node 2, expected 0 to 1$"):
        Outages(drained(2, 1.0), Ledger([[2, 2]], parts=0))
