"""Looks at Slurm in their last details: where times are placed, and how long jobs rest."""

import pytest

from tests.engines.slurm.said import free, job, jobs, over, running
from tests.engines.slurm.test_watch import BARRED, Looks
from windlass.engines.batch.system import Cancelled, Delayed, Ended, Holds, Started, Submitted
from windlass.engines.slurm.models import read_jobs


def one(row):
    (found,) = read_jobs(jobs(row))
    return found


ELSEWHERE = {"state_reason": "Dependency"}


def set_aside(looks, now):
    """Let job 7 go, see that it waits for something else, and see it held again; until when it rests."""
    looks.watch.released(7, now)
    found = looks.at(now + 1.0, free(7, **ELSEWHERE))
    assert found.hold == {7: "Slurm cannot start it yet: Dependency"}
    assert found.events == [Cancelled(7, now + 1.0)]
    looks.at(now + 1.5, job(7))
    return now + 1.0


def test_a_job_that_is_set_aside_rests_twice_as_long_each_time_up_to_five_minutes():
    looks, now = Looks(), 2000.0
    looks.at(now, job(7))
    for rest in (5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0):
        since = set_aside(looks, now + 1.0)
        assert looks.events(since + rest - 0.25, job(7)) == []
        # A job that is free, or held by an administrator, does not come back.
        assert looks.events(since + rest, free(7)) == looks.events(since + rest, job(7, **BARRED)) == []
        now = since + rest
        assert looks.events(now, job(7)) == [Submitted(7, 1000.0, 3, 120.0)]


def test_one_that_was_put_back_rests_as_if_for_the_first_time():
    looks = Looks(returning=[7])
    looks.at(2000.0, job(7))
    for rest in (5.0, 10.0):
        since = set_aside(looks, looks.watch._polled + 1.0)
        assert looks.events(since + rest, job(7)) != []
    back = {"restart_cnt": 1, "submit_time": 2030}
    assert [type(each) for each in looks.events(2040.0, job(7, **back))] == [Submitted]
    looks.watch.released(7, 2041.0)
    looks.at(2042.0, free(7, **ELSEWHERE, **back))
    looks.at(2043.0, job(7, **back))
    assert looks.events(2046.9, job(7, **back)) == []
    assert len(looks.events(2047.0, job(7, **back))) == 1


def test_a_job_that_was_set_aside_and_runs_all_the_same_only_holds_processors():
    looks = Looks()
    looks.at(2000.0, job(7))
    set_aside(looks, 2001.0)
    assert looks.events(2010.0, running(7, start_time=2004)) == [Holds(7, 2004.0, 3, 120.0)]
    assert looks.events(2020.0, over(7, end_time=2015)) == [Ended(7, 2016.0)]
    # And one that ends while it is set aside was told to be gone.
    looks.at(2030.0, job(8, submit_time=2029))
    looks.watch.released(8, 2031.0)
    looks.at(2032.0, free(8, submit_time=2029, **ELSEWHERE))
    assert looks.events(2033.0, over(8, "CANCELLED", submit_time=2029)) == []
    looks.at(2034.0, job(9, submit_time=2033))
    looks.watch.released(9, 2035.0)
    looks.at(2036.0, free(9, submit_time=2033, **ELSEWHERE))
    assert looks.events(2037.0) == []


def test_those_that_were_let_go_are_told_of_in_that_order():
    looks = Looks()
    looks.at(1005.0, job(7), job(8), job(9))
    for number in (9, 7, 8):
        looks.watch.released(number, 1006.0)
    rows = [running(number, start_time=1007) for number in (7, 8, 9)]
    assert [event.job for event in looks.events(1010.0, *rows)] == [9, 7, 8]


@pytest.mark.parametrize(
    ("start", "released", "seen", "began"),
    [
        # Told in whole seconds: at the earliest when it was let go, or looked at last …
        (1006, 1006.5, 1007.25, 1006.5),
        (1004, 1005.0, 1007.25, 1005.0),
        (1007, 1006.5, 1007.25, 1007.0),
        # … and not after this look.
        (1009, 1006.5, 1007.25, 1007.25),
    ],
)
def test_a_start_is_the_earliest_that_fits(start, released, seen, began):
    looks = Looks()
    looks.at(1003.5, job(7))
    looks.watch.released(7, released)
    assert looks.events(seen, running(7, start_time=start)) == [Started(7, began)]


@pytest.mark.parametrize(
    ("end", "seen", "told"), [(1019, 1020.5, 1020.0), (1018, 1020.5, 1019.49), (1020, 1020.5, 1020.5)]
)
def test_an_end_is_the_latest_that_fits(end, seen, told):
    looks = Looks()
    looks.at(1005.0, running(7))
    looks.at(1019.5, running(7))
    assert looks.events(seen, over(7, end_time=end)) == [Ended(7, pytest.approx(told))]


def test_a_submission_before_the_first_look_is_as_slurm_tells_it_and_later_ones_at_the_latest():
    looks = Looks()
    assert looks.events(1000.5, job(7), job(8, submit_time=1003)) == [
        Submitted(7, 1000.0, 3, 120.0),
        Submitted(8, 1000.5, 3, 120.0),
    ]
    assert looks.events(1004.5, job(7), job(8, submit_time=1003), job(9, submit_time=1002))[0].at == 1003.0


def test_what_runs_before_the_first_look_holds_processors_since_its_start_and_stood_still_as_long():
    looks = Looks()
    moved = running(7, start_time=1010, suspend_time=1030, pre_sus_time=14)
    assert looks.events(1040.0, moved) == [Holds(7, 1010.0, 3, 120.0), Delayed(7, 1040.0, 6.0)]
    assert Looks().events(1040.0, running(7, start_time=1050)) == [Holds(7, 1040.0, 3, 120.0)]


@pytest.mark.parametrize(
    ("state", "start", "suspended", "before", "now", "paused"),
    [
        ("RUNNING", 1000, 0, 0, 1100.0, 0.0),
        ("SUSPENDED", 0, 1050, 50, 1100.0, 0.0),
        ("SUSPENDED", 1000, 1050, 50, 1080.0, 30.0),
        ("SUSPENDED", 1000, 1050, 20, 1080.0, 60.0),
        ("RUNNING", 1000, 1050, 20, 1080.0, 30.0),
        # A clock of Slurm's that is ahead gives no time back.
        ("RUNNING", 1000, 1050, 45, 1040.0, 0.0),
        ("RUNNING", 1000, 1050, 30, 1040.0, 10.0),
    ],
)
def test_a_job_stood_still_for_what_it_did_not_run_since_its_start(
    state, start, suspended, before, now, paused
):
    row = job(7, state, start_time=start, suspend_time=suspended, pre_sus_time=before)
    assert one(row).paused(now) == paused


def test_half_a_second_of_a_suspension_is_told_when_it_is_over_and_a_new_run_begins_at_none():
    looks = Looks()
    looks.at(1005.0, job(7))
    looks.at(1010.5, running(7))
    still = running(7, suspend_time=1020, pre_sus_time=10) | {"job_state": "SUSPENDED"}
    assert looks.events(1020.5, still) == []
    assert looks.events(1021.0, still) == [Delayed(7, 1021.0, 1.0)]
    back = {"restart_cnt": 1, "submit_time": 1030}
    again = running(7, start_time=1032, suspend_time=1040, pre_sus_time=8, **back) | {
        "job_state": "SUSPENDED"
    }
    looks.at(1035.0, running(7, start_time=1032, **back))
    assert looks.events(1043.0, again) == [Delayed(7, 1043.0, 3.0)]
