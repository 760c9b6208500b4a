"""Spent resources, progress reports and the watchdog: edge cases in this process."""

from __future__ import annotations

import fcntl
import json
import math
import os
from types import SimpleNamespace

import pytest

from windlass.engines.linux import watchdog
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.job_progress import MOST, JobProgress, read, report
from windlass.engines.linux.measure import Meter, Spent, Usage, spent


def test_spent_is_the_difference_without_throttled_time():
    before = Usage(10.0, 1.0, 2.0, 0.5, 7.0, 9.0)
    assert spent(before, Usage(14.0, 3.5, 7.0, 1.25, 8.0, 9.0)) == Spent(4.0, 2.5, 4.25, 0.75)
    # A decreasing throttled time subtracts nothing.
    assert spent(before, Usage(14.0, 0.5, 1.0, 0.25, 8.0, 9.0)) == Spent(4.0, 0.0, 0.0, 0.0)
    each = Spent(4.0, 2.0, 6.0, 0.0)
    assert each.cpu_percent(2) == 25.0
    assert each.waited_percent(2) == 75.0
    assert each.waited_percent(1) == 100.0
    assert each.contended_percent() == 75.0
    assert math.isnan(Spent(0.0, 2.0, 6.0, 0.0).waited_percent(2))
    assert Spent(4.0, 2.0, 0.0, 0.0).contended_percent() == 0.0


def test_a_meter_keeps_the_peak_memory_and_counts_each_process_once(tmp_path):
    folder = tmp_path / "7"
    (folder / "task" / "7").mkdir(parents=True)
    (folder / "task" / "7" / "schedstat").write_text("5 2000000000 9\n")
    numbers = ["R", *map(str, range(1, 40))]
    (folder / "stat").write_text(f"7 (a) {' '.join(numbers)}\n")
    for kib, expected in (((3, 4), (7, 7)), ((1, 1), (2, 7)), ((8, 0), (8, 8))):
        (folder / "smaps_rollup").write_text(
            f"Rss: 99 kB\nPss_Anon: {kib[0]} kB\nPss_File: 50 kB\nPss_Shmem: {kib[1]} kB\n"
        )
        if kib == (3, 4):
            meter = Meter(lambda: [7, 7, 8], lambda: 3.5, proc=tmp_path)
        usage = meter.sample()
        assert (usage.memory, usage.peak) == (1024.0 * expected[0], 1024.0 * expected[1])
    # User and system time of the process and its awaited children: fields 14 to 17 of the file.
    assert usage.cpu == pytest.approx((11 + 12 + 13 + 14) / os.sysconf("SC_CLK_TCK"))
    assert (usage.at, usage.waited, usage.throttled) == (3.5, 2.0, 0.0)


def test_progress_values_at_their_bounds_are_accepted(tmp_path):
    path = tmp_path / "file"
    good = {"stage": 10**9, "stages": 10**9, "parallel": False, "done": 1e15, "left": 0}
    path.write_text(json.dumps(good))
    assert read(path).progress == JobProgress(10**9, 10**9, False, 1e15, 0)
    assert read(path).why == ""
    for changed in ({"stages": 10**9 + 1}, {"done": 1.1e15}, {"stage": 10**9 + 1}, {"stages": 0, "stage": 0}):
        path.write_text(json.dumps(good | changed))
        assert read(path).progress is None
    text = json.dumps(good)
    path.write_text(text + " " * (MOST - len(text)))
    assert read(path).progress is not None
    path.write_text(text + " " * (MOST + 1 - len(text)))
    assert read(path).why.endswith("has over 4096 bytes, expected one line of JSON")
    path.write_text("[" + "1" * 80)
    assert read(path).why == f"{path}: is {'[' + '1' * 39!r}, expected one line of JSON"
    path.write_text(json.dumps(good | {"done": "x" * 99}))
    assert f"done is {repr('x' * 99)[:40]}, expected" in read(path).why
    before = len(os.listdir("/proc/self/fd"))
    read(path)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_failed_report_leaves_no_temporary_file(tmp_path):
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "in").write_text("")
    with pytest.raises(OSError, match=r"directory"):
        report(tmp_path / "file", JobProgress(1, 1, True, 0, 1))
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


class Owned:
    """Groups whose release fails `failures` times."""

    def __init__(self, base, failures=0):
        self.base, self.left, self.released = base, failures, 0

    def release_all(self):
        self.released += 1
        if self.left:
            self.left -= 1
            raise GroupError(f"{self.left} left")


@pytest.mark.parametrize(
    ("failures", "status", "output"),
    [(0, 0, "up\n"), (2, 0, "up\n"), (3, 1, "up\n0 left\n"), (9, 1, "up\n6 left\n")],
)
def test_a_watchdog_releases_once_the_pipe_closes_and_tries_three_times(
    tmp_path, monkeypatch, failures, status, output
):
    (stdin, pipe), (heard, stdout) = os.pipe(), os.pipe()
    ignored = []
    monkeypatch.setattr(
        watchdog, "sys", SimpleNamespace(stdin=os.fdopen(stdin), stdout=os.fdopen(stdout, "w"), exit=None)
    )
    monkeypatch.setattr(watchdog.signal, "signal", lambda each, how: ignored.append((each, how)))
    groups = Owned(tmp_path / "windlass", failures)
    # Text in the pipe is discarded, and is not its end.
    os.write(pipe, b"x" * 10)
    os.close(pipe)
    assert watchdog.watch(groups, os.getpid()) == status
    assert groups.released == min(failures + 1, 3)
    assert os.read(heard, 4096).decode() == output
    signals = (watchdog.signal.SIGTERM, watchdog.signal.SIGINT, watchdog.signal.SIGHUP)
    assert ignored == [(each, watchdog.signal.SIG_IGN) for each in signals]
    os.close(heard)


def test_a_watchdog_without_the_lock_reports_it(tmp_path, monkeypatch):
    (stdin, pipe), (heard, stdout) = os.pipe(), os.pipe()
    naps = []
    monkeypatch.setattr(
        watchdog, "sys", SimpleNamespace(stdin=os.fdopen(stdin), stdout=os.fdopen(stdout, "w"))
    )
    monkeypatch.setattr(watchdog.signal, "signal", lambda each, how: None)
    monkeypatch.setattr(watchdog.time, "sleep", naps.append)
    base = tmp_path / "windlass"
    base.mkdir()
    other = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(other, fcntl.LOCK_EX)
    groups = Owned(base)
    before = len(os.listdir("/proc/self/fd"))
    assert watchdog.watch(groups, os.getpid()) == 2
    assert b"another driver has this group, expected one driver per name" in os.read(heard, 4096)
    assert naps == [0.02] * 150
    assert groups.released == 0
    assert len(os.listdir("/proc/self/fd")) == before
    os.close(other)
    lock = watchdog._locked(groups)
    again = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
    for each in (lock, again, heard, pipe):
        os.close(each)
