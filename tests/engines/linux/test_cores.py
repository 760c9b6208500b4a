"""Jobs that are pinned to cores and released, with processes of any previous group."""

import os

import pytest

from tests.engines.linux.conftest import SLEEP
from tests.engines.linux.imitation import Kernel, tree_v1, tree_v2
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.v1 import V1
from windlass.engines.linux.v2 import V2


@pytest.fixture
def kernel(tmp_path):
    return Kernel(tmp_path / "groups")


@pytest.fixture
def groups(kernel, tmp_path):
    return V1(tree_v1(kernel.root), files=kernel, proc=tmp_path / "proc", cores=4)


def process(kernel, pid, cpuset="/"):
    kernel.alive.add(pid)
    place = kernel.root.parent / "proc" / str(pid)
    place.mkdir(parents=True)
    (place / "cgroup").write_text(f"3:cpuset:{cpuset}\n2:cpuacct:/slurm/job_7\n1:cpu:/\n")
    return pid


def inside(folder):
    return {int(word) for word in (folder / "cgroup.procs").read_text().split()}


def test_a_job_is_pinned_to_its_cores_and_released_to_all(groups, kernel):
    pid = process(kernel, 41)
    groups.create(7)
    groups.pin(7, {1, 3})
    groups.take(7, lambda: {pid})
    folder = kernel.root / "cpuset" / "windlass" / "job_7"
    assert (folder / "cpuset.cpus").read_text().strip() == "1,3"
    assert inside(folder) == {pid}
    groups.release(7)
    assert not folder.exists()
    assert inside(kernel.root / "cpuset") == {pid}


def test_a_process_pinned_by_another_owner_is_left_there(groups, kernel):
    pid = process(kernel, 41, cpuset="/slurm/uid_0/job_7")
    groups.create(7)
    groups.pin(7, {1})
    groups.take(7, lambda: {pid})
    assert inside(kernel.root / "cpuset" / "windlass" / "job_7") == set()


@pytest.mark.parametrize("left", ["made", "pinned", "taken"])
def test_groups_left_at_any_step_are_released(groups, kernel, left):
    pid = process(kernel, 41)
    groups.create(7)
    if left == "made":
        (kernel.root / "cpuset" / "windlass").mkdir()
        kernel.make(kernel.root / "cpuset" / "windlass" / "job_7")
        (kernel.root / "cpuset" / "windlass" / "cgroup.procs").write_text("")
    else:
        groups.pin(7, {1})
    if left == "taken":
        groups.take(7, lambda: {pid})
    V1(groups.root, files=kernel, proc=groups.proc, cores=4).release_all()
    assert not (kernel.root / "cpuset" / "windlass").exists()
    assert not groups.base.exists()


def test_a_missing_cpuset_controller_is_an_error(groups, kernel, tmp_path):
    with pytest.raises(GroupError, match="can only be pinned to cores in cgroups v1"):
        V2(tree_v2(tmp_path / "two"), files=kernel).pin(7, {0})


def test_a_real_process_runs_only_on_its_job_s_cores_until_released(real, started):
    if real.kind != "v1" or not (real.root / "cpuset").is_dir() or (os.cpu_count() or 1) < 2:
        pytest.skip("no controller cpuset, or one core")
    pid = started(SLEEP)
    before = os.sched_getaffinity(pid)
    real.create(7)
    real.pin(7, {min(before)})
    real.take(7, lambda: {pid})
    if os.sched_getaffinity(pid) == before:
        pytest.skip("another owner pins this process to cores")
    assert os.sched_getaffinity(pid) == {min(before)}
    real.release_all()
    assert os.sched_getaffinity(pid) == before
    assert not (real.root / "cpuset" / real.name).exists()
