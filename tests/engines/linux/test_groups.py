"""Job groups: common behaviour of all hierarchies, imitated or real, and particular behaviour of each."""

from __future__ import annotations

import contextlib
import errno
import math
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.linux.conftest import SLEEP, Place
from tests.engines.linux.imitation import Kernel, tree_v1, tree_v2
from windlass.engines.linux.files import GroupError, pids
from windlass.engines.linux.groups import (
    JobGroups,
    bandwidth,
    detect_groups,
    jobs_below,
    open_groups,
    weighed,
)
from windlass.engines.linux.members import below, descendants, take
from windlass.engines.linux.v1 import V1
from windlass.engines.linux.v2 import V2

#: Linux's flag of an exiting process.
PF_EXITING = 4


def inside(place: Place, job: int) -> set[int]:
    return below(place.groups.base / f"job_{job}")


def test_groups_are_created_listed_and_released(place: Place) -> None:
    groups = place.groups
    assert groups.available() is None
    assert groups.jobs() == []
    groups.create(12)
    groups.create(3)
    groups.create(3)
    assert groups.jobs() == [3, 12]
    assert place.limit_of(3) == (-1, 100_000)
    groups.release(3)
    groups.release(3)
    assert groups.jobs() == [12]
    groups.release_all()
    assert groups.jobs() == []
    assert not groups.base.exists()
    groups.release_all()


@pytest.mark.parametrize(
    ("cores", "written"),
    [(0.75, (75_000, 100_000)), (3, (300_000, 100_000)), (0, (1_000, 1_000_000)), (None, (-1, 100_000))],
)
@pytest.mark.parametrize("before", [0, 0.5, 8, None])
def test_a_limit_is_the_requested_one_whatever_it_was_before(
    place: Place, before: float | None, cores: float | None, written: tuple[int, int]
) -> None:
    place.groups.create(1)
    place.groups.limit(1, before)
    for _ in range(2):
        place.groups.limit(1, cores)
        assert place.limit_of(1) == written


def test_processes_are_moved_in_and_released(place: Place) -> None:
    first, second = place.process(), place.process()
    place.groups.create(1)
    assert place.groups.take(1, lambda: [first, second]) == 2
    assert inside(place, 1) == {first, second}
    assert place.groups.take(1, lambda: [second, first]) == 0
    place.groups.limit(1, 0.5)
    place.groups.release(1)
    home = place.groups.root / ("cpu" if place.groups.kind == "v1" else ".")
    assert {first, second} <= set(map(int, (home / "cgroup.procs").read_text().split()))


def test_ended_processes_are_skipped(place: Place) -> None:
    stays, ends = place.process(), 2**22 - 7
    place.groups.create(1)
    assert place.groups.take(1, lambda: [ends, stays]) == 1
    assert inside(place, 1) == {stays}


def test_children_forked_between_listing_and_moving_are_moved(place: Place) -> None:
    processes = [place.process() for _ in range(4)]
    listed: list[int] = []

    def one_more() -> list[int]:
        listed.append(processes[min(len(listed), 3)])
        return listed

    place.groups.create(1)
    assert place.groups.take(1, one_more) == 4
    assert inside(place, 1) == set(processes)


def test_a_job_with_ever_new_processes_is_an_error(place: Place) -> None:
    numbers = iter(range(10**9, 2 * 10**9))
    place.groups.create(1)
    with pytest.raises(GroupError, match=r"job_1/cgroup\.procs: the job still has new processes after 1000"):
        place.groups.take(1, lambda: [next(numbers)])


@pytest.mark.parametrize("weight", [0.0, -1.0, math.nan, math.inf])
def test_invalid_weights_are_rejected(place: Place, weight: float) -> None:
    place.groups.create(1)
    with pytest.raises(GroupError, match=f"weight is {weight}"):
        place.groups.weigh(1, weight)


@pytest.mark.parametrize("cores", [-0.1, math.nan, math.inf])
def test_invalid_limits_are_rejected(place: Place, cores: float) -> None:
    place.groups.create(1)
    with pytest.raises(GroupError, match=f"limit is {cores} cores"):
        place.groups.limit(1, cores)
    assert place.limit_of(1) == (-1, 100_000)


def test_a_new_group_has_no_usage(place: Place) -> None:
    place.groups.create(1)
    place.groups.take(1, lambda: [place.process()][:0])
    usage = place.groups.usage(1)
    assert usage.throttled == 0
    assert usage.cpu == 0 or math.isnan(usage.cpu)


def test_a_job_without_a_group_is_an_error(place: Place) -> None:
    with pytest.raises(GroupError, match=r"job_9/cpu\.[\w.]+: cannot write .*the group is gone"):
        place.groups.limit(9, 1.0)


def test_groups_of_another_owner_are_left_unchanged(place: Place) -> None:
    mine = place.groups
    other = type(mine)(**{**vars(mine), "name": f"{mine.name}-other"})  # type: ignore[call-arg]
    mine.create(1)
    other.create(1)
    try:
        other.limit(1, 0.5)
        mine.release_all()
        assert other.jobs() == [1]
    finally:
        other.release_all()


# ---- particular behaviour of each hierarchy


def v1_of(folder: Path) -> tuple[V1, Kernel]:
    kernel = Kernel(folder / "groups")
    return V1(tree_v1(kernel.root), files=kernel, proc=folder / "proc", cores=4), kernel


def v2_of(folder: Path, controllers: str = "cpu memory", topmost: bool = True) -> tuple[V2, Kernel]:
    kernel = Kernel(folder / "groups")
    return V2(tree_v2(kernel.root, controllers, topmost), files=kernel, cores=4), kernel


def process_in(kernel: Kernel, proc: Path, pid: int, account: str) -> int:
    kernel.alive.add(pid)
    (proc / str(pid)).mkdir(parents=True)
    (proc / str(pid) / "cgroup").write_text(f"2:cpuacct:{account}\n1:cpu:/\n")
    return pid


def test_v1_accounts_only_for_processes_without_an_account(tmp_path: Path) -> None:
    groups, kernel = v1_of(tmp_path)
    alone = process_in(kernel, tmp_path / "proc", 7, "/")
    slurm_s = process_in(kernel, tmp_path / "proc", 8, "/slurm_n1/uid_0/job_1")
    groups.create(1)
    assert math.isnan(groups.usage(1).cpu)
    groups.take(1, lambda: [alone, slurm_s])
    assert pids(kernel, groups.base / "job_1") == {7, 8}
    assert pids(kernel, groups.accounts / "job_1") == {7}
    (groups.accounts / "job_1" / "cpuacct.usage").write_text("2500000000\n")
    (groups.base / "job_1" / "cpu.stat").write_text(
        "nr_periods 3\nnr_throttled 2\nthrottled_time 500000000\n"
    )
    assert (groups.usage(1).cpu, groups.usage(1).throttled) == (2.5, 0.5)
    groups.release_all()
    assert not groups.base.exists()
    assert not groups.accounts.exists()


def test_v1_weighs_with_shares_and_its_own_group_with_all_cores(tmp_path: Path) -> None:
    groups, _ = v1_of(tmp_path)
    groups.create(1)
    assert (groups.base / "cpu.shares").read_text() == "4096\n"
    groups.weigh(1, 0.25 * 3)
    assert (groups.base / "job_1" / "cpu.shares").read_text() == "768\n"


def test_v2_weighs_with_weights_and_measures_memory_without_cache(tmp_path: Path) -> None:
    groups, _ = v2_of(tmp_path)
    folder = groups.create(1)
    assert (groups.base / "cpu.weight").read_text() == "400\n"
    groups.weigh(1, 0.25)
    assert (folder / "cpu.weight").read_text() == "25\n"
    (folder / "memory.stat").write_text("anon 100\nfile 9000\nshmem 20\n")
    (folder / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\nthrottled_usec 250000\n")
    usage = groups.usage(1)
    assert (usage.cpu, usage.throttled, usage.memory) == (1.5, 0.25, 120)


def test_v2_without_the_memory_controller_still_limits(tmp_path: Path) -> None:
    groups, _ = v2_of(tmp_path, "cpu")
    groups.create(1)
    groups.limit(1, 0.5)
    assert math.isnan(groups.usage(1).memory)


def test_v2_below_another_group_frees_processes_into_a_group_without_limits(tmp_path: Path) -> None:
    groups, kernel = v2_of(tmp_path, topmost=False)
    kernel.alive.add(7)
    groups.create(1)
    groups.take(1, lambda: [7])
    groups.release_all()
    assert groups.jobs() == []
    assert pids(kernel, groups.base / "free") == {7}


def test_v2_without_delegation_is_an_error(tmp_path: Path) -> None:
    groups, _ = v2_of(tmp_path, "hugetlb pids")
    with pytest.raises(GroupError, match=r"cgroup\.controllers: is 'hugetlb pids', expected cpu among them"):
        groups.create(1)
    assert not groups.base.exists()


@pytest.mark.parametrize(
    ("error", "message"),
    [(errno.EROFS, "mounted read-only"), (errno.EACCES, "only root"), (errno.EINVAL, "refuses")],
)
@pytest.mark.parametrize("made", [v1_of, v2_of])
def test_an_error_of_the_kernel_is_one_line_with_file_and_value(
    tmp_path: Path, made: Callable[[Path], tuple[V1 | V2, Kernel]], error: int, message: str
) -> None:
    groups, kernel = made(tmp_path)
    groups.create(1)
    kernel.failing = {"cpu.cfs_quota_us": error, "cpu.max": error}
    with pytest.raises(GroupError, match=r"job_1/cpu\.(cfs_quota_us|max): cannot write '50000") as caught:
        groups.limit(1, 0.5)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("made", [v1_of, v2_of])
def test_all_limits_are_lifted_before_removal_despite_errors(
    tmp_path: Path, made: Callable[[Path], tuple[V1 | V2, Kernel]]
) -> None:
    groups, kernel = made(tmp_path)
    for job in (1, 2, 3):
        groups.create(job)
        groups.limit(job, 0.1)
    stuck = groups.base / "job_2" / "somebody_s"
    stuck.mkdir()
    (stuck / "cgroup.procs").write_text("")
    kernel.written.clear()
    with pytest.raises(GroupError, match=r"job_2: cannot remove the group"):
        groups.release_all()
    limits = [value for name, value in kernel.written if name in ("cpu.cfs_quota_us", "cpu.max")]
    assert [value.split()[0] for value in limits[:3]] in (["-1"] * 3, ["max"] * 3)
    assert groups.jobs() == [2]


def test_the_error_without_groups_names_each_hierarchy(tmp_path: Path) -> None:
    with pytest.raises(GroupError) as caught:
        detect_groups(tmp_path)
    assert "v1: " in str(caught.value)
    assert str(tmp_path / "unified") in str(caught.value)
    with pytest.raises(GroupError, match="hierarchy is 'v3', expected one of v1, v2"):
        open_groups("v3", tmp_path, "windlass")


def test_other_folders_are_not_jobs(tmp_path: Path) -> None:
    for name in ("job_1", "job_x", "job_", "job_2 ", "free", "xjob_3"):
        (tmp_path / name).mkdir()
    (tmp_path / "job_4").write_text("")
    assert jobs_below(tmp_path) == [1]


@given(st.floats(0, 10_000))
def test_a_quota_is_the_requested_one_within_the_kernel_s_bounds(cores: float) -> None:
    quota, period = bandwidth(cores)
    assert quota >= 1000
    assert 1000 <= period <= 1_000_000
    assert quota / period == pytest.approx(cores, abs=0.001)


@given(st.floats(0.001, 1e6), st.floats(0.001, 1e6))
def test_weights_keep_their_order(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 2 <= weighed(low, 1024, 2, 262_144) <= weighed(high, 1024, 2, 262_144) <= 262_144


# ---- real processes


def test_descendants_are_found_through_generations(started: Callable[..., int]) -> None:
    family = (
        "import subprocess, sys; code = sys.argv[1]\n"
        "p = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True)\n"
        "p.stdout.readline(); print('up', flush=True); sys.stdin.read(); p.kill()"
    )
    pid = started(family, SLEEP)
    found_ones = descendants([pid, 2**22 - 7])
    assert len(found_ones) == 2
    assert pid in found_ones
    assert os.getpid() not in found_ones


def test_a_constantly_forking_job_is_moved_completely(real: JobGroups, started: Callable[..., int]) -> None:
    """Two of its threads fork short-lived children, so any listing is outdated at once."""
    forks = (
        "import os, threading, time\n"
        "def go():\n"
        "    while True:\n"
        "        pid = os.fork()\n"
        "        if pid == 0:\n"
        "            time.sleep(0.002)\n"
        "            os._exit(0)\n"
        "        os.waitpid(pid, 0)\n"
        "for _ in range(2): threading.Thread(target=go).start()\n"
        "print('up', flush=True)"
    )
    pid = started(forks)
    real.create(1)
    assert real.take(1, lambda: descendants([pid])) >= 1
    home = f"/{real.name}/job_1"
    for each in descendants([pid]):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            lines = Path(f"/proc/{each}/cgroup").read_text().splitlines()
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            # An exiting process is listed in no group before it is a zombie.
            is_leaving = fields[0] in "ZX" or int(fields[6]) & PF_EXITING
            places = [line.split(":", 2)[2] for line in lines if "cpu" in line.split(":")[1].split(",")]
            assert is_leaving or home in (places or [lines[-1].split(":", 2)[2]])


def test_listing_stops_when_no_process_is_new(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    tree_v1(tmp_path)
    kernel.alive |= {5, 6}
    calls = []

    def members() -> list[int]:
        calls.append(1)
        return [5, 6]

    folder = tmp_path / "cpu" / "windlass"
    kernel.make(folder)
    assert take(kernel, folder, members) == 2
    assert len(calls) == 2
