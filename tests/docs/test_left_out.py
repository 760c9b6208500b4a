"""The files that ``conftest.py`` leaves out where an extra is missing exist."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_pattern_matches_a_file():
    names = runpy.run_path(str(ROOT / "conftest.py"))
    patterns = [each for name, value in names.items() if name.startswith("_NEED") for each in value]
    assert len(patterns) > 10
    assert [pattern for pattern in patterns if not list(ROOT.glob(pattern))] == []
