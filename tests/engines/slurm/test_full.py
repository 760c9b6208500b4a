"""What a driver keeps on a disk that is full: nothing that was written is lost, and nothing half-written stays."""

import pytest

from tests.disks import PAGE, filled, names, small_disk
from tests.engines.slurm.said import Said, job, jobs, node, nodes
from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.driver import _give_back
from windlass.engines.slurm.entries import Began, Over, Releasing
from windlass.engines.slurm.journal import Journal, read_journal
from windlass.engines.slurm.lock import DriverLock
from windlass.engines.slurm.state import ShareState, read_state, write_state
from windlass.engines.slurm.system import SlurmOptions
from windlass.model import InputError

FULL = "cannot be written: No space left on device"


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", 16 * PAGE) as place:
        yield place


def append_each(journal, entries, written):
    """Append one after the other; those of which that is done are in a list."""
    for entry in entries:
        journal.append(entry)
        written.append(entry)


RELEASING = [Releasing(2.0, 100 + at, 1.0, 0) for at in range(1000)]


def test_an_append_that_meets_the_end_of_the_disk_leaves_whole_entries_and_goes_on_later(disk):
    path, written = disk / "journal", [Began(1.0, 7)]
    with Journal(path) as journal:
        journal.append(*written)
        with filled(disk):
            # What is left of the file's last page takes some more, and the last of these in part.
            with pytest.raises(InputError, match=f"--journal: {path}: {FULL}"):
                append_each(journal, RELEASING, written)
            assert 10 < len(written) < 1000
            assert read_journal(path) == written
            assert path.read_bytes().endswith(b"\n")
            assert sorted(journal.under_way) == [entry.job for entry in written[1:]]
        journal.append(Over(9.0, 100, "ended"))
    with Journal(path) as again:
        assert (again.torn, again.read) == ("", len(written) + 1)


def test_a_journal_that_cannot_begin_anew_has_all_that_was_appended(disk):
    path, written = disk / "journal", []
    with Journal(path, limit=PAGE // 2) as journal:
        with filled(disk, PAGE), pytest.raises(InputError, match=f"--journal: {path}: {FULL}"):
            append_each(journal, RELEASING, written)
        # The last one is written too: it is not for want of it that the journal is closed.
        assert 10 < len(written) < 1000
        assert read_journal(path) == RELEASING[: len(written) + 1]
        assert names(disk) == {"journal"}
        journal.append(Over(9.0, 100, "ended"))
        assert read_journal(disk / "journal.1") == [*RELEASING[: len(written) + 1], Over(9.0, 100, "ended")]
    with Journal(path) as again:
        assert sorted(again.under_way) == list(range(101, 101 + len(written)))


def test_what_was_learned_is_as_it_was_where_the_disk_is_full(disk):
    file, before = disk / "shares", ShareState("pairs", (Pair(7, 8, 30),))
    write_state(file, before)
    with filled(disk):
        with pytest.raises(InputError, match=f"{file}: the file cannot be written: No space left on device"):
            write_state(file, ShareState("pairs", (), "x" * PAGE))
        assert read_state(file) == before
        assert names(disk) == {"shares"}


def test_the_queue_is_given_back_where_nothing_can_be_written_down(disk):
    said, told = Said(sinfo=nodes(node("w1")), scontrol="", squeue=jobs(job(7))), []
    client = Client(said, 20.0, 1.0, told.append, lambda seconds: None, lambda: 1100.0)
    with Journal(disk / "journal") as journal, filled(disk):
        _give_back(client, journal, SlurmOptions(), told.append)
    assert said.told("release") == [("release", "7")]
    assert [
        each
        for each in told
        if FULL in each and each.endswith("giving the queue back without a journal entry")
    ]
    assert told[-1] == "given back to Slurm: 7"


def test_the_lock_of_a_driver_holds_without_the_name_of_its_process(disk):
    said = r"another driver \(process unknown\) drives this cluster"
    with filled(disk), DriverLock("c:h:1", disk), pytest.raises(InputError, match=said):
        DriverLock("c:h:1", disk)
