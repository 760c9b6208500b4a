"""The watchdog lifts the limits of an owner after any end. Owners, hogs and groups here are real."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines.linux.conftest import HOG, SLEEP
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.groups import JobGroups
from windlass.engines.linux.v1 import V1
from windlass.engines.linux.watchdog import watched

#: Limits two jobs in turn, forever; a forked child without exec keeps the pipe to the watchdog open.
OWNER = """
import os, sys, time
from pathlib import Path
from windlass.engines.linux.groups import open_groups
from windlass.engines.linux.watchdog import watched
kind, root, name, forks, *pids = sys.argv[1:]
groups = open_groups(kind, Path(root), name)
with watched(groups) as watchdog:
    child = os.fork() if forks else -1
    if child == 0:
        time.sleep(600)
        os._exit(0)
    print("up", watchdog.pid, child, flush=True)
    while True:
        for job, pid in enumerate(map(int, pids)):
            groups.create(job)
            groups.take(job, lambda: [pid])
            groups.weigh(job, 0.5)
            groups.limit(job, 0)
            groups.limit(job, 0.3)
        groups.release(1)
"""


def owner_of(groups: JobGroups, pids: list[int], forks: bool = False) -> subprocess.Popen[str]:
    arguments = [groups.kind, str(groups.root), groups.name, "forks" if forks else "", *map(str, pids)]
    return subprocess.Popen([sys.executable, "-c", OWNER, *arguments], stdout=subprocess.PIPE, text=True)


def until(state: Callable[[], bool], what: str) -> None:
    """Poll until a condition holds; the bound only ends a test that never would."""
    for _ in range(18_000):
        if state():
            return
        time.sleep(0.01)
    pytest.fail(f"never came about: {what}")


def ended(pid: int) -> bool:
    """True if a process has ended, also if it is a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def restored(groups: JobGroups, pids: list[int]) -> bool:
    """True if no group is left, and the processes are in their original groups."""
    if groups.base.exists():
        return False
    homes = [Path(f"/proc/{pid}/cgroup").read_text() for pid in pids]
    return not any(groups.name in home for home in homes)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_limits_end_with_an_owner_killed_at_any_time(
    real: JobGroups, started: Callable[..., int], seed: int
) -> None:
    pids = [started(HOG), started(HOG)]
    owner = owner_of(real, pids)
    assert owner.stdout is not None
    # Some are killed before their watchdog is up; then nothing is limited.
    if seed % 4:
        owner.stdout.readline()
    time.sleep(random.Random(seed).uniform(0, 0.3))
    owner.kill()
    owner.wait()
    owner.stdout.close()
    until(lambda: restored(real, pids), "limits lifted after kill -9")
    assert not any(ended(pid) for pid in pids)


@pytest.mark.matrix
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGSEGV])
def test_limits_end_with_an_owner_ended_by_any_signal(
    real: JobGroups, started: Callable[..., int], how: signal.Signals
) -> None:
    pids = [started(SLEEP)]
    owner = owner_of(real, [*pids, *pids])
    assert owner.stdout is not None
    watchdog = int(owner.stdout.readline().split()[1])
    until(lambda: real.jobs() == [0, 1], "both jobs have a group")
    owner.send_signal(how)
    owner.wait()
    owner.stdout.close()
    until(lambda: restored(real, pids), "limits lifted")
    until(lambda: ended(watchdog), "the watchdog ends")


def test_a_surviving_fork_of_the_owner_does_not_delay_the_release(
    real: JobGroups, started: Callable[..., int]
) -> None:
    pids = [started(SLEEP)]
    owner = owner_of(real, [*pids, *pids], forks=True)
    assert owner.stdout is not None
    child = int(owner.stdout.readline().split()[2])
    try:
        until(lambda: bool(real.jobs()), "a job has a group")
        owner.kill()
        owner.wait()
        until(lambda: restored(real, pids), "limits lifted")
        assert not ended(child)
    finally:
        os.kill(child, signal.SIGKILL)
        owner.stdout.close()


def test_signals_for_the_owner_do_not_end_the_watchdog(real: JobGroups, started: Callable[..., int]) -> None:
    pid = started(SLEEP)
    with watched(real) as watchdog:
        real.create(1)
        real.take(1, lambda: [pid])
        real.limit(1, 0.2)
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            os.kill(watchdog.pid, each)
        assert watchdog.poll() is None
        assert os.getsid(watchdog.pid) == watchdog.pid
        assert real.jobs() == [1]
    assert restored(real, [pid])
    assert watchdog.returncode == 0


def test_a_killed_watchdog_is_an_error(real: JobGroups) -> None:
    def loses_it() -> None:
        with watched(real) as watchdog:
            os.kill(watchdog.pid, signal.SIGKILL)
            until(lambda: watchdog.poll() is not None, "it has ended")

    with pytest.raises(GroupError, match="killed by signal 9"):
        loses_it()


@pytest.mark.slow
def test_a_name_has_only_one_driver(real: JobGroups) -> None:
    with watched(real):
        real.create(1)
        with pytest.raises(GroupError, match="another driver has this group"), watched(real):
            pytest.fail("two drivers have the same groups")
        assert real.jobs() == [1]
    with watched(real):
        real.create(2)
    assert real.jobs() == []


def test_an_error_within_the_context_releases_and_propagates(real: JobGroups) -> None:
    def fails() -> None:
        with watched(real):
            real.create(1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert real.jobs() == []


def test_without_groups_the_context_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(GroupError, match="expected the controller cpu"), watched(V1(tmp_path)):
        pytest.fail("there is nothing to watch")


def test_the_watchdog_imports_no_library() -> None:
    code = "import sys, windlass.engines.linux.watchdog; print(*{name.split('.')[0] for name in sys.modules})"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "windlass" in output.split()
    assert not {"numpy", "numba", "pydantic", "yaml", "polars", "scipy", "typer", "rich"} & set(
        output.split()
    )


@pytest.mark.slow
def test_a_group_that_cannot_be_released_is_an_error(real: JobGroups) -> None:
    def leaves_a_group_inside() -> None:
        with watched(real):
            real.create(1)
            real.create(2)
            (real.base / "job_1" / "somebody_s").mkdir()

    try:
        with pytest.raises(GroupError, match="job_1: cannot remove the group"):
            leaves_a_group_inside()
        assert real.jobs() == [1]
    finally:
        (real.base / "job_1" / "somebody_s").rmdir()
