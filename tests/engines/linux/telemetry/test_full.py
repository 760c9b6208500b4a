"""Rows recorded before a disk was full are kept."""

import numpy as np
import polars as pl
import pytest

from tests.disks import PAGE, filled, names, small_disk
from windlass.engines.linux.telemetry.observer import Observation
from windlass.engines.linux.telemetry.recording import Recording
from windlass.model import InputError

NAMES = tuple(f"metric.{at}" for at in range(50))


def add(recording, rows, rng):
    for at in range(rows):
        recording.add(Observation(float(at), 1.0, rng.random(len(NAMES)), 0.25, 0.0))


def test_on_a_full_disk_saved_rows_stay_and_later_ones_are_written_with_space(tmp_path):
    rng = np.random.default_rng(1)
    with small_disk(tmp_path / "disk", 128 * PAGE) as disk:
        path = disk / "a.parquet"
        recording = Recording(path, NAMES, lambda: 0.0)
        add(recording, 20, rng)
        recording.save()
        add(recording, 100, rng)
        for free in (0, PAGE, 4 * PAGE):
            with filled(disk, free):
                with pytest.raises(
                    InputError, match=r"a.parquet: the file cannot be written: No space left on device"
                ):
                    recording.save()
                assert len(pl.read_parquet(path)) == 20
                assert names(disk) == {"a.parquet"}
        recording.save()
        assert len(pl.read_parquet(path)) == 120


def test_a_recording_that_cannot_start_leaves_no_file(tmp_path):
    with small_disk(tmp_path / "disk", 16 * PAGE) as disk, filled(disk):
        with pytest.raises(InputError, match="the file cannot be written: No space left on device"):
            Recording(disk / "a.parquet", NAMES, lambda: 0.0)
        assert names(disk) == set()
