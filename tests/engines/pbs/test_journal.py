"""The journal of PBS's driver: what it knows about jobs survives a shortening, and decides whose hold it is."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from windlass.engines.batch.holds.entries import (
    HeldAgain,
    HoldingAgain,
    Lifted,
    Lifting,
    NoLongerListed,
    NotLifted,
    OpenActions,
    OperatorHold,
)
from windlass.engines.batch.holds.history import HoldPast
from windlass.engines.batch.holds.journal import HoldJournal
from windlass.engines.pbs.models import PbsJob

JOB = st.sampled_from(["1.s", "2.s", "3.s"])
RUNS = st.integers(0, 2)
ENTRY = st.one_of(
    st.builds(Lifting, st.just(1.0), JOB, st.just(5.0), RUNS),
    st.builds(Lifted, st.just(1.0), JOB, st.just(5.0), RUNS),
    st.builds(NotLifted, st.just(1.0), JOB, st.just("why")),
    st.builds(HoldingAgain, st.just(1.0), JOB, st.just(5.0), RUNS, st.just("why")),
    st.builds(HeldAgain, st.just(1.0), JOB, st.just(5.0), RUNS),
    st.builds(NoLongerListed, st.just(1.0), JOB, st.just("it ended")),
    st.builds(OperatorHold, st.just(1.0), JOB, st.just(5.0)),
)


def noted(entries):
    found = OpenActions()
    for entry in entries:
        found.note(entry)
    return found


@given(st.lists(ENTRY, max_size=20))
def test_a_shortened_journal_rebuilds_what_is_known(entries):
    found = noted(entries)
    assert noted(found.entries()) == found
    for job in found.jobs():
        found.forget(job)
    assert found == OpenActions()


class Past:
    """Past actions on a job that was submitted at 5 s."""

    def __init__(self, *entries):
        self.standing, self.written = noted(entries), []

    def append(self, *entries):
        self.written += entries
        for entry in entries:
            self.standing.note(entry)


QUEUED = PbsJob("1.s", "Q", "q", 5.0, 5.0, 1)
HELD = replace(QUEUED, state="H", holds=frozenset("o"))
INTENT, DONE = Lifting(1.0, "1.s", 5.0, 0), Lifted(1.0, "1.s", 5.0, 0)


def test_a_hold_is_an_operator_s_only_after_a_confirmed_release_or_a_run():
    assert not HoldPast(Past()).is_others(HELD)
    assert not HoldPast(Past(INTENT)).is_others(HELD)
    assert HoldPast(Past(INTENT, DONE)).is_others(HELD)
    assert HoldPast(Past(INTENT)).is_others(replace(HELD, runs=1))
    assert not HoldPast(Past(INTENT, DONE, HeldAgain(2.0, "1.s", 5.0, 1))).is_others(replace(HELD, runs=1))
    assert HoldPast(Past(OperatorHold(2.0, "1.s", 5.0))).is_others(HELD)


def test_another_job_of_the_same_number_is_not_confused_with_the_first():
    other = replace(HELD, created=9.0)
    for entries in ((INTENT, DONE), (OperatorHold(2.0, "1.s", 5.0),)):
        assert not HoldPast(Past(*entries)).is_others(other)
    queued = replace(QUEUED, created=9.0, runs=1)
    assert not HoldPast(Past(INTENT)).was_released(queued)
    assert not HoldPast(Past(INTENT)).hold_reason(queued)
    past = Past(INTENT)
    HoldPast(past).settle({"1.s": other}, 20.0)
    assert past.written == [NoLongerListed(20.0, "1.s", "another job has its number")]


def test_a_job_is_held_again_after_a_requeue_or_a_cut_hold_alone():
    again = replace(QUEUED, runs=1)
    assert HoldPast(Past(INTENT)).hold_reason(again)
    assert HoldPast(Past(INTENT)).was_released(QUEUED)
    assert not HoldPast(Past(INTENT)).hold_reason(QUEUED)
    assert HoldPast(Past(HoldingAgain(2.0, "1.s", 5.0, 1, "why"))).hold_reason(again)
    # An operator has released it after it was held again.
    assert not HoldPast(Past(HeldAgain(2.0, "1.s", 5.0, 1))).hold_reason(again)
    assert HoldPast(Past(HeldAgain(2.0, "1.s", 5.0, 1))).hold_reason(replace(QUEUED, runs=2))


def test_what_is_known_about_jobs_that_are_gone_is_dropped():
    past = Past(INTENT, DONE, OperatorHold(2.0, "2.s", 5.0), HoldingAgain(2.0, "3.s", 5.0, 1, "why"))
    HoldPast(past).settle({"3.s": replace(HELD, job="3.s", runs=1)}, 20.0)
    assert past.written == [
        NoLongerListed(20.0, "1.s", "it ended, or was deleted"),
        HeldAgain(20.0, "3.s", 5.0, 1),
    ]
    HoldPast(past).settle({}, 30.0)
    assert past.standing.jobs() == set()


def test_a_long_journal_keeps_what_is_known(tmp_path):
    with HoldJournal(tmp_path / "journal", limit=400) as journal:
        journal.append(INTENT, DONE, OperatorHold(2.0, "2.s", 5.0))
        for number in range(50):
            journal.append(NoLongerListed(3.0 + number, "9.s", "it ended"))
    with HoldJournal(tmp_path / "journal") as journal:
        assert sorted(journal.standing.jobs()) == ["1.s", "2.s"]
        assert sorted(journal.standing.released) == ["1.s"]
