"""The Slurm part of docs/tutorial.md runs as printed on a private Slurm, which is gone afterwards.

``test_pages_run.py`` runs the other commands of the tutorial.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.docs.pages import blocks_of
from windlass.engines.slurm.cluster import SlurmCluster, down
from windlass.engines.slurm.host import missing
from windlass.io.traces import read_trace

PAGE = "docs/tutorial.md"


@pytest.fixture
def home():
    """A short path, as sockets of a private Slurm have names of limited length; its Slurm is stopped at the end."""
    folder = Path(tempfile.mkdtemp(prefix="wt", dir="/tmp"))
    yield folder
    cluster = SlurmCluster.load(folder / ".cache" / "windlass" / "slurm")
    if cluster is not None and cluster.daemons:
        down(cluster.folder)
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.live
def test_the_policy_of_the_tutorial_drives_a_private_slurm(home):
    if reason := missing():
        pytest.skip(reason)
    (policy,) = [block for block in blocks_of(PAGE) if block.file == "smallest.py"]
    (commands,) = [block for block in blocks_of(PAGE) if "slurm up" in block.text]
    (home / "smallest.py").write_text(policy.text)
    (home / "bin").mkdir()
    (home / "bin" / "windlass").write_text(f'#!/bin/sh\nexec {sys.executable} -m windlass "$@"\n')
    (home / "bin" / "windlass").chmod(0o755)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands.text],
        cwd=home,
        env=os.environ | {"HOME": str(home), "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert sorted(read_trace(home / "log.csv").records["run"].to_list()) == pytest.approx(
        [1, 2, 3, 4, 5, 6], abs=2
    )
