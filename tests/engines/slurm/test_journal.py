"""The journal: appended entries survive the end of the driver; and one driver per cluster."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.engines.slurm.entries import (
    Began,
    Decided,
    GivenBack,
    Over,
    Refused,
    Releasing,
    Restored,
    Returning,
    Taking,
    Withheld,
    entry_line,
    read_entry,
)
from windlass.engines.slurm.journal import Journal, Unwritten, read_journal
from windlass.engines.slurm.lock import DriverLock
from windlass.model import InputError

numbers = st.integers(1, 6)
times = st.floats(0, 2e9)
entries = st.one_of(
    st.builds(Decided, times, st.text(), st.tuples(st.text()), st.tuples(st.text())),
    st.builds(Releasing, times, numbers, times, st.integers(0, 3)),
    st.builds(Refused, times, numbers, st.text()),
    st.builds(Began, times, numbers),
    st.builds(Over, times, numbers, st.text()),
    st.builds(Taking, times, numbers, numbers, numbers, times, times, times, numbers),
    st.builds(Returning, times, numbers, numbers, st.text()),
    st.builds(Restored, times, numbers),
    st.builds(Withheld, times, numbers, times),
    st.builds(GivenBack, times, st.tuples(numbers, numbers)),
)


def under_way(written):
    """A plain version: the last entry of each job's release or end."""
    last = {}
    for entry in written:
        if isinstance(entry, Releasing | Refused | Over):
            last[entry.job] = entry
    return {job: entry for job, entry in last.items() if isinstance(entry, Releasing)}


def taken(written):
    """A plain version: the last entry of each guest's admission or restoration."""
    last = {entry.job: entry for entry in written if isinstance(entry, Taking | Restored)}
    return {job: entry for job, entry in last.items() if isinstance(entry, Taking)}


def current(written, kind):
    """A plain version: the last entry of that kind of each job that was not released since."""
    last = {entry.job: entry for entry in written if isinstance(entry, kind | Releasing)}
    return {job: entry for job, entry in last.items() if isinstance(entry, kind)}


@given(entries)
def test_an_entry_is_one_line_that_is_read_back(entry):
    line = entry_line(entry)
    assert "\n" not in line
    assert read_entry(line) == entry


@given(st.lists(entries, max_size=8), st.data())
def test_after_truncation_at_any_byte_complete_lines_are_kept(written, data):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "journal"
        with Journal(path) as journal:
            journal.append(*written)
        content = path.read_bytes()
        cut = data.draw(st.integers(0, len(content)))
        path.write_bytes(content[:cut])
        whole = written[: content[:cut].count(b"\n")]
        with Journal(path) as journal:
            assert journal.under_way == under_way(whole)
            assert journal.standing.taken == taken(whole)
            assert journal.standing.returning == current(whole, Returning)
            assert journal.standing.withheld == current(whole, Withheld)
            assert bool(journal.torn) is not (cut == 0 or content[cut - 1 : cut] == b"\n")
            assert Unwritten(path).under_way == journal.under_way
            journal.append(Began(1.0, 9))
        assert read_journal(path) == [*whole, Began(1.0, 9)]


@given(st.lists(st.lists(entries, min_size=1, max_size=3), max_size=12))
def test_a_rotated_journal_is_bounded_and_knows_the_same(written):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "journal"
        with Journal(path, limit=400) as journal:
            held, file = 0, path.stat().st_ino
            for some in written:
                longest = max(len(entry_line(entry).encode()) for entry in some) * len(some)
                journal.append(*some)
                if file != (file := path.stat().st_ino):
                    # It has just been rotated.
                    held = path.stat().st_size
                    assert held <= sum(len(entry_line(entry)) + 1 for entry in journal.standing.entries())
                assert path.stat().st_size <= max(400, 2 * held) + longest + len(some)
                # It is on disk at once, while the journal is open.
                assert Unwritten(path).standing.entries() == journal.standing.entries()
        every = [entry for some in written for entry in some]
        with Journal(path) as journal:
            assert journal.under_way == under_way(every)
            assert journal.standing.taken == taken(every)
            assert journal.standing.withheld == current(every, Withheld)
        assert {file.name for file in Path(folder).iterdir()} <= {"journal", "journal.1"}


def test_one_previous_journal_is_kept(tmp_path):
    path = tmp_path / "journal"
    with Journal(path, limit=100) as journal:
        for job in range(1, 5):
            journal.append(Over(1.0, job, "x" * 80))
    assert path.read_bytes() == b""
    assert [entry.job for entry in read_journal(tmp_path / "journal.1")] == [4]


def test_a_journal_is_rotated_beyond_its_limit_and_not_at_it(tmp_path):
    path, entry = tmp_path / "journal", Over(1.0, 1, "x")
    line = f"{entry_line(entry)}\n".encode()
    with Journal(path, limit=2 * len(line)) as journal:
        journal.append(entry)
        journal.append(entry)
        assert path.read_bytes() == 2 * line
        assert not (tmp_path / "journal.1").exists()
        journal.append(entry)
    assert path.read_bytes() == b""
    assert (tmp_path / "journal.1").read_bytes() == 3 * line


def test_an_entry_is_on_disk_at_once_also_after_rotation(tmp_path):
    path = tmp_path / "journal"
    with Journal(path, limit=100) as journal:
        journal.append(Over(1.0, 1, "x" * 200))
        assert path.read_bytes() == b""
        for job in (2, 3):
            journal.append(Began(1.0, job))
            assert [entry.job for entry in read_journal(path)] == [*range(2, job + 1)]


@pytest.mark.parametrize(
    "line", ['{"what":"began"}', "{}", "7", '{"what":"none","at":1}', '{"what":"began","at":1,"job":null}']
)
def test_a_malformed_line_in_the_middle_is_an_error_and_the_file_is_unchanged(tmp_path, line):
    path = tmp_path / "journal"
    path.write_text(f"{entry_line(Began(1.0, 7))}\n{line}\n{entry_line(Began(2.0, 7))}\n")
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"journal, line 2: not an entry"):
        Journal(path)
    assert path.read_bytes() == before


def test_an_unwritable_journal_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"--journal: .*: Is a directory"):
        Journal(tmp_path)
    with pytest.raises(InputError, match=r"--journal: .*: No such file or directory"):
        Journal(tmp_path / "none" / "journal")


def test_an_unwritten_journal_writes_nothing(tmp_path):
    path = tmp_path / "journal"
    Unwritten(path).append(Began(1.0, 7))
    assert not path.exists()


_WRITER = """
import sys
from pathlib import Path
from windlass.engines.slurm.entries import Began
from windlass.engines.slurm.journal import Journal
journal = Journal(Path(sys.argv[1]))
for job in range(10**9):
    journal.append(Began(0.0, job))
    print(job, flush=True)
"""


def test_appended_entries_survive_kill_9(tmp_path):
    path = tmp_path / "journal"
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        printed = [int(writer.stdout.readline()) for _ in range(20)]
        writer.send_signal(signal.SIGKILL)
        printed += [int(line) for line in writer.stdout]
    found = [entry.job for entry in read_journal(path)]
    assert found[: len(printed)] == printed
    assert len(found) <= len(printed) + 1


def test_a_second_driver_is_rejected_and_the_lock_ends_with_its_holder(tmp_path):
    code = (
        "import sys\nfrom pathlib import Path\nfrom windlass.engines.slurm.lock import DriverLock\n"
        "lock = DriverLock('c:h:1', Path(sys.argv[1]))\nprint('mine', flush=True)\nsys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "mine\n"
        with pytest.raises(
            InputError, match=rf"another driver \(process {holder.pid}\) drives this cluster: c:h:1"
        ):
            DriverLock("c:h:1", tmp_path)
        DriverLock("c:h:2", tmp_path).close()
        holder.send_signal(signal.SIGKILL)
    with DriverLock("c:h:1", tmp_path) as lock:
        assert int(lock.path.read_text()) == os.getpid()
