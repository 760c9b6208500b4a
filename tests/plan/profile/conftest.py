"""A short synthetic clip, drawn once, and its true tracks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Drawn:
    """A clip and its true tracks on disk."""

    clip: Path
    truth: Path


@pytest.fixture(scope="session")
def drawn(tmp_path_factory) -> Drawn:
    pytest.importorskip("cv2", reason="the extra `vision` is not installed")
    from windlass.plan.profile.traffic.making import make_clip
    from windlass.plan.profile.traffic.scene import Traffic

    folder = tmp_path_factory.mktemp("clip")
    found = Drawn(folder / "clip.mp4", folder / "truth.csv")
    make_clip(Traffic(3, seconds=0.5, density=2.0, width=256, height=180), found.clip, found.truth)
    return found
