"""A policy that drives a strict Slurm: its starts, its journal and output, and the state that it leaves."""

import os
from typing import ClassVar

import numpy as np
import pytest

from tests.adversary.clock import VirtualClock
from tests.engines.slurm.strict import Strict
from tests.oracles.plain import Answers
from windlass.engines.batch import driver_lock as lock
from windlass.engines.batch.driver_lock import DriverLock
from windlass.engines.batch.journal_lock import journal_lock
from windlass.engines.batch.queue_return import QueueReturn
from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.slurm import driver
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.driver import drive_slurm, give_back, plan_slurm
from windlass.engines.slurm.entries import (
    Began,
    Decided,
    GivenBack,
    Over,
    Released,
    Releasing,
    Returning,
    Taking,
    entry_line,
)
from windlass.engines.slurm.journal import Journal, Unwritten, read_journal
from windlass.engines.slurm.settings import Driving, cluster_name, default_journal, group_name
from windlass.engines.slurm.sharing import (
    _learned,
    _left,
    _note_back,
    _note_shares,
    changed,
    plan_shares,
    report_shares,
)
from windlass.engines.slurm.state import SHARES, ShareState, share_text
from windlass.engines.slurm.system import SlurmOptions
from windlass.model import BatchError, InputError, JobTable, Owners, PolicyError
from windlass.order.site.ownership import half_life_of, placed
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs
from windlass.order.site.policies.limited import Limited
from windlass.order.site.policies.queue import Queue
from windlass.order.site.view import Start
from windlass.share import Allocation, Candidate, Guest, Share, ShareView, Sharing
from windlass.share.view import Back
from windlass.sim import replay

LOOK = SlurmOptions(pace=0.0, until_idle=True)


@pytest.fixture(autouse=True)
def _own_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_folder", lambda: tmp_path)
    monkeypatch.setattr(driver, "detect_groups", lambda name: Lifts(name))


class Lifts:
    """Groups of a cluster that record when quotas are lifted."""

    lifted: ClassVar = []

    def __init__(self, name):
        self.name = name

    def release_all(self):
        Lifts.lifted.append(self.name)


def client_of(slurm):
    return Client(slurm, 1.0, 1.0, sleep=lambda seconds: None)


def driven(slurm, tmp_path, policy, **options):
    lines, driving = [], Driving({"order": policy}, tmp_path / "state" / "journal", LOOK, **options)
    try:
        return drive_slurm(client_of(slurm), driving, lines.append), lines
    except Exception as error:
        return error, lines


def entries(tmp_path, *kinds):
    return [each for each in read_journal(tmp_path / "state" / "journal") if isinstance(each, kinds)]


def test_jobs_run_in_the_policy_s_order_which_is_journalled_and_reported(tmp_path):
    slurm = Strict()
    for number, procs in ((7, 3), (8, 4), (9, 1)):
        slurm.submit(number, procs, looks=3, time_limit=None if number == 8 else 2)
    slurm.submit(10, 1, comment="")
    run, lines = driven(slurm, tmp_path, Fcfs())
    assert run.job.tolist() == [7, 8, 9]
    assert slurm.states() == {7: "COMPLETED", 8: "COMPLETED", 9: "COMPLETED", 10: "held"}
    assert slurm.changes() == [("release", "7"), ("release", "8"), ("release", "9")]
    why = "head of the queue"
    assert [(each.policy, each.jobs, each.why) for each in entries(tmp_path, Decided)] == [
        ("fcfs", (number,), (why,)) for number in "789"
    ]
    assert lines == [f"start 7: {why} (2 wait)", f"start 8: {why} (1 wait)", f"start 9: {why} (0 wait)"]
    # Each job is decided, released, seen running, and seen ended.
    kinds = [type(each) for each in entries(tmp_path, Decided, Releasing, Began, Over)]
    assert kinds == [Decided, Releasing, Began, Over] * 3
    with DriverLock("slurm", "strict:here:7", tmp_path):
        pass


def test_a_second_driver_with_the_same_journal_changes_nothing(tmp_path):
    slurm = Strict()
    slurm.submit(7, 3, looks=1)
    (tmp_path / "state").mkdir()
    with journal_lock(tmp_path / "state" / "journal"):
        error, lines = driven(slurm, tmp_path, Fcfs())
    assert "another driver writes it" in str(error)
    assert (lines, slurm.changes()) == ([], [])
    assert driven(slurm, tmp_path, Fcfs())[0].job.tolist() == [7]


#: User, account, QOS, processors and polls that each job of a queue runs.
OWNED = [
    *(("ann", "lab", "normal", 2, looks) for looks in (3, 1, 4, 1, 5)),
    *(("bob", "lab", "high", 3, looks) for looks in (2, 6)),
    *(("cyd", "field", "normal", 1, looks) for looks in (9, 2, 6)),
    ("ann", "field", "high", 4, 2),
]
FAIR = {"weight_age": 0, "weight_job_size": 0, "half_life": 40.0}


@pytest.mark.matrix
@pytest.mark.parametrize(
    "policy",
    [
        Limited(jobs_per_user=1),
        Limited(procs_per_user=3),
        Limited(priority={"multifactor": FAIR}, jobs_per_user=2),
        Queue({"multifactor": FAIR}),
        Queue({"multifactor": {**FAIR, "fair_tree": False, "accounts": True}}),
        Queue({"multifactor": {**FAIR, "accounts": True, "weight_qos": 4000, "qos": "normal=1 high=9"}}),
    ],
)
def test_a_queue_with_users_has_the_order_of_a_replay(tmp_path, policy):
    slurm = Strict()
    for number, (user, account, qos, procs, looks) in enumerate(OWNED, 1):
        slurm.submit(number, procs, looks, user_name=user, account=account, qos=qos)

    time = VirtualClock(2000.0)
    driving = Driving({"order": policy}, tmp_path / "state" / "journal", SlurmOptions(10.0, until_idle=True))
    run = drive_slurm(client_of(slurm), driving, lambda line: None, clock=time.time, sleep=time.wait)
    # A job starts at the poll after its release, and is seen ended at the poll after its last.
    held = [10.0 * (OWNED[job - 1][4] + 2) for job in run.job]
    jobs = JobTable.of(run.submit, held, run.procs, run.request, job=run.job)
    names = [[OWNED[job - 1][field] for job in run.job] for field in range(3)]
    known = [sorted(set(each)) for each in names]
    numbers = [[of.index(name) for name in each] for each, of in zip(names, known, strict=True)]
    ready, owners = placed(policy, Owners.of(len(jobs), *numbers), known[2])
    replayed = replay(jobs, 4, ready, owners=owners, kill=False)
    np.testing.assert_array_equal(run.released - run.released.min(), replayed.start - replayed.start.min())
    assert (Unwritten(driving.journal).text("use") is None) is (half_life_of(policy) is None)
    # The same queue without users has another order.
    assert replayed.start.tolist() != replay(jobs, 4, policy, kill=False).start.tolist()


def test_notices_of_the_system_are_reported(tmp_path):
    slurm = Strict()
    slurm.submit(7)
    slurm.submit(9, array_task_string="0-3")
    _, lines = driven(slurm, tmp_path, Fcfs())
    assert lines[0] == "job 9 is a job array or heterogeneous job; left alone: release it with scontrol"
    assert [line.partition(":")[0] for line in lines[1:]] == ["start 7"]


def test_jobs_that_start_together_are_reported_in_one_line(tmp_path):
    slurm = Strict()
    for number in (7, 8):
        slurm.submit(number)
    _, lines = driven(slurm, tmp_path, Easy())
    assert len(lines) == 1
    assert lines[0].startswith("start 7: ")
    assert "; 8: " in lines[0]
    assert slurm.changes() == [("release", "7,8")]


@pytest.mark.parametrize("keep_held", [False, True])
def test_if_a_policy_fails_waiting_jobs_are_released_unless_keep_held(tmp_path, keep_held):
    slurm = Strict()
    for number in (7, 8):
        slurm.submit(number, 4, looks=4)
    slurm.submit(9, comment="")
    policy = Answers(lambda view: Start((7,)) if 7 in view.waiting.job else Start((404,)))
    error, lines = driven(slurm, tmp_path, policy, keep_held=keep_held)
    assert isinstance(error, PolicyError)
    assert slurm.changes() == [("release", "7")] + ([] if keep_held else [("release", "8")])
    assert [each.jobs for each in entries(tmp_path, GivenBack)] == ([] if keep_held else [(8,)])
    assert lines[1:] == ([] if keep_held else ["given back to Slurm: 8"])
    with DriverLock("slurm", "strict:here:7", tmp_path):
        pass


def test_jobs_that_stay_held_are_reported_with_the_releasing_command(tmp_path, monkeypatch):
    slurm = Strict()
    slurm.submit(7)
    monkeypatch.setattr(driver, "_given_back", refuses)
    error, lines = driven(slurm, tmp_path, Answers(lambda view: Start((404,))))
    assert isinstance(error, PolicyError)
    assert lines == ["jobs may still be held; `windlass slurm give-back` releases them: refused"]


def refuses(*given):
    raise BatchError("refused")


def test_a_cluster_has_only_one_driver(tmp_path):
    slurm = Strict()
    slurm.submit(7)
    with DriverLock("slurm", "strict:here:7", tmp_path):
        error, _ = driven(slurm, tmp_path, Fcfs())
        with pytest.raises(InputError, match="another driver"):
            give_back(client_of(slurm), tmp_path / "none", LOOK, lambda line: None)
    assert isinstance(error, InputError)
    assert slurm.changes() == []


def test_leftovers_of_an_earlier_driver_are_reported(tmp_path):
    slurm, path = Strict(), tmp_path / "state" / "journal"
    slurm.submit(9)
    path.parent.mkdir()
    left = [entry_line(Releasing(5.0, number, 1000.0, 0)) for number in (8, 7)]
    path.write_text("\n".join([*left, '{"what']))
    _, lines = driven(slurm, tmp_path, Fcfs())
    assert lines[0] == f"{path}: moved into SQLite (2 entries); the old file is {path}.jsonl"
    assert lines[1] == f"{path}, line 3: incomplete (6 bytes); left out"
    assert lines[2] == f"{path}: a previous driver released these jobs and recorded no end: 7, 8"
    assert len(lines) == 4


def test_a_plan_has_one_line_per_job_and_changes_nothing(tmp_path):
    slurm = Strict()
    for number, procs in ((7, 3), (8, 4)):
        slurm.submit(number, procs)
    driving = Driving({"order": Fcfs()}, tmp_path / "journal", LOOK)
    lines = plan_slurm(client_of(slurm), driving)
    assert lines == ["job 7, 3 processors: head of the queue", "scontrol release 7"]
    assert (slurm.changes(), list(tmp_path.iterdir())) == ([], [])
    assert plan_shares(client_of(slurm), driving, LOOK) == []


def test_give_back_releases_the_queue_and_lifts_quotas(tmp_path):
    slurm = Strict()
    for number in (7, 8):
        slurm.submit(number)
    slurm.submit(9, comment="")
    Lifts.lifted.clear()
    found = give_back(client_of(slurm), tmp_path / "journal", LOOK, lambda line: None)
    assert found == QueueReturn((7, 8))
    assert Lifts.lifted == ["windlass-strict-here-7"]
    assert slurm.changes() == [("release", "7,8")]


@pytest.mark.parametrize(
    "left", [(), (Returning(4.0, 8, 0, "head"),)], ids=["submitted", "requeued by a driver"]
)
def test_the_next_driver_keeps_a_hold_that_follows_a_give_back_by_hand(tmp_path, left):
    slurm, path = Strict(), tmp_path / "journal"
    for number in (7, 8):
        slurm.submit(number, procs=4, restart_cnt=len(left))
    with Journal(path) as journal:
        journal.append(*left)
    assert give_back(client_of(slurm), path, LOOK, lambda line: None, lambda: 5.0) == QueueReturn((7, 8))
    assert [each.job for each in read_journal(path) if isinstance(each, Released)] == [7, 8]
    slurm.change("uhold", 8)

    def interrupt():
        raise KeyboardInterrupt

    slurm.at[slurm.looks + 6] = interrupt
    with pytest.raises(KeyboardInterrupt):
        drive_slurm(client_of(slurm), Driving({"order": Fcfs()}, path, LOOK), lambda line: None)
    assert slurm.states() == {7: "COMPLETED", 8: "held"}


def test_a_give_back_reports_its_jobs_if_the_disk_is_full_after_their_release(tmp_path, monkeypatch):
    slurm, path, lines, append = Strict(), tmp_path / "journal", [], Journal.append
    slurm.submit(7)

    def full(self, *entries):
        if any(isinstance(each, Released) for each in entries):
            raise InputError(f"--journal: {path}: cannot be written: database or disk is full")
        append(self, *entries)

    monkeypatch.setattr(Journal, "append", full)
    with Journal(path):
        pass
    assert give_back(client_of(slurm), path, LOOK, lines.append) == QueueReturn((7,))
    assert [each.endswith("full; the journal lacks the jobs that were given back") for each in lines] == [
        True
    ]


def test_a_give_back_by_hand_makes_no_journal(tmp_path):
    slurm, path = Strict(), tmp_path / "state" / "journal"
    slurm.submit(7)
    path.parent.mkdir()
    # A journal that another process writes is only read.
    give_back(client_of(slurm), path, LOOK, lambda line: None)
    assert list(path.parent.iterdir()) == []
    slurm.change("uhold", 7)
    lines = []
    with journal_lock(path), Journal(path) as journal:
        assert give_back(client_of(slurm), path, LOOK, lines.append) == QueueReturn((7,))
        assert [each.endswith("file; giving the queue back without a journal entry") for each in lines] == [
            True
        ]
        assert journal.standing.released == {}
    assert read_journal(path) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write a journal of another user")
def test_a_give_back_by_root_leaves_the_lock_to_the_journal_s_owner(tmp_path):
    slurm, path, other = Strict(), tmp_path / "journal", tmp_path / "other"
    slurm.submit(7)
    with Journal(path):
        pass
    os.chown(path, 1234, 1235)
    give_back(client_of(slurm), path, LOOK, lambda line: None)
    owner = path.with_name("journal.lock").stat()
    assert (owner.st_uid, owner.st_gid) == (1234, 1235)
    assert [each.job for each in read_journal(path) if isinstance(each, Released)] == [7]
    # A link in the way is followed, and its target keeps its owner.
    other.touch()
    path.with_name("journal.lock").unlink()
    path.with_name("journal.lock").symlink_to(other)
    with journal_lock(path):
        assert other.stat().st_uid == 0


def test_a_cluster_has_its_own_name_and_journal(tmp_path, monkeypatch):
    assert cluster_name(client_of(Strict())) == "strict:here:7"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_journal("a:b:1") == tmp_path / "windlass" / "slurm-a-b-1.journal"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/ann")
    assert str(default_journal("c")) == "/home/ann/.local/state/windlass/slurm-c.journal"
    assert group_name("a..b:1:") == "windlass-a-b-1"


def test_defaults_of_driving_slurm(tmp_path):
    plain = Driving({}, tmp_path, LOOK)
    assert (plain.keep_held, plain.checkpoint) == (False, 5.0)
    assert SlurmOptions() == SlurmOptions(pace=0.25, until_idle=False, partition=None, dry_run=False)


def host_of(guest=None):
    return Allocation(1, "a", 4, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0, guest=guest)


GUEST = Candidate(2, "b", 2, 1e9, 60.0, restarts=True)
PAIRED = ShareView(0.0, (host_of(Guest(GUEST, 30)),), (Candidate(3, "b", 2, 1e9, 60.0),))


class RecordingJournal:
    """A journal that only records appended entries."""

    def __init__(self):
        self.written = []

    def append(self, *entries):
        self.written += entries


def test_changes_of_an_answer_are_journalled_and_reported(monkeypatch):
    same, other = Share(1, 2, 30, "same"), Share(1, 2, 40, "more")
    assert changed(PAIRED, Sharing((same,))) == []
    assert changed(PAIRED, Sharing((other, Share(5, 3, 30, "starts")))) == [other, Share(5, 3, 30, "starts")]
    journal, lines = RecordingJournal(), []
    _note_shares(PAIRED, Sharing((same,)), "pairs", journal)
    assert journal.written == []
    _note_shares(PAIRED, Sharing((other,), (Back(2, "slow"),)), "pairs", journal)
    _note_back(Back(2, "head"), "pairs", journal, lines.append)
    assert [(each.policy, each.jobs, each.why) for each in journal.written] == [
        ("pairs", ("2 on 1 at 40 %", "2 back"), ("more", "slow")),
        ("pairs", ("2 back",), ("head",)),
    ]
    assert lines == ["job 2 is requeued: head"]
    report_shares(Sharing((other,), (Back(2, "slow"),)), lines.append)
    assert lines[1:] == [
        "job 2 has 40 % of the cores that it shares with 1: more",
        "job 2 is requeued: slow",
    ]


def test_earlier_pairs_are_the_saved_ones_and_later_guests():
    state = ShareState("pairs", (Pair(1, 2, 30),))
    taken = {job: Taking(5.0, job, 9, 50, 60.0, 99.0, 1.0, 0) for job in (2, 4)}
    assert _left(state, taken) == (Pair(1, 2, 30), Pair(9, 4, 50))


@pytest.mark.parametrize(
    ("name", "learned", "lines"), [("mine", "x", ["x"]), ("mine", "", []), ("other", "x", [])]
)
def test_learned_state_is_restored_only_to_its_policy(tmp_path, name, learned, lines):
    class Mine:
        name = "mine"

        def __init__(self):
            self.lines = []

        def saved(self):
            return "".join(self.lines)

        def restore(self, text):
            self.lines.append(text)

    driving, policy = Driving({}, tmp_path / "journal", LOOK), Mine()
    with Journal(tmp_path / "journal") as journal:
        assert _learned(driving, policy, journal) == ShareState("mine")
        journal.save(SHARES, share_text(ShareState(name, (), learned)))
        assert _learned(driving, policy, journal) == ShareState(name, (), learned)
    assert policy.lines == lines
