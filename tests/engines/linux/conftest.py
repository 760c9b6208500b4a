"""Imitations of both cgroup hierarchies, and the real one of this machine if it is usable."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.engines.linux.imitation import Kernel, tree_v1, tree_v2
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.groups import JobGroups, detect_groups
from windlass.engines.linux.v1 import V1
from windlass.engines.linux.v2 import V2

#: Code of an idle process.
SLEEP = "import sys; print('up', flush=True); sys.stdin.read()"
#: Code of a process that uses a whole core; it prints a line when it starts.
HOG = "print('up', flush=True)\nwhile True: pass"


@dataclass
class Place:
    """Groups, and processes that can be moved into them."""

    groups: JobGroups
    process: Callable[[], int]
    end: Callable[[int], None]
    #: Reads a limit back: (quota µs, period µs), quota −1 for none.
    limit_of: Callable[[int], tuple[int, int]]


def imitated(groups: JobGroups, kernel: Kernel, proc: Path) -> Place:
    def process() -> int:
        pid = 1000 + len(kernel.alive)
        kernel.alive.add(pid)
        for top in (each for each in kernel.root.iterdir() if each.is_dir()):
            kernel.move(top, pid)
        (proc / str(pid)).mkdir(parents=True)
        (proc / str(pid) / "cgroup").write_text("3:cpuset:/\n2:cpuacct:/\n1:cpu:/\n0::/\n")
        return pid

    return Place(groups, process, kernel.end, lambda job: limit_of(groups, job))


def limit_of(groups: JobGroups, job: int) -> tuple[int, int]:
    folder = groups.base / f"job_{job}"
    if groups.kind == "v2":
        quota, period = (folder / "cpu.max").read_text().split()
        return (-1 if quota == "max" else int(quota)), int(period)
    return int((folder / "cpu.cfs_quota_us").read_text()), int((folder / "cpu.cfs_period_us").read_text())


@pytest.fixture
def real() -> Iterator[JobGroups]:
    """Groups of this machine under their own name; always released at the end."""
    try:
        groups = detect_groups(name=f"windlass-test-{os.getpid()}")
    except GroupError as error:
        pytest.skip(f"no control groups to use here: {error}")
    yield groups
    groups.release_all()


@pytest.fixture
def started() -> Iterator[Callable[..., int]]:
    """Return a function that starts Python code and waits until it is up; end all processes at the end."""
    processes: list[subprocess.Popen[str]] = []

    def start(code: str, *arguments: str) -> int:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        return process.pid

    yield start
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()


@pytest.fixture(params=["v1", "v2", "real"])
def place(request: pytest.FixtureRequest, tmp_path: Path, started: Callable[..., int]) -> Place:
    """Groups of each hierarchy."""
    if request.param == "real":
        groups = request.getfixturevalue("real")
        return Place(
            groups,
            lambda: started(SLEEP),
            lambda pid: os.kill(pid, 9),
            lambda job: limit_of(groups, job),
        )
    kernel = Kernel(tmp_path / "groups")
    proc = tmp_path / "proc"
    if request.param == "v1":
        return imitated(V1(tree_v1(kernel.root), files=kernel, proc=proc, cores=2), kernel, proc)
    return imitated(V2(tree_v2(kernel.root), files=kernel, cores=2), kernel, proc)
