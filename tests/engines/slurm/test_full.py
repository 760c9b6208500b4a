"""Files of a driver on a full disk: no written entry is lost, and no partial entry stays."""

import pytest

from tests.disks import PAGE, filled, names, small_disk
from tests.engines.slurm.fake_commands import FakeCommands, job, jobs, node, nodes
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
    """Append entries one by one, and add each appended one to a list."""
    for entry in entries:
        journal.append(entry)
        written.append(entry)


RELEASING = [Releasing(2.0, 100 + at, 1.0, 0) for at in range(1000)]


def test_on_a_full_disk_an_append_leaves_complete_entries_and_resumes_later(disk):
    path, written = disk / "journal", [Began(1.0, 7)]
    with Journal(path) as journal:
        journal.append(*written)
        with filled(disk):
            # The rest of the file's last page holds some more entries, and the last one in part.
            with pytest.raises(InputError, match=f"--journal: {path}: {FULL}"):
                append_each(journal, RELEASING, written)
            assert 10 < len(written) < 1000
            assert read_journal(path) == written
            assert path.read_bytes().endswith(b"\n")
            assert sorted(journal.under_way) == [entry.job for entry in written[1:]]
        journal.append(Over(9.0, 100, "ended"))
    with Journal(path) as again:
        assert (again.torn, again.read) == ("", len(written) + 1)


def test_a_journal_that_cannot_be_rotated_keeps_all_entries(disk):
    path, written = disk / "journal", []
    with Journal(path, limit=PAGE // 2) as journal:
        with filled(disk, PAGE), pytest.raises(InputError, match=f"--journal: {path}: {FULL}"):
            append_each(journal, RELEASING, written)
        # The last one is written too: the journal is not closed because of it.
        assert 10 < len(written) < 1000
        assert read_journal(path) == RELEASING[: len(written) + 1]
        assert names(disk) == {"journal"}
        journal.append(Over(9.0, 100, "ended"))
        assert read_journal(disk / "journal.1") == [*RELEASING[: len(written) + 1], Over(9.0, 100, "ended")]
    with Journal(path) as again:
        assert sorted(again.under_way) == list(range(101, 101 + len(written)))


def test_on_a_full_disk_the_saved_state_is_unchanged(disk):
    file, before = disk / "shares", ShareState("pairs", (Pair(7, 8, 30),))
    write_state(file, before)
    with filled(disk):
        with pytest.raises(InputError, match=f"{file}: the file cannot be written: No space left on device"):
            write_state(file, ShareState("pairs", (), "x" * PAGE))
        assert read_state(file) == before
        assert names(disk) == {"shares"}


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
    with filled(disk), DriverLock("c:h:1", own), pytest.raises(InputError, match=fake):
        DriverLock("c:h:1", own)
