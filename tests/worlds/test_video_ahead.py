"""The kernels that planners compile are announced before a run begins."""

from __future__ import annotations

import pytest

from tests.announced_kernels import announced_and_called_kernels
from windlass.experiment.worlds.video.spec import VideoSetting
from windlass.experiment.worlds.video.world import Video
from windlass.plan import POLICIES
from windlass.plan.lib.greedy import CLIMB
from windlass.plan.lib.search import IMPROVE

#: Planners that call the greedy for all queries; `optimal` calls it if its solver finds no plan.
CLIMBING = {"cascade", "merge-everything", "merged", "refined", "same-location", "static", "steady"}


@pytest.mark.parametrize("name", POLICIES.names())
def test_every_called_kernel_is_announced(name, monkeypatch):
    """Otherwise it is compiled in the middle of the run, without a progress display."""
    setting = VideoSetting.model_validate(
        {
            "cluster": {"cameras": 3, "private_cores": 3, "cloud_cores": 6},
            "workload": {"seconds": 60, "begin": 4, "drawn": {"kinds": ["counter"]}},
            "policies": {"plan": name},
        }
    )
    announced, called = announced_and_called_kernels(Video(), setting, monkeypatch)
    assert [kernel.python.__qualname__ for kernel in called - set(announced)] == []
    assert (CLIMB in called) == (name in CLIMBING)
    assert (IMPROVE in called) == (name in {"refined", "steady"})
