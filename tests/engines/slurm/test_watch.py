"""Changes between two polls of Slurm, as events in the order that the engine expects."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.slurm.fake_commands import ANN, free, job, jobs, over, running
from windlass.engines.batch.system import Cancelled, Delayed, Ended, Holds, Started, Submitted
from windlass.engines.slurm.job_reader import read_jobs
from windlass.engines.slurm.models import Phase
from windlass.engines.slurm.watch import SlurmWatch


class Polls:
    """A watch and a clock: each poll takes 0.01 s."""

    def __init__(self, released=(), requeued=(), withheld=(), returning=()):
        kinds = (released, requeued, withheld, returning)
        self.watch = SlurmWatch(*(lambda row, jobs=jobs: row.job in jobs for jobs in kinds))

    def at(self, now, *rows):
        return self.watch.update(read_jobs(jobs(*rows)), now - 0.01, now)

    def events(self, now, *rows):
        return self.at(now, *rows).events


def test_the_life_of_a_job_is_a_sequence_of_events():
    polls = Polls()
    assert polls.events(1005.0, job(7)) == [Submitted(7, 1000.0, 3, 120.0, ANN)]
    assert polls.events(1006.0, job(7)) == []
    polls.watch.released(7, 1006.5)
    assert polls.events(1007.0, free(7)) == []
    assert polls.events(1010.25, running(7)) == [Started(7, 1010.0)]
    assert polls.events(1020.5, running(7)) == []
    assert polls.events(1020.75, over(7)) == [Ended(7, 1020.75)]
    assert polls.events(1021.0, over(7)) == []
    assert polls.events(1022.0) == []


def test_times_in_whole_seconds_are_placed_between_polls():
    polls = Polls()
    polls.at(1005.5)
    # Submitted in second 1005, and not before the last poll.
    assert polls.events(1006.25, job(7, submit_time=1005)) == [Submitted(7, 1006.0, 3, 120.0, ANN)]
    polls.at(1010.3, job(7, submit_time=1005))
    polls.watch.released(7, 1010.4)
    # It started in second 1010, after its release.
    (started,) = polls.events(1010.6, running(7, submit_time=1005))
    assert started == Started(7, 1010.4)
    # A skewed clock of Slurm does not place an end before the poll that saw the job running.
    polls.at(1030.0, running(7, submit_time=1005))
    assert polls.events(1030.2, over(7, submit_time=1005)) == [Ended(7, 1029.99)]


def test_a_job_that_ran_between_two_polls_starts_and_ends():
    polls = Polls()
    polls.at(1005.0, job(7))
    polls.watch.released(7, 1009.0)
    started, ended = polls.events(1030.0, over(7))
    assert (started, ended) == (Started(7, 1010.0), Ended(7, 1021.0))


def test_a_cancelled_job_is_reported_once():
    polls = Polls()
    polls.at(1005.0, job(7), job(8))
    assert polls.events(1010.5, running(7), job(8)) == [Started(7, 1010.0)]
    found = polls.events(1021.5, over(7, "CANCELLED"), over(8, "CANCELLED", nodes=""))
    assert found == [Cancelled(7, 1021.0), Cancelled(8, 1021.0)]
    assert polls.events(1022.0) == []


def test_other_users_jobs_are_reported_only_while_running():
    polls = Polls()
    assert polls.events(1005.0, job(7, comment=""), free(8), free(9, comment="")) == []
    assert polls.events(1010.5, running(8), running(9, comment="")) == [
        Holds(8, 1010.0, 3, 120.0, ANN),
        Holds(9, 1010.0, 3, 120.0, ANN),
    ]
    assert polls.events(1020.5, over(8), over(9)) == [Ended(8, 1020.5), Ended(9, 1020.5)]


def test_a_changed_request_is_reported_and_keeps_its_place_in_the_queue():
    polls = Polls()
    polls.at(1005.0, job(7))
    assert polls.events(1006.0, job(7, cpus=1)) == [Submitted(7, 1000.0, 1, 120.0, ANN)]
    assert polls.events(1007.0, job(7, cpus=1, time_limit=None)) == [Submitted(7, 1000.0, 1, math.inf, ANN)]
    polls.watch.released(7, 1008.0)
    assert polls.events(1009.0, free(7)) == []


def test_a_requeued_job_is_held_again_and_waits_at_the_end():
    polls = Polls()
    polls.at(1005.0, job(7))
    polls.at(1010.5, running(7))
    still = running(7, restart_cnt=1, submit_time=1015)
    assert polls.events(1015.2, still | {"job_state": "COMPLETING"}) == []
    back = free(7, restart_cnt=1, submit_time=1015, state_reason="BeginTime")
    found = polls.at(1015.5, back)
    assert found.events == [Submitted(7, 1015.5, 3, 120.0, ANN)]
    assert list(found.hold) == [7]
    assert polls.at(1016.0, back | {"priority": 0}).events == []


def test_a_job_requeued_and_restarted_between_two_polls_has_both_events():
    polls = Polls()
    polls.at(1005.0, job(7))
    polls.at(1010.5, running(7))
    again = running(7, restart_cnt=1, submit_time=1012, start_time=1014)
    assert polls.events(1015.0, again) == [Submitted(7, 1013.0, 3, 120.0, ANN), Started(7, 1014.0)]


def test_an_ended_job_may_be_requeued():
    polls = Polls()
    polls.at(1005.0, job(7))
    polls.at(1030.0, over(7))
    found = polls.at(1031.0, free(7, restart_cnt=1, submit_time=1030))
    assert (found.events, list(found.hold)) == ([Submitted(7, 1031.0, 3, 120.0, ANN)], [7])


def test_a_job_with_a_dependency_holds_no_processors_and_comes_back():
    polls = Polls()
    polls.at(1005.0, job(7))
    polls.watch.released(7, 1006.0)
    found = polls.at(1007.0, free(7, state_reason="Dependency"))
    assert (found.events, list(found.hold)) == ([Cancelled(7, 1007.0)], [7])
    assert polls.at(1008.0, job(7)).events == []
    assert polls.events(1012.5, job(7)) == [Submitted(7, 1000.0, 3, 120.0, ANN)]
    # The second time it rests twice as long.
    polls.watch.released(7, 1013.0)
    polls.at(1014.0, free(7, state_reason="BeginTime"))
    assert polls.events(1023.0, job(7)) == []
    assert polls.events(1024.5, job(7)) == [Submitted(7, 1000.0, 3, 120.0, ANN)]


def test_a_job_held_right_after_its_release_is_its_user_s():
    polls = Polls()
    polls.at(1005.0, job(7))
    polls.watch.released(7, 1006.0)
    found = polls.at(1007.0, job(7))
    assert (found.events, found.withheld) == ([Cancelled(7, 1007.0)], [7])


def test_a_release_that_a_restarted_controller_forgot_is_made_again():
    polls = Polls()
    polls.at(1005.0, job(7))
    polls.watch.released(7, 1006.0)
    rows = read_jobs(jobs(job(7)))
    found = polls.watch.update(rows, 1007.0, 1007.01, lambda: True)
    assert (found.events, found.withheld) == ([Submitted(7, 1000.0, 3, 120.0, ANN)], [])


def test_a_job_that_its_user_releases_is_slurm_s_until_its_user_holds_it():
    polls = Polls()
    polls.at(1005.0, job(7))
    assert polls.events(1006.0, free(7)) == [Cancelled(7, 1006.0)]
    assert polls.events(1007.0, free(7)) == []
    found = polls.at(1008.0, job(7))
    assert (found.events, found.withheld) == ([], [7])


def test_one_list_without_a_hold_does_not_take_a_job_out_of_the_queue():
    polls = Polls()
    polls.at(1005.0, job(7))
    assert polls.events(1006.0, free(7)) == [Cancelled(7, 1006.0)]
    assert polls.events(1007.0, job(7)) == [Submitted(7, 1000.0, 3, 120.0, ANN)]


def test_a_job_held_again_by_its_user_is_withheld():
    polls = Polls()
    polls.at(1005.0, job(7))
    polls.watch.released(7, 1006.0)
    polls.at(1006.5, free(7))
    found = polls.at(1007.0, job(7))
    assert (found.events, found.withheld, found.hold) == ([Cancelled(7, 1007.0)], [7], {})
    assert polls.events(9000.0, job(7)) == polls.events(9001.0, free(7)) == []
    assert polls.events(9002.5, running(7, start_time=9002)) == [Holds(7, 9002.0, 3, 120.0, ANN)]
    # The next driver knows it from the journal.
    later = Polls(withheld=[7])
    assert later.events(9000.0, job(7), job(8)) == [Submitted(8, 1000.0, 3, 120.0, ANN)]
    # It also knows that the user has released the job since, and leaves it to Slurm.
    later = Polls(withheld=[7], requeued=[7, 8])
    found = later.at(9000.0, free(7), free(8))
    assert (found.events, list(found.hold)) == ([Submitted(8, 1000.0, 3, 120.0, ANN)], [8])
    assert later.events(9002.5, running(7, start_time=9002), job(8)) == [Holds(7, 9002.0, 3, 120.0, ANN)]


BARRED = {"state_reason": "JobHeldAdmin"}


def test_a_job_held_by_an_administrator_is_not_submitted():
    polls = Polls(released=[9])
    assert polls.events(1005.0, job(7, **BARRED), job(8), job(9, **BARRED)) == [
        Submitted(8, 1000.0, 3, 120.0, ANN)
    ]
    barred = [job(number, **BARRED) for number in (7, 8, 9)]
    assert polls.events(1006.0, *barred) == [Cancelled(8, 1006.0)]
    assert polls.events(1006.5, *barred) == []
    assert polls.events(1007.0, job(7), job(8), job(9)) == [
        Submitted(number, 1000.0, 3, 120.0, ANN) for number in (7, 8, 9)
    ]
    polls.watch.released(7, 1007.5)
    polls.at(1008.0, free(7), job(8), job(9))
    assert polls.events(1009.0, job(7, **BARRED), job(8), job(9)) == [Cancelled(7, 1009.0)]


def test_a_job_requeued_and_held_by_a_user_is_withheld_and_by_the_driver_is_not():
    back = {"restart_cnt": 1, "submit_time": 1015, "state_reason": "job_requeued_in_held_state"}
    for ours in (True, False):
        polls = Polls(returning=[7] if ours else [])
        polls.at(1005.0, job(7))
        polls.at(1010.5, running(7))
        lines = polls.events(1015.5, job(7, **back))
        assert lines == [Submitted(7, 1015.5, 3, 120.0, ANN), *([] if ours else [Cancelled(7, 1015.5)])]


def test_suspended_time_is_reported_also_from_before_the_first_poll():
    polls = Polls()
    # It ran from 1010 to 1014, and from 1020 until its suspension at 1030.
    still = running(7, suspend_time=1030, pre_sus_time=14) | {"job_state": "SUSPENDED"}
    assert polls.events(1032.0, still) == [Holds(7, 1010.0, 3, 120.0, ANN), Delayed(7, 1032.0, 8.0)]
    assert polls.events(1032.25, still) == []
    assert polls.events(1033.5, still) == [Delayed(7, 1033.5, 1.5)]
    again = running(7, suspend_time=1034, pre_sus_time=14)
    assert polls.events(1034.5, again) == [Delayed(7, 1034.5, 0.5)]
    assert polls.events(1040.0, again) == []


def test_jobs_released_by_an_earlier_driver_hold_processors():
    polls = Polls(released=[7], requeued=[8])
    found = polls.at(1012.0, free(7), free(8, restart_cnt=1), free(9), running(10))
    assert found.events == [
        Holds(7, 1012.0, 3, 120.0, ANN),
        Submitted(8, 1000.0, 3, 120.0, ANN),
        Holds(10, 1010.0, 3, 120.0, ANN),
    ]
    assert list(found.hold) == [8]
    assert polls.events(1013.0, running(7), job(8, restart_cnt=1), free(9), running(10)) == []
    assert polls.events(1021.0, over(7), over(10)) == [
        Cancelled(8, 1021.0),
        Ended(7, 1021.0),
        Ended(10, 1021.0),
    ]


def test_jobs_of_a_slurm_that_lost_its_state_hold_no_processors():
    polls = Polls()
    polls.at(1005.0, job(7), job(8), job(9))
    polls.at(1010.5, running(7), running(8), job(9))
    found = polls.events(1050.0, job(7, submit_time=1040))
    assert found == [
        Ended(8, 1050.0),
        Cancelled(9, 1050.0),
        Ended(7, 1050.0),
        Submitted(7, 1041.0, 3, 120.0, ANN),
    ]


WORDS = ["held", "barred", "free", "suspended", "elsewhere", "running", "completing", "over", "cancelled"]
STATES = st.sampled_from([None, *WORDS])


@given(st.lists(st.tuples(STATES, st.integers(0, 1), st.booleans()), max_size=12))
def test_any_sequence_of_states_gives_consistent_events(states):
    """The events are a path through a job's life: it is submitted, runs, ends, and nothing twice."""
    polls, now, lines, restarts = Polls(released=[7]), 1100.0, "none", 0
    for state, more, release in states:
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
        rows = [] if state is None else [makes[state](7, restart_cnt=restarts, submit_time=1000 + restarts)]
        for event in polls.events(now, *rows):
            assert event.at <= now
            match event:
                case Submitted():
                    lines = "waits"
                case Started():
                    assert lines == "waits"
                    lines = "runs"
                case Delayed(_, _, seconds):
                    assert lines == "runs"
                    assert seconds > 0.0
                case Holds():
                    assert lines in ("none", "over", "aside")
                    lines = "runs"
                case Ended():
                    assert lines == "runs"
                    lines = "over"
                case Cancelled():
                    assert lines in ("waits", "runs")
                    lines = "over"
        row = polls.watch.row(7)
        if row is not None and row.phase is Phase.RUNS:
            assert lines == "runs"
        if state in (None, "over", "cancelled"):
            assert lines in ("none", "over")
        if release and lines == "waits" and row is not None and row.held:
            polls.watch.released(7, now)


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL"])
def test_jobs_ended_before_the_first_poll_are_not_reported(state):
    assert Polls().events(1030.0, over(7, state)) == []


@pytest.mark.parametrize(
    ("row", "event"),
    [
        (running(7), Holds(7, 1021.49, 3, 120.0, ANN)),
        (job(7), Submitted(7, 1021.49, 3, 120.0, ANN)),
    ],
)
def test_a_job_whose_end_a_killed_controller_forgot_is_reported_again(row, event):
    polls = Polls()
    polls.at(1005.0, job(7))
    polls.at(1010.5, running(7))
    assert polls.events(1021.5, over(7)) == [Ended(7, 1021.0)]
    assert polls.events(1023.0, row) == [event]
    assert polls.events(1024.0, row) == []


def test_a_requeued_job_without_the_comment_is_another_user_s():
    back = {"restart_cnt": 1, "submit_time": 1015, "comment": ""}
    for row, held in (
        (running(7, start_time=1016, **back), [Holds(7, 1016.0, 3, 120.0, ANN)]),
        (job(7, **back), []),
    ):
        # Whether it ran, was over, waited, or was set aside: no decision of the engine concerns it any more.
        ran, was_over, waited, aside = Polls(), Polls(), Polls(), Polls()
        for polls in (ran, was_over, waited, aside):
            polls.at(1005.0, job(7))
        for polls in (ran, was_over):
            polls.at(1010.5, running(7))
        was_over.at(1012.5, over(7))
        for polls in (waited, aside):
            polls.watch.released(7, 1011.0)
        aside.at(1012.0, free(7, state_reason="Dependency"))
        assert ran.events(1017.0, row) == [Ended(7, 1017.0), *held]
        assert was_over.events(1017.0, row) == held
        assert waited.events(1017.0, row) == [Cancelled(7, 1017.0), *held]
        assert aside.events(1017.0, row) == held
        assert ran.events(1018.0, row) == was_over.events(1018.0, row) == []


@pytest.mark.parametrize("reason", ["Resources", "Priority", "Dependency"])
def test_a_job_released_by_an_earlier_driver_holds_processors_while_it_waits(reason):
    polls = Polls(released={7})
    holds = [Holds(7, 1005.0, 3, 120.0, ANN)]
    assert polls.events(1005.0, free(7)) == holds
    waits = reason != "Dependency"
    assert polls.events(1006.0, free(7, state_reason=reason)) == ([] if waits else [Cancelled(7, 1006.0)])
    assert polls.events(1010.0, running(7)) == ([] if waits else [Holds(7, 1010.0, 3, 120.0, ANN)])
