"""Queues of any length: commands in batches, partial failures, and giving the queue back whatever happened before."""

import errno
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.slurm.fake_commands import NOBODY_THERE, FakeCommands, free, job, jobs, node, nodes
from tests.engines.slurm.strict import CONFIG
from windlass.engines.batch import driver_lock as lock
from windlass.engines.batch.batches import BATCH, batches, listed
from windlass.engines.batch.queue_return import QueueReturn
from windlass.engines.slurm import batches as module
from windlass.engines.slurm import driver
from windlass.engines.slurm.batches import refusals
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.driver import drive_slurm, give_back
from windlass.engines.slurm.entries import Releasing, Withheld, entry_line
from windlass.engines.slurm.give_back import return_queue
from windlass.engines.slurm.journal import Journal, Unwritten, read_journal
from windlass.engines.slurm.settings import Driving
from windlass.engines.slurm.system import SlurmOptions
from windlass.model import InputError
from windlass.order.site.policies.fcfs import Fcfs

#: The longest argument of a command on Linux, bytes.
MAX_ARGUMENT = 128 << 10


@pytest.fixture(autouse=True)
def _own_surroundings(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_folder", lambda: tmp_path)
    monkeypatch.setattr(driver, "detect_groups", lambda name: NoGroups())


class NoGroups:
    """Control groups of a cluster without quotas."""

    def release_all(self):
        pass


class LongQueue:
    """A Slurm whose queue is long: it knows which jobs are held, and rejects arguments that Linux rejects.

    ``refuses`` has jobs that it never releases; ``polls`` counts lists of jobs, and ``at`` has functions to call at
    given ones.
    """

    def __init__(self, count, cpus, refuses=()):
        self.held, self.cpus, self.refuses = set(range(1, count + 1)), cpus, set(refuses)
        self.count, self.polls, self.at, self.longest = count, 0, {}, 0
        # A job's number is the only part of its row that differs.
        self.row, self.freed = (
            json.dumps(make(-1, cpus=1, node_count=1)).replace("-1", "%d", 1) for make in (job, free)
        )

    def __call__(self, command, timeout):
        if max(len(word) for word in command) >= MAX_ARGUMENT:
            raise OSError(errno.E2BIG, "Argument list too long")
        match command:
            case ["squeue", "--json", *_]:
                self.polls += 1
                self.at.pop(self.polls, lambda: None)()
                rows = [
                    (self.row if each in self.held else self.freed) % each
                    for each in range(1, self.count + 1)
                ]
                return 0, f'{{"errors": [], "jobs": [{",".join(rows)}]}}', ""
            case ["sinfo", *_]:
                return 0, nodes(node("w1", cpus=self.cpus)), ""
            case ["scontrol", "show", "config"]:
                return 0, CONFIG, ""
            case ["scontrol", "release", listed]:
                wanted = {int(each) for each in listed.split(",")}
                self.longest = max(self.longest, len(wanted))
                self.held -= wanted - self.refuses
                denied = "\n".join(
                    f"Access/permission denied for job {each}" for each in sorted(wanted & self.refuses)
                )
                return (1, "", denied) if denied else (0, "", "")
        raise AssertionError(f"no command of Slurm's: {command}")


def client_of(slurm):
    return Client(slurm, 1.0, 1.0, sleep=lambda seconds: None)


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.slow
def test_a_queue_of_20_000_jobs_is_started_interrupted_and_given_back(tmp_path):
    slurm, lines = LongQueue(20_000, 15_000), []
    slurm.at[4] = interrupt
    driving = Driving({"order": Fcfs()}, tmp_path / "journal", SlurmOptions(pace=0.0))
    with pytest.raises(KeyboardInterrupt):
        drive_slurm(client_of(slurm), driving, lines.append)
    assert slurm.held == set()
    assert slurm.longest == BATCH
    released = [each.job for each in read_journal(tmp_path / "journal") if isinstance(each, Releasing)]
    assert released == list(range(1, 15_001))
    # However long the queue, a line is short.
    assert [line.partition(" ")[0] for line in lines] == ["start", "given"]
    assert max(map(len, lines)) < 2000
    assert "and 14,980 more (5000 wait)" in lines[0]
    assert lines[1].endswith("and 4,980 more")


def test_after_a_kill_give_back_releases_a_long_queue_and_names_the_rest(tmp_path):
    slurm = LongQueue(3 * BATCH, 1, refuses=[5, 2 * BATCH])
    found = give_back(client_of(slurm), tmp_path / "journal", SlurmOptions(), lambda line: None)
    assert slurm.held == {5, 2 * BATCH}
    assert set(found.released) == set(range(1, 3 * BATCH + 1)) - slurm.held
    assert found.problem() == f"jobs 5, {2 * BATCH} stay held: Access/permission denied"


@given(st.lists(st.integers(1, 10**10), unique=True), st.integers(1, 7))
def test_batches_have_all_jobs_in_order(numbers, size):
    found = list(batches(numbers, size))
    assert [job for batch in found for job in batch] == numbers
    assert all(len(batch) == size for batch in found[:-1])
    assert all(0 < len(batch) <= size for batch in found)


def test_a_batch_of_the_longest_numbers_fits_an_argument():
    (only,) = batches([2**32 - 1] * BATCH)
    assert len(module.job_list(only)) < MAX_ARGUMENT // 8


def test_each_refused_job_has_its_own_message_and_others_the_whole():
    error = "Access/permission denied for job 7 Job has already finished for job 70"
    assert refusals([7, 70, 700], error) == {
        7: "Access/permission denied for job 7",
        70: "Job has already finished for job 70",
        700: error,
    }
    long = "x" * 1000
    assert refusals([1], long) == {1: f"{'x' * 300} …"}


def test_a_list_of_jobs_is_shortened_beyond_20():
    assert listed(range(20)).endswith("18, 19")
    assert listed(range(21)).endswith("18, 19 and 1 more")


def test_a_batch_that_fails_does_not_prevent_the_others_release_and_hold():
    slurm, recorded = LongQueue(2 * BATCH + 1, 1, refuses=[1]), []

    def records(command, timeout):
        recorded.append(command)
        return slurm(command, timeout)

    failed = client_of(records).release(list(range(1, 2 * BATCH + 2)))
    assert len(recorded) == 3
    # Only the jobs of the first batch may still be held.
    assert set(failed) == set(range(1, BATCH + 1))
    assert slurm.held == {1}
    fake = FakeCommands(scontrol=["", (1, "", "denied for job 5")])
    assert set(client_of(fake).hold(list(range(BATCH + 2)))) == {BATCH, BATCH + 1}


@pytest.mark.parametrize("damage", [b"\xff\xfe\n", b"{}\n", b"null\n\n", b"[" * 5000 + b"\n"])
def test_give_back_works_with_a_damaged_journal_and_keeps_the_holds_that_can_be_read(tmp_path, damage):
    path, lines = tmp_path / "journal", []
    path.write_bytes(damage + f"{entry_line(Withheld(5.0, 2, 1000.0))}\n".encode() + damage)
    before = path.read_bytes()
    slurm = LongQueue(3, 1)
    found = give_back(client_of(slurm), path, SlurmOptions(), lines.append)
    assert (found, slurm.held) == (QueueReturn((1, 3)), {2})
    assert len(lines) == 1
    assert lines[0].startswith(f"{path}, line 1: not an entry of a journal")
    assert lines[0].endswith(" more lines)")
    assert path.read_bytes() == before
    with pytest.raises(InputError, match="line 1: not an entry"):
        Unwritten(path)
    with pytest.raises(InputError, match="run `windlass slurm give-back`, and move the file away"):
        Journal(path)


def test_give_back_works_with_a_damaged_database_and_keeps_the_holds_that_can_be_read(tmp_path):
    path, lines = tmp_path / "journal", []
    with Journal(path) as journal:
        journal.append(Withheld(5.0, 1, 1000.0), Withheld(5.0, 2, 1000.0))
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"job":1,', b'"job":3,'))
    slurm = LongQueue(3, 1)
    found = give_back(client_of(slurm), path, SlurmOptions(), lines.append)
    assert (found, slurm.held) == (QueueReturn((1, 3)), {2})
    assert lines == [f"--journal: {path}: damaged: a line has another checksum"]


def test_give_back_works_with_a_journal_that_cannot_be_read(tmp_path):
    slurm, lines = LongQueue(2, 1), []
    (tmp_path / "folder").mkdir()
    found = give_back(client_of(slurm), tmp_path / "folder", SlurmOptions(), lines.append)
    assert (found, slurm.held) == (QueueReturn((1, 2)), set())
    assert lines == [f"--journal: {tmp_path / 'folder'}: Is a directory"]


def test_jobs_whose_release_had_no_answer_are_named_with_the_reason(tmp_path):
    fake = FakeCommands(
        squeue=[jobs(*map(job, range(1, BATCH + 3))), NOBODY_THERE],
        scontrol_release=["", (1, "", "Unable to contact slurm controller")],
    )
    found = return_queue(client_of(fake), Unwritten(tmp_path / "none"), None, lambda line: None, lambda: 0.0)
    assert found.released == tuple(range(1, BATCH + 1))
    assert list(found.held) == [BATCH + 1, BATCH + 2]
    assert found.problem().startswith(f"jobs {BATCH + 1}, {BATCH + 2} stay held: Slurm does not answer after")


def test_a_journal_whose_folder_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    driving = Driving({"order": Fcfs()}, tmp_path / "file" / "journal", SlurmOptions())
    with pytest.raises(InputError, match=r"--journal: .*file: File exists"):
        drive_slurm(client_of(LongQueue(1, 1)), driving, lambda line: None)
