"""Acts of a Slurm driver: each entry that announces a change has an act, and each act gets an outcome."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.control.test_slurm_starts import poll
from tests.engines.slurm.fake_commands import free, job, over, running
from windlass.control.journal import ActRecord, JobKey, JournalReader, JournalWriter
from windlass.control.slurm.acts import BookActs
from windlass.control.slurm.observer import SlurmObserver
from windlass.control.slurm.queue import ReplayedQueue
from windlass.engines.slurm.entries import (
    Began,
    Decided,
    GivenBack,
    Holding,
    Over,
    Refused,
    Released,
    Releasing,
    Restored,
    Returning,
    Taking,
    Withheld,
)
from windlass.experiment.worlds.policy import PolicySpec
from windlass.share import Allocation, Candidate, Guest, Share, ShareView, Sharing
from windlass.share.view import Back

TAKING = Taking(5.0, 8, 7, 30, 60.0, 99.0, 1000.0, 0)


def key(number):
    return JobKey("slurm", "iowa", "" if number is None else str(number))


class Bench:
    """Acts of one process after another, in one journal."""

    def __init__(self, folder):
        self.file = folder / "journal.db"

    def run(self, *steps, left=()):
        """Pass entries and polls on, and return the actions and their outcomes."""
        with JournalWriter(self.file) as journal:
            for act in left:
                journal.intend(act)
            acts = BookActs(key, journal, left)
            for step in steps:
                if isinstance(step, list):
                    acts.take(step)
                else:
                    acts.polled({row.job: row for row in step.jobs}, step.now)
        with JournalReader(self.file) as reader:
            return [(act.job.id, act.action, act.outcome) for act in reversed(reader.acts().rows)]


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.mark.parametrize(
    ("steps", "action", "outcome"),
    [
        ([[Releasing(5.0, 8, 1.0, 0)]], "release", None),
        ([[Releasing(5.0, 8, 1.0, 0)], [Released(6.0, 8, 1.0, 0)]], "release", "released"),
        ([[Releasing(5.0, 8, 1.0, 0)], [Refused(6.0, 8, "denied")]], "release", "refused: denied"),
        # An entry about another job is no outcome.
        ([[Releasing(5.0, 8, 1.0, 0)], [Refused(6.0, 9, "denied"), Began(6.0, 8)]], "release", None),
        ([[Holding(5.0, 8)], poll(9.0, job(8))], "hold", "held"),
        ([[Holding(5.0, 8)], poll(9.0, free(8))], "hold", "not held"),
        ([[Holding(5.0, 8)], poll(9.0)], "hold", "not held"),
        ([[GivenBack(5.0, (8,))], [Released(6.0, 8, 1.0, 0)]], "give back", "released"),
        ([[GivenBack(5.0, (8,))], poll(9.0, job(8))], "give back", None),
        ([[Returning(5.0, 8, 0, "late")], poll(9.0, running(8))], "requeue: late", None),
        ([[Returning(5.0, 8, 0, "late")], poll(9.0, job(8, restart_cnt=1))], "requeue: late", "requeued"),
        ([[Returning(5.0, 8, 0, "late")], poll(9.0)], "requeue: late", "the job is gone"),
    ],
)
def test_an_act_has_the_outcome_of_a_later_entry_or_poll(bench, steps, action, outcome):
    assert bench.run(*steps) == [("8", action, outcome)]


def test_a_guest_has_an_act_for_its_nodes_and_one_for_its_release(bench):
    share = "share the nodes of job 7, quota 30 %"
    entries = [TAKING], [Releasing(6.0, 8, 1000.0, 0)], [Released(7.0, 8, 1000.0, 0)]
    assert bench.run(*entries) == [
        ("8", share, "its time limit and nodes are set"),
        ("8", "release", "released"),
    ]


@pytest.mark.parametrize(
    ("step", "outcome"),
    [
        ([Restored(9.0, 8)], "its time limit and nodes are restored"),
        (poll(9.0, over(8)), "the job is gone"),
        (poll(9.0, job(8)), None),
    ],
)
def test_a_guest_that_is_not_released_has_an_outcome_too(bench, step, outcome):
    assert bench.run([TAKING], step)[0][2] == outcome


def test_entries_that_change_nothing_of_slurm_are_no_acts(bench):
    entries = [
        Decided(1.0, "easy", ("8",), ("fits",)),
        Began(2.0, 8),
        Over(3.0, 8, "ended"),
        Withheld(4.0, 8, 1.0),
        Restored(5.0, 8),
    ]
    assert bench.run(entries) == []


def test_one_entry_is_one_act(bench):
    entry = [Releasing(5.0, 8, 1.0, 0)]
    assert bench.run(entry, entry) == [("8", "release", None)]


FOUND = "as found after a restart"


@pytest.mark.parametrize(
    ("action", "row", "outcome"),
    [
        ("release", job(8), f"not carried out, {FOUND}"),
        ("release", free(8), f"carried out, {FOUND}"),
        ("release", over(8), f"carried out, {FOUND}"),
        ("give back", job(8), f"not carried out, {FOUND}"),
        ("hold", job(8), f"carried out, {FOUND}"),
        ("hold", free(8), f"not carried out, {FOUND}"),
        ("requeue: late", job(8), f"carried out, {FOUND}"),
        ("requeue: late", running(8), f"not carried out, {FOUND}"),
        (
            "share the nodes of job 7, quota 30 %",
            job(8),
            "unknown: the process ended; the driver's journal has the rest",
        ),
        ("release", job(9), "unknown: the process ended, and Slurm no longer lists the job"),
    ],
)
def test_an_act_that_a_killed_process_left_is_compared_with_slurm(bench, action, row, outcome):
    left = [ActRecord("left", 5.0, key(8), action)]
    # It is compared once: the second poll changes nothing.
    assert bench.run(poll(9.0, row), poll(10.0, over(8)), left=left) == [("8", action, outcome)]


def test_sharing_is_a_decision_of_the_guest_once_for_each_quota(tmp_path):
    host = Allocation(7, "montage", 4, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0)
    waits = Candidate(8, "blast", 4, 4e9, 60.0)
    alone = ShareView(5.0, (host,), (waits,))
    paired = ShareView(6.0, (replace(host, guest=Guest(waits, 30, 0.0)),), ())
    with JournalWriter(tmp_path / "journal.db") as journal:
        journal.flush()
        with JournalReader(tmp_path / "journal.db") as reader:
            observer = SlurmObserver(
                "slurm",
                "",
                "iowa",
                {"share": "pairs"},
                journal,
                reader,
                ReplayedQueue(PolicySpec(name="fcfs"), list),
                acts=True,
                clock=lambda: 0.0,
            )
            observer.decided("share", alone, Sharing((Share(7, 8, 30, "host idles"),)))
            observer.decided("share", paired, Sharing((Share(7, 8, 30, "host idles"),)))
            observer.decided("share", paired, Sharing((), (Back(8, "host is busy"),)))
    with JournalReader(tmp_path / "journal.db") as reader:
        rows = [
            (str(row.job), row.policy, row.answer, row.reason) for row in reversed(reader.decisions().rows)
        ]
    assert rows == [
        ("slurm:iowa:8", "pairs", "share the cores of 7, quota 30 %", "host idles"),
        ("slurm:iowa:8", "pairs", "requeue", "host is busy"),
    ]
