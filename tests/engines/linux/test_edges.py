"""Edge cases of job groups: order of writes, errors, and retries."""

from __future__ import annotations

import errno
import math
import os
from pathlib import Path

import pytest

from tests.engines.linux.imitation import Kernel, tree_v1, tree_v2
from windlass.engines.linux import members
from windlass.engines.linux.cores import Cores, is_topmost
from windlass.engines.linux.files import Files, GroupError, field, pids, refused, whole_number
from windlass.engines.linux.groups import bandwidth, detect_groups, each_of, weighed
from windlass.engines.linux.members import below, descendants, enter, leave, take
from windlass.engines.linux.v1 import V1
from windlass.engines.linux.v2 import V2


def v1_of(folder: Path, cores: int = 4) -> tuple[V1, Kernel]:
    kernel = Kernel(folder / "groups")
    return V1(tree_v1(kernel.root), files=kernel, proc=folder / "proc", cores=cores), kernel


def v2_of(folder: Path, **more) -> tuple[V2, Kernel]:
    kernel = Kernel(folder / "groups")
    return V2(tree_v2(kernel.root, **more), files=kernel, cores=4), kernel


def test_a_quota_uses_the_short_period_if_the_kernel_accepts_it():
    for cores, expected in (
        (0.01, (1_000, 100_000)), (0.00999, (9_990, 1_000_000)), (0.0015, (1_500, 1_000_000)),
        (0.001, (1_000, 1_000_000)), (0.0004, (1_000, 1_000_000)), (0.123456, (12_346, 100_000)),
        (64, (6_400_000, 100_000)),
    ):  # fmt: skip
        assert bandwidth(cores) == expected
    assert [weighed(each, 1024, 2, 262_144) for each in (1e-9, 0.5, 1.0, 255.9, 256.0, 1e9)] == [
        2, 512, 1024, 262_042, 262_144, 262_144,
    ]  # fmt: skip
    assert [weighed(each, 100, 1, 10_000) for each in (0.004, 1.0, 100.0, 101.0)] == [1, 100, 10_000, 10_000]


def test_v1_writes_the_quota_before_the_period_and_lifts_before_removal(tmp_path):
    groups, kernel = v1_of(tmp_path)
    groups.create(1)
    kernel.written.clear()
    groups.limit(1, 0.005)
    assert kernel.written == [("cpu.cfs_quota_us", "5000"), ("cpu.cfs_period_us", "1000000")]
    kernel.alive.add(7)
    kernel.written.clear()
    groups.take(1, lambda: [7])
    groups.weigh(1, 3.0)
    groups.release(1)
    assert kernel.written == [
        ("cgroup.procs", "7"), ("cpu.shares", "3072"), ("cpu.cfs_quota_us", "-1"), ("cpu.cfs_period_us", "100000"),
        ("cpu.shares", "1024"), ("cgroup.procs", "7"),
    ]  # fmt: skip
    assert pids(kernel, kernel.root / "cpu") == {7}


def test_v2_is_enabled_once_in_each_folder_above_a_job(tmp_path):
    groups, kernel = v2_of(tmp_path)
    groups.create(1)
    assert kernel.written == [
        ("cgroup.subtree_control", "+cpu"), ("cgroup.subtree_control", "+memory"),
        ("cgroup.subtree_control", "+cpu"), ("cgroup.subtree_control", "+memory"), ("cpu.weight", "400"),
    ]  # fmt: skip
    kernel.written.clear()
    groups.create(2)
    assert kernel.written == [("cpu.weight", "400")]
    kernel.written.clear()
    groups.limit(2, None)
    groups.limit(2, 1.5)
    assert kernel.written == [("cpu.max", "max 100000"), ("cpu.max", "150000 100000")]
    kernel.written.clear()
    groups.weigh(2, 3.0)
    groups.release(2)
    assert kernel.written == [("cpu.weight", "300"), ("cpu.max", "max 100000"), ("cpu.weight", "100")]
    assert groups.jobs() == [1]
    groups.release_all()
    assert not groups.base.exists()


def test_v2_memory_is_unknown_without_the_controller(tmp_path):
    groups, _ = v2_of(tmp_path, controllers="cpu")
    groups.create(1)
    assert math.isnan(groups.usage(1).memory)
    (groups.base / "job_1" / "memory.stat").write_text("anon 3\n")
    with pytest.raises(GroupError, match="has no line 'shmem NUMBER'"):
        groups.usage(1)


def test_v1_reads_its_own_account_if_it_exists(tmp_path):
    groups, kernel = v1_of(tmp_path)
    groups.create(1)
    (groups.base / "job_1" / "cpu.stat").write_text("throttled_time 250000000\n")
    assert groups.usage(1).throttled == 0.25
    assert math.isnan(groups.usage(1).cpu)
    assert math.isnan(groups.usage(1).memory)
    # An accounting group whose owner died before it made the other group is released too.
    kernel.make(groups.accounts)
    kernel.make(groups.accounts / "job_5")
    kernel.make(groups.base)
    groups.release_all()
    assert not groups.accounts.exists()
    assert not groups.base.exists()


def test_v1_does_not_account_without_the_controller(tmp_path):
    groups, kernel = v1_of(tmp_path)
    (kernel.root / "cpuacct" / "cpuacct.usage").unlink()
    kernel.alive.add(7)
    (tmp_path / "proc" / "7").mkdir(parents=True)
    (tmp_path / "proc" / "7" / "cgroup").write_text("2:cpuacct:/\n")
    groups.create(1)
    groups.take(1, lambda: [7])
    assert not groups.accounts.exists()


def test_cores_are_the_given_ones_and_memory_nodes_those_of_the_machine(tmp_path):
    kernel = Kernel(tmp_path / "groups")
    tree_v1(kernel.root)
    (kernel.root / "cpuset" / "cpuset.mems").write_text("0-1\n")
    cores = Cores(kernel.root, files=kernel, proc=tmp_path / "proc")
    cores.pin(7, {10, 2, 3})
    assert kernel.written == [
        ("cpuset.mems", "0-1"), ("cpuset.cpus", "0-3"), ("cpuset.mems", "0-1"), ("cpuset.cpus", "2,3,10"),
    ]  # fmt: skip
    assert cores.folder(7) == kernel.root / "cpuset" / "windlass" / "job_7"
    # Without cores: those of the machine.
    cores.pin(8, set())
    assert (cores.folder(8) / "cpuset.cpus").read_text().strip() == "0-3"
    with pytest.raises(GroupError, match="cannot remove the group: the group is in use"):
        cores.remove()
    cores.release(7)
    cores.release(8)
    cores.release(9)
    cores.remove()
    assert not cores.base.exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3:cpuset:/\n", True), ("3:cpu,cpuset:/\n1:x:/a\n", True), ("3:cpuset:/slurm\n1:cpu:/\n", False),
        ("3:cpusets:/\n", False), ("", False),
    ],
)  # fmt: skip
def test_only_a_process_in_the_topmost_group_is_unpinned(tmp_path, text, expected):
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cgroup").write_text(text)
    assert is_topmost(tmp_path, 7, "cpuset") == expected
    assert not is_topmost(tmp_path, 8, "cpuset")


def test_errors_of_the_kernel_are_explained():
    for number, message in (
        (errno.EACCES, "only root may"), (errno.EPERM, "only root may"), (errno.EROFS, "mounted read-only"),
        (errno.ENOENT, "no such file"), (errno.EINVAL, "refuses this value"), (errno.EBUSY, "in use"),
        (errno.ENOSPC, os.strerror(errno.ENOSPC)),
    ):  # fmt: skip
        assert message in str(refused(Path("a"), "read", OSError(number, "x")))
    assert str(refused(Path("a"), "read", OSError("odd"))) == "a: cannot read: odd"


def test_files_are_written_completely_and_never_created(tmp_path):
    files, path = Files(), tmp_path / "value"
    with pytest.raises(GroupError, match="no such file"):
        files.set(path, "7")
    path.write_text("a longer value")
    files.set(path, "7")
    assert path.read_text() == "7"
    assert whole_number(files, path) == 7
    path.write_text("x" * 60)
    with pytest.raises(GroupError, match=f"is '{'x' * 40}', expected a whole number"):
        whole_number(files, path)
    path.write_text("name 5 6\nnames 7\nname x\nname -4\nname 8\nname 9\n")
    assert field(files, path, "name") == 8
    with pytest.raises(GroupError, match="has no line 'other NUMBER'"):
        field(files, path, "other")
    files.make(tmp_path / "group")
    files.make(tmp_path / "group")
    with pytest.raises(GroupError, match="cannot make the group"):
        files.make(tmp_path / "nowhere" / "group")
    files.remove(tmp_path / "group")
    files.remove(tmp_path / "group")
    with pytest.raises(GroupError, match="cannot read"):
        files.read(tmp_path / "nowhere")


def test_an_error_of_one_job_does_not_stop_the_others():
    done = []

    def act(job):
        if job == 2:
            raise GroupError("two")
        done.append(job)

    assert each_of([1, 2, 3], act) == ["two"]
    assert done == [1, 3]


def test_the_hierarchy_of_a_machine_is_detected(tmp_path):
    for name, make, kind in (("a", tree_v1, "v1"), ("b", tree_v2, "v2")):
        make(tmp_path / name)
        groups = detect_groups(tmp_path / name, "mine")
        assert (groups.kind, groups.name) == (kind, "mine")
    assert groups.root == tmp_path / "b" / "unified"
    # If v1 has no cpu controller, v2 next to it or instead of it is used.
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "cgroup.controllers").write_text("cpu\n")
    assert detect_groups(tmp_path / "c").root == tmp_path / "c"
    both = tree_v2(tree_v1(tmp_path / "d"))
    assert detect_groups(both.parent).kind == "v1"


def test_processes_that_stay_in_a_group_are_awaited_and_named(tmp_path, monkeypatch):
    kernel = Kernel(tmp_path)
    tree_v1(tmp_path)
    folder, pauses = tmp_path / "cpu" / "job_1", []
    kernel.make(folder)
    kernel.alive |= {5, 6}
    for pid in (5, 6):
        enter(kernel, folder, pid)
    # No process can leave: after 200 attempts the error names them.
    monkeypatch.setattr(kernel, "move", lambda place, pid: None)
    with pytest.raises(GroupError, match=r"cannot remove the group: \[5, 6\] stay in it"):
        leave(kernel, folder, tmp_path / "cpu", lambda: pauses.append(1))
    assert len(pauses) == members.TRIES == 200

    def ends():
        pauses.append(1)
        if len(pauses) == 203:
            kernel.end(5)
            kernel.end(6)

    leave(kernel, folder, tmp_path / "cpu", ends)
    assert len(pauses) == 203
    assert not folder.exists()
    leave(kernel, folder, tmp_path / "cpu", ends)
    kernel.make(folder)
    monkeypatch.setattr(kernel, "remove", lambda path: (_ for _ in ()).throw(OSError(errno.EPERM, "x")))
    with pytest.raises(GroupError, match="cannot remove the group: only root may"):
        leave(kernel, folder, tmp_path / "cpu", ends)


def test_each_process_is_moved_once_unless_it_is_already_inside(tmp_path):
    kernel = Kernel(tmp_path)
    tree_v1(tmp_path)
    folder, accounted = tmp_path / "cpu" / "job_1", []
    kernel.make(folder)
    kernel.alive |= {5, 6, 9}
    enter(kernel, folder, 6)
    kernel.written.clear()
    assert take(kernel, folder, lambda: [9, 6, 5, 77, 5], accounted.append) == 2
    assert kernel.written == [("cgroup.procs", "5"), ("cgroup.procs", "9"), ("cgroup.procs", "77")]
    assert accounted == [5, 9]
    kernel.failing["cgroup.procs"] = errno.EACCES
    kernel.alive.add(10)
    with pytest.raises(GroupError, match=r"cgroup\.procs: cannot write '10': only root may"):
        take(kernel, folder, lambda: [10])
    assert pids(kernel, tmp_path / "nowhere") == set()


def test_descendants_are_found_by_thread_and_processes_by_folder(tmp_path):
    for pid, thread, children in ((1, 1, "2 3"), (1, 11, "4"), (2, 2, ""), (4, 4, "1"), (9, 9, "")):
        (tmp_path / str(pid) / "task" / str(thread)).mkdir(parents=True)
        (tmp_path / str(pid) / "task" / str(thread) / "children").write_text(children)
    # An ended thread has no such file, and does not hide others.
    (tmp_path / "1" / "task" / "12").mkdir()
    assert descendants([1, 8], tmp_path) == {1, 2, 4}
    assert descendants([], tmp_path) == set()
    for folder, text in (("g", "1\n2\n"), ("g/in", "3\n"), ("g/in/deep", "4\n")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "cgroup.procs").write_text(text)
    (tmp_path / "g" / "gone").mkdir()
    assert below(tmp_path / "g") == {1, 2, 3, 4}
