"""Waits that last longer than a step, and waits for a quota."""

import math

import pytest

from tests.engines.linux.telemetry.conftest import values
from tests.engines.linux.telemetry.test_groups import SECOND, V1, V2
from windlass.engines.linux.telemetry.groups import ControlGroups
from windlass.engines.linux.telemetry.tasks import TasksSource


@pytest.fixture(params=[V1, V2])
def kernel(request, machine):
    return request.param(machine)


def state(machine, pid, tid, letter, name="a) R (b"):
    machine.write(f"proc/{pid}/task/{tid}/stat", f"{tid} ({name}) {letter} 1 2 3\n")


def runnable(machine, count):
    machine.write("proc/loadavg", f"0.5 0.2 0.1 {count}/117 5\n")


def waited(source, seconds=1.0):
    return values(source, seconds)["tasks.waited"]


def test_a_wait_counts_for_at_most_the_step_in_which_it_ends(machine):
    source = TasksSource(machine.roots, cores=2)
    machine.thread(1, 1, waited=0)
    source.read(math.nan)
    machine.thread(1, 1, waited=229 * SECOND)
    assert waited(source, 2.0) == 1.0
    machine.thread(1, 1, waited=229 * SECOND + SECOND // 2)
    assert waited(source) == 0.5


def test_a_wait_in_progress_counts_in_each_step_and_not_again_when_it_ends(machine):
    source = TasksSource(machine.roots, cores=2)
    machine.thread(1, 1, waited=0)
    state(machine, 1, 1, "R")
    runnable(machine, 3)
    source.read(math.nan)
    assert [waited(source) for _ in range(3)] == [1.0, 1.0, 1.0]
    # It waited 3.4 s, of which 3 s were counted.
    machine.thread(1, 1, waited=34 * SECOND // 10, ran=1)
    assert waited(source) == pytest.approx(0.4)
    # The next wait starts anew.
    machine.thread(1, 1, waited=39 * SECOND // 10, ran=2)
    assert waited(source) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("letter", "count", "expected"),
    [("R", 3, 1.0), ("S", 3, 0.0), ("D", 3, 0.0), ("R", 2, 0.0), ("R", None, 0.0), (None, 3, 0.0)],
)
def test_only_runnable_threads_on_a_crowded_machine_wait_without_a_record(machine, letter, count, expected):
    source = TasksSource(machine.roots, cores=2)
    machine.thread(1, 1, waited=0)
    if letter:
        state(machine, 1, 1, letter)
    if count:
        runnable(machine, count)
    source.read(math.nan)
    assert waited(source) == expected


def test_the_state_is_read_only_of_threads_active_in_the_last_ten_steps(machine):
    # One read per thread and step would be the cost of a second recorder.
    source = TasksSource(machine.roots, cores=1)
    machine.thread(1, 1, waited=0)
    state(machine, 1, 1, "S")
    runnable(machine, 2)
    source.read(math.nan)
    for _ in range(9):
        assert waited(source) == 0.0
    state(machine, 1, 1, "R")
    assert waited(source) == 1.0
    state(machine, 1, 1, "S")
    for _ in range(10):
        assert waited(source) == 0.0
    state(machine, 1, 1, "R")
    assert waited(source) == 0.0


def test_waits_for_a_quota_are_at_most_the_throttled_time_of_the_group(machine, kernel):
    groups = ControlGroups(machine.roots)
    source = TasksSource(machine.roots, groups=groups, cores=2)
    line = "4:cpu:" if kernel.__class__ is V1 else "0::"
    for name in ("pod", "pod/a", "other"):
        kernel.group(name)
    for pid, path in ((1, "/pod/a/in"), (2, "/other"), (3, "/")):
        machine.write(f"proc/{pid}/cgroup", f"9:name=systemd:/\n{line}{path}\n")
        for tid in (pid, 10 + pid):
            machine.thread(pid, tid, waited=0)

    def step():
        groups.read(1.0)
        found = values(source, 1.0)
        return found["tasks.waited"], found["tasks.limited"]

    groups.read(math.nan)
    source.read(math.nan)
    for pid in (1, 2, 3):
        machine.thread(pid, pid, waited=SECOND // 2)
        machine.thread(pid, 10 + pid, waited=SECOND // 10)
    kernel.group("pod", throttled=SECOND // 5)
    kernel.group("pod/a", throttled=SECOND // 20)
    # Of the process in the group, one thread may have waited 0.2 s for its quota, the other no longer than it did.
    assert step() == (pytest.approx(1.8), pytest.approx(0.3))
    for pid in (1, 2, 3):
        machine.thread(pid, pid, waited=SECOND)
    # No group was throttled in this step.
    assert step() == (pytest.approx(1.5), 0.0)
    # The cgroup of a process that cannot be read is unknown.
    (machine.root / "proc/1/cgroup").unlink()
    machine.thread(1, 1, waited=2 * SECOND)
    kernel.group("pod", throttled=SECOND)
    assert step() == (1.0, 0.0)


def test_groups_report_throttled_time_of_the_last_step_by_path(machine, kernel):
    groups = ControlGroups(machine.roots)
    kernel.group("a")
    kernel.group("a/b")
    groups.read(math.nan)
    kernel.group("a/b", throttled=7000)
    groups.read(1.0)
    assert groups.throttled_by_path == {"/a/b": 7000}
    groups.read(1.0)
    assert groups.throttled_by_path == {}
