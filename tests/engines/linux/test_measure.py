"""Measurement of processes, including starting and ending ones."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.linux.conftest import SLEEP
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.measure import Meter, Spent, Usage, spent
from windlass.engines.linux.members import descendants

TICKS = os.sysconf("SC_CLK_TCK")


class Proc:
    """An imitated ``/proc`` in which a test sets the use of each process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = 0.0

    def process(
        self,
        pid: int,
        cpu: float,
        waits: dict[int, float],
        *,
        parent: int = 1,
        started: int = 5,
        mib: int = 1,
    ) -> None:
        self.end(pid)
        folder = self.folder / str(pid)
        for thread, wait in waits.items():
            (folder / "task" / str(thread)).mkdir(parents=True)
            (folder / "task" / str(thread) / "schedstat").write_text(f"7 {round(wait * 1e9)} 3\n")
        times = f"{round(cpu * TICKS) - 3} 1 1 1"
        (folder / "stat").write_text(
            f"{pid} (a) b (c) R {parent} {'0 ' * 9}{times} {'0 ' * 4}{started} 0 0\n"
        )
        (folder / "smaps_rollup").write_text(f"Rss: 9 kB\nPss_Anon: {1024 * mib} kB\nPss_File: 77 kB\n")

    def end(self, pid: int) -> None:
        for file in sorted((self.folder / str(pid)).rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()

    def meter(self, *pids: int, **more: object) -> Meter:
        return Meter(lambda: pids, lambda: self.now, proc=self.folder, **more)  # type: ignore[arg-type]


@pytest.fixture
def proc(tmp_path: Path) -> Proc:
    return Proc(tmp_path)


def test_threads_of_all_processes_are_summed(proc: Proc) -> None:
    proc.process(7, 2.0, {7: 0.5, 8: 0.25}, mib=3)
    proc.process(9, 1.0, {9: 1.0}, mib=1)
    usage = proc.meter(7, 9, 10).sample()
    assert (usage.cpu, usage.waited, usage.throttled) == (3.0, 1.75, 0.0)
    assert usage.memory == usage.peak == 4 * 2**20


def test_a_thread_that_ends_while_it_is_read_hides_no_other(proc: Proc) -> None:
    proc.process(7, 2.0, {7: 0.5, 8: 0.25, 9: 0.125})
    meter = proc.meter(7)
    meter.sample()
    for thread in (7, 8, 9):
        path = proc.folder / "7" / "task" / str(thread) / "schedstat"
        text = path.read_text()
        path.unlink()
        assert meter.sample().waited == 0.875
        path.write_text(text)
        # It appears again, which no real thread does: it counts as a new one.
        meter = proc.meter(7)
        meter.sample()


def test_ended_processes_still_count(proc: Proc) -> None:
    proc.process(7, 2.0, {7: 0.5, 8: 0.25}, mib=3)
    proc.process(9, 1.0, {9: 1.0})
    meter = proc.meter(7, 9)
    meter.sample()
    proc.process(7, 2.5, {7: 0.75})
    proc.end(9)
    usage = meter.sample()
    assert (usage.cpu, usage.waited) == (3.5, 2.0)
    assert (usage.memory, usage.peak) == (2**20, 4 * 2**20)
    assert meter.sample().waited == 2.0


def test_a_child_that_its_parent_waited_for_counts_once(proc: Proc) -> None:
    proc.process(7, 2.0, {7: 0.0})
    proc.process(9, 1.0, {9: 0.0}, parent=7)
    meter = proc.meter(7, 9)
    assert meter.sample().cpu == 3.0
    proc.end(9)
    proc.process(7, 3.5, {7: 0.0})
    assert meter.sample().cpu == 3.5
    proc.end(7)
    assert meter.sample().cpu == 3.5


def test_cpu_time_does_not_decrease_before_a_child_is_in_its_parent_s_account(proc: Proc) -> None:
    proc.process(7, 2.0, {7: 0.0})
    proc.process(9, 1.0, {9: 0.0}, parent=7)
    meter = proc.meter(7, 9)
    meter.sample()
    proc.end(9)
    assert meter.sample().cpu == 3.0


def test_a_reused_id_is_another_process(proc: Proc) -> None:
    proc.process(7, 2.0, {7: 0.5}, started=5)
    meter = proc.meter(7)
    meter.sample()
    proc.process(7, 0.5, {7: 0.25}, started=6)
    usage = meter.sample()
    assert (usage.cpu, usage.waited) == (2.5, 0.75)


def test_accounting_groups_are_read_instead(proc: Proc, tmp_path: Path) -> None:
    proc.process(7, 2.0, {7: 0.5})
    cpu, memory = tmp_path / "cpu", tmp_path / "memory"
    for folder in (cpu, memory):
        folder.mkdir()
    (cpu / "cpuacct.usage").write_text("9500000000\n")
    (memory / "memory.stat").write_text("cache 5000\nrss 7\ntotal_cache 9\ntotal_rss 100\ntotal_shmem 11\n")
    usage = proc.meter(7, cpu_group=cpu, memory_group=memory, throttled=lambda: 0.25).sample()
    assert (usage.cpu, usage.waited, usage.throttled, usage.memory) == (9.5, 0.5, 0.25, 111.0)
    (cpu / "cpuacct.usage").unlink()
    (cpu / "cpu.stat").write_text("usage_usec 1500000\n")
    (memory / "memory.stat").write_text("anon 100\nfile 5000\nshmem 12\n")
    usage = proc.meter(7, cpu_group=cpu, memory_group=memory).sample()
    assert (usage.cpu, usage.memory) == (1.5, 112.0)


def test_a_malformed_accounting_file_is_named(proc: Proc, tmp_path: Path) -> None:
    (tmp_path / "cpuacct.usage").write_text("much\n")
    with pytest.raises(GroupError, match=r"cpuacct\.usage: is 'much', expected a whole number"):
        proc.meter(cpu_group=tmp_path).sample()


seconds = st.floats(0, 1e6)


@given(seconds, seconds, seconds, seconds, seconds, seconds)
def test_spent_amounts_are_never_negative(a: float, b: float, c: float, d: float, e: float, f: float) -> None:
    found = spent(Usage(0.0, a, b, c, 1.0, 1.0), Usage(1.0, d, e, f, 1.0, 1.0))
    assert min(found.cpu, found.waited, found.throttled) >= 0
    assert 0 <= found.contended_percent() <= 100
    assert 0 <= found.waited_percent(2) <= 100


def test_percents_over_no_time_are_unknown() -> None:
    assert math.isnan(Spent(0.0, 0.0, 0.0, 0.0).cpu_percent(2))
    assert Spent(1.0, 0.0, 0.0, 0.0).contended_percent() == 0.0


def test_a_real_family_is_measured(started: Callable[..., int]) -> None:
    """A child that uses 0.5 s of CPU time and ends is in the account of its parent."""
    code = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    while time.process_time() < 0.5: pass\n"
        "    os._exit(0)\n"
        "block = bytearray(64 << 20)\n"
        "os.wait(); print('up', flush=True); sys.stdin.read()"
    )
    pid, other = started(code), started(SLEEP)
    meter = Meter(lambda: descendants([pid]), lambda: 0.0)
    usage = meter.sample()
    assert usage.cpu >= 0.5
    assert usage.memory >= 64 << 20
    assert Meter(lambda: [other], lambda: 0.0).sample().memory < 64 << 20
