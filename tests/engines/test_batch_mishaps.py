"""Events that a simulator does not have: cancelled jobs, drained processors, failed releases; in virtual time."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.fake_batch import FakeBatch
from tests.engines.test_batch import NAMES, THREE, ran
from tests.oracles.plain import Answers, Plain
from tests.oracles.workloads import CHECK, cases
from windlass.drive import drive
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.system import Capacity, Ended, Holds, NoMore, Started, Submitted
from windlass.model import BatchError, JobTable, PolicyError
from windlass.order.site import POLICIES
from windlass.order.site.view import Start


def what_can_happen(case):
    """Mishaps for the jobs of a case, at times between its own."""
    number = st.sampled_from(case.jobs.job.tolist())
    at = st.integers(0, 60).map(lambda half: half / 2 + 0.01)
    return st.fixed_dictionaries(
        {
            "latency": st.sampled_from([0.0, 0.3, 1.0]),
            "kill": st.booleans(),
            "cancels": st.lists(st.tuples(at, number), max_size=3),
            "requeues": st.lists(st.tuples(at, number), max_size=2),
            "capacity": st.lists(st.tuples(at, st.integers(0, case.processors)), max_size=3).map(
                lambda changes: [*sorted(changes), (40.0, case.processors)]
            ),
            "fails": st.dictionaries(number, st.integers(1, 3), max_size=2),
        }
    )


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("name", ["fcfs", "sjf", "easy"])
@CHECK
@given(data=st.data())
def test_the_refused_count_changes_no_answer(data, name):
    case = data.draw(cases().filter(lambda case: len(case.jobs) > 0))
    policy = POLICIES.find(name)()

    def decide(view):
        answer = policy.decide(view)
        assert answer.jobs == policy.decide(dataclasses.replace(view, refused=0)).jobs
        return answer

    ran(*case, Answers(decide), **data.draw(what_can_happen(case)))


@pytest.mark.matrix
@pytest.mark.parametrize("name", NAMES)
@CHECK
@given(data=st.data())
def test_no_job_is_lost_or_started_twice(data, name):
    case = data.draw(cases().filter(lambda case: len(case.jobs) > 0))
    mishaps = data.draw(what_can_happen(case))
    # The fake raises if a started job does not fit or does not exist.
    run, system = ran(*case, POLICIES.find(name)(), **mishaps)
    assert sorted(run.job) == sorted(case.jobs.job)
    gone = set(run.job[run.cancelled].tolist())
    assert gone <= {job for _, job in mishaps["cancels"]}
    assert np.isfinite(run.end).all()
    assert np.isfinite(run.start[~run.cancelled]).all()
    started = np.isfinite(run.start)
    assert (run.start[started] >= run.submit[started]).all()
    assert (run.start[started] >= run.released[started] + mishaps["latency"] - 1e-9).all()
    assert (run.why[started] >= 0).all()
    requeued = {job for _, job in mishaps["requeues"]}
    for number, ended, start in zip(run.job.tolist(), run.end, run.start, strict=True):
        times = sum(number in jobs for _, jobs in system.starts)
        assert times <= 1 + mishaps["fails"].get(number, 0) + (3 if number in requeued else 0)
        _, wanted, _, request = system.jobs[number]
        if number not in gone:
            assert ended == start + (min(wanted, request) if mishaps["kill"] else wanted)
    assert len(run.ran()) == started.sum()


def test_cancelling_the_head_starts_the_next_job():
    jobs = JobTable.of(submit=[0, 1, 2], run=[10, 5, 5], procs=[2, 4, 2], job=[1, 2, 3])
    run, _ = ran(jobs, 4, POLICIES.find("fcfs")(), cancels=[(3.0, 2)])
    assert run.start.tolist()[::2] == [0.0, 3.0]
    assert (np.isnan(run.start[1]), run.end[1], run.cancelled.tolist()) == (True, 3.0, [False, True, False])
    assert (run.why[1], np.isnan(run.released[1])) == (-1, True)
    assert run.ran().job.tolist() == [1, 3]


def test_cancelling_a_running_job_frees_its_processors():
    run, _ = ran(THREE, 2, POLICIES.find("fcfs")(), cancels=[(4.0, 5)])
    assert run.start.tolist() == [0.0, 4.0, 14.0]
    assert run.cancelled.tolist() == [True, False, False]
    assert run.ran().run.tolist() == [4.0, 10.0, 10.0]


@pytest.mark.parametrize("at", [0.2, 0.9])
def test_a_job_cancelled_between_its_release_and_its_start_never_ran(at):
    run, _ = ran(THREE, 2, POLICIES.find("fcfs")(), latency=1.0, cancels=[(at, 5)])
    assert np.isnan(run.start[0])
    assert run.released.tolist() == [0.0, at, at + 11.0]


def test_a_requeued_job_waits_again():
    run, system = ran(THREE, 2, POLICIES.find("fcfs")(), requeues=[(4.0, 5)])
    # It is now at the end of the queue.
    assert run.job.tolist() == [6, 7, 5]
    assert run.start.tolist() == [4.0, 14.0, 24.0]
    assert [jobs for _, jobs in system.starts] == [(5,), (6,), (7,), (5,)]


def test_drained_processors_are_not_used():
    # Eight jobs of 10 s, one processor each, on four; two are drained from 5 s to 22 s.
    jobs = JobTable.of(submit=[0] * 8, run=[10] * 8, procs=[1] * 8)
    policy = Plain(POLICIES.find("easy")())
    run, _ = ran(jobs, 4, policy, capacity=[(5.0, 2), (22.0, 4)])
    assert run.start.tolist() == [0, 0, 0, 0, 10, 10, 20, 20]
    drained = [view for view in policy.views if 5.0 <= view.now < 22.0]
    assert drained
    for view in drained:
        held = int(view.running.procs.sum())
        assert (view.processors, view.free, view.owed) == (4, max(0, 2 - held), max(0, held - 2))
    assert drained[0].running.procs.sum() == 4


def test_other_users_jobs_hold_processors_and_are_not_in_the_result():
    policy = Plain(POLICIES.find("easy")())
    run, _ = ran(THREE, 4, policy, others=[(-5.0, 900, 3, 20.0, 30.0)])
    assert run.job.tolist() == [5, 6, 7]
    assert run.start.tolist() == [0.0, 15.0, 15.0]
    first = policy.views[0]
    assert (first.free, first.running.job.tolist(), first.running.expected_end.tolist()) == (1, [900], [25.0])


def test_a_failed_release_is_retried_and_holds_no_processors_meanwhile():
    jobs = JobTable.of(submit=[0, 0, 0.1], run=[10, 10, 10], procs=[2, 2, 2])
    run, system = ran(jobs, 4, POLICIES.find("fcfs")(), fails={1: 2})
    # Job 1 rests for 0.25 s, then 0.5 s: job 3 starts first.
    assert system.starts == [
        (0.0, (1, 2)),
        (0.1, (3,)),
        (10.0, (1,)),
        (10.5, (1,)),
    ]
    assert run.start.tolist() == [10.5, 0.0, 0.1]


def test_a_rested_job_is_ahead_of_jobs_refused_meanwhile():
    jobs = JobTable.of(submit=[0, 0, 0.1], run=[10, 10, 10], procs=[2, 4, 4])
    run, system = ran(jobs, 4, POLICIES.find("fcfs")(), fails={1: 1}, others=[(-1.0, 900, 2, 50.0, 50.0)])
    assert system.starts[:2] == [(0.0, (1,)), (0.25, (1,))]
    assert run.start.tolist() == [0.25, 49.0, 59.0]


def test_resting_jobs_do_not_count_against_the_policy():
    def job_5_first(view):
        jobs = view.waiting.job.tolist()
        return Start(tuple(jobs[:1] if 5 in [*jobs, *view.running.job] else ()))

    jobs = JobTable.of(submit=[0, 0], run=[10, 1], procs=[1, 2], job=[5, 6])
    system = FakeBatch(jobs, 9, fails={5: 3})
    with pytest.raises(PolicyError, match="left 1 jobs waiting"):
        drive(LiveSite(system, patience=0.7), {"order": Answers(job_5_first)})
    # It rested longer than a policy may take, and ran; the job left waiting then is the policy's fault.
    assert [at for at, _ in system.starts] == [0.0, 0.25, 0.75, 1.75]
    assert system.time > 11.75


def test_returned_processors_go_to_the_head_of_the_queue():
    jobs = JobTable.of(submit=[0, 1], run=[100, 100], procs=[2, 2])
    run, _ = ran(jobs, 4, POLICIES.find("easy")(), capacity=[(-1.0, 2), (5.0, 4)])
    assert run.start.tolist() == [0.0, 5.0]


def test_a_release_that_always_fails_ends_the_run_and_names_the_job():
    system = FakeBatch(THREE, 4, fails={6: 99})
    with pytest.raises(
        BatchError, match=r"^job 6 was not started, 8 times in a row: the controller does not"
    ):
        drive(LiveSite(system), {"order": POLICIES.find("fcfs")()})
    # Nothing is lost: only this job is still held.
    assert system.held == {6}
    assert system.closed == 1


def test_a_job_cancelled_during_its_release_is_no_failure():
    class Racing(FakeBatch):
        def start(self, jobs):
            if 6 in self.held:
                self.pending += self.cancel(6)
            return super().start(jobs)

    run = drive(LiveSite(Racing(THREE, 5)), {"order": POLICIES.find("fcfs")()})
    assert run.cancelled.tolist() == [False, True, False]
    assert run.start[[0, 2]].tolist() == [0.0, 0.0]


def test_a_system_in_service_waits_for_more_jobs_however_long():
    system = FakeBatch(THREE, 4, ends=False)
    engine = LiveSite(system, patience=1.0)
    for _ in range(2):
        assert engine.wait() == "order"
        engine.act("order", Start(tuple(engine.view("order").waiting.job[:2].tolist())))
    polled = []
    poll = system.poll

    def stop(timeout):
        polled.append(timeout)
        if len(polled) > 100:
            raise KeyboardInterrupt
        return poll(timeout)

    system.poll = stop
    with pytest.raises(KeyboardInterrupt):
        engine.wait()
    assert system.time > 1000.0


class Script:
    """A system that returns given lists of events, one per poll, and starts any job."""

    def __init__(self, *pending, processors=4):
        self.pending, self.time, self.processors, self.starts = list(pending), 0.0, processors, []

    def now(self):
        return self.time

    def poll(self, timeout):
        self.time += 0.001
        return self.pending.pop(0) if self.pending else []

    def start(self, jobs):
        self.starts.append(tuple(jobs))
        return {}

    def describe(self, jobs):
        return ""

    def close(self):
        pass


def test_jobs_started_by_the_system_are_accepted():
    # Job 1 was released by its user, job 2 runs from before; job 9 is unknown.
    system = Script(
        [Holds(2, -5.0, 1, 10.0), Submitted(1, 0.0, 2, 10.0), Started(1, 0.0)],
        [Submitted(3, 0.0, 2, 10.0), Started(9, 0.0), Ended(9, 0.0), NoMore()],
    )
    engine = LiveSite(system)
    assert engine.wait() == "order"
    view = engine.view("order")
    assert (view.free, view.waiting.job.tolist(), view.running.job.tolist()) == (1, [3], [2, 1])
    system.pending = [[], [Ended(1, 4.0)], [], [Started(3, 4.0), Ended(3, 5.0)]]
    engine.act("order", Start())
    assert engine.wait() == "order"
    engine.act("order", Start((3,)))
    # Job 2, which is not Windlass's, need not end.
    assert engine.wait() is None
    run = engine.result()
    assert (run.job.tolist(), run.why.tolist(), run.start.tolist()) == ([1, 3], [-1, 0], [0.0, 4.0])


def test_a_changed_request_is_shown_in_the_view():
    system = Script([Submitted(1, 0.0, 2, 10.0), Submitted(2, 1.0, 2, 10.0)], [Submitted(1, 0.0, 1, 99.0)])
    engine = LiveSite(system)
    assert engine.wait() == "order"
    waiting = engine.view("order").waiting
    assert (waiting.job.tolist(), waiting.procs.tolist(), waiting.request.tolist()) == (
        [1, 2],
        [1, 2],
        [99, 10],
    )


def test_held_processors_beyond_the_site_are_owed():
    system = Script([Holds(1, 0.0, 4, 9.0), Submitted(2, 0.0, 1, 9.0)], [Capacity(2)])
    engine = LiveSite(system)
    assert engine.wait() == "order"
    view = engine.view("order")
    assert (view.processors, view.free, view.owed, view.running.procs.tolist()) == (4, 0, 2, [4])
