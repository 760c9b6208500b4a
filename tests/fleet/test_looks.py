"""Links that are looked at seldom, by hand; and what a live fleet thinks that tasks take."""

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
    """Starts all that waits at the second site."""

    name = "at once"

    def decide(self, view):
        starts = [(row, 0, 1, int(count)) for row, count in enumerate(view.ready.waiting)]
        return answer(view, starts, [], why=[0] * len(starts))


@pytest.mark.parametrize(
    ("look_every", "read", "flows"),
    [
        (0.0, [3.0, 8.0], [(0.0, 3.0), (5.0, 8.0)]),
        # Looks are at 4, 8 and 12 s: the first read begins at 4 and ends at 7, the other begins at 8 and ends at 11.
        (4.0, [8.0, 12.0], [(0.0, 7.0), (5.0, 11.0)]),
        # At 2 and 5 s; the second comes then, and begins at the look at 7 s.
        (2.0, [5.0, 10.0], [(0.0, 5.0), (5.0, 10.0)]),
    ],
)
def test_reads_begin_and_are_noticed_at_looks(look_every, read, flows):
    jobs = FleetJobs.of([0.0, 5.0], [[StageSpec(1.0, here=(1, 0), task_bytes=3.0)]] * 2)
    for run in (
        run_placed(FleetCase(FLEET, jobs), AtOnce(), look_every=look_every, log=True),
        run_ordered(FleetCase(FLEET, jobs), Fcfs(), look_every=look_every, log=True),
    ):
        assert run.read.tolist() == read
        assert run.flows[:, :2].tolist() == [list(each) for each in flows]
        assert run.flows[:, 2:5].tolist() == [[3.0, 0.0, 1.0]] * 2
        assert run.computed.tolist() == [each + 1.0 for each in read]


def test_what_tasks_are_thought_to_take_is_the_mean_of_the_nearest_that_finished():
    stages = [
        StageSpec(1.0, here=(9,), estimate_s=7.0),
        StageSpec(1.0, tasks=9, parents=(0,), estimate_s=8.0),
    ]
    jobs = FleetJobs.of([0.0, 0.0, 0.0], [stages] * 3)
    durations, true = MeasuredDurations(jobs, "finished"), MeasuredDurations(jobs, "true")
    assert durations.seconds().tolist() == [1.0] * 6
    taken = {stage: [] for stage in range(6)}
    rng = np.random.default_rng(1)
    # Nothing of the last job, and nothing of the second stage of the one before.
    for stage in (2, 0, 1, 0, 2, 1, 1):
        seconds = float(rng.uniform(0.5, 9.0))
        taken[stage].append(seconds)
        for each in (durations, true):
            each.take(stage, seconds)
        everywhere = [one for of in taken.values() for one in of]
        expected = [
            np.mean(taken[k] or taken[k - k % 2] + taken[k - k % 2 + 1] or everywhere) for k in range(6)
        ]
        np.testing.assert_allclose(durations.seconds(), expected)
        assert true.seconds().tolist() == [7.0, 8.0] * 3
