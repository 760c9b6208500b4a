"""Recordings: their rows, their pace, and their content after an interruption or a kill."""

import math
import os
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from windlass.engines.linux.telemetry.observer import Observation, Observer
from windlass.engines.linux.telemetry.recorder import Pace, record
from windlass.engines.linux.telemetry.recording import Recording
from windlass.model import InputError


class Clock:
    """A clock that advances during pauses, and by `look` at each call."""

    def __init__(self, look=0.0):
        self.now, self.look = 50.0, look

    def __call__(self):
        self.now += self.look
        return self.now

    def pause(self, seconds):
        self.now += seconds


def step(at, value=1.0):
    return Observation(at, 1.0, np.array([value, math.nan]), 0.5, 0.25)


def test_recorded_rows_are_read_back(tmp_path):
    recording = Recording(tmp_path / "a.parquet", ("x", "y"), Clock())
    for at in range(3):
        recording.add(step(float(at), value=at / 2))
    recording.save()
    found = pl.read_parquet(tmp_path / "a.parquet")
    assert found.columns == ["at", "seconds", "busy", "cpu_ready", "x", "y"]
    assert found["x"].to_list() == [0.0, 0.5, 1.0]
    assert found["y"].is_nan().all()
    assert os.listdir(tmp_path) == ["a.parquet"]


def test_a_recording_is_saved_periodically(tmp_path):
    clock = Clock()
    recording = Recording(tmp_path / "a.parquet", ("x", "y"), clock)
    for at in range(40):
        clock.now += 1.0
        recording.add(step(float(at)))
    assert len(pl.read_parquet(tmp_path / "a.parquet")) == 30


@pytest.mark.slow
def test_slow_saves_are_less_frequent(tmp_path):
    """Each call of the clock takes 1 s, so a save takes 1 s: the next is 200 s later."""
    clock = Clock(look=1.0)
    recording = Recording(tmp_path / "a.parquet", ("x", "y"), clock)
    saved = set()
    for at in range(150):
        recording.add(step(float(at)))
        saved.add(len(pl.read_parquet(tmp_path / "a.parquet")))
    assert saved == {0, 30}


def test_an_unwritable_file_is_an_error_before_the_first_step(tmp_path):
    with pytest.raises(InputError, match=r"nowhere/a\.parquet: the file cannot be written: No such file"):
        Recording(tmp_path / "nowhere" / "a.parquet", ("x",), Clock())


def test_a_recording_has_the_requested_number_of_steps(machine, tmp_path):
    clock = Clock()
    recording = Recording(tmp_path / "a.parquet", Observer(clock, clock).names, clock)
    record(
        Observer(clock, clock, machine.roots), recording, Pace(5.0, 0.5), clock, clock.pause, lambda _: None
    )
    found = pl.read_parquet(tmp_path / "a.parquet")
    assert len(found) == 10
    assert found["seconds"].to_list() == pytest.approx([0.5] * 10)


def test_missed_steps_are_not_caught_up(machine, tmp_path):
    clock = Clock()
    recording = Recording(tmp_path / "a.parquet", Observer(clock, clock).names, clock)

    def slow(_):
        if recording.rows == 2:
            clock.now += 3.5

    record(Observer(clock, clock, machine.roots), recording, Pace(8.0, 1.0), clock, clock.pause, slow)
    assert pl.read_parquet(tmp_path / "a.parquet")["seconds"].to_list() == pytest.approx([1, 1, 4, 1, 1])


def test_an_interrupted_recording_is_saved(machine, tmp_path):
    clock = Clock()
    recording = Recording(tmp_path / "a.parquet", Observer(clock, clock).names, clock)

    def interrupt(_):
        if recording.rows == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(
            Observer(clock, clock, machine.roots), recording, Pace(60.0, 1.0), clock, clock.pause, interrupt
        )
    assert len(pl.read_parquet(tmp_path / "a.parquet")) == 4


@pytest.mark.parametrize(
    ("seconds", "every", "name"), [(-1.0, 1.0, "seconds"), (5.0, 0.0, "every"), (1.0, math.nan, "every")]
)
def test_an_invalid_pace_is_rejected(seconds, every, name):
    with pytest.raises(InputError, match=name):
        Pace(seconds, every)


COMMAND = [sys.executable, "-c", "from windlass.cli import main; main()", "agent", "record"]


def rows_of(path):
    return len(pl.read_parquet(path)) if path.exists() else 0


@pytest.mark.matrix(0.01)
@pytest.mark.skipif(not os.path.exists("/proc/stat"), reason="no /proc here")
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_the_command_saves_on_a_signal(tmp_path, by):
    out = tmp_path / "a.parquet"
    process = subprocess.Popen(
        [*COMMAND, "--every", "0.05", "--out", str(out)], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    # Missing metrics are reported after the first step; every real kernel lacks some.
    line = process.stderr.readline()
    assert "not available on this machine" in line
    process.send_signal(by)
    assert "interrupted" in process.stderr.read()
    assert process.wait() == 130
    assert rows_of(out) >= 1


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/stat"), reason="no /proc here")
def test_the_command_records_and_a_killed_recording_can_be_read(tmp_path):
    out, killed = tmp_path / "a.parquet", tmp_path / "b.parquet"
    done = subprocess.run(
        [*COMMAND, "--seconds", "3", "--every", "1", "--out", str(out)],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = rows_of(out)
    assert 1 <= rows <= 3
    assert done.stdout.startswith(f"{out}: {rows} steps of ")
    process = subprocess.Popen(
        [*COMMAND, "--every", "0.05", "--out", str(killed)], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    process.stderr.readline()
    process.kill()
    process.wait()
    assert pl.read_parquet(killed).columns == pl.read_parquet(out).columns


@pytest.mark.matrix(0)
def test_a_recording_is_not_overwritten(tmp_path):
    out = tmp_path / "a.parquet"
    out.write_text("of hours")
    done = subprocess.run([*COMMAND, "--out", str(out)], capture_output=True, text=True)
    assert (done.returncode, out.read_text()) == (2, "of hours")
    assert done.stderr == f"windlass: --out: {out} exists already, expected a new file\n"


@pytest.mark.matrix(0)
def test_a_missing_proc_folder_is_named(tmp_path):
    done = subprocess.run(
        [*COMMAND, "--out", str(tmp_path / "a"), "--proc", str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"windlass: --proc: {tmp_path}/stat: no such file")


@pytest.mark.parametrize("started", [0.0, 0.7, 5.1, 1234567.9])
def test_rounding_errors_of_the_clock_lose_no_step(machine, tmp_path, started):
    clock = Clock()
    clock.now += started
    recording = Recording(tmp_path / "a.parquet", Observer(clock, clock).names, clock)
    observer = Observer(clock, clock, machine.roots)
    record(observer, recording, Pace(0.3, 0.1), clock, clock.pause, lambda _: None)
    assert pl.read_parquet(tmp_path / "a.parquet")["seconds"].to_list() == pytest.approx([0.1] * 3, abs=1e-6)
