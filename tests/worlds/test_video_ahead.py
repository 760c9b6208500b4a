"""What planners have compiled is known before a run begins."""

from __future__ import annotations

import pytest

from tests.ahead import said_and_called
from windlass.experiment.worlds.video.spec import VideoSetting
from windlass.experiment.worlds.video.world import Video
from windlass.plan import POLICIES
from windlass.plan.lib.greedy import CLIMB
from windlass.plan.lib.search import IMPROVE

#: Who calls the greedy, whatever the queries are; `optimal` does where its solver finds nothing.
CLIMBING = {"cascade", "merge-everything", "merged", "refined", "same-location", "static", "steady"}


@pytest.mark.parametrize("name", POLICIES.names())
def test_all_that_a_run_calls_is_said_ahead(name, monkeypatch):
    """Else it is compiled in the middle of the run, and the display of progress knows nothing of it."""
    setting = VideoSetting.model_validate(
        {
            "cluster": {"cameras": 3, "private_cores": 3, "cloud_cores": 6},
            "workload": {"seconds": 60, "begin": 4, "drawn": {"kinds": ["counter"]}},
            "policies": {"plan": name},
        }
    )
    said, called = said_and_called(Video(), setting, monkeypatch)
    assert [kernel.python.__qualname__ for kernel in called - set(said)] == []
    assert (CLIMB in called) == (name in CLIMBING)
    assert (IMPROVE in called) == (name in {"refined", "steady"})
