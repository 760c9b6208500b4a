"""No array is accessed out of bounds: a small case runs with bounds checks compiled in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.coupled.bounds import RUNS

_ROOT = Path(__file__).parents[2]


# Compiles all functions anew, which takes a minute and a half.
@pytest.mark.nightly
@pytest.mark.slow
def test_no_index_is_out_of_bounds(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    environment["PYTHONPATH"] = os.pathsep.join([str(_ROOT), str(_ROOT / "src")])
    ran = subprocess.run(
        [sys.executable, "-m", "tests.coupled.bounds"],
        cwd=_ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    # An error in a policy's function, which is called by address, is only printed.
    assert "Error" not in ran.stderr, ran.stderr[-2000:]
    lines = ["indices checked: True", *["killed and moved: True True"] * len(RUNS)]
    assert ran.stdout.splitlines()[: len(lines)] == lines
