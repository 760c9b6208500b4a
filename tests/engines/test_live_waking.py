"""Waits of the live engine in virtual time: exactly until the next due event, by hand."""

import pytest

from tests.engines.fake import FakeExecutor
from tests.engines.test_live_engine import AnswersInTurn, start
from windlass.drive import drive
from windlass.engines.live.engine import LiveFleet
from windlass.model.fleet import Fleet, FleetJobs, StageSpec
from windlass.place.policies.in_place import InPlace

FLEET = Fleet.of([3], [1e6], [1e6])


class Noting(FakeExecutor):
    """An executor that records its waits: time and duration."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.waits = []

    def poll(self, timeout):
        assert timeout >= 0
        if timeout:
            self.waits.append((self.time, timeout))
        return super().poll(timeout)


def drive_jobs(policy, seconds, submit, **more):
    stages = [[StageSpec(each, here=(1,), task_bytes=8.0)] for each in seconds]
    executor = Noting(FLEET)
    drive(LiveFleet(FLEET, FleetJobs.of(submit, stages), executor, **more), {"place": policy})
    return [view.now for view in policy.views], executor.waits


ONE = start((0, 0, 0, 1))


def test_the_wake_time_of_a_policy_counts_from_time_zero():
    # The first job runs until 9.0; the second comes at 3.0, and its policy waits until 3.2, then until 3.9.
    policy = AnswersInTurn(ONE, start(wake=3.2), start(wake=3.9), ONE)
    calls, waits = drive_jobs(policy, [9.0, 0.5], [0.0, 3.0])
    assert calls == pytest.approx([0.0, 3.0, 3.2, 3.9])
    assert any(at == pytest.approx(3.0) and wait == pytest.approx(0.2) for at, wait in waits)


def test_the_engine_waits_exactly_until_a_job_or_decision_is_due():
    policy = AnswersInTurn(ONE, ONE, ONE)
    calls, waits = drive_jobs(policy, [9.0, 0.5, 0.5], [0.0, 3.3, 3.4], decide_every=0.2)
    # The job of 3.4 must wait until 0.2 s after the decision at 3.3.
    assert calls == pytest.approx([0.0, 3.3, 3.5])
    assert all(wait <= 0.5 for _, wait in waits)
    assert any(at == pytest.approx(3.0) and wait == pytest.approx(0.3) for at, wait in waits)
    assert any(at == pytest.approx(3.4) and wait == pytest.approx(0.1) for at, wait in waits)


def test_without_a_due_event_the_engine_polls_twice_a_second():
    policy = AnswersInTurn(ONE)
    _, waits = drive_jobs(policy, [2.0], [0.0])
    # The first wait is for loading: until then the engine polls four times a second.
    assert [at for at, _ in waits] == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.5])
    assert [wait for _, wait in waits] == pytest.approx([0.25, 0.5, 0.5, 0.5, 0.5])


def test_a_resting_task_is_sent_when_its_rest_is_over():
    # The first of two workers dies unnoticed at 1.0; tasks sent to it fail at once until 1.6.
    executor = Noting(Fleet.of([2], [1e6], [1e6]), nodes=2, deaths=[(1.0, 0)], notice=0.6, fails=True)
    jobs = FleetJobs.of([1.1], [[StageSpec(2.0, here=(1,), task_bytes=8.0)]])
    policy = AnswersInTurn(ONE, ONE, ONE)
    run = drive(LiveFleet(executor.fleet, jobs, executor), {"place": policy})
    assert [view.now for view in policy.views] == pytest.approx([1.1, 1.35, 1.85])
    assert run.tries.tolist() == [3]
    assert run.launched == pytest.approx([1.85])
    assert run.end == pytest.approx([3.85])
    # The death is noticed in between, and the engine waits for the remaining rest.
    assert [wait for at, wait in executor.waits if 1.1 <= at < 1.85] == pytest.approx([0.25, 0.5, 0.25])


@pytest.mark.parametrize("begins", [4096.0, -64.0])
def test_the_origin_of_an_executor_s_clock_changes_nothing(begins):
    found = []
    for zero in (0.0, begins):
        executor = Noting(Fleet.of([2], [1e6], [1e6]), nodes=2, deaths=[(zero + 2.5, 1)], load_s=0.5)
        executor.time = zero
        policy, looks = InPlace(), []
        jobs = FleetJobs.of([0.0, 1.5], [[StageSpec(each, here=(1,), task_bytes=8.0)] for each in (4.0, 1.0)])
        engine = LiveFleet(executor.fleet, jobs, executor, decide_every=0.25)
        run = drive(engine, {"place": policy}, lambda decision, view, answer, to=looks: to.append(view.now))
        columns = run.begun, run.read, run.computed, run.launched, run.reported, run.end
        times = [time for column in columns for time in column.tolist()]
        found.append([*times, *looks, executor.time - zero])
    assert found[1] == pytest.approx(found[0])
