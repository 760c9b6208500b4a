"""The history on disk: no added row is lost, the file stays small, and clock jumps are harmless."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.model import InputError
from windlass.scale.monitor import Monitor


def monitor(path: Path, types=("a", "b"), period=10.0, **more) -> Monitor:
    return Monitor(path / "history.db", types, period=period, **more)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 60), st.floats(0.0, 9.0)), min_size=1, max_size=20))
def test_rows_are_the_last_added_in_each_period(tmp_path_factory, added):
    with monitor(tmp_path_factory.mktemp("m"), ["a"]) as kept:
        known = {}
        for at, count in added:
            kept.add(float(at), np.array([count]))
            known[at // 10] = count
        first, last, expected = min(known), 6, []
        for bucket in range(first, last + 1):
            expected.append(known.get(bucket, expected[-1] if expected else 0.0))
        assert kept.rows(60.0)[:, 0].tolist() == expected


@pytest.mark.parametrize("is_open", [False, True])
def test_a_dry_run_reads_a_history_and_changes_no_file(tmp_path, is_open):
    kept = monitor(tmp_path, ["a"])
    kept.add(15.0, np.array([1.0]))
    if not is_open:
        kept.close()
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir() if not each.name.endswith("-shm")}
    with monitor(tmp_path, ["a"], writes=False) as dry:
        assert dry.rows(15.0).tolist() == [[1.0]]
        dry.add(25.0, np.array([2.0]))
        assert dry.rows(25.0).tolist() == [[1.0], [2.0]]
    after = {each.name: each.read_bytes() for each in tmp_path.iterdir() if not each.name.endswith("-shm")}
    assert after == before
    kept.close()


def test_a_dry_run_without_a_history_creates_none(tmp_path):
    with monitor(tmp_path / "state", ["a"], writes=False) as dry:
        assert dry.rows(15.0).shape == (0, 1)
    assert list(tmp_path.iterdir()) == []


def test_later_rows_are_hidden_when_the_clock_is_set_back(tmp_path):
    with monitor(tmp_path, ["a"]) as kept:
        kept.add(15.0, np.array([1.0]))
        kept.add(95.0, np.array([9.0]))
        assert kept.rows(25.0)[:, 0].tolist() == [1.0, 1.0]
        kept.add(95.0, np.array([3.0]))
        assert kept.rows(99.0)[-1].tolist() == [3.0]


@pytest.mark.matrix(0)
def test_old_rows_are_removed_and_the_file_stays_small(tmp_path):
    with monitor(tmp_path, ["a"], keep=50) as kept:
        for at in range(2000):
            kept.add(10.0 * at, np.array([float(at)]))
        assert kept.rows(19990.0)[:, 0].tolist() == [float(at) for at in range(1950, 2000)]
    assert (tmp_path / "history.db").stat().st_size < 64_000


def test_types_may_be_added_and_removed(tmp_path):
    with monitor(tmp_path, ["a", "gone"]) as kept:
        kept.add(5.0, np.array([1.0, 7.0]))
    with monitor(tmp_path, ["new", "a"]) as kept:
        kept.add(15.0, np.array([2.0, 3.0]))
        assert kept.rows(15.0).tolist() == [[0.0, 1.0], [2.0, 3.0]]


def test_an_empty_history_has_no_rows(tmp_path):
    with monitor(tmp_path) as kept:
        assert kept.rows(1e9).shape == (0, 2)


@pytest.mark.parametrize("counts", [[1.0], [1.0, np.nan], [1.0, -1.0], [np.inf, 0.0]])
def test_invalid_counts_are_rejected(tmp_path, counts):
    with monitor(tmp_path) as kept:
        with pytest.raises(InputError, match="expected 2 finite numbers of at least 0"):
            kept.add(5.0, np.array(counts))
        assert len(kept.rows(5.0)) == 0


def test_a_file_that_is_not_a_history_is_rejected_and_unchanged(tmp_path):
    (tmp_path / "history.db").write_text("something else that is no history at all" * 50)
    with pytest.raises(InputError, match=r"history\.db: cannot be used as a history: file is not a database"):
        monitor(tmp_path)
    assert (tmp_path / "history.db").read_text().startswith("something else")


def test_another_period_keeps_the_history(tmp_path):
    with monitor(tmp_path) as kept:
        for at, counts in ((5.0, [1.0, 4.0]), (15.0, [2.0, 5.0]), (45.0, [3.0, 6.0])):
            kept.add(at, np.array(counts))
    # A dry run converts a copy.
    with monitor(tmp_path, period=20.0, writes=False) as copy:
        assert copy.rows(45.0).tolist() == [[2.0, 5.0], [2.0, 5.0], [3.0, 6.0]]
    with monitor(tmp_path) as kept:
        assert len(kept.rows(45.0)) == 5
    with monitor(tmp_path, period=20.0) as longer:
        assert longer.rows(45.0).tolist() == [[2.0, 5.0], [2.0, 5.0], [3.0, 6.0]]
        longer.add(59.0, np.array([9.0, 9.0]))
    with monitor(tmp_path, period=10.0) as shorter:
        assert shorter.rows(59.0).tolist() == [[2.0, 5.0]] * 4 + [[9.0, 9.0]] * 2
    with monitor(tmp_path, period=10.0) as again:
        assert len(again.rows(59.0)) == 6


def test_a_process_does_not_add_rows_of_a_period_that_another_one_has_changed(tmp_path):
    with monitor(tmp_path) as kept:
        kept.add(5.0, np.array([1.0, 4.0]))
        monitor(tmp_path, period=20.0).close()
        with pytest.raises(InputError, match="another process has changed the period to 20 s"):
            kept.add(15.0, np.array([2.0, 4.0]))
    with monitor(tmp_path, period=20.0) as other:
        assert other.rows(15.0).tolist() == [[1.0, 4.0]]


def test_a_row_that_another_process_adds_during_a_change_of_period_is_kept_or_refused(tmp_path, monkeypatch):
    kept, refused = monitor(tmp_path, ["a"]), []
    kept.add(5.0, np.array([1.0]))
    kept._file.execute("pragma busy_timeout = 0")
    convert = Monitor._known_period

    def meanwhile(self):
        found = convert(self)
        if self is not kept and not refused:
            refused.append(True)
            with pytest.raises(InputError, match="locked"):
                kept.add(15.0, np.array([2.0]))
        return found

    monkeypatch.setattr(Monitor, "_known_period", meanwhile)
    with monitor(tmp_path, ["a"], period=20.0) as other:
        assert other.rows(15.0).tolist() == [[1.0]]
    assert refused
    kept.close()


def test_a_killed_process_loses_no_added_row(tmp_path):
    script = """
        import sys
        from pathlib import Path
        import numpy as np
        from windlass.scale.monitor import Monitor
        with Monitor(Path(sys.argv[1]), ["a"], period=1.0) as kept:
            for at in range(100_000):
                kept.add(float(at), np.array([float(at)]))
                print(at, flush=True)
    """
    file = tmp_path / "history.db"
    for wait in (1, 7, 40):
        command = [sys.executable, "-c", textwrap.dedent(script), str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            printed = [int(process.stdout.readline()) for _ in range(wait)]
            process.send_signal(signal.SIGKILL)
            printed += [int(line) for line in process.stdout.read().split("\n")[:-1]]
        with Monitor(file, ["a"], period=1.0) as kept:
            rows = kept.rows(float(printed[-1]))[:, 0]
        assert rows.tolist() == [float(at) for at in range(printed[-1] + 1)]
