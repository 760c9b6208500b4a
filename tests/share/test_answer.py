"""An answer is carried out whole or not at all, and first fit finds the pairs of an exhaustive search."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.share.cases import candidate, host, views
from windlass.model import InputError, PolicyError
from windlass.share import Allocation, Candidate, Guest, Share, ShareView, Sharing
from windlass.share.lib.first_fit import QuotaChoice, adjusted, first_fit
from windlass.share.view import Back, Head, checked_actions

PAIR = host(1, guest=Guest(candidate(5), 30))


@pytest.mark.parametrize(
    ("shares", "problem"),
    [
        ([Share(9, 2, 30, "x")], "job 9 is not running"),
        ([Share(1, 9, 30, "x")], "job 9 is not waiting"),
        ([Share(1, 2, 35, "x")], "quota is 35, expected one of 0, 10"),
        ([Share(1, 2, math.nan, "x")], "quota is nan"),  # type: ignore[arg-type]
        ([Share(1, 2, True, "x")], "quota is True"),
        ([Share(1, 2, 0, "x")], "expected more than 0 for a waiting job"),
        ([Share(1, 2, 30, "")], "no reason is given"),
        ([Share(1, 3, 30, "x")], "needs 9 cores, the allocation has 8"),
        ([Share(1, 4, 30, "x")], r"needs 6e\+10 bytes, the allocation has 5.76e\+10 left"),
        ([Share(1, 2, 30, "x"), Share(1, 6, 30, "x")], "job 1 is named twice"),
        ([Share(1, 2, 30, "x"), Share(7, 2, 30, "x")], "job 2 is named twice"),
        ([Share(8, 2, 30, "x")], "job 8 already shares with job 5"),
        ([Share(2, 6, 30, "x")], "job 2 is not running"),
        ([Share(5, 2, 30, "x")], "job 5 is not running"),
    ],
)
def test_impossible_shares_are_rejected(shares, problem):
    # Each line is one condition of the check; without it the pair would run beyond its cores, memory or time.
    waiting = (candidate(2), candidate(3, cores=9), candidate(4, memory=60e9), candidate(6))
    view = ShareView(0.0, (host(1), host(7), host(8, guest=Guest(candidate(5), 30))), waiting)
    with pytest.raises(PolicyError, match=problem):
        Sharing(tuple(shares)).check(view)


def test_a_pair_s_quota_may_drop_to_zero():
    for quota in (0, 10, 90):
        Sharing((Share(1, 5, quota, "x"),)).check(ShareView(0.0, (PAIR,), ()))


def test_a_stopped_guest_still_holds_its_memory():
    # Would catch memory_free that counts only guests with a quota.
    assert host(1, guest=Guest(candidate(5, memory=50e9), 0)).memory_free == pytest.approx(7.6e9)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: host(cpu=math.nan), "job 1: cpu is nan, expected a finite number at least 0, at most 100"),
        (lambda: host(cpu=-1.0), "job 1: cpu is -1"),
        (lambda: host(cores=0), "job 1: cores is 0, expected a whole number of at least 1"),
        (lambda: host(walltime=0.0), "job 1: walltime is 0.0, expected a finite number above 0"),
        (lambda: host(memory=math.inf), "job 1: memory is inf"),
        (lambda: host(memory_used=101.0), "job 1: memory_used is 101"),
        (lambda: host(rate=-0.1), "job 1: rate is -0.1"),
        (lambda: host(waited=100.5), "job 1: waited is 100.5"),
        (lambda: candidate(cores=-1), "job 2: cores is -1"),
        (lambda: candidate(memory=math.nan), "job 2: memory is nan"),
        (lambda: candidate(cpu=120.0), "job 2: cpu is 120"),
        (lambda: Guest(candidate(), -10), "job 2: quota is -10"),
        (lambda: ShareView(math.nan, (), ()), "now is nan"),
        (lambda: ShareView(0.0, (host(1), host(1)), ()), "job 1 is in the view twice"),
        (lambda: ShareView(0.0, (PAIR,), (candidate(5),)), "job 5 is in the view twice"),
        (lambda: ShareView(0.0, (), (), actions=()), r"actions is \[\], expected rising whole percents"),
        (lambda: ShareView(0.0, (), (), actions=(0, 50, 50)), r"actions is \[0, 50, 50\]"),
        (lambda: ShareView(0.0, (), (), actions=(0, 100)), "below 100"),
    ],
)
def test_invalid_numbers_are_named_in_the_error(made, message):
    with pytest.raises(InputError, match=message) as error:
        made()
    assert "\n" not in str(error.value)


def fits_by_hand(one: Allocation, other: Candidate) -> bool:
    return other.cores <= one.cores and other.memory <= one.memory - one.memory * one.memory_used / 100


def naive_first_fit(view: ShareView, wanted: dict[tuple[int, int], int]) -> list[tuple[int, int, int]]:
    """Return each pair whose jobs are both free, in order of the queue, then of allocations, at its quota."""
    pairs = [(each, one) for each in view.waiting for one in view.running]
    taken: list[tuple[int, int, int]] = []
    for each, one in pairs:
        free = all(one.job != pair[0] and each.job != pair[1] for pair in taken)
        if free and fits_by_hand(one, each) and wanted[one.job, each.job] > 0:
            taken.append((one.job, each.job, wanted[one.job, each.job]))
    return taken


@given(views(), st.data())
def test_first_fit_picks_the_pairs_of_an_exhaustive_search(view, data):
    wanted = {
        (one.job, each.job): data.draw(st.sampled_from([0, 10, 90]))
        for one in view.running
        for each in view.waiting
    }
    found = first_fit(view, lambda one, each: QuotaChoice(wanted[one.job, each.job], "drawn"))
    assert [(share.host, share.guest, share.quota) for share in found] == naive_first_fit(view, wanted)
    Sharing(found).check(view)


def test_only_existing_pairs_get_new_quotas():
    view = ShareView(0.0, (host(3), PAIR), ())
    assert [share.host for share in adjusted(view, lambda one, guest: QuotaChoice(0, "slow"))] == [1]
    assert adjusted(view, lambda one, guest: None) == ()


def test_a_host_with_a_guest_gets_no_second_guest():
    # Would catch a first fit that forgets existing pairs: at most two jobs share a core.
    assert first_fit(ShareView(0.0, (PAIR,), (candidate(6),)), lambda one, each: QuotaChoice(50, "x")) == ()


RESTARTS = host(1, guest=Guest(candidate(5, restarts=True), 30))


@pytest.mark.parametrize(
    ("shares", "requeues", "problem"),
    [
        ([], [Back(5, "")], "requeues job 5: no reason is given"),
        ([], [Back(2, "x")], "requeues job 2: it is not a guest"),
        ([], [Back(6, "x")], "requeues job 6: it does not allow restarts"),
        ([], [Back(5, "x"), Back(5, "x")], "requeues job 5: it is named twice"),
        ([Share(1, 5, 10, "x")], [Back(5, "x")], "requeues job 5: it is named twice"),
    ],
)
def test_an_invalid_requeue_is_named_in_the_error(shares, requeues, problem):
    view = ShareView(0.0, (RESTARTS, host(7, guest=Guest(candidate(6), 30))), (candidate(2),))
    Sharing((), (Back(5, "x"),)).check(view)
    with pytest.raises(PolicyError, match=problem):
        Sharing(tuple(shares), tuple(requeues)).check(view)


@pytest.mark.parametrize("actions", [(0,), (10, 20), (0, 20, 10), (0, True), (0, 1.5), (0, 10, 10), (0, 100)])
def test_quotas_are_rising_whole_percents_from_0_to_below_100(actions):
    assert checked_actions("actions", (0, 99)) == (0, 99)
    with pytest.raises(InputError, match=r"^mine is \["):
        checked_actions("mine", actions)


def test_guests_that_outlast_the_head_s_start_fit_in_its_spare_cores():
    hosts = tuple(host(job, ends=50.0, walltime=50.0, elapsed=0.0) for job in (1, 3, 7))
    waits = tuple(candidate(10 + job, cores=2, request=900.0) for job in range(3))
    view = ShareView(0.0, hosts, (candidate(100, cores=20), *waits), head=Head(100, 50.0, 5))
    found = first_fit(view, lambda one, each: None if each.job == 100 else QuotaChoice(50, "x"))
    assert [(share.host, share.guest) for share in found] == [(1, 10), (3, 11)]
    # The next job is narrow enough for the remaining spare cores, and is placed.
    more = ShareView(0.0, hosts, (*view.waiting, candidate(20, cores=1, request=900.0)), head=view.head)
    found = first_fit(more, lambda one, each: None if each.job == 100 else QuotaChoice(50, "x"))
    assert [(share.host, share.guest) for share in found] == [(1, 10), (3, 11), (7, 20)]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Guest(candidate(), 101), "job 2: quota is 101"),
        (lambda: Guest(candidate(), 30, elapsed=-1.0), "job 2: elapsed is -1"),
        (lambda: Guest(candidate(), 30, progress=-1.0), "job 2: progress is -1"),
        (lambda: candidate(request=-1.0), "job 2: request is -1"),
        (lambda: candidate(memory=-1.0), "job 2: memory is -1"),
        (lambda: host(memory=-1.0), "job 1: memory is -1"),
        (lambda: host(elapsed=-1.0), "job 1: elapsed is -1"),
        (lambda: host(tasks_left=-1.0), "job 1: tasks_left is -1"),
        (lambda: host(cpu=100.5), "job 1: cpu is 100.5"),
        (lambda: host(ends=math.inf), "job 1: ends is inf"),
    ],
)
def test_invalid_guest_and_job_numbers_are_named_in_the_error(made, message):
    with pytest.raises(InputError, match=message):
        made()


def test_numbers_at_their_bounds_are_accepted():
    host(
        1,
        cores=1,
        memory=0.0,
        elapsed=0.0,
        cpu=100.0,
        memory_used=100.0,
        waited=100.0,
        tasks_left=0.0,
        ends=-5.0,
    )
    host(
        1,
        cpu=0.0,
        memory_used=0.0,
        waited=0.0,
        rate=0.0,
        guest=Guest(candidate(cores=1, request=0.0), 100, 500.0),
    )
    candidate(memory=0.0, cpu=100.0), candidate(cpu=0.0)
