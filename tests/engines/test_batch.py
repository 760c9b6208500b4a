"""The engine of a batch system, in virtual time: the simulator's schedules, and live behaviour beyond it."""

import numpy as np
import pytest
from hypothesis import given

from tests.engines.fake_batch import FakeBatch
from tests.oracles.plain import Answers, Plain, all_waiting
from tests.oracles.workloads import CHECK, busy, cases
from windlass.drive import drive
from windlass.engines.batch.engine import LiveSite
from windlass.model import JobTable, PolicyError
from windlass.order.site import POLICIES
from windlass.order.site.view import Start
from windlass.sim import replay

NAMES = POLICIES.names()
THREE = JobTable.of(submit=[0, 0, 0], run=[10, 10, 10], procs=[1, 2, 2], job=[5, 6, 7])


def ran(jobs, processors, policy, **mishaps):
    system = FakeBatch(jobs, processors, **mishaps)
    run = drive(LiveSite(system), {"order": policy})
    assert system.closed == 1
    assert not system.queue or not (system.running or system.released)
    return run, system


def same_schedule(run, replayed):
    jobs = replayed.jobs
    assert run.job.tolist() == jobs.job.tolist()
    for live, simulated in (
        (run.submit, jobs.submit),
        (run.procs, jobs.procs),
        (run.start, replayed.start),
        (run.released, replayed.start),
        (run.end, replayed.end),
    ):
        np.testing.assert_array_equal(live, simulated)
    assert [run.reasons[code] for code in run.why] == [replayed.reasons[code] for code in replayed.why]
    assert not run.cancelled.any()


@pytest.mark.matrix
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kill", [True, False])
@CHECK
@given(case=cases())
def test_without_latency_jobs_start_as_in_the_simulator(case, name, kill):
    policy = POLICIES.find(name)()
    run, _ = ran(*case, policy, kill=kill)
    same_schedule(run, replay(*case, policy, kill=kill))


@pytest.mark.matrix
@pytest.mark.parametrize("name", NAMES)
def test_a_longer_queue_starts_as_in_the_simulator(name):
    case = busy(7)
    live, simulated = Plain(POLICIES.find(name)()), Plain(POLICIES.find(name)())
    run, _ = ran(*case, live)
    same_schedule(run, replay(*case, simulated))
    assert run.decisions == len(live.views) == len(simulated.views)
    for one, other in zip(live.views, simulated.views, strict=True):
        assert (one.now, one.free, one.processors, one.refused) == (
            other.now,
            other.free,
            other.processors,
            other.refused,
        )
        for part in ("waiting", "running"):
            for column in ("job", "procs"):
                np.testing.assert_array_equal(
                    np.sort(getattr(getattr(one, part), column)),
                    np.sort(getattr(getattr(other, part), column)),
                )


def test_a_released_job_holds_its_processors_before_it_starts():
    jobs = JobTable.of(submit=[0, 0.5, 0.6], run=[5, 5, 5], procs=[3, 2, 1], request=[9, 9, 9])
    policy = Plain(POLICIES.find("fcfs")())
    run, _ = ran(jobs, 4, policy, latency=1.0)
    assert run.released.tolist() == [0.0, 6.0, 6.0]
    assert run.start.tolist() == [1.0, 7.0, 7.0]
    second = policy.views[1]
    assert (second.now, second.free, second.running.job.tolist()) == (0.5, 1, [1])
    assert second.running.expected_end.tolist() == [9.0]
    # Once it runs, its expected end is its start plus its request.
    third = policy.views[2]
    assert (third.now, third.free) == (0.6, 1)


def test_expected_ends_count_from_the_reported_start():
    jobs = JobTable.of(submit=[0, 3], run=[5, 5], procs=[4, 4], request=[9, 9])
    policy = Plain(POLICIES.find("fcfs")())
    ran(jobs, 4, policy, latency=1.0)
    assert policy.views[1].running.expected_end.tolist() == [10.0]


_WRONG = {
    "unknown": (lambda view: Start((404,)), "started a job that does not wait"),
    "twice": (lambda view: Start((5, 5)), "the same job twice"),
    "too wide": (all_waiting, "started jobs that need more than the 4 idle processors"),
    "partly wrong": (lambda view: Start((5, 6, 404)), "started a job that does not wait"),
    "reasons": (lambda view: Start((5,), ("a", "b")), "gave 2 reasons for 1 jobs"),
    "notes": (
        lambda view: Start((5,), notes=np.zeros(2)),
        r"left notes of shape \(2,\), expected one per waiting job, 3",
    ),
    "no start": (lambda view: (5,), r"decided \(5,\), expected a Start"),
    "nobody": (
        lambda view: Start(),
        "left 3 jobs waiting although nothing runs and nothing more is submitted",
    ),
}


@pytest.mark.parametrize("kind", _WRONG)
def test_a_wrong_answer_is_not_carried_out(kind):
    answer, problem = _WRONG[kind]
    system = FakeBatch(THREE, 4)
    with pytest.raises(PolicyError, match=rf"^policy 'stub' .*{problem}") as live:
        drive(LiveSite(system), {"order": Answers(answer)})
    with pytest.raises(PolicyError) as simulated:
        replay(THREE, 4, Answers(answer))
    assert str(live.value) == str(simulated.value)
    assert system.starts == []
    assert system.held == {5, 6, 7}
    assert system.closed == 1


def test_a_policy_that_changes_its_view_does_not_change_the_site():
    def spoil(view):
        for column in (view.waiting.procs, view.waiting.job, view.waiting.note, view.running.procs):
            column[:] = 0
        return Start((5, 6, 7))

    with pytest.raises(PolicyError, match="more than the 4 idle processors"):
        drive(LiveSite(FakeBatch(THREE, 4)), {"order": Answers(spoil)})


def test_a_policy_may_wait_for_a_later_time():
    policy = Answers(lambda view: Start(tuple(view.waiting.job[:1].tolist()) if view.now >= 12.2 else ()))
    jobs = JobTable.of(submit=[0], run=[10], procs=[1])
    run, _ = ran(jobs, 1, policy)
    assert run.start.tolist() == [12.5]
    with pytest.raises(PolicyError, match="left 1 jobs waiting"):
        drive(LiveSite(FakeBatch(jobs, 1), patience=11.0), {"order": policy})


def test_a_run_without_jobs_is_empty():
    run, _ = ran(JobTable.of([], [], []), 4, POLICIES.find("easy")())
    assert (len(run.job), run.decisions, run.reasons) == (0, 0, ())


def test_notes_are_kept_with_their_jobs():
    seen = []

    def count_up(view):
        jobs, notes = view.waiting.job.tolist(), view.waiting.note
        seen.append(dict(zip(jobs, notes.tolist(), strict=True)))
        return Start(tuple(jobs[-1:]), notes=np.where(np.isnan(notes), np.array(jobs, float), notes + 100))

    ran(THREE, 2, Answers(count_up))
    assert np.isnan(list(seen[0].values())).all()
    assert seen[1:] == [{5: 5.0, 6: 6.0}, {5: 105.0}]


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_lists_the_next_starts_and_starts_nothing(name):
    system, policy = FakeBatch(THREE, 4), POLICIES.find(name)()
    engine = LiveSite(system)
    plan = engine.plan(policy)
    assert (plan.jobs, plan.procs, plan.command) == ((5, 6), (1, 2), "release 5,6")
    assert plan.lines()[0] == f"job 5, 1 processors: {plan.why[0]}"
    assert plan.lines()[2:] == ["release 5,6"]
    assert system.starts == []
    assert engine.plan(policy) == plan
    run = drive(engine, {"order": policy})
    assert system.starts[0] == (0.0, plan.jobs)
    same_schedule(run, replay(THREE, 4, policy))


def test_a_plan_without_jobs_is_empty_and_a_wrong_one_names_the_policy():
    plan = LiveSite(FakeBatch(JobTable.of([9], [1], [1]), 4, others=[(0.0, 3, 1, 5.0, 5.0)])).plan(
        Answers(lambda view: 1 / 0)
    )
    assert (plan.jobs, plan.lines()) == ((), [])
    with pytest.raises(PolicyError, match=r"^policy 'stub' started a job that does not wait"):
        LiveSite(FakeBatch(THREE, 4)).plan(Answers(lambda view: Start((404,))))
