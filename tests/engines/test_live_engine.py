"""The live engine step by step in virtual time: calls of the policy, and the result of a run, by hand."""

import numpy as np
import pytest

from tests.engines.fake import FakeExecutor
from windlass.drive import drive
from windlass.engines.live.engine import LiveFleet
from windlass.engines.live.executor import Gone
from windlass.engines.live.program import LiveProgram, StageProgram
from windlass.model import PolicyError
from windlass.model.fleet import Fleet, FleetJobs, StageSpec
from windlass.place.view import Placement

TWO = Fleet.of([1, 2], [1e6, 4e6], [2e6, 2e6])


class AnswersInTurn:
    """A policy that returns given answers in turn and records its views; afterwards it starts nothing."""

    name = "asked"

    def __init__(self, *answers):
        self.answers, self.views = list(answers), []

    def decide(self, view):
        self.views.append(view)
        return self.answers.pop(0) if self.answers else start()


def start(*starts, **more):
    rows = np.array([each[:4] for each in starts], np.int64).reshape(-1, 4)
    why = np.array([each[4] if len(each) > 4 else 0 for each in starts], np.int64)
    return Placement(rows, why, ("first", "second"), **more)


def test_times_of_a_run_count_from_the_end_of_loading():
    stages = [
        StageSpec(2.0, here=(1, 2), task_bytes=1e6, ratio=0.5), StageSpec(1.0, tasks=1, parents=(0,), ratio=0.0),
    ]  # fmt: skip
    jobs = FleetJobs.of([0.0], [stages])
    executor = FakeExecutor(TWO, overhead=0.25, load_s=3.0)
    progress = []
    policy = AnswersInTurn(
        # The first site's input is read from the second, and one of the second's stays; the third must wait.
        start((0, 0, 1, 1), (0, 1, 1, 1, 1)), start((0, 1, 0, 1, 1)), start((0, -1, 0, 1)),
    )  # fmt: skip
    run = drive(LiveFleet(TWO, jobs, executor, progress=progress.append), {"place": policy})
    # Loading takes 3 s, before time 0; each launch takes 0.25 s to start. The policy is called when
    # something has changed: when the second task has ended, and when the whole input of the last one is written.
    assert [view.now for view in policy.views] == pytest.approx([0.0, 2.25, 5.0])
    assert run.launched == pytest.approx([0.0, 0.0, 2.25, 5.0])
    assert run.begun == pytest.approx([0.25, 0.25, 2.5, 5.25])
    # A MB comes up at 1 MB/s from the first site, and down at 2 MB/s to it.
    assert run.read == pytest.approx([1.25, 0.25, 3.0, 5.75])
    assert run.computed == pytest.approx([3.25, 2.25, 5.0, 6.75])
    assert run.reported == pytest.approx(run.computed)
    assert run.site.tolist() == [1, 1, 0, 0]
    assert run.source.tolist() == [0, 1, 1, -1]
    assert run.tries.tolist() == [1, 1, 1, 1]
    assert run.decisions == len(policy.views)
    assert run.reasons == {"first": 2, "second": 2}
    assert run.end[0] == pytest.approx(run.computed[3])
    assert progress == [0.25, 0.5, 0.75, 1.0]
    assert run.results == ()


def test_bytes_between_sites_are_counted_once():
    stages = [
        StageSpec(1.0, here=(1, 1), task_bytes=1e6, ratio=0.5),
        StageSpec(1.0, tasks=1, parents=(0,), ratio=0.0),
    ]
    jobs = FleetJobs.of([0.0, 0.0], [stages, [StageSpec(1.0, here=(1, 0), task_bytes=500.0)]])
    policy = AnswersInTurn(
        start((0, 0, 0, 1), (0, 1, 1, 1), moves=np.empty((0, 4), np.int64)),
        start((1, -1, 1, 1)),
        start((2, 0, 1, 1)),
    )
    # Rows are those of the ready stages; indices of later stages shift.
    policy.decide = lambda view, inner=policy.decide: _by_job(view)
    run = drive(LiveFleet(TWO, jobs, FakeExecutor(TWO)), {"place": policy})
    assert run.sent.tolist() == [5e5, 500.0]
    assert run.carried.tolist() == [[0.0, 5e5 + 500.0], [0.0, 0.0]]
    assert run.site.tolist() == [0, 1, 1, 1]


def _by_job(view):
    """The first job's maps at home and its last stage at the second site; the other job's map away from its input."""
    starts, free = [], view.sites.free.copy()
    for row, job in enumerate(view.ready.job.tolist()):
        for source in range(2) if not view.ready.shuffles[row] else (-1,):
            site = 1 if job == 1 or source < 0 else source
            tasks = int(view.ready.waiting[row] if source < 0 else view.ready.here[row, source])
            tasks = min(tasks, int(free[site]))
            if tasks:
                starts.append((row, source, site, tasks))
                free[site] -= tasks
    return start(*starts)


def maps(seconds=1.0, submit=(0.0,), here=(1, 0)):
    return FleetJobs.of(list(submit), [[StageSpec(seconds, here=here, task_bytes=8.0)] for _ in submit])


def test_a_policy_that_starts_nothing_is_called_every_0_5_s_for_30_s():
    policy, executor = AnswersInTurn(), FakeExecutor(TWO)
    with pytest.raises(PolicyError, match="leaves tasks of 1 jobs waiting for ever"):
        drive(LiveFleet(TWO, maps(), executor), {"place": policy})
    times = [view.now for view in policy.views]
    assert np.diff(times).min() >= 0.5 - 1e-6
    assert np.diff(times).max() <= 0.51
    assert 30.0 < executor.time < 31.0
    assert executor.closed == 1


def test_decide_every_limits_the_calls_of_a_policy():
    policy = AnswersInTurn(start((0, 0, 0, 1)), *[start((0, 0, 0, 1))] * 3)
    jobs = maps(0.25, (0.0, 0.0, 3.0, 3.1))
    run = drive(LiveFleet(TWO, jobs, FakeExecutor(TWO), decide_every=1.0), {"place": policy})
    times = [view.now for view in policy.views]
    # The second job's task ends at 1.25; decisions for the jobs of 3 and 3.1 are a second apart.
    assert times == pytest.approx([0.0, 1.0, 3.0, 4.0])
    assert run.begun == pytest.approx([0.0, 1.0, 3.0, 4.0])
    assert [view.moved for view in policy.views] == [True, True, True, True]
    assert [view.changed for view in policy.views] == [False] * 4
    assert [view.ready.since.tolist() for view in policy.views] == [
        [0.0, 0.0],
        [0.0],
        [3.0],
        [pytest.approx(3.1)],
    ]


def test_a_policy_is_called_at_its_wake_time():
    policy = AnswersInTurn(start(wake=0.2), start(wake=7.0), start((0, 0, 0, 1)))
    drive(LiveFleet(TWO, maps(5.0), FakeExecutor(TWO)), {"place": policy})
    # Called again at the requested time, and every half second while nothing runs.
    assert [view.now for view in policy.views][:3] == pytest.approx([0.0, 0.2, 0.7])


def test_a_plan_is_kept_until_the_next_one():
    policy = AnswersInTurn(start(plan=np.array([[4, 5]])), start(), start((0, 0, 0, 1)))
    drive(LiveFleet(TWO, maps(), FakeExecutor(TWO)), {"place": policy})
    assert [view.ready.plan.tolist() for view in policy.views[:3]] == [[[-1, -1]], [[4, 5]], [[4, 5]]]


def test_moved_input_is_read_at_its_new_site():
    moves = np.array([[0, 0, 1, 1]])
    policy = AnswersInTurn(start(moves=moves), start((0, 1, 1, 1)))
    run = drive(LiveFleet(TWO, FleetJobs.of([0.0], [[StageSpec(1.0, here=(1, 0), task_bytes=2e6)]]), FakeExecutor(TWO)),
                {"place": policy})  # fmt: skip
    # Two MB up at 1 MB/s.
    assert policy.views[-1].now == pytest.approx(2.0)
    assert policy.views[-1].ready.here.tolist() == [[0, 1]]
    assert (run.source.tolist(), run.site.tolist()) == ([1], [1])
    assert run.carried.tolist() == [[0.0, 2e6], [0.0, 0.0]]
    assert run.sent.tolist() == [2e6]
    assert run.begun[0] == run.read[0] == pytest.approx(2.0)


def test_a_lost_worker_is_handled_once():
    executor = FakeExecutor(TWO, nodes=2, deaths=[(0.5, 1)])
    engine = LiveFleet(TWO, maps(2.0), executor)
    policy = AnswersInTurn(start((0, 0, 0, 1)), start((0, 0, 0, 1)))
    original = executor.poll

    def twice(timeout):
        return [
            each
            for event in original(timeout)
            for each in ([event, event] if isinstance(event, Gone) else [event])
        ]

    executor.poll = twice
    drive(engine, {"place": policy})
    assert executor.closed == 1
    assert [view.changed for view in policy.views] == [False]


def test_results_are_listed_by_job_stage_and_task():
    jobs = FleetJobs.of(
        [0.0, 0.0],
        [[StageSpec(0.0, here=(1, 0), task_bytes=3.0)], [StageSpec(0.0, here=(1, 1), task_bytes=2.0)]],
    )
    steps = [StageProgram(), StageProgram(function=lambda inputs, parts: [b"<" + b"".join(inputs) + b">"])]
    engine = LiveFleet(TWO, jobs, FakeExecutor(TWO), program=LiveProgram(jobs, steps))
    policy = AnswersInTurn()
    policy.decide = _by_job
    run = drive(engine, {"place": policy})
    assert run.results == ((1, 1, 0, b"<\0\0>"), (1, 1, 1, b"<\0\0>"))
    assert run.fleet.slots.tolist() == [1, 2]
