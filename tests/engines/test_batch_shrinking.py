"""A live site that loses and regains processors: the simulator's schedules, and jobs wider than the site."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.fake_batch import FakeBatch
from tests.engines.test_batch import NAMES, THREE, ran, same_schedule
from tests.oracles.plain import Answers, Plain
from tests.oracles.workloads import CHECK, Case, busy, cases
from windlass.drive import drive
from windlass.engines.batch.engine import LiveSite
from windlass.model import InputError, JobTable, PolicyError
from windlass.model.timetable import NodeTimetable
from windlass.order.site import POLICIES, SitePolicy
from windlass.order.site.view import SiteView, Start
from windlass.sim import Replay
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.site.part import SitePart

#: (time, processors from then on), ascending; the last restores all.
Changes = list[tuple[float, int]]


def simulated(case: Case, changes: Changes, policy: SitePolicy, *, kill: bool = True) -> Replay:
    """Return the same on a pooled site of the simulator, with drained processors."""
    time, cores = np.array([at for at, _ in changes]), np.array([has for _, has in changes], np.int64)
    none = np.zeros(len(changes), np.int64)
    ledger = Ledger([[case.processors]], parts=1)
    parts = (
        Outages(NodeTimetable(time, none, cores, none.astype(np.bool_)), ledger),
        SitePart(case.jobs, policy, ledger, kill=kill),
    )
    replayed = drive(Coupled(parts, ledger), {"order": policy})[1]
    assert isinstance(replayed, Replay)
    return replayed


@st.composite
def drained(draw: st.DrawFn) -> tuple[Case, Changes]:
    """A case and up to six changes, many of them exactly when jobs arrive or end."""
    case = draw(cases())
    jobs = case.jobs
    often = [*jobs.submit.tolist(), *(jobs.submit + jobs.run).tolist()]
    at = st.integers(0, 60).map(lambda half: half / 2)
    times = draw(st.lists(st.one_of(at, st.sampled_from(often)) if often else at, max_size=6))
    left = draw(st.lists(st.integers(0, case.processors), min_size=len(times), max_size=len(times)))
    return case, [*zip(sorted(times), left, strict=True), (150.0, case.processors)]


@pytest.mark.matrix(0)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kill", [True, False])
@settings(CHECK, max_examples=25)
@given(drawn=drained())
def test_jobs_start_as_in_the_simulator(drawn: tuple[Case, Changes], name: str, kill: bool) -> None:
    (case, changes), policy = drawn, POLICIES.find(name)()
    run, _ = ran(*case, policy, kill=kill, capacity=changes)
    same_schedule(run, simulated(case, changes, policy, kill=kill))


def seen(view: SiteView) -> tuple[Any, ...]:
    """Return the content of a view, with running jobs in an order without ties."""
    waiting, running = view.waiting, view.running
    columns = (
        waiting.job,
        waiting.submit,
        waiting.procs,
        waiting.request,
        np.nan_to_num(waiting.note, nan=-1.0),
    )
    holds = sorted(
        zip(*(column.tolist() for column in (running.expected_end, running.procs, running.job)), strict=True)
    )
    numbers = (view.now, view.processors, view.free, view.owed, view.refused)
    return (*numbers, *(column.tolist() for column in columns), holds)


@pytest.mark.matrix
@pytest.mark.parametrize("name", NAMES)
def test_a_policy_is_called_with_the_same_views_as_in_the_simulator(name: str) -> None:
    case, rng = busy(7), np.random.default_rng(7)
    times = np.sort(rng.integers(0, int(case.jobs.submit[-1]), 60)).astype(float)
    changes = [*zip(times.tolist(), rng.integers(0, case.processors + 1, 60).tolist(), strict=True)]
    changes.append((times[-1] + 1, case.processors))
    live, other = Plain(POLICIES.find(name)()), Plain(POLICIES.find(name)())
    run, _ = ran(*case, live, capacity=changes)
    same_schedule(run, simulated(case, changes, other))
    assert len(live.views) == len(other.views)
    for one, two in zip(live.views, other.views, strict=True):
        assert seen(one) == seen(two)
    # The case covers its purpose.
    assert max(view.owed for view in live.views) > 0
    assert any(
        (view.waiting.procs[:1] > view.free + view.running.procs.sum() - view.owed).any()
        for view in live.views
    )


@pytest.mark.parametrize("name", NAMES)
def test_lost_idle_processors_cause_the_same_decisions_as_in_the_simulator(name: str) -> None:
    # At 3 s the head, 5 wide, has to wait longer, so that the last job would not delay it any more.
    case = Case(JobTable.of([0, 0, 1, 2], [10, 100, 5, 50], [2, 4, 5, 1]), 9)
    changes, policy = [(3.0, 7), (200.0, 9)], POLICIES.find(name)()
    run, _ = ran(*case, policy, capacity=changes)
    same_schedule(run, simulated(case, changes, policy))
    if name in ("easy", "conservative"):
        assert run.start[3] == 3.0


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        # The head waits for the site to grow, and so do all jobs behind it.
        ("fcfs", [50.0, 55.0, 55.0]),
        ("sjf", [50.0, 55.0, 55.0]),
        # Jobs that fit run meanwhile.
        ("easy", [50.0, 0.0, 9.0]),
        ("conservative", [50.0, 0.0, 9.0]),
    ],
)
def test_a_job_wider_than_the_shrunken_site_is_shown_and_waits(name: str, starts: list[float]) -> None:
    case = Case(JobTable.of(submit=[0, 0, 9], run=[5, 5, 5], procs=[4, 1, 2]), 4)
    changes, policy = [(0.0, 2), (50.0, 4)], Plain(POLICIES.find(name)())
    run, _ = ran(*case, policy, capacity=changes)
    assert run.start.tolist() == starts
    same_schedule(run, simulated(case, changes, POLICIES.find(name)()))
    first = policy.views[0]
    assert (first.processors, first.free, first.owed, first.waiting.procs.tolist()) == (4, 2, 0, [4, 1])


def test_patience_is_suspended_while_processors_are_drained() -> None:
    def late(view: SiteView) -> Start:
        return Start(tuple(view.waiting.job.tolist()) if view.now >= since else ())

    jobs = JobTable.of(submit=[0], run=[10], procs=[4])
    since = 54.0
    run, _ = ran(jobs, 4, Answers(late), capacity=[(0.0, 2), (50.0, 4)])
    assert run.start.tolist() == [54.0]
    since, system = 90.0, FakeBatch(jobs, 4, capacity=[(0.0, 2), (50.0, 4)])
    with pytest.raises(PolicyError, match=r"^policy 'stub' left 1 jobs waiting although nothing runs"):
        drive(LiveSite(system, patience=5.0), {"order": Answers(late)})
    assert 55.0 < system.time < 57.0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("capacity", [[], [(3.0, 0)]], ids=["whole", "drained"])
def test_a_job_wider_than_the_whole_site_is_an_error(name: str, capacity: Changes) -> None:
    policy, system = Plain(POLICIES.find(name)()), FakeBatch(THREE, 1, capacity=capacity)
    with pytest.raises(InputError, match=r"^job 6 needs 2 processors, the site has 1$"):
        drive(LiveSite(system), {"order": policy})
    assert [job for _, jobs in system.starts for job in jobs] == [5]
    assert policy.views[-1].waiting.job.tolist() == [6, 7]
    # It waited as long as a policy may, after the last job ended.
    assert 10.0 + 30.0 < system.time < 42.0
    assert system.held == {6, 7}


@pytest.mark.parametrize(("name", "starts"), [("fcfs", [60, 60]), ("easy", [60, 0])])
def test_a_job_wider_than_the_site_runs_once_the_site_grows(name: str, starts: list[float]) -> None:
    # Another user's job runs until then: the site is not idle, and patience does not apply.
    jobs, policy = JobTable.of(submit=[0, 0], run=[9, 9], procs=[6, 1]), Plain(POLICIES.find(name)())
    run, _ = ran(jobs, 4, policy, capacity=[(60.0, 10)], others=[(0.0, 900, 2, 65.0, 65.0)])
    assert run.start.tolist() == starts
    assert [policy.views[0].processors, policy.views[-1].processors] == [4, 10]


def test_an_idle_policy_is_not_called_again_without_a_change() -> None:
    polled, system, policy = 0, FakeBatch(THREE, 4, ends=False), Plain(Answers(lambda view: Start()))
    poll = system.poll

    def stop(timeout: float) -> Any:
        nonlocal polled
        polled += 1
        if polled > 100:
            raise KeyboardInterrupt
        return poll(timeout)

    system.poll = stop
    with pytest.raises(KeyboardInterrupt):
        drive(LiveSite(system, patience=1.0), {"order": policy})
    assert (len(policy.views), system.time > 1000.0) == (1, True)
