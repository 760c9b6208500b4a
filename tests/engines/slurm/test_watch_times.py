"""Details of polling Slurm: placement of times, and rests of jobs."""

import pytest

from tests.engines.slurm.fake_commands import ANN, free, job, jobs, over, running
from tests.engines.slurm.test_watch import BARRED, Polls
from windlass.engines.batch.system import Cancelled, Delayed, Ended, Holds, Started, Submitted
from windlass.engines.slurm.job_reader import read_jobs


def one(row):
    (found,) = read_jobs(jobs(row))
    return found


ELSEWHERE = {"state_reason": "Dependency"}


def set_aside(polls, now):
    """Release job 7, see it wait for a dependency, and hold it again; return the start of its rest."""
    polls.watch.released(7, now)
    found = polls.at(now + 1.0, free(7, **ELSEWHERE))
    assert found.hold == {7: "Slurm cannot start it yet: Dependency"}
    assert found.events == [Cancelled(7, now + 1.0)]
    polls.at(now + 1.5, job(7))
    return now + 1.0


def test_rests_of_a_set_aside_job_double_up_to_five_minutes():
    polls, now = Polls(), 2000.0
    polls.at(now, job(7))
    for rest in (5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0):
        since = set_aside(polls, now + 1.0)
        assert polls.events(since + rest - 0.25, job(7)) == []
        # A free job, or one held by an administrator, does not come back.
        assert polls.events(since + rest, free(7)) == polls.events(since + rest, job(7, **BARRED)) == []
        now = since + rest
        assert polls.events(now, job(7)) == [Submitted(7, 1000.0, 3, 120.0, ANN)]


def test_a_requeued_job_starts_again_with_the_shortest_rest():
    polls = Polls(returning=[7])
    polls.at(2000.0, job(7))
    for rest in (5.0, 10.0):
        since = set_aside(polls, polls.watch._polled + 1.0)
        assert polls.events(since + rest, job(7)) != []
    back = {"restart_cnt": 1, "submit_time": 2030}
    assert [type(each) for each in polls.events(2040.0, job(7, **back))] == [Submitted]
    polls.watch.released(7, 2041.0)
    polls.at(2042.0, free(7, **ELSEWHERE, **back))
    polls.at(2043.0, job(7, **back))
    assert polls.events(2046.9, job(7, **back)) == []
    assert len(polls.events(2047.0, job(7, **back))) == 1


def test_a_set_aside_job_that_runs_only_holds_processors():
    polls = Polls()
    polls.at(2000.0, job(7))
    set_aside(polls, 2001.0)
    assert polls.events(2010.0, running(7, start_time=2004)) == [Holds(7, 2004.0, 3, 120.0, ANN)]
    assert polls.events(2020.0, over(7, end_time=2015)) == [Ended(7, 2016.0)]
    # A job that ends while it is set aside was already reported gone.
    polls.at(2030.0, job(8, submit_time=2029))
    polls.watch.released(8, 2031.0)
    polls.at(2032.0, free(8, submit_time=2029, **ELSEWHERE))
    assert polls.events(2033.0, over(8, "CANCELLED", submit_time=2029)) == []
    polls.at(2034.0, job(9, submit_time=2033))
    polls.watch.released(9, 2035.0)
    polls.at(2036.0, free(9, submit_time=2033, **ELSEWHERE))
    assert polls.events(2037.0) == []


def test_starts_are_reported_in_the_order_of_releases():
    polls = Polls()
    polls.at(1005.0, job(7), job(8), job(9))
    for number in (9, 7, 8):
        polls.watch.released(number, 1006.0)
    rows = [running(number, start_time=1007) for number in (7, 8, 9)]
    assert [event.job for event in polls.events(1010.0, *rows)] == [9, 7, 8]


@pytest.mark.parametrize(
    ("start", "released", "seen", "began"),
    [
        # In whole seconds: at the earliest at its release, or the last poll …
        (1006, 1006.5, 1007.25, 1006.5),
        (1004, 1005.0, 1007.25, 1005.0),
        (1007, 1006.5, 1007.25, 1007.0),
        # … and not after this poll.
        (1009, 1006.5, 1007.25, 1007.25),
    ],
)
def test_a_start_is_the_earliest_possible_time(start, released, seen, began):
    polls = Polls()
    polls.at(1003.5, job(7))
    polls.watch.released(7, released)
    assert polls.events(seen, running(7, start_time=start)) == [Started(7, began)]


@pytest.mark.parametrize(
    ("end", "seen", "expected"), [(1019, 1020.5, 1020.0), (1018, 1020.5, 1019.49), (1020, 1020.5, 1020.5)]
)
def test_an_end_is_the_latest_possible_time(end, seen, expected):
    polls = Polls()
    polls.at(1005.0, running(7))
    polls.at(1019.5, running(7))
    assert polls.events(seen, over(7, end_time=end)) == [Ended(7, pytest.approx(expected))]


def test_submissions_before_the_first_poll_are_exact_and_later_ones_are_latest():
    polls = Polls()
    assert polls.events(1000.5, job(7), job(8, submit_time=1003)) == [
        Submitted(7, 1000.0, 3, 120.0, ANN),
        Submitted(8, 1000.5, 3, 120.0, ANN),
    ]
    assert polls.events(1004.5, job(7), job(8, submit_time=1003), job(9, submit_time=1002))[0].at == 1003.0


def test_a_job_running_at_the_first_poll_holds_processors_since_its_start():
    polls = Polls()
    moved = running(7, start_time=1010, suspend_time=1030, pre_sus_time=14)
    assert polls.events(1040.0, moved) == [Holds(7, 1010.0, 3, 120.0, ANN), Delayed(7, 1040.0, 6.0)]
    assert Polls().events(1040.0, running(7, start_time=1050)) == [Holds(7, 1040.0, 3, 120.0, ANN)]


@pytest.mark.parametrize(
    ("state", "start", "suspended", "before", "now", "paused"),
    [
        ("RUNNING", 1000, 0, 0, 1100.0, 0.0),
        ("SUSPENDED", 0, 1050, 50, 1100.0, 0.0),
        ("SUSPENDED", 1000, 1050, 50, 1080.0, 30.0),
        ("SUSPENDED", 1000, 1050, 20, 1080.0, 60.0),
        ("RUNNING", 1000, 1050, 20, 1080.0, 30.0),
        # A clock of Slurm that is ahead does not reduce the time.
        ("RUNNING", 1000, 1050, 45, 1040.0, 0.0),
        ("RUNNING", 1000, 1050, 30, 1040.0, 10.0),
    ],
)
def test_suspended_time_is_the_time_not_run_since_the_start(state, start, suspended, before, now, paused):
    row = job(7, state, start_time=start, suspend_time=suspended, pre_sus_time=before)
    assert one(row).paused(now) == paused


def test_short_suspensions_are_reported_at_their_end_and_a_new_run_starts_at_zero():
    polls = Polls()
    polls.at(1005.0, job(7))
    polls.at(1010.5, running(7))
    still = running(7, suspend_time=1020, pre_sus_time=10) | {"job_state": "SUSPENDED"}
    assert polls.events(1020.5, still) == []
    assert polls.events(1021.0, still) == [Delayed(7, 1021.0, 1.0)]
    back = {"restart_cnt": 1, "submit_time": 1030}
    again = running(7, start_time=1032, suspend_time=1040, pre_sus_time=8, **back) | {
        "job_state": "SUSPENDED"
    }
    polls.at(1035.0, running(7, start_time=1032, **back))
    assert polls.events(1043.0, again) == [Delayed(7, 1043.0, 3.0)]
