"""The resource use of jobs as columns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.workloads import CHECK
from windlass.model import InputError
from windlass.model.use import JobUse, UseStage

_STAGE = st.builds(
    UseStage, st.floats(0, 1e6), st.floats(0, 100), st.floats(0, 100), st.booleans(), st.floats(0, 1e6)
)


@CHECK
@given(st.lists(st.lists(_STAGE, min_size=1, max_size=4), max_size=5), st.integers(1, 64))
def test_columns_hold_the_values_of_the_stages(stages: list[list[UseStage]], cores: int) -> None:
    count = len(stages)
    use = JobUse.of(["a"] * count, [1e9] * count, stages)
    assert len(use) == count
    assert use.run().tolist() == pytest.approx(
        [sum(each.seconds for each in own_stages) for own_stages in stages]
    )
    used = [sum(each.seconds * each.cpu / 100.0 for each in own_stages) * cores for own_stages in stages]
    assert use.core_seconds(np.full(count, cores)).tolist() == pytest.approx(used, abs=1e-6)
    for job, own_stages in enumerate(stages):
        rows = use.stages(job)
        assert use.cpu[rows].tolist() == [each.cpu for each in own_stages]
        assert use.used[rows].tolist() == [each.memory for each in own_stages]
        assert use.tasks[rows].tolist() == [each.tasks for each in own_stages]
        assert use.parallel[rows].tolist() == [each.parallel for each in own_stages]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seconds": -1.0}, "job 1, stage 0: seconds is -1.0"),
        ({"seconds": math.inf}, "seconds is inf"),
        ({"seconds": math.nan}, "seconds is nan"),
        ({"cpu": 100.5}, "cpu is 100.5"),
        ({"memory": -0.1}, "memory is -0.1"),
        ({"memory": 101.0}, "memory is 101"),
        ({"tasks": -1.0}, "tasks is -1"),
        ({"tasks": math.inf}, "tasks is inf"),
    ],
)
def test_stages_out_of_bounds_are_rejected(changed: dict[str, float], message: str) -> None:
    bad = UseStage(**{"seconds": 1.0, "cpu": 1.0, **changed})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        JobUse.of(["a", "b"], [0.0, 0.0], [[UseStage(1.0, 1.0)], [bad]])


def test_a_job_without_a_stage_is_rejected() -> None:
    with pytest.raises(InputError, match="job 1 has no stage"):
        JobUse.of(["a", "b"], [0.0, 0.0], [[UseStage(1.0, 1.0)], []])


@pytest.mark.parametrize(
    ("classes", "memory", "message"),
    [
        (["a"], [0.0, 0.0], "1 classes, 2 memories and stages of 2 jobs"),
        (["a", "b"], [0.0], "2 classes, 1 memories and stages of 2 jobs"),
        (["a", "b"], [0.0, -1.0], "job 1: memory is -1.0"),
        (["a", "b"], [math.nan, 0.0], "job 0: memory is nan"),
    ],
)
def test_columns_of_different_lengths_and_invalid_memory_are_rejected(
    classes: list[str], memory: list[float], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        JobUse.of(classes, memory, [[UseStage(1.0, 1.0)]] * 2)


def test_whole_numbers_become_float_columns() -> None:
    use = JobUse.of(["a"], [1], [[UseStage(2, 3, 4, True, 5)]])
    for name in ("memory", "cpu", "used", "tasks"):
        assert getattr(use, name).dtype == np.float64, name
