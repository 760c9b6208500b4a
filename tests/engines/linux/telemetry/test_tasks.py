"""Waiting times of threads that start, run and end, and whose ids are reused."""

import math
import os
import shutil
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.linux.telemetry.conftest import Machine, values
from windlass.engines.linux.telemetry.source import Roots
from windlass.engines.linux.telemetry.tasks import TasksSource

SECOND = 10**9


@pytest.fixture(params=[1000, 0], ids=["open files", "no file open"])
def source(request, machine):
    return TasksSource(machine.roots, most=request.param)


def test_waiting_is_summed_over_threads(machine, source):
    machine.thread(1, 1, waited=5 * SECOND, ran=9 * SECOND)
    machine.thread(1, 2, waited=0)
    assert math.isnan(values(source, math.nan)["tasks.waited"])
    machine.thread(1, 1, waited=6 * SECOND, ran=10 * SECOND)
    machine.thread(1, 2, waited=SECOND)
    found = values(source, 2.0)
    assert (found["tasks.waited"], found["tasks.ran"]) == (1.0, 0.5)
    assert (found["tasks.processes"], found["tasks.threads"]) == (1.0, 2.0)


def test_a_new_thread_counts_from_its_start_but_at_most_the_step(machine, source):
    machine.thread(1, 1, waited=0)
    source.read(math.nan)
    machine.thread(2, 2, waited=SECOND)
    assert values(source, 2.0)["tasks.waited"] == 0.5
    # An old thread that was not visible before.
    machine.thread(3, 3, waited=100 * SECOND)
    assert values(source, 2.0)["tasks.waited"] == 1.0


def test_an_ended_thread_subtracts_nothing(machine, source):
    for pid in (1, 2):
        machine.thread(pid, pid, waited=5 * SECOND)
    source.read(math.nan)
    machine.thread(1, 1, waited=6 * SECOND)
    shutil.rmtree(machine.root / "proc" / "2")
    found = values(source, 1.0)
    assert (found["tasks.waited"], found["tasks.gone"], found["tasks.threads"]) == (1.0, 1.0, 1.0)


@given(
    steps=st.lists(
        st.dictionaries(st.integers(1, 6), st.integers(0, 3 * SECOND), max_size=6), min_size=2, max_size=6
    )
)
@settings(max_examples=40, deadline=None)
def test_waiting_is_between_0_and_the_time_of_all_threads(tmp_path_factory, steps):
    machine = Machine(tmp_path_factory.mktemp("machine"))
    source = TasksSource(machine.roots, most=0)
    for step in steps:
        shutil.rmtree(machine.root / "proc", ignore_errors=True)
        (machine.root / "proc").mkdir()
        for pid, waited in step.items():
            machine.thread(pid, pid, waited)
        found = values(source, 1.0)["tasks.waited"]
        assert math.isnan(found) or 0.0 <= found <= 3.0 * len(step)


def test_open_files_are_closed(machine):
    before = len(os.listdir("/proc/self/fd"))
    source = TasksSource(machine.roots, most=3)
    for pid in range(1, 9):
        machine.thread(pid, pid, waited=0)
    source.read(1.0)
    assert len(os.listdir("/proc/self/fd")) == before + 3
    for pid in range(1, 9):
        shutil.rmtree(machine.root / "proc" / str(pid))
    source.read(1.0)
    assert len(os.listdir("/proc/self/fd")) == before
    machine.thread(9, 9, waited=0)
    source.read(1.0)
    source.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_starts_and_ends_of_this_process_s_threads_are_seen():
    """On the real kernel, where a thread's open file outlives the thread."""
    if not os.path.exists("/proc/self/task"):
        pytest.skip("no /proc here")
    source = TasksSource(Roots())
    source.read(math.nan)
    own = source._processes[str(os.getpid())]
    known = set(own.threads)
    leave = threading.Event()
    more = [threading.Thread(target=leave.wait) for _ in range(3)]
    for each in more:
        each.start()
    new = {str(each.native_id) for each in more}
    source.read(1.0)
    # A library may start its own threads meanwhile.
    assert new <= set(own.threads) - known
    leave.set()
    for each in more:
        each.join()
    source.read(1.0)
    # A joined thread may still be exiting in the kernel: it is gone once it is not listed.
    while new & set(os.listdir("/proc/self/task")):
        time.sleep(0.01)
    source.read(1.0)
    assert not new & set(own.threads)
    source.close()
