"""Files of a driver on a full disk: no written entry is lost, and no partial entry stays."""

import pytest

from tests.disks import PAGE, filled, small_disk
from tests.engines.slurm.fake_commands import FakeCommands, job, jobs, node, nodes
from windlass.engines.batch.driver_lock import DriverLock
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.driver import _give_back
from windlass.engines.slurm.entries import Began, Over, Releasing
from windlass.engines.slurm.journal import Journal, Unwritten, read_journal
from windlass.engines.slurm.system import SlurmOptions
from windlass.model import InputError

FULL = "cannot be written: database or disk is full"


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", 16 * PAGE) as place:
        yield place


@pytest.fixture
def wide_disk(tmp_path):
    """A disk with room for the files that SQLite needs beside the journal."""
    with small_disk(tmp_path / "wide", 1024 * PAGE) as place:
        yield place


def append_each(journal, entries, written):
    """Append entries one by one, and add each appended one to a list."""
    for entry in entries:
        journal.append(entry)
        written.append(entry)


RELEASING = [Releasing(2.0, 100 + at, 1.0, 0) for at in range(1000)]


def test_on_a_full_disk_an_append_leaves_complete_entries_and_resumes_later(wide_disk):
    path, written = wide_disk / "journal", [Began(1.0, 7)]
    with Journal(path) as journal:
        journal.append(*written)
        with filled(wide_disk, 3 * PAGE):
            with pytest.raises(InputError, match=f"--journal: {path}: {FULL}"):
                append_each(journal, RELEASING, written)
            assert len(written) < 1000
            assert read_journal(path) == written
            assert sorted(journal.under_way) == [entry.job for entry in written[1:]]
            with pytest.raises(InputError, match=FULL):
                journal.append(Over(9.0, 7, "x" * 20 * PAGE))
        journal.append(Over(9.0, 100, "ended"))
    with Journal(path) as again:
        assert read_journal(path) == [*written, Over(9.0, 100, "ended")]
        assert again.notices == ()


def test_a_journal_that_cannot_be_shortened_keeps_all_entries(wide_disk):
    path, written = wide_disk / "journal", []
    with Journal(path, limit=2 * PAGE) as journal:
        append_each(journal, RELEASING[:80], written)
        with filled(wide_disk, PAGE), pytest.raises(InputError, match=f"--journal: {path}: {FULL}"):
            append_each(journal, RELEASING[80:], written)
        journal.append(Over(9.0, 100, "ended"))
    with Journal(path) as again:
        # The last one is there if only the deletion of older ones failed.
        jobs = range(101, 100 + len(written))
        assert sorted(again.under_way) in ([*jobs], [*jobs, 100 + len(written)])


def test_on_a_full_disk_a_saved_text_is_unchanged(wide_disk):
    path = wide_disk / "journal"
    with Journal(path) as journal:
        journal.save("shares", "before")
        with filled(wide_disk, 3 * PAGE):
            with pytest.raises(InputError, match=f"--journal: {path}: {FULL}"):
                journal.save("shares", "x" * 20 * PAGE)
            assert journal.text("shares") == "before"
        journal.save("shares", "after")
        assert Unwritten(path).text("shares") == "after"


def test_on_a_full_disk_the_queue_is_given_back(disk):
    fake, lines = FakeCommands(sinfo=nodes(node("w1")), scontrol="", squeue=jobs(job(7))), []
    client = Client(fake, 20.0, 1.0, lines.append, lambda seconds: None, lambda: 1100.0)
    with Journal(disk / "journal") as journal, filled(disk):
        _give_back(client, journal, SlurmOptions(), lines.append)
    assert fake.commands_with("release") == [("release", "7")]
    assert [
        each
        for each in lines
        if FULL in each and each.endswith("giving the queue back without a journal entry")
    ]
    assert lines[-1] == "given back to Slurm: 7"


def test_on_a_full_disk_the_lock_of_a_driver_holds_without_a_process_id(disk):
    fake = r"another driver \(process unknown\) drives this cluster"
    own = disk / "own"
    own.mkdir(mode=0o700)
    with filled(disk), DriverLock("slurm", "c:h:1", own), pytest.raises(InputError, match=fake):
        DriverLock("slurm", "c:h:1", own)
