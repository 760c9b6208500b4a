"""Throttled time in both hierarchies, while groups and limits are added and removed."""

import math
import shutil
import time

import pytest

from tests.engines.linux.telemetry.conftest import values
from windlass.engines.linux.telemetry.groups import ControlGroups, trees
from windlass.engines.linux.telemetry.source import Roots

PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"


class V1:
    """Writer of v1 groups; times in ns."""

    def __init__(self, machine):
        self.machine, self.top = machine, machine.root / "cgroup" / "cpu"
        self.group("", quota=None)

    def group(self, name, throttled=0, used=0, quota=50_000, stalled=0):
        del stalled  # v1 has no pressure
        self.machine.write(f"cgroup/cpu/{name}/cpu.cfs_quota_us", f"{-1 if quota is None else quota}\n")
        self.machine.write(
            f"cgroup/cpu/{name}/cpu.stat", f"nr_periods 0\nnr_throttled 0\nthrottled_time {throttled}\n"
        )
        self.machine.write(f"cgroup/cpuacct/{name}/cpuacct.usage", f"{used}\n")

    def remove(self, name):
        for controller in ("cpu", "cpuacct"):
            shutil.rmtree(self.machine.root / "cgroup" / controller / name)


class V2:
    """Writer of v2 groups."""

    def __init__(self, machine):
        self.machine = machine
        machine.write("cgroup/cgroup.controllers", "cpu memory\n")

    def group(self, name, throttled=0, used=0, quota=50_000, stalled=0):
        self.machine.write(f"cgroup/{name}/cpu.max", f"{'max' if quota is None else quota} 100000\n")
        self.machine.write(
            f"cgroup/{name}/cpu.stat",
            f"usage_usec {used // 1000}\nnr_periods 0\nthrottled_usec {throttled // 1000}\n",
        )
        self.machine.write(f"cgroup/{name}/cpu.pressure", PRESSURE.format(stalled // 1000))

    def remove(self, name):
        shutil.rmtree(self.machine.root / "cgroup" / name)


@pytest.fixture(params=[V1, V2])
def kernel(request, machine):
    return request.param(machine)


SECOND = 10**9


def test_throttled_time_sums_all_groups_with_a_limit(machine, kernel):
    kernel.group("a", throttled=3 * SECOND)
    kernel.group("a/b", throttled=0, quota=None)
    kernel.group("c", throttled=0)
    source = ControlGroups(machine.roots)
    assert math.isnan(values(source, math.nan)["groups.throttled"])
    kernel.group("a", throttled=4 * SECOND)
    kernel.group("c", throttled=2 * SECOND)
    found = values(source, 2.0)
    assert found["groups.throttled"] == 1.5
    assert found["groups.limited"] == 2.0


def test_the_first_reading_has_no_throttled_time(machine, kernel):
    kernel.group("a", throttled=3 * SECOND)
    source = ControlGroups(machine.roots)
    assert math.isnan(values(source, 1.0)["groups.throttled"])
    kernel.group("a", throttled=5 * SECOND)
    assert values(source, 1.0)["groups.throttled"] == 2.0


def test_a_new_group_counts_from_its_start(machine, kernel):
    source = ControlGroups(machine.roots)
    source.read(math.nan)
    kernel.group("a", throttled=SECOND)
    assert values(source, 1.0)["groups.throttled"] == 1.0


def test_a_new_limit_counts_from_its_first_reading(machine, kernel):
    kernel.group("a", throttled=7 * SECOND, quota=None)
    source = ControlGroups(machine.roots)
    source.read(math.nan)
    kernel.group("a", throttled=7 * SECOND)
    assert values(source, 1.0)["groups.throttled"] == 0.0
    kernel.group("a", throttled=8 * SECOND)
    assert values(source, 1.0)["groups.throttled"] == 1.0


def test_a_removed_group_subtracts_nothing(machine, kernel):
    for name in ("a", "b"):
        kernel.group(name, throttled=SECOND)
    source = ControlGroups(machine.roots)
    source.read(math.nan)
    kernel.remove("a")
    kernel.group("b", throttled=2 * SECOND)
    source.read(1.0)
    assert values(source, 1.0)["groups.limited"] == 1.0


def test_without_limits_nothing_is_throttled(machine, kernel):
    kernel.group("a", throttled=SECOND, quota=None)
    source = ControlGroups(machine.roots)
    source.read(math.nan)
    assert values(source, 1.0)["groups.throttled"] == 0.0


def test_the_largest_group_and_named_groups_are_shown(machine, kernel):
    for name in ("a", "b", "a/inner"):
        kernel.group(name)
    source = ControlGroups(machine.roots, named=("a/inner", "nowhere"))
    source.read(math.nan)
    kernel.group("a", used=SECOND // 2)
    kernel.group("b", used=SECOND, stalled=SECOND // 4)
    kernel.group("a/inner", used=3 * SECOND)
    found = values(source, 1.0)
    assert found["groups.most_used"] == 1.0
    assert found["group.a/inner.used"] == 3.0
    assert math.isnan(found["group.nowhere.used"])
    pressure = found["groups.most_psi_cpu"]
    assert math.isnan(pressure) if isinstance(kernel, V1) else pressure == 0.25


def test_many_groups_are_walked_less_often(machine, kernel):
    for at in range(70):
        kernel.group(f"g{at}", quota=None)
    source = ControlGroups(machine.roots)
    source.read(math.nan)
    kernel.group("late", throttled=SECOND)
    seen = [values(source, 1.0)["groups.limited"] for _ in range(8)]
    assert seen[0] == 0.0
    assert seen[-1] == 1.0


def test_a_hybrid_machine_has_both_trees_and_links_count_once(machine):
    for name in ("cpu,cpuacct", "unified"):
        (machine.root / "cgroup" / name).mkdir()
    for name in ("cpu", "cpuacct"):
        (machine.root / "cgroup" / name).symlink_to("cpu,cpuacct")
    assert [each.name for each in trees(machine.root / "cgroup")] == ["cpu", "unified"]


@pytest.mark.slow
def test_a_hog_with_a_limit_is_throttled(real, started):
    """On the kernel of this machine, in its own hierarchy."""
    job, hog = 1, started("print('up', flush=True)\nwhile True: pass")
    real.create(job)
    real.take(job, lambda: [hog])
    real.limit(job, 0.01)
    source = ControlGroups(Roots())
    source.read(math.nan)
    end, most = time.monotonic() + 120.0, 0.0
    while most < 0.5 and time.monotonic() < end:
        begun = time.monotonic()
        time.sleep(1.0)
        found = values(source, time.monotonic() - begun)
        most = max(most, found["groups.throttled"])
        assert found["groups.limited"] >= 1.0
    assert most >= 0.5
