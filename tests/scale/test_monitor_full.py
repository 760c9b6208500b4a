"""The history of an autoscaler on a full disk: added rows are kept, and new rows are added after space is freed."""

import numpy as np
import pytest

from tests.disks import PAGE, filled, names, small_disk
from windlass.model import InputError
from windlass.scale.monitor import Monitor

PERIOD = 60.0


def opened(path):
    return Monitor(path, ["small", "large"], period=PERIOD)


def add_many(monitor, added):
    """Add one period after the other, and append each added period to a list."""
    for at in range(1, 100):
        monitor.add(PERIOD * at, np.array([1.0, at]))
        added.append(at)


def test_on_a_full_disk_added_rows_are_kept_and_adding_resumes_with_space(tmp_path):
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


def test_a_history_that_cannot_be_created_is_an_error_until_there_is_space(tmp_path):
    with small_disk(tmp_path / "disk", 2048 * PAGE) as disk:
        path = disk / "history.db"
        with filled(disk):
            with pytest.raises(InputError, match=r"history.db: cannot be used as a history: "):
                opened(path)
            assert names(disk) <= {"history.db"}
        with opened(path) as monitor:
            monitor.add(0.0, np.array([1.0, 0.0]))
            assert monitor.rows(0.0).tolist() == [[1.0, 0.0]]
