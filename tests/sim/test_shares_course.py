"""Progress of a job through its stages: zero lengths, ends, and readings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.workloads import CHECK
from windlass.model.use import JobUse, UseStage
from windlass.sim.shares.course import JobStages

_STAGES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 1.0, 7.3]), st.floats(0, 100), st.sampled_from([0.0, 0.1, 7.7])),
    min_size=1,
    max_size=4,
)


@CHECK
@given(_STAGES, st.lists(st.floats(0, 1), min_size=1, max_size=10).map(sorted), st.floats(0, 1))
def test_readings_match_the_use_of_the_stages(
    drawn: list[tuple[float, float, float]], parts: list[float], noise: float
) -> None:
    stages = [UseStage(seconds, cpu, memory=cpu, tasks=tasks) for seconds, cpu, tasks in drawn]
    use = JobUse.of(["a"], [8e9], [stages])
    course = JobStages(use, 0, cores=3, noise=noise, rng=np.random.default_rng(1))
    run, previous = float(use.run()[0]), 0.0
    for done in sorted([*(part * run for part in parts), np.nextafter(run, 0.0), run]):
        read = course.read(float(done), at=5.0, waited=0.0)
        used, left, begin = 0.0, 0.0, 0.0
        for stage in stages:
            part = 1.0 if stage.seconds == 0.0 else np.clip((done - begin) / stage.seconds, 0.0, 1.0)
            if stage.seconds == 0.0 and begin > done:
                part = 0.0
            used += part * stage.seconds * stage.cpu / 100.0 * 3
            left += (1.0 - part) * stage.tasks
            begin += stage.seconds
        assert read.cpu == pytest.approx(used, abs=1e-6)
        assert read.left == pytest.approx(left, abs=1e-5)
        assert read.left >= 0.0
        assert read.done >= previous
        previous = read.done
        assert read.memory == max(stage.memory for stage in stages[: read.stage + 1]) / 100.0 * 8e9
    assert (read.left, read.stage) == (0.0, len(stages) - 1)


def test_remaining_tasks_are_never_negative() -> None:
    # Just before the end of this job, interpolation gives slightly more than all of its tasks.
    use = JobUse.of(
        ["a"],
        [0.0],
        [[UseStage(0.4672210209220029, 0.0, tasks=0.1), UseStage(2.9562148069055225, 0.0, tasks=7.7)]],
    )
    course = JobStages(use, 0, cores=1, noise=0.0, rng=np.random.default_rng(1))
    ends = float(use.run()[0]) * (1.0 - np.arange(20) * 1e-16)
    assert min(course.read(float(done), at=0.0, waited=0.0).left for done in ends[::-1]) >= 0.0


def test_without_noise_task_counts_are_exact() -> None:
    use = JobUse.of(["a"], [0.0], [[UseStage(10.0, 0.0, tasks=20.0)]])
    course = JobStages(use, 0, cores=1, noise=0.0, rng=np.random.default_rng(1))
    assert [course.read(done, 0.0, 0.0).done for done in (1.0, 4.0, 10.0)] == [2.0, 8.0, 20.0]
