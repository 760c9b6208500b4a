"""What has changed between two looks at Slurm, as events in the order that the engine counts on."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.slurm.said import free, job, jobs, over, running
from windlass.engines.batch.system import Cancelled, Delayed, Ended, Holds, Started, Submitted
from windlass.engines.slurm.models import Phase, read_jobs
from windlass.engines.slurm.watch import SlurmWatch


class Looks:
    """A watch, and a clock: each look takes a hundredth of a second."""

    def __init__(self, let_go=(), put_back=(), withheld=(), returning=()):
        kinds = (let_go, put_back, withheld, returning)
        self.watch = SlurmWatch(*(lambda row, jobs=jobs: row.job in jobs for jobs in kinds))

    def at(self, now, *rows):
        return self.watch.update(read_jobs(jobs(*rows)), now - 0.01, now)

    def events(self, now, *rows):
        return self.at(now, *rows).events


def test_a_job_s_life_is_told_step_by_step():
    looks = Looks()
    assert looks.events(1005.0, job(7)) == [Submitted(7, 1000.0, 3, 120.0)]
    assert looks.events(1006.0, job(7)) == []
    looks.watch.released(7, 1006.5)
    assert looks.events(1007.0, free(7)) == []
    assert looks.events(1010.25, running(7)) == [Started(7, 1010.0)]
    assert looks.events(1020.5, running(7)) == []
    assert looks.events(1020.75, over(7)) == [Ended(7, 1020.75)]
    assert looks.events(1021.0, over(7)) == []
    assert looks.events(1022.0) == []


def test_times_in_whole_seconds_are_placed_between_looks():
    looks = Looks()
    looks.at(1005.5)
    # Submitted at some time in second 1005, and not before the last look.
    assert looks.events(1006.25, job(7, submit_time=1005)) == [Submitted(7, 1006.0, 3, 120.0)]
    looks.at(1010.3, job(7, submit_time=1005))
    looks.watch.released(7, 1010.4)
    # It started in second 1010, after it was let go.
    (started,) = looks.events(1010.6, running(7, submit_time=1005))
    assert started == Started(7, 1010.4)
    # A clock of Slurm's that is ahead or behind does not put an end before the look that saw it run.
    looks.at(1030.0, running(7, submit_time=1005))
    assert looks.events(1030.2, over(7, submit_time=1005)) == [Ended(7, 1029.99)]


def test_one_that_began_and_ended_between_two_looks_started_first():
    looks = Looks()
    looks.at(1005.0, job(7))
    looks.watch.released(7, 1009.0)
    started, ended = looks.events(1030.0, over(7))
    assert (started, ended) == (Started(7, 1010.0), Ended(7, 1021.0))


def test_who_is_cancelled_is_told_once_whether_it_ran_or_not():
    looks = Looks()
    looks.at(1005.0, job(7), job(8))
    assert looks.events(1010.5, running(7), job(8)) == [Started(7, 1010.0)]
    found = looks.events(1021.5, over(7, "CANCELLED"), over(8, "CANCELLED", nodes=""))
    assert found == [Cancelled(7, 1021.0), Cancelled(8, 1021.0)]
    assert looks.events(1022.0) == []


def test_jobs_of_others_are_told_of_while_they_run_alone():
    looks = Looks()
    assert looks.events(1005.0, job(7, comment=""), free(8), free(9, comment="")) == []
    assert looks.events(1010.5, running(8), running(9, comment="")) == [
        Holds(8, 1010.0, 3, 120.0),
        Holds(9, 1010.0, 3, 120.0),
    ]
    assert looks.events(1020.5, over(8), over(9)) == [Ended(8, 1020.5), Ended(9, 1020.5)]


def test_a_changed_request_is_told_and_the_place_in_the_queue_kept():
    looks = Looks()
    looks.at(1005.0, job(7))
    assert looks.events(1006.0, job(7, cpus=1)) == [Submitted(7, 1000.0, 1, 120.0)]
    assert looks.events(1007.0, job(7, cpus=1, time_limit=None)) == [Submitted(7, 1000.0, 1, math.inf)]
    looks.watch.released(7, 1008.0)
    assert looks.events(1009.0, free(7)) == []


def test_one_that_is_put_back_is_held_again_and_waits_at_the_end():
    looks = Looks()
    looks.at(1005.0, job(7))
    looks.at(1010.5, running(7))
    still = running(7, restart_cnt=1, submit_time=1015)
    assert looks.events(1015.2, still | {"job_state": "COMPLETING"}) == []
    back = free(7, restart_cnt=1, submit_time=1015, state_reason="BeginTime")
    found = looks.at(1015.5, back)
    assert found.events == [Submitted(7, 1015.5, 3, 120.0)]
    assert list(found.hold) == [7]
    assert looks.at(1016.0, back | {"priority": 0}).events == []


def test_one_that_was_put_back_and_runs_again_between_two_looks_did_both():
    looks = Looks()
    looks.at(1005.0, job(7))
    looks.at(1010.5, running(7))
    again = running(7, restart_cnt=1, submit_time=1012, start_time=1014)
    assert looks.events(1015.0, again) == [Submitted(7, 1013.0, 3, 120.0), Started(7, 1014.0)]


def test_one_that_was_over_may_be_put_back_too():
    looks = Looks()
    looks.at(1005.0, job(7))
    looks.at(1030.0, over(7))
    found = looks.at(1031.0, free(7, restart_cnt=1, submit_time=1030))
    assert (found.events, list(found.hold)) == ([Submitted(7, 1031.0, 3, 120.0)], [7])


def test_who_waits_for_another_job_keeps_no_processors_and_comes_back():
    looks = Looks()
    looks.at(1005.0, job(7))
    looks.watch.released(7, 1006.0)
    found = looks.at(1007.0, free(7, state_reason="Dependency"))
    assert (found.events, list(found.hold)) == ([Cancelled(7, 1007.0)], [7])
    assert looks.at(1008.0, job(7)).events == []
    assert looks.events(1012.5, job(7)) == [Submitted(7, 1000.0, 3, 120.0)]
    # The second time it rests for twice as long.
    looks.watch.released(7, 1013.0)
    looks.at(1014.0, free(7, state_reason="BeginTime"))
    assert looks.events(1023.0, job(7)) == []
    assert looks.events(1024.5, job(7)) == [Submitted(7, 1000.0, 3, 120.0)]


def test_one_that_was_not_released_after_all_waits_again():
    looks = Looks()
    looks.at(1005.0, job(7))
    looks.watch.released(7, 1006.0)
    assert looks.events(1007.0, job(7)) == [Submitted(7, 1000.0, 3, 120.0)]


def test_one_that_its_user_holds_again_is_its_user_s_to_release():
    looks = Looks()
    looks.at(1005.0, job(7))
    looks.watch.released(7, 1006.0)
    looks.at(1006.5, free(7))
    found = looks.at(1007.0, job(7))
    assert (found.events, found.withheld, found.hold) == ([Cancelled(7, 1007.0)], [7], {})
    assert looks.events(9000.0, job(7)) == looks.events(9001.0, free(7)) == []
    assert looks.events(9002.5, running(7, start_time=9002)) == [Holds(7, 9002.0, 3, 120.0)]
    # A driver that comes after knows it from the journal.
    later = Looks(withheld=[7])
    assert later.events(9000.0, job(7), job(8)) == [Submitted(8, 1000.0, 3, 120.0)]


BARRED = {"state_reason": "JobHeldAdmin"}


def test_what_an_administrator_holds_waits_until_it_is_left_to_its_user_again():
    looks = Looks(let_go=[9])
    assert looks.events(1005.0, job(7, **BARRED), job(8), job(9, **BARRED)) == [
        Submitted(8, 1000.0, 3, 120.0)
    ]
    barred = [job(number, **BARRED) for number in (7, 8, 9)]
    assert looks.events(1006.0, *barred) == [Cancelled(8, 1006.0)]
    assert looks.events(1006.5, *barred) == []
    assert looks.events(1007.0, job(7), job(8), job(9)) == [
        Submitted(number, 1000.0, 3, 120.0) for number in (7, 8, 9)
    ]
    looks.watch.released(7, 1007.5)
    looks.at(1008.0, free(7), job(8), job(9))
    assert looks.events(1009.0, job(7, **BARRED), job(8), job(9)) == [Cancelled(7, 1009.0)]


def test_what_somebody_puts_back_held_is_held_for_them_and_what_a_driver_puts_back_is_not():
    back = {"restart_cnt": 1, "submit_time": 1015, "state_reason": "job_requeued_in_held_state"}
    for ours in (True, False):
        looks = Looks(returning=[7] if ours else [])
        looks.at(1005.0, job(7))
        looks.at(1010.5, running(7))
        told = looks.events(1015.5, job(7, **back))
        assert told == [Submitted(7, 1015.5, 3, 120.0), *([] if ours else [Cancelled(7, 1015.5)])]


def test_time_in_which_a_job_is_suspended_is_told_also_of_before_anybody_looked():
    looks = Looks()
    # It ran from 1010 to 1014, and from 1020 until it was suspended at 1030.
    still = running(7, suspend_time=1030, pre_sus_time=14) | {"job_state": "SUSPENDED"}
    assert looks.events(1032.0, still) == [Holds(7, 1010.0, 3, 120.0), Delayed(7, 1032.0, 8.0)]
    assert looks.events(1032.25, still) == []
    assert looks.events(1033.5, still) == [Delayed(7, 1033.5, 1.5)]
    again = running(7, suspend_time=1034, pre_sus_time=14)
    assert looks.events(1034.5, again) == [Delayed(7, 1034.5, 0.5)]
    assert looks.events(1040.0, again) == []


def test_what_a_driver_before_let_go_has_its_processors_already():
    looks = Looks(let_go=[7], put_back=[8])
    found = looks.at(1012.0, free(7), free(8, restart_cnt=1), free(9), running(10))
    assert found.events == [
        Holds(7, 1012.0, 3, 120.0),
        Submitted(8, 1000.0, 3, 120.0),
        Holds(10, 1010.0, 3, 120.0),
    ]
    assert list(found.hold) == [8]
    assert looks.events(1013.0, running(7), job(8, restart_cnt=1), free(9), running(10)) == []
    assert looks.events(1021.0, over(7), over(10)) == [
        Cancelled(8, 1021.0),
        Ended(7, 1021.0),
        Ended(10, 1021.0),
    ]


def test_a_slurm_that_lost_its_jobs_counts_anew_and_nobody_holds_processors():
    looks = Looks()
    looks.at(1005.0, job(7), job(8), job(9))
    looks.at(1010.5, running(7), running(8), job(9))
    found = looks.events(1050.0, job(7, submit_time=1040))
    assert found == [
        Ended(8, 1050.0),
        Cancelled(9, 1050.0),
        Ended(7, 1050.0),
        Submitted(7, 1041.0, 3, 120.0),
    ]


WORDS = ["held", "barred", "free", "suspended", "elsewhere", "running", "completing", "over", "cancelled"]
STATES = st.sampled_from([None, *WORDS])


@given(st.lists(st.tuples(STATES, st.integers(0, 1), st.booleans()), max_size=12))
def test_whatever_slurm_says_processors_are_given_back_by_who_has_them_and_starts_come_before_ends(says):
    """The events are a path through a job's life: it is submitted, runs, ends, and nothing twice."""
    looks, now, told, restarts = Looks(let_go=[7]), 1100.0, "none", 0
    for says_now, more, release in says:
        restarts += more
        now += 1.0
        makes = {
            "held": job,
            "free": free,
            "barred": lambda number, **fields: job(number, **(BARRED | fields)),
            "suspended": lambda number, **fields: (
                running(number, suspend_time=1050, pre_sus_time=9, **fields) | {"job_state": "SUSPENDED"}
            ),
            "elsewhere": lambda number, **fields: free(number, state_reason="Dependency", **fields),
            "running": running,
            "completing": lambda number, **fields: running(number, **fields) | {"job_state": "COMPLETING"},
            "over": over,
            "cancelled": lambda number, **fields: over(number, "CANCELLED", **fields),
        }
        rows = (
            []
            if says_now is None
            else [makes[says_now](7, restart_cnt=restarts, submit_time=1000 + restarts)]
        )
        for event in looks.events(now, *rows):
            assert event.at <= now
            match event:
                case Submitted():
                    told = "waits"
                case Started():
                    assert told == "waits"
                    told = "runs"
                case Delayed(_, _, seconds):
                    assert told == "runs"
                    assert seconds > 0.0
                case Holds():
                    assert told in ("none", "over", "aside")
                    told = "runs"
                case Ended():
                    assert told == "runs"
                    told = "over"
                case Cancelled():
                    assert told in ("waits", "runs")
                    told = "over"
        row = looks.watch.row(7)
        if row is not None and row.phase is Phase.RUNS:
            assert told == "runs"
        if says_now in (None, "over", "cancelled"):
            assert told in ("none", "over")
        if release and told == "waits" and row is not None and row.held:
            looks.watch.released(7, now)


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL"])
def test_what_was_over_before_anybody_looked_is_not_told(state):
    assert Looks().events(1030.0, over(7, state)) == []


@pytest.mark.parametrize(
    ("row", "event"),
    [
        (running(7), Holds(7, 1021.49, 3, 120.0)),
        (job(7), Submitted(7, 1021.49, 3, 120.0)),
    ],
)
def test_a_job_that_a_killed_controller_has_forgotten_the_end_of_is_met_again_at_once(row, event):
    looks = Looks()
    looks.at(1005.0, job(7))
    looks.at(1010.5, running(7))
    assert looks.events(1021.5, over(7)) == [Ended(7, 1021.0)]
    assert looks.events(1023.0, row) == [event]
    assert looks.events(1024.0, row) == []


def test_a_job_that_is_put_back_and_left_to_windlass_no_more_is_a_job_of_others():
    back = {"restart_cnt": 1, "submit_time": 1015, "comment": ""}
    for row, held in (
        (running(7, start_time=1016, **back), [Holds(7, 1016.0, 3, 120.0)]),
        (job(7, **back), []),
    ):
        # It ran at the last look, was over, waited, or was set aside: no decision of the engine concerns it any more.
        ran, was_over, waited, aside = Looks(), Looks(), Looks(), Looks()
        for looks in (ran, was_over, waited, aside):
            looks.at(1005.0, job(7))
        for looks in (ran, was_over):
            looks.at(1010.5, running(7))
        was_over.at(1012.5, over(7))
        for looks in (waited, aside):
            looks.watch.released(7, 1011.0)
        aside.at(1012.0, free(7, state_reason="Dependency"))
        assert ran.events(1017.0, row) == [Ended(7, 1017.0), *held]
        assert was_over.events(1017.0, row) == held
        assert waited.events(1017.0, row) == [Cancelled(7, 1017.0), *held]
        assert aside.events(1017.0, row) == held
        assert ran.events(1018.0, row) == was_over.events(1018.0, row) == []


@pytest.mark.parametrize("reason", ["Resources", "Priority", "Dependency"])
def test_a_job_that_an_earlier_driver_released_holds_processors_while_it_waits_for_room(reason):
    looks = Looks(let_go={7})
    holds = [Holds(7, 1005.0, 3, 120.0)]
    assert looks.events(1005.0, free(7)) == holds
    waits = reason != "Dependency"
    assert looks.events(1006.0, free(7, state_reason=reason)) == ([] if waits else [Cancelled(7, 1006.0)])
    assert looks.events(1010.0, running(7)) == ([] if waits else [Holds(7, 1010.0, 3, 120.0)])
