"""Groups, observations and paces of a machine made of files: edge cases, and groups that are added and removed."""

import math
import os
import shutil

import numpy as np
import pytest

from tests.engines.linux.telemetry.conftest import values
from tests.engines.linux.telemetry.test_groups import SECOND, V1, V2
from tests.engines.linux.telemetry.test_observer import Clock
from windlass.engines.linux.telemetry.groups import ControlGroups, limited, throttled_time, trees
from windlass.engines.linux.telemetry.observer import Observer
from windlass.engines.linux.telemetry.rates import Counters, Summed, grown
from windlass.engines.linux.telemetry.recorder import Pace
from windlass.engines.linux.telemetry.source import Roots
from windlass.model import InputError


@pytest.fixture(params=[V1, V2])
def kernel(request, machine):
    return request.param(machine)


WHAT = ("used", "throttled", "periods", "throttled_periods", "psi_cpu", "psi_io", "psi_memory")


def test_each_number_of_a_v2_group_by_hand(machine):
    machine.write("cgroup/cgroup.controllers", "cpu\n")

    def write(step):
        for name, times in (("a", 1), ("b", 2), ("a/in", 5)):
            all_of = step * times
            machine.write(
                f"cgroup/{name}/cpu.stat",
                f"usage_usec {100_000 * all_of}\nuser_usec 9\nnr_periods {3 * all_of}\nnr_throttled {2 * all_of}\n"
                f"throttled_usec {200_000 * all_of}\n",
            )
            for at, what in enumerate(("cpu", "io", "memory"), 1):
                machine.write(
                    f"cgroup/{name}/{what}.pressure",
                    f"some avg10=0 total={10_000 * at * all_of}\nfull avg10=0 total=1\n",
                )

    write(0)
    source = ControlGroups(machine.roots, ("a/in",))
    assert source.names == (
        "groups.count", "groups.limited", "groups.throttled", *(f"groups.most_{each}" for each in WHAT),
        *(f"group.a/in.{each}" for each in WHAT),
    )  # fmt: skip
    first = values(source, math.nan)
    assert all(
        math.isnan(value) for name, value in first.items() if name not in ("groups.count", "groups.limited")
    )
    write(4)
    found = values(source, 2.0)
    expected = (0.2, 0.4, 6.0, 4.0, 0.02, 0.04, 0.06)
    assert [found[f"groups.most_{each}"] for each in WHAT] == pytest.approx([2.0 * each for each in expected])
    assert [found[f"group.a/in.{each}"] for each in WHAT] == pytest.approx([5.0 * each for each in expected])
    # The top folder counts too; no group here has a limit.
    assert (found["groups.count"], found["groups.limited"], found["groups.throttled"]) == (4.0, 0.0, 0.0)
    assert math.isnan(values(source, 0.0)["groups.throttled"])
    assert [file.path.name for file in source.files] == ["cpu.stat"]
    assert not source.files[0].why


def test_each_number_of_a_v1_group_with_separate_controllers_by_hand(machine):
    def write(step):
        machine.write(
            "cgroup/cpu/a/cpu.stat",
            f"nr_periods {3 * step}\nnr_throttled {2 * step}\nthrottled_time {step * SECOND // 4}\n",
        )
        machine.write("cgroup/cpuacct/a/cpuacct.usage", f"{step * SECOND // 2}\n")

    write(0)
    source = ControlGroups(machine.roots, ("a",))
    values(source, math.nan)
    write(4)
    found = values(source, 2.0)
    assert [found[f"group.a.{each}"] for each in WHAT] == pytest.approx(
        [1.0, 0.5, 6.0, 4.0, math.nan, math.nan, math.nan], nan_ok=True
    )


def test_a_decreasing_throttled_time_adds_nothing(machine, kernel):
    for name in ("a", "b"):
        kernel.group(name, throttled=5 * SECOND)
    source = ControlGroups(machine.roots)
    source.read(math.nan)
    kernel.group("a", throttled=SECOND)
    kernel.group("b", throttled=7 * SECOND)
    assert values(source, 4.0)["groups.throttled"] == 0.5
    kernel.group("a", throttled=2 * SECOND)
    assert values(source, 1.0)["groups.throttled"] == 1.0


def test_a_known_group_with_a_later_limit_does_not_count_from_its_start(machine, kernel):
    kernel.group("a", throttled=0, quota=None)
    source = ControlGroups(machine.roots)
    source.read(math.nan)
    source.read(1.0)
    kernel.group("a", throttled=9 * SECOND)
    assert values(source, 1.0)["groups.throttled"] == 0.0


@pytest.mark.parametrize(("count", "every"), [(31, 1), (32, 2), (63, 2), (64, 3)])
def test_the_walk_interval_grows_with_the_number_of_folders(machine, count, every):
    machine.write("cgroup/cgroup.controllers", "cpu\n")
    # The top folder counts too.
    for at in range(count - 1):
        (machine.root / "cgroup" / f"g{at}").mkdir()
    source = ControlGroups(machine.roots)
    seen = []
    for at in range(7):
        # Each is replaced by another, so that their number stays equal.
        seen.append(values(source, 1.0)["groups.limited"])
        old, new = (machine.root / "cgroup" / name for name in (f"g{at}", f"h{at}"))
        shutil.rmtree(old)
        new.mkdir()
        machine.write(f"cgroup/h{at}/cpu.max", "1000 100000\n")
        machine.write(f"cgroup/h{at}/cpu.stat", "throttled_usec 0\n")
    assert seen == [float(at // every * every) for at in range(7)]


def test_at_most_sixteen_groups_below_the_top_are_shown_by_name(machine):
    machine.write("cgroup/cgroup.controllers", "cpu\n")

    def write(step):
        for at in range(18):
            machine.write(f"cgroup/g{at:02}/cpu.stat", f"usage_usec {1_000_000 * step * (at + 1)}\n")

    write(0)
    source = ControlGroups(machine.roots)
    values(source, 1.0)
    write(1)
    assert values(source, 1.0)["groups.most_used"] == 16.0
    # If one of them is removed, the next by name is shown, without a previous step.
    shutil.rmtree(machine.root / "cgroup" / "g15")
    write_to = machine.root / "cgroup" / "g16" / "cpu.stat"
    values(source, 1.0)
    write_to.write_text("usage_usec 217000000\n")
    assert values(source, 1.0)["groups.most_used"] == 200.0


def test_limits_are_recognised_in_either_hierarchy(machine):
    folder = machine.root / "cgroup"
    for name, text, expected in (
        ("cpu.max", "max 100000\n", False), ("cpu.max", "5000 100000\n", True), ("cpu.max", "", False),
        ("cpu.cfs_quota_us", "-1\n", False), ("cpu.cfs_quota_us", "5000\n", True),
    ):  # fmt: skip
        path = machine.write(f"cgroup/{name}", text)
        assert limited(folder) == expected, (name, text)
        path.unlink()
    assert throttled_time(b"throttled_usec x\nthrottled_time 4\n") == 4
    assert throttled_time(b"throttled_usec 2\nthrottled_time 4\n") == 2000
    assert throttled_time(b"nothing\n") is None
    assert throttled_time(None) is None


def test_trees_are_v2_alone_or_those_of_v1(machine):
    top = machine.root / "cgroup"
    for name in ("cpuacct", "cpu", "unified", "memory"):
        (top / name).mkdir()
    assert [each.name for each in trees(top)] == ["cpu", "cpuacct", "unified"]
    (top / "cgroup.controllers").write_text("")
    assert trees(top) == (top,)


def test_a_counter_has_wrapped_if_the_step_across_the_top_is_short():
    for whole in (2**32, 2**64):
        quarter = whole // 4
        assert grown(whole - 10, quarter - 11) == quarter - 1
        assert grown(whole - 10, quarter - 10) is None
    assert grown(2**32, 5) is None
    assert grown(2**64 + 5, 5) is None
    assert grown(7, 7) == 0
    assert Counters().rates([1, 2], 1.0) == pytest.approx([math.nan] * 2, nan_ok=True)
    summed = Summed(2)
    summed.rates({"a": (2**32 - 1, 5)}, 1.0)
    assert summed.rates({"a": (1, 4)}, 2.0) == [1.0, 0.0]


def test_an_observation_has_use_and_ready_in_addition_to_all_metrics(machine):
    clock, wall = Clock(), Clock()
    wall.now = 7e8
    machine.stat(user=10, idle=100)
    machine.thread(1, 1, waited=0)
    observer = Observer(clock, wall, machine.roots)
    first = observer.observe()
    assert math.isnan(first.seconds)
    assert math.isnan(first.busy)
    clock.now += 2.0
    machine.stat(user=40, idle=110)
    machine.thread(1, 1, waited=SECOND)
    seen = observer.observe()
    assert (seen.at, seen.seconds) == (7e8, 2.0)
    assert seen.busy == seen.metrics[observer.names.index("stat.busy")] == pytest.approx(0.75)
    assert seen.ready == pytest.approx(0.5 / (os.cpu_count() or 1))
    assert np.isnan(seen.metrics).any()
    # Without visible threads, waiting is unknown.
    shutil.rmtree(machine.root / "proc" / "1")
    clock.now += 1.0
    assert math.isnan(observer.observe().ready)


def test_each_missing_file_and_metric_is_a_line(machine):
    clock = Clock()
    machine.stat()
    machine.thread(1, 1, waited=0)
    machine.write("proc/meminfo", "MemFree: 1 kB\n")
    observer = Observer(clock, clock, machine.roots, groups=("a/b",))
    observer.observe()
    clock.now += 1.0
    machine.stat(user=20)
    machine.thread(1, 1, waited=5)
    lines = observer.missing(observer.observe())
    assert len(lines) == len(set(lines))
    # A missing file is one line, whatever its metrics.
    for name in ("loadavg", "vmstat", "diskstats", "net/dev", "net/sockstat", "net/snmp", "schedstat"):
        assert [line for line in lines if f"/proc/{name}:" in line] == [
            f"{machine.root}/proc/{name}: No such file or directory"
        ]
    assert sum("/proc/pressure/" in line for line in lines) == 3
    assert [line for line in lines if line.startswith(("load.", "disk.", "net.", "psi.", "pages."))] == []
    assert "memory.Dirty: not available on this machine" in lines
    assert [line for line in lines if line.startswith(("memory.MemFree", "stat.", "tasks."))] == []
    assert f"{machine.root}/cgroup/a/b/cpu.stat: " in "\n".join(lines) or any("a/b" in line for line in lines)
    assert Roots().groups.as_posix() == "/sys/fs/cgroup"


def test_a_pace_checks_its_bounds_and_computes_its_steps():
    Pace(math.inf, 0.01)
    Pace(0.001, 3600.0)
    for seconds, every in ((1.0, 0.009), (1.0, 3601.0), (0.0, 1.0), (math.nan, 1.0), (-math.inf, 0.001)):
        with pytest.raises(InputError):
            Pace(seconds, every)
    pace = Pace(10.0, 0.5)
    # At a step, or a rounding error before it, the next step is due half a second later.
    for now, due in ((5.0, 5.5), (5.1, 5.5), (5.5, 6.0), (5.5 - 1e-9, 6.0), (5.4999, 5.5), (9.99, 10.0)):
        assert pace.next(5.0, now) == pytest.approx(due)
