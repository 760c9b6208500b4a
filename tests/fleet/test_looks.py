"""Links that are polled rarely, worked out by hand; and the task durations that a live fleet estimates."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fleet.test_plain_fleet import answer
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.order.fleet.policies.fcfs import Fcfs
from windlass.sim.fleet import run_ordered, run_placed
from windlass.sim.fleet.durations import MeasuredDurations

#: One byte a second from the first site to the second, which alone has slots.
FLEET = Fleet.of([0, 4], [1.0, 1.0], [1.0, 1.0])


class AtOnce:
    """Start all waiting tasks at the second site."""

    name = "at once"

    def decide(self, view):
        starts = [(row, 0, 1, int(count)) for row, count in enumerate(view.ready.waiting)]
        return answer(view, starts, [], why=[0] * len(starts))


@pytest.mark.parametrize(
    ("look_every", "read", "flows"),
    [
        (0.0, [3.0, 8.0], [(0.0, 3.0), (5.0, 8.0)]),
        # Polls are at 4, 8 and 12 s: the first read begins at 4 and ends at 7, the other begins at 8 and ends at 11.
        (4.0, [8.0, 12.0], [(0.0, 7.0), (5.0, 11.0)]),
        # Polls at 2, 5 and 7 s; the second job arrives at 5 s, and its read begins at 7 s.
        (2.0, [5.0, 10.0], [(0.0, 5.0), (5.0, 10.0)]),
    ],
)
def test_reads_start_and_end_at_polls(look_every, read, flows):
    jobs = FleetJobs.of([0.0, 5.0], [[StageSpec(1.0, here=(1, 0), task_bytes=3.0)]] * 2)
    for run in (
        run_placed(FleetCase(FLEET, jobs), AtOnce(), look_every=look_every, log=True),
        run_ordered(FleetCase(FLEET, jobs), Fcfs(), look_every=look_every, log=True),
    ):
        assert run.read.tolist() == read
        assert run.flows[:, :2].tolist() == [list(each) for each in flows]
        assert run.flows[:, 2:5].tolist() == [[3.0, 0.0, 1.0]] * 2
        assert run.computed.tolist() == [each + 1.0 for each in read]


def test_estimates_are_means_of_the_closest_finished_tasks():
    stages = [
        StageSpec(1.0, here=(9,), estimate_s=7.0),
        StageSpec(1.0, tasks=9, parents=(0,), estimate_s=8.0),
    ]
    jobs = FleetJobs.of([0.0, 0.0, 0.0], [stages] * 3)
    durations, true = MeasuredDurations(jobs, "finished"), MeasuredDurations(jobs, "true")
    assert durations.seconds().tolist() == [1.0] * 6
    finished = {stage: [] for stage in range(6)}
    rng = np.random.default_rng(1)
    # No task of the last job has finished, and none of the second stage of the job before.
    for stage in (2, 0, 1, 0, 2, 1, 1):
        seconds = float(rng.uniform(0.5, 9.0))
        finished[stage].append(seconds)
        for each in (durations, true):
            each.take(stage, seconds)
        everywhere = [one for of in finished.values() for one in of]
        expected = [
            np.mean(finished[k] or finished[k - k % 2] + finished[k - k % 2 + 1] or everywhere)
            for k in range(6)
        ]
        np.testing.assert_allclose(durations.seconds(), expected)
        assert true.seconds().tolist() == [7.0, 8.0] * 3
