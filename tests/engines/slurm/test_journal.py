"""The journal: appended entries survive the end of the driver; and one driver per cluster."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.adversary.disk import JournalDisk
from windlass.cli.journal import lines
from windlass.engines.batch import store
from windlass.engines.batch.driver_lock import DriverLock
from windlass.engines.batch.journal import stored_lines
from windlass.engines.batch.journal_lock import journal_lock
from windlass.engines.batch.store import EntryStore
from windlass.engines.slurm.entries import (
    Began,
    Decided,
    GivenBack,
    Over,
    Refused,
    Releasing,
    Restored,
    Returning,
    Standing,
    Taking,
    Withheld,
    entry_line,
    read_entry,
)
from windlass.engines.slurm.journal import Journal, Unwritten, read_journal
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


def json_journal(path, written, more=b""):
    """Write a journal in lines of JSON, as Windlass wrote before."""
    path.write_bytes("".join(f"{entry_line(entry)}\n" for entry in written).encode() + more)


@given(st.lists(entries, max_size=8), st.data())
@settings(max_examples=30, deadline=None)
def test_a_journal_in_lines_of_json_is_moved_into_sqlite_once(written, data):
    with TemporaryDirectory() as folder, mock.patch.object(store, "SYNCHRONOUS", "off"):
        path = Path(folder) / "journal"
        json_journal(path, written)
        content = path.read_bytes()
        # To SQLite, a file of one byte is an empty one.
        cut = data.draw(st.integers(0, len(content)).filter(lambda size: size != 1))
        path.write_bytes(content[:cut])
        whole = written[: content[:cut].count(b"\n")]
        if cut:
            assert Unwritten(path).standing.entries() == state_of(whole).entries()
        with Journal(path) as journal:
            assert journal.under_way == under_way(whole)
            assert journal.standing.taken == taken(whole)
            assert journal.standing.returning == current(whole, Returning)
            assert journal.standing.withheld == current(whole, Withheld)
            torn = cut and content[cut - 1 : cut] != b"\n"
            assert len(journal.notices) == (cut > 0) + bool(torn)
            assert Unwritten(path).under_way == journal.under_way
            journal.append(Began(1.0, 9))
        assert read_journal(path) == [*whole, Began(1.0, 9)]
        assert not cut or (Path(folder) / "journal.jsonl").read_bytes() == content[:cut]
        with Journal(path) as journal:
            assert journal.notices == ()
            assert journal.under_way == under_way(whole)


@pytest.mark.parametrize("step", range(6))
def test_a_process_that_is_killed_while_it_moves_a_journal_loses_nothing(tmp_path, monkeypatch, step):
    written = [Releasing(5.0, 7, 1.0, 0), Withheld(6.0, 8, 2.0)]
    path, calls = tmp_path / "journal", []
    json_journal(path, written)

    def kills(call):
        def killed(*given, **named):
            calls.append(call)
            if len(calls) == step + 1:
                raise KeyboardInterrupt
            return call(*given, **named)

        return killed

    with monkeypatch.context() as patch:
        for owner, name in ((os, "link"), (os, "replace"), (os, "fsync"), (EntryStore, "shorten")):
            patch.setattr(owner, name, kills(getattr(owner, name)))
        with contextlib.suppress(KeyboardInterrupt):
            Journal(path).close()
    assert len(calls) == min(step + 1, 4)
    with Journal(path) as journal:
        assert journal.standing.entries() == state_of(written).entries()
    assert read_journal(path) == written
    assert (tmp_path / "journal.jsonl").read_bytes().count(b"\n") == 2


def state_of(written):
    found = Standing()
    for entry in written:
        found.note(entry)
    return found


@given(st.lists(st.lists(entries, min_size=1, max_size=3), max_size=12))
@settings(max_examples=30, deadline=None)
def test_a_shortened_journal_is_bounded_and_knows_the_same(written):
    with TemporaryDirectory() as folder, mock.patch.object(store, "SYNCHRONOUS", "off"):
        path = Path(folder) / "journal"
        with Journal(path, limit=400) as journal:
            for some in written:
                journal.append(*some)
                left, every = read_journal(path), [entry for each in written for entry in each]
                size = sum(len(entry_line(entry)) for entry in left)
                assert size <= 400 or len(left) == 1
                # The latest entries are there, and they are on disk at once.
                now = every[: every.index(some[-1]) + 1] if every.count(some[-1]) == 1 else None
                assert now is None or left == now[len(now) - len(left) :]
                assert Unwritten(path).standing.entries() == journal.standing.entries()
        with Journal(path) as journal:
            assert journal.under_way == under_way(every if written else [])
            assert journal.standing.taken == taken(every if written else [])
            assert journal.standing.withheld == current(every if written else [], Withheld)


def test_half_of_a_journal_is_left_when_it_exceeds_its_limit(tmp_path):
    path, size = tmp_path / "journal", len(entry_line(Over(1.0, 1, "x")))
    with Journal(path, limit=10 * size) as journal:
        for job in range(1, 10):
            journal.append(Over(1.0, job, "x"))
        journal.append(Over(1.0, 0, "x"))
        assert len(read_journal(path)) == 10
        journal.append(Over(1.0, 7, "x"))
        assert [entry.job for entry in read_journal(path)] == [7, 8, 9, 0, 7]


def test_old_entries_are_deleted_but_those_without_an_outcome(tmp_path):
    path, day = tmp_path / "journal", 86400.0
    with Journal(path) as journal:
        journal.append(Releasing(0.0, 7, 1.0, 0), Began(1.0 * day, 7), Over(50.0 * day, 8, "ended"))
        journal.append(Over(95.0 * day, 8, "ended"))
        assert len(read_journal(path)) == 4
        journal.append(Over(100.0 * day, 9, "ended"))
        assert [entry.at / day for entry in read_journal(path)] == [50.0, 95.0, 100.0]
    with Journal(path) as journal:
        assert journal.under_way == {7: Releasing(0.0, 7, 1.0, 0)}


def test_the_file_does_not_grow_with_the_entries_of_jobs_that_ended(tmp_path):
    path, sizes = tmp_path / "journal", []
    with mock.patch.object(store, "SYNCHRONOUS", "off"):
        for first in (0, 3000):
            with Journal(path, limit=20_000) as journal:
                for job in range(first, first + 3000, 20):
                    batch = range(job, job + 20)
                    journal.append(*(Releasing(5.0, each, 1.0, 0) for each in batch))
                    journal.append(*(Over(9.0, each, "ended") for each in batch))
            sizes.append(path.stat().st_size)
    assert sizes[1] <= 1.1 * sizes[0]
    assert sizes[1] < 100_000


def test_a_text_is_saved_by_name_and_read_by_the_next_driver(tmp_path):
    path = tmp_path / "journal"
    with Journal(path) as journal:
        assert journal.text("use") is None
        journal.save("use", "1")
        journal.save("use", "2")
        journal.save("other", "ä")
    with Journal(path) as journal:
        assert (journal.text("use"), journal.text("other")) == ("2", "ä")
        reader = Unwritten(path)
        reader.save("use", "3")
        assert (reader.text("use"), reader.text("none")) == ("2", None)
        assert journal.text("use") == "2"


def test_damage_of_the_file_is_one_clear_line_or_changes_nothing(tmp_path):
    path, written = tmp_path / "journal", [Releasing(5.0, job, 1.0, 0) for job in range(100)]
    with Journal(path, limit=4000) as journal:
        journal.append(*written)
        journal.save("use", "x" * 3000)
    content, found = path.read_bytes(), {True: 0, False: 0}
    for at in [*range(0, 120, 3), *range(120, len(content), 211)]:
        for each in tmp_path.iterdir():
            each.unlink()
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x41]) + content[at + 1 :])
        try:
            with Journal(path) as journal:
                assert journal.standing.entries() == written
                journal.text("use")
        except InputError as error:
            line = str(error)
            assert "\n" not in line
            assert line.startswith((f"--journal: {path}: ", f"{path}, line 1: not an entry of a journal"))
            assert len(line) < 400 + len(str(path))
            found[True] += 1
        else:
            found[False] += 1
    assert min(found.values()) > 10


def test_a_database_of_another_program_is_refused_and_not_changed(tmp_path):
    path = tmp_path / "journal"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("create table a (b)")
    before = path.read_bytes()
    expected = (
        f"--journal: {path}: damaged: it belongs to another program; run `windlass slurm give-back`,"
        " and move the file away"
    )
    with pytest.raises(InputError) as caught:
        Journal(path)
    assert str(caught.value) == expected
    with pytest.raises(InputError, match="it belongs to another program"):
        Unwritten(path)
    assert path.read_bytes() == before


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


@pytest.mark.parametrize(
    "content",
    [b"SQLite format 3\0", b"SQLite format 3\0" + bytes(84), b"\xff" * 5000, b"so"],
    ids=["begin", "header", "bytes", "text"],
)
def test_a_file_that_is_no_journal_is_an_error_and_not_moved(tmp_path, content):
    path = tmp_path / "journal"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"^--journal: .*journal: damaged: .*move the file away$"):
        Journal(path)
    warnings = []
    Unwritten(path, warnings.append)
    assert len(warnings) == 1
    with pytest.raises(InputError, match=r"journal: it is neither"):
        read_journal(path)
    assert path.read_bytes() == content
    assert not (tmp_path / "journal.jsonl").exists()


def test_a_journal_that_is_moved_into_sqlite_keeps_its_mode_and_its_place(tmp_path):
    (tmp_path / "disk").mkdir()
    path, place = tmp_path / "journal", tmp_path / "disk" / "kept"
    json_journal(place, [Releasing(5.0, 7, 1.0, 0)])
    place.chmod(0o600)
    path.symlink_to(place)
    with Journal(path) as journal:
        assert sorted(journal.under_way) == [7]
        assert str(place.with_name("kept.jsonl")) in journal.notices[0]
    assert path.is_symlink()
    assert {each.name: each.stat().st_mode & 0o777 for each in place.parent.iterdir()} == {
        "kept": 0o600,
        "kept.jsonl": 0o600,
    }


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
        "import sys\nfrom pathlib import Path\nfrom windlass.engines.batch.driver_lock import DriverLock\n"
        "lock = DriverLock('slurm', 'c:h:1', Path(sys.argv[1]))\nprint('mine', flush=True)\nsys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "mine\n"
        with pytest.raises(
            InputError, match=rf"another driver \(process {holder.pid}\) drives this cluster: c:h:1"
        ):
            DriverLock("slurm", "c:h:1", tmp_path)
        DriverLock("slurm", "c:h:2", tmp_path).close()
        holder.send_signal(signal.SIGKILL)
    with DriverLock("slurm", "c:h:1", tmp_path) as lock:
        assert int(lock.path.read_text()) == os.getpid()


def test_a_second_driver_with_the_same_journal_is_refused(tmp_path):
    path, other = tmp_path / "journal", tmp_path / "link"
    other.symlink_to(path)
    with journal_lock(path):
        for second in (path, other):
            with pytest.raises(InputError, match=r"^journal: .*: another driver writes it; stop it, or name"):
                journal_lock(second).__enter__()
    with journal_lock(path), pytest.raises(InputError, match="No such file"):
        journal_lock(tmp_path / "none" / "journal").__enter__()


def test_the_entries_of_a_journal_are_printed_also_while_a_driver_writes(tmp_path, capsys):
    path, written = tmp_path / "journal", [Began(1.0, 7), Decided(2.0, "fcfs", ("7",), ("ä",))]
    with Journal(path) as journal:
        journal.append(*written)
        lines(path)
    json_journal(path.with_name("old"), written, b'{"what')
    lines(path.with_name("old"))
    printed = capsys.readouterr().out.splitlines()
    assert [read_entry(line) for line in printed] == written * 2
    with pytest.raises(InputError, match=r"none: No such file or directory$"):
        lines(tmp_path / "none")


def test_a_process_that_is_killed_within_a_shortening_loses_nothing(tmp_path):
    path, disk = tmp_path / "journal", JournalDisk(tmp_path / "journal")
    complete = []
    with mock.patch.object(store, "SYNCHRONOUS", "off"):
        for share in np.linspace(0.0, 1.0, 41):
            disk.clear()
            with Journal(path, limit=300) as journal:
                journal.append(Withheld(5.0, 1, 2.0), *(Releasing(5.0, job, 1.0, 0) for job in range(2, 9)))
                journal.append(*(Began(6.0, job) for job in range(4, 9)))
                expected, before = journal.standing.entries(), read_journal(path)
                complete.append(disk.cut(lambda journal=journal: journal._shorten(6.0), share))
            disk.restart()
            with Journal(path) as journal:
                assert journal.standing.entries() == expected
            assert len(read_journal(path)) <= len(before)
    assert complete == [False] * 40 + [True]


def test_a_journal_that_was_cut_short_as_it_was_made_is_empty(tmp_path):
    path, made = tmp_path / "journal", tmp_path / "made"
    file = sqlite3.connect(made, isolation_level=None)
    # With this little memory, SQLite writes to the file before the end of the transaction.
    file.execute("pragma cache_size = 1")
    file.execute("begin immediate")
    file.execute("create table entries (line text)")
    file.executemany("insert into entries values (?)", [("x" * 4000,)] * 50)
    for end in ("", "-journal"):
        path.with_name(f"journal{end}").write_bytes(made.with_name(f"made{end}").read_bytes())
    file.close()
    assert path.stat().st_size > 0
    assert stored_lines(path) == []
    with Journal(path) as journal:
        journal.append(Over(5.0, 7, "ended"))
    assert len(stored_lines(path)) == 1
