"""Matching journal entries with Slurm's jobs: the same job, a requeued one, and another of its number."""

import pytest

from tests.engines.slurm.fake_commands import free, job, jobs, over, running
from windlass.engines.batch.system import Cancelled, Ended, Holds, Started, Submitted
from windlass.engines.slurm.entries import (
    Began,
    Over,
    Releasing,
    Restored,
    Returning,
    Standing,
    Taking,
    Withheld,
)
from windlass.engines.slurm.history import Past
from windlass.engines.slurm.job_reader import read_jobs


class Noted:
    """A journal in memory; appended entries are in ``written``."""

    def __init__(self, *entries):
        self.standing, self.written = Standing(), []
        for entry in entries:
            self.standing.note(entry)

    @property
    def under_way(self):
        return self.standing.under_way

    def append(self, *entries):
        self.written += entries
        for entry in entries:
            self.standing.note(entry)


def one(row):
    (found,) = read_jobs(jobs(row))
    return found


def known(*rows):
    return {row.job: row for row in read_jobs(jobs(*rows))}


TAKING = Taking(1005.0, 7, 8, 30, 120.0, 1400.0, 1000.0, 1)
#: Fields of a job submitted at 1000 s and requeued once; of the same requeued again; of others of its number.
SAME = {"submit_time": 1000, "restart_cnt": 1}
AGAIN = {"submit_time": 1050, "restart_cnt": 2}
OTHER = {"submit_time": 1001, "restart_cnt": 1}
FRESH = {"submit_time": 1001, "restart_cnt": 0}


@pytest.mark.parametrize(
    ("fields", "released", "requeued", "withheld", "taken"),
    [
        (SAME, True, False, True, True),
        (AGAIN, False, True, False, True),
        (OTHER, False, False, False, False),
        (FRESH, False, False, False, False),
        # It was requeued, and Slurm reports its first submission time.
        ({"submit_time": 1000, "restart_cnt": 2}, False, True, True, True),
        ({"submit_time": 1000, "restart_cnt": 0}, False, False, True, True),
    ],
)
def test_a_job_is_identified_by_number_submission_and_restarts(fields, released, requeued, withheld, taken):
    past = Past(Noted(Releasing(1005.0, 7, 1000.0, 1), TAKING, Withheld(1006.0, 7, 1000.0)))
    row = one(job(7, **fields))
    assert (past.was_released(row), past.was_requeued(row), past.withheld(row)) == (
        released,
        requeued,
        withheld,
    )
    assert past.taken(row) == (TAKING if taken else None)
    other = one(job(9, **fields))
    assert not any(ask(other) for ask in (past.was_released, past.was_requeued, past.withheld, past.taken))


@pytest.mark.parametrize(("restarts", "ours"), [(1, False), (2, True), (3, False)])
def test_a_job_requeued_more_often_than_by_the_driver_was_requeued_by_a_user(restarts, ours):
    past = Past(Noted(Returning(1005.0, 7, 1, "head")))
    assert past.returning(one(job(7, restart_cnt=restarts))) is ours
    assert not past.returning(one(job(8, restart_cnt=restarts)))


def test_outcomes_of_released_jobs_only_are_journalled():
    journal = Noted(*(Releasing(1005.0, number, 1000.0, 0) for number in (1, 2, 3, 4)))
    events = [Started(1, 1010.5), Ended(2, 1020.5), Cancelled(3, 1021.0), Submitted(4, 1022.0, 1, 60.0)]
    others = [Started(9, 1.0), Ended(9, 2.0), Cancelled(9, 3.0), Submitted(9, 4.0, 1, 60.0)]
    Past(journal).keep([*events, *others, Holds(1, 5.0, 1, 60.0)], [one(job(6))], 1030.0)
    assert journal.written == [
        Began(1010.5, 1),
        Over(1020.5, 2, "ended"),
        Over(1021.0, 3, "cancelled or set aside"),
        Over(1030.0, 4, "waits again"),
        Withheld(1030.0, 6, 1000.0),
    ]
    assert list(journal.under_way) == [1]


def test_entries_of_missing_or_replaced_jobs_are_dropped():
    left = [Releasing(1005.0, number, 1000.0, 1) for number in range(1, 7)]
    kept = [Returning(1005.0, 11, 0, "x"), Returning(1005.0, 12, 0, "x"), Returning(1005.0, 13, 0, "x")]
    kept += [Withheld(1005.0, 21, 1.0), Withheld(1005.0, 22, 1.0)]
    journal = Noted(*left, *kept)
    rows = known(
        free(1, **SAME), running(2, **AGAIN), job(3, **OTHER), job(4, **FRESH), over(5, **SAME),
        job(11), over(12), job(21),
    )  # fmt: skip
    Past(journal).forget(rows, 1030.0)
    assert journal.written == [Over(1030.0, number, "ended without an event") for number in (3, 4, 5, 6)]
    assert sorted(journal.under_way) == [1, 2]
    assert (list(journal.standing.returning), list(journal.standing.withheld)) == ([11, 12], [21])


def test_ended_or_replaced_guests_count_as_restored():
    taken = [Taking(1005.0, number, 9, 30, 120.0, 1400.0, 1000.0, 1) for number in range(1, 7)]
    journal = Noted(*taken)
    rows = known(running(1, **SAME), job(2, **AGAIN), job(3, **OTHER), job(4, **FRESH), over(5, **SAME))
    Past(journal).restored(rows, 1030.0)
    assert journal.written == [Restored(1030.0, number) for number in (3, 4, 5, 6)]
    assert sorted(journal.standing.taken) == [1, 2]
