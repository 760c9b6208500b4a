"""A stop from another thread: it ends waits of a driver at once, and the queue is given back; and the dry run."""

from __future__ import annotations

import pytest

from tests.engines.slurm.fake_commands import NOBODY_THERE
from tests.engines.slurm.strict import Strict
from tests.oracles.plain import Answers
from windlass.agent.stop import Stop
from windlass.drive import EngineStoppedError
from windlass.engines.batch import driver_lock as lock
from windlass.engines.slurm import driver
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.driver import drive_slurm
from windlass.engines.slurm.entries import GivenBack, Releasing
from windlass.engines.slurm.journal import Journal, read_journal
from windlass.engines.slurm.observer import Unobserved
from windlass.engines.slurm.preview import preview_slurm
from windlass.engines.slurm.settings import Driving
from windlass.engines.slurm.system import SlurmOptions
from windlass.model import PolicyError
from windlass.order.site.policies.fcfs import Fcfs
from windlass.order.site.view import Start


class NoGroups:
    def release_all(self):
        pass


@pytest.fixture(autouse=True)
def _own_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_folder", lambda: tmp_path)
    monkeypatch.setattr(driver, "detect_groups", lambda name: NoGroups())


class Watches(Unobserved):
    """Records decisions and the kinds of entries, and requests a stop at the n-th poll."""

    def __init__(self, stop, polls):
        self.stop, self.left, self.decisions, self.entries = stop, polls, [], []

    def polled(self, poll):
        self.left -= 1
        if self.left == 0:
            self.stop.notify()

    def appended(self, entries):
        self.entries += [type(each).__name__ for each in entries]

    def decided(self, decision, view, answer):
        self.decisions.append((decision, answer.jobs))


def driving(tmp_path, policy, pace=0.0, **more):
    return Driving({"order": policy}, tmp_path / "book", SlurmOptions(pace=pace), forgets=True, **more)


@pytest.mark.parametrize("keep_held", [False, True])
def test_a_stop_ends_the_driver_and_gives_the_queue_back(tmp_path, keep_held):
    slurm, stop, lines = Strict(), Stop(), []
    for number in (7, 8):
        slurm.submit(number, 4, looks=99)
    watch = Watches(stop, 6)
    with pytest.raises(EngineStoppedError):
        drive_slurm(
            Client(slurm),
            driving(tmp_path, Fcfs(), keep_held=keep_held),
            lines.append,
            stop=stop,
            observer=watch,
        )
    assert slurm.changes() == [("release", "7")] + ([] if keep_held else [("release", "8")])
    given = [each.jobs for each in read_journal(tmp_path / "book") if isinstance(each, GivenBack)]
    assert given == ([] if keep_held else [(8,)])
    assert watch.decisions == [("order", (7,))]
    assert watch.entries[:4] == ["Decided", "Releasing", "Released", "Began"]


def test_a_stop_ends_the_tries_of_a_slurm_that_does_not_answer(tmp_path):
    slurm, stop, away = Strict(), Stop(), []
    slurm.submit(7, 9)

    def leaves():
        away.append(True)
        stop.notify()

    def run(command, timeout):
        return (0, NOBODY_THERE, "") if away and command[0] == "squeue" else slurm(command, timeout)

    slurm.at[3] = leaves
    with pytest.raises(EngineStoppedError):
        # Without the stop, it would be tried for an hour.
        drive_slurm(Client(run, patience=3600.0), driving(tmp_path, Fcfs(), keep_held=True), print, stop=stop)


def test_a_stop_before_the_start_decides_nothing(tmp_path):
    slurm, stop = Strict(), Stop()
    slurm.submit(7)
    stop.notify()
    with pytest.raises(EngineStoppedError):
        drive_slurm(Client(slurm), driving(tmp_path, Fcfs(), keep_held=True), print, stop=stop)
    assert slurm.changes() == []


def test_the_dry_run_decides_at_each_change_and_changes_nothing(tmp_path):
    slurm, stop = Strict(), Stop()
    slurm.submit(7, 4)
    slurm.at[2] = lambda: slurm.submit(8, 1)
    watch = Watches(stop, 6)
    with pytest.raises(EngineStoppedError):
        preview_slurm(Client(slurm), driving(tmp_path, Fcfs()), print, watch, stop)
    assert watch.decisions == [("order", (7,))] * 2
    assert (slurm.changes(), watch.entries) == ([], [])
    assert not (tmp_path / "book").exists()


def test_the_dry_run_reads_the_journal_of_a_driver_and_does_not_write_it(tmp_path):
    slurm, stop = Strict(), Stop()
    slurm.submit(7, 1)
    with Journal(tmp_path / "book") as book:
        book.append(Releasing(5.0, 7, 1000.0, 0))
    before = (tmp_path / "book").read_bytes()
    with pytest.raises(EngineStoppedError):
        preview_slurm(Client(slurm), driving(tmp_path, Fcfs()), print, Watches(stop, 3), stop)
    assert (tmp_path / "book").read_bytes() == before


def test_the_dry_run_refuses_an_answer_that_cannot_be_carried_out(tmp_path):
    slurm = Strict()
    slurm.submit(7)
    policy = Answers(lambda view: Start((404,)))
    with pytest.raises(PolicyError, match="does not wait"):
        preview_slurm(Client(slurm), driving(tmp_path, policy), print, Unobserved(), Stop())
    with pytest.raises(PolicyError, match="expected a Start"):
        preview_slurm(Client(slurm), driving(tmp_path, Answers(lambda view: 7)), print, Unobserved(), Stop())
