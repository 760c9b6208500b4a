"""The history of an autoscaler on a disk that is full: what was added is there, and more is once there is room."""

import numpy as np
import pytest

from tests.disks import PAGE, filled, names, small_disk
from windlass.model import InputError
from windlass.scale.monitor import Monitor

PERIOD = 60.0


def opened(path):
    return Monitor(path, ["small", "large"], period=PERIOD)


def add_many(monitor, added):
    """Add one period after the other; those of which that is done are in a list."""
    for at in range(1, 100):
        monitor.add(PERIOD * at, np.array([1.0, at]))
        added.append(at)


def test_what_was_added_is_there_and_more_is_once_there_is_room(tmp_path):
    with small_disk(tmp_path / "disk", 2048 * PAGE) as disk:
        path, added = disk / "history.db", [0]
        with opened(path) as monitor:
            monitor.add(0.0, np.array([1.0, 0.0]))
            with filled(disk):
                with pytest.raises(InputError, match=r"history.db: cannot be written: "):
                    add_many(monitor, added)
                assert monitor.rows(PERIOD * added[-1])[:, 1].tolist() == added
                assert monitor.rows(PERIOD * (added[-1] + 1))[-1, 1] == added[-1]
            add_many(monitor, added := [0])
        with opened(path) as again:
            assert again.rows(PERIOD * added[-1])[:, 1].tolist() == added
        assert names(disk) == {"history.db"}


def test_a_history_that_cannot_begin_is_named_and_begins_once_there_is_room(tmp_path):
    with small_disk(tmp_path / "disk", 2048 * PAGE) as disk:
        path = disk / "history.db"
        with filled(disk):
            with pytest.raises(InputError, match=r"history.db: cannot be used as a history: "):
                opened(path)
            assert names(disk) <= {"history.db"}
        with opened(path) as monitor:
            monitor.add(0.0, np.array([1.0, 0.0]))
            assert monitor.rows(0.0).tolist() == [[1.0, 0.0]]
