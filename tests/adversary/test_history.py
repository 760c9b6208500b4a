"""The checker of histories: it accepts what is right, and finds each kind of violation."""

import pytest

from tests.adversary.history import Jobs, check
from tests.adversary.records import Actor, HoldChange, Left, Ran
from windlass.engines.slurm.entries import Began, GivenBack, Holding, Over, Refused, Released, Releasing

DRIVER, USER, BACK = Actor.DRIVER, Actor.USER, Actor.GIVE_BACK
ADMINISTRATOR = Actor.ADMINISTRATOR
#: Job 7 is released at 2 s, confirmed at 3 s, and runs from 4 to 9 s.
ENTRIES = (Releasing(1.0, 7, 0.0, 0), Released(3.0, 7, 0.0, 0), Began(4.0, 7), Over(9.0, 7, "ended"))
RAN = (Ran(7, 4.0, 9.0, "COMPLETED"),)
FREED = HoldChange(2.0, 7, DRIVER, False)
#: It is held at 5 s and released at 50 s.
KEPT = HoldChange(5.0, 7, USER, True)


def lifted(by, at=50.0):
    return HoldChange(at, 7, by, False)


def rules(entries=ENTRIES, ran=RAN, holds=(FREED,), left=(), jobs=Jobs(frozenset([7])), **options):  # noqa: B008
    return [each.rule for each in check(entries, ran, holds, left, jobs, **options)]


def test_a_job_that_was_journaled_released_and_ran_is_right():
    assert rules(given_back=True) == []


@pytest.mark.parametrize(
    ("ran", "rule"),
    [
        ((Ran(7, 1.0, 2.0, "REQUEUED"), *RAN), []),
        ((Ran(7, 1.0, 2.0, "COMPLETED"), *RAN), ["ran once"]),
        ((Ran(7, 1.0, 2.0, "CANCELLED"), *RAN), ["ran once"]),
        ((Ran(7, 1.0, 5.0, "REQUEUED"), *RAN), ["ran once"]),
        ((Ran(7, 1.0, 2.0, "REQUEUED"),), ["all ran"]),
        ((), ["began", "all ran"]),
    ],
)
def test_a_job_runs_once_but_for_requeues(ran, rule):
    assert rules(ran=ran) == rule


def test_a_job_that_slurm_forgot_need_not_run():
    assert rules(ran=(), jobs=Jobs(frozenset([7]), frozenset([7]))) == []


def test_a_job_that_another_holds_need_not_run():
    assert rules(ENTRIES[:2], ran=(), holds=(FREED, KEPT)) == []
    assert rules(ENTRIES[:2], ran=(), holds=(FREED, HoldChange(5.0, 7, DRIVER, True))) == ["all ran"]


@pytest.mark.parametrize(
    ("entries", "by", "rule"),
    [
        (ENTRIES[1:], DRIVER, ["journaled first"]),
        ((), DRIVER, ["journaled first"]),
        # Written down only afterwards, or released again after Slurm's confirmation or refusal.
        ((Releasing(2.5, 7, 0.0, 0),), DRIVER, ["journaled first"]),
        ((Releasing(0.5, 7, 0.0, 0), Released(1.0, 7, 0.0, 0)), DRIVER, ["journaled first"]),
        ((Releasing(0.5, 7, 0.0, 0), Refused(1.0, 7, "no")), DRIVER, ["journaled first"]),
        ((GivenBack(1.0, (6, 7)),), DRIVER, []),
        ((GivenBack(1.0, (6, 8)),), DRIVER, ["journaled first"]),
        ((), BACK, []),
        ((), USER, []),
    ],
)
def test_a_driver_journals_a_release_first(entries, by, rule):
    assert rules(entries, holds=(lifted(by, 2.0),)) == rule


@pytest.mark.parametrize("by", [DRIVER, BACK])
def test_a_user_s_hold_after_a_confirmed_release_is_kept(by):
    again = Releasing(49.0, 7, 0.0, 0)
    assert rules((*ENTRIES, again), holds=(FREED, KEPT, lifted(by))) == ["holds kept"]
    # Its user may lift it, and so may a driver that cannot know of it: the release was not confirmed, or undone.
    assert rules(holds=(FREED, KEPT, lifted(USER))) == []
    assert rules((ENTRIES[0], again), ran=RAN, holds=(FREED, KEPT, lifted(by))) == []
    assert rules((*ENTRIES, Holding(4.5, 7), again), holds=(FREED, KEPT, lifted(by))) == []
    # The time at which a job began is an estimate, and says nothing about the release before it.
    began = Began(49.5, 7)
    assert rules((*ENTRIES, Holding(4.5, 7), again, began), holds=(FREED, KEPT, lifted(by))) == []


def test_an_administrator_s_hold_is_kept_by_a_driver_that_listed_it():
    hold, again = HoldChange(5.0, 7, ADMINISTRATOR, True), Releasing(9.0, 7, 0.0, 0)
    late, early = lifted(DRIVER), lifted(DRIVER, 10.0)
    assert rules((ENTRIES[0], again), holds=(FREED, hold, late)) == ["holds kept"]
    assert rules((ENTRIES[0], again), holds=(FREED, hold, early)) == []
    assert rules((ENTRIES[0], again), holds=(FREED, hold, early), blind=4.0) == ["holds kept"]


def test_jobs_of_others_are_left_alone():
    others = Jobs(others=frozenset([7]))
    assert rules(jobs=others) == ["left alone"]
    assert rules(holds=(HoldChange(2.0, 7, DRIVER, True),), jobs=others) == ["left alone"]
    assert rules(holds=(lifted(USER, 2.0),), jobs=others) == []


@pytest.mark.parametrize(
    ("holds", "rule"),
    [
        ((), ["nothing held"]),
        ((HoldChange(2.0, 7, DRIVER, True),), ["nothing held"]),
        ((HoldChange(2.0, 7, USER, True),), []),
        ((HoldChange(2.0, 7, ADMINISTRATOR, True),), []),
    ],
)
def test_nothing_of_windlass_is_held_after_a_give_back(holds, rule):
    held = (Left(7, True, True, True),)
    assert rules(holds=holds, left=held, given_back=True) == rule
    assert rules(holds=holds, left=held) == []
    assert rules(holds=holds, left=(Left(7, False, True, True),), given_back=True) == []
