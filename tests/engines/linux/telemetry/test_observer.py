"""All sources together: CPU Ready, time, and missing metrics."""

import math
import os

import numpy as np
import pytest

from windlass.engines.linux.telemetry.observer import Observer
from windlass.engines.linux.telemetry.source import Roots

SECOND = 10**9


class Clock:
    """A clock that the test sets."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_cpu_ready_is_waiting_less_waits_for_a_quota_over_all_cores(machine):
    clock = Clock()
    machine.thread(1, 1, waited=0)
    machine.thread(2, 2, waited=0)
    machine.write("proc/1/cgroup", "1:cpu:/a\n")
    machine.write("cgroup/cpu/a/cpu.cfs_quota_us", "1000\n")
    machine.write("cgroup/cpu/a/cpu.stat", "throttled_time 0\n")
    observer = Observer(clock, lambda: 0.0, machine.roots, cores=4)
    assert math.isnan(observer.observe().ready)
    clock.now += 2.0
    machine.thread(1, 1, waited=3 * SECOND // 2)
    machine.thread(2, 2, waited=2 * SECOND)
    machine.write("cgroup/cpu/a/cpu.stat", f"throttled_time {SECOND}\n")
    assert observer.observe().ready == pytest.approx((1.5 + 2.0 - 1.0) / 2.0 / 4)
    clock.now += 1.0
    machine.thread(1, 1, waited=2 * SECOND)
    machine.write("cgroup/cpu/a/cpu.stat", f"throttled_time {9 * SECOND}\n")
    assert observer.observe().ready == 0.0


def test_without_control_groups_nothing_is_subtracted_from_waiting(machine):
    clock = Clock()
    machine.thread(1, 1, waited=0)
    observer = Observer(clock, lambda: 0.0, machine.roots, cores=1)
    observer.observe()
    clock.now += 1.0
    machine.thread(1, 1, waited=SECOND)
    assert observer.observe().ready == 1.0


@pytest.mark.parametrize("jump", [-5000.0, 5000.0])
def test_a_wall_clock_that_jumps_changes_no_rate(machine, jump):
    clock, wall = Clock(), Clock()
    observer = Observer(clock, wall, machine.roots, cores=1)
    machine.write("proc/vmstat", "pgfault 0\n")
    observer.observe()
    clock.now += 2.0
    wall.now += jump
    machine.write("proc/vmstat", "pgfault 10\n")
    seen = observer.observe()
    assert seen.metrics[observer.names.index("pages.pgfault")] == 5.0
    assert (seen.seconds, seen.at) == (2.0, 100.0 + jump)


def test_a_clock_that_stands_still_gives_no_rates_and_no_error(machine):
    clock = Clock()
    machine.stat()
    machine.write("proc/vmstat", "pgfault 0\n")
    observer = Observer(clock, clock, machine.roots)
    observer.observe()
    seen = observer.observe()
    assert math.isnan(seen.metrics[observer.names.index("pages.pgfault")])


def test_missing_files_and_metrics_are_named(machine):
    machine.write("proc/loadavg", "0.5 0.2 0.1 2/117 5\n")
    machine.write("proc/vmstat", "pgfault 0\n")
    clock = Clock()
    observer = Observer(clock, clock, machine.roots)
    observer.observe()
    clock.now += 1.0
    missing = "\n".join(observer.missing(observer.observe()))
    assert f"{machine.root}/proc/diskstats: No such file or directory" in missing
    assert "pages.pswpin: not available on this machine" in missing
    assert "load." not in missing
    assert "pages.pgfault" not in missing


def test_names_do_not_depend_on_the_machine(machine):
    clock = Clock()
    assert Observer(clock, clock, machine.roots).names == Observer(clock, clock, Roots()).names


@pytest.mark.skipif(not os.path.exists("/proc/vmstat"), reason="no /proc here")
def test_a_real_machine_has_a_hundred_metrics():
    import time

    observer = Observer(time.monotonic, time.time)
    observer.observe()
    seen = observer.observe()
    assert len(observer.names) == len(set(observer.names)) >= 150
    assert np.isfinite(seen.metrics).sum() >= 100
    assert 0.0 <= seen.ready < 1000.0
