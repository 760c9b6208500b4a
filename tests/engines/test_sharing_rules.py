"""Sharing on a batch system, rule by rule."""

import math

import pytest

from tests.engines.notes import GUEST, HALF, HOST, Bench, pair, running, waiting
from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.batch.system import Cancelled, Delayed, Ended, Started, Submitted
from windlass.model import PolicyError
from windlass.share import Share, Sharing
from windlass.share.allocation import Candidate
from windlass.share.usage import ClassUse
from windlass.share.view import Back


def test_checkpoints_come_every_five_seconds_by_default_and_only_while_needed():
    bench = Bench(HOST, GUEST)
    assert bench.at(0.0, running(HOST)) is None
    assert bench.shares.wakes() == math.inf
    assert bench.at(1.0, waiting(GUEST)) == "share"
    assert (bench.at(5.99), bench.shares.wakes()) == (None, 6.0)
    assert (bench.at(6.0), bench.at(6.0), bench.shares.wakes()) == ("share", None, 11.0)
    assert bench.at(20.0, Cancelled(2, 20.0)) is None
    assert bench.shares.wakes() == math.inf


@pytest.mark.parametrize(("now", "longest", "until"), [(30.0, 110.0, 105.0), (130.0, 40.0, 170.0)])
def test_a_guest_may_run_as_long_as_its_host_and_then_alone(now, longest, until):
    bench = Bench(HOST, GUEST)
    bench.at(0.0, running(HOST))
    bench.at(now, waiting(GUEST, now))
    bench.act(now, HALF)
    assert bench.system.taken == [(Pair(1, 2, 50), longest, until)]
    assert bench.end_of(2) == until
    assert (bench.book.waits(2), bench.book.width(1), bench.book.width(2)) == (False, 2, 2)


def test_a_guest_that_the_system_rejects_waits_and_others_start():
    others = Candidate(3, "montage", 4, 1e9, 100.0), Candidate(4, "blast", 1, 1e9, 40.0)
    bench = Bench(HOST, GUEST, *others, processors=8)
    bench.system.refuses.add(2)
    bench.at(0.0, running(HOST), running(others[0]), waiting(GUEST), waiting(others[1]))
    bench.at(5.0)
    view = bench.act(5.0, HALF, Share(3, 4, 30, "idle"))
    assert [(bench.book.waits(job), job in bench.shares._shares) for job in (2, 4)] == [
        (True, False),
        (False, True),
    ]
    assert bench.system.quotas[-1] == (5.0, (Pair(3, 4, 30),))
    # The log has the complete answer.
    assert bench.decisions == [(view, Sharing((HALF, Share(3, 4, 30, "idle"))))]


@pytest.mark.parametrize("gone", [Cancelled(2, 5.0), Ended(1, 5.0)])
def test_a_pair_with_a_job_gone_since_the_view_is_not_made(gone):
    bench = Bench(HOST, GUEST)
    bench.at(0.0, running(HOST), waiting(GUEST))
    bench.at(5.0)
    bench.shares.view(5.0)
    bench.book.take(gone)
    bench.shares.act(Sharing((HALF,)), 5.0)
    assert (bench.system.taken, bench.shares._shares.pairs()) == ([], [])


def test_an_invalid_answer_is_not_reported_or_carried_out():
    bench = Bench(HOST, GUEST)
    bench.at(0.0, running(HOST), waiting(GUEST))
    bench.at(5.0)
    with pytest.raises(PolicyError, match="job 9 is not waiting"):
        bench.act(5.0, Share(1, 9, 50, "x"))
    assert (bench.decisions, bench.system.taken) == ([], [])


def test_a_guest_has_its_quota_as_soon_as_it_runs():
    bench = Bench(HOST, GUEST)
    bench.at(0.0, running(HOST), waiting(GUEST))
    bench.at(5.0)
    bench.act(5.0, HALF)
    bench.system.quotas.clear()
    bench.at(6.0)
    assert bench.system.quotas == []
    bench.at(7.0, Started(2, 7.0))
    assert bench.system.quotas == [(7.0, (Pair(1, 2, 50),))]


def test_a_pair_has_its_new_quota_at_once():
    bench = pair()
    bench.at(36.0)
    bench.act(36.0, Share(1, 2, 20, "slower"))
    assert bench.system.quotas[-1] == (36.0, (Pair(1, 2, 20),))
    assert bench.system.taken[1:] == []


def test_a_requeued_guest_that_still_runs_is_not_added_again():
    bench = pair()
    bench.at(36.0)
    bench.act(36.0, back=[Back(2, "slow")])
    assert bench.system.quotas[-1] == (36.0, ())
    bench.at(37.0)
    assert 2 not in bench.shares._shares
    # The system has requeued it as requested: no other requeue is recorded.
    assert bench.backs == []
    assert set(bench.shares._leaving) == {2}
    bench.at(38.0, waiting(GUEST, 38.0))
    assert set(bench.shares._leaving) == set()
    bench.release(2, 39.0)
    bench.at(40.0, Started(2, 40.0))
    assert 2 in bench.shares._shares


def test_a_guest_of_an_earlier_driver_is_requeued_once_it_waits():
    """This driver never released it: only its waiting distinguishes one run from the other."""
    # The host uses 1 GB, so there is no room for it: it is requeued.
    large = Candidate(2, "blast", 2, 7.5e9, 40.0, restarts=True)
    bench = Bench(HOST, large, left=(Pair(1, 2, 50),))
    bench.at(0.0, running(HOST), running(large))
    for now in (5.0, 10.0, 15.0):
        bench.at(now)
    assert [job for _, job, _ in bench.system.backs] == [2]
    assert set(bench.shares._leaving) == {2}
    bench.at(16.0, waiting(large, 16.0))
    assert set(bench.shares._leaving) == set()


def test_a_guest_that_the_system_does_not_requeue_stays():
    bench = pair()
    bench.system.refuses.add(2)
    bench.at(36.0)
    bench.act(36.0, back=[Back(2, "slow")])
    assert bench.shares._shares.pairs() == [(1, 2, 50)]
    assert bench.system.quotas[-1] == (36.0, (Pair(1, 2, 50),))


def test_the_known_use_of_classes_is_in_the_view():
    bench = Bench(HOST, GUEST, uses=ClassUse([("blast", 10.0, 700.0)]))
    bench.at(0.0, running(HOST), waiting(GUEST), Submitted(9, 0.0, 1, 5.0))
    bench.at(10.0)
    view = bench.shares.view(10.0)
    # Job 9 may not share.
    assert [(each.job, each.cpu) for each in view.waiting] == [(2, 70.0)]
    assert [(host.job, host.cpu, host.memory, host.memory_used) for host in view.running] == [
        (1, 50.0, 8e9, 12.5)
    ]


@pytest.mark.parametrize("now", [60.0, 100.0])
def test_suspended_time_is_not_part_of_the_walltime(now):
    bench = Bench(HOST, GUEST)
    bench.at(10.0, running(HOST), Delayed(1, 5.0, 4.0), waiting(GUEST))
    # It ran for 10 s before this driver, and was suspended for 4 s of these.
    assert bench.shares._shares.elapsed(1, 10.0) == 6.0
    bench.at(20.0, Delayed(1, 20.0, 3.0))
    bench.at(now, Delayed(1, now, 1.0))
    assert bench.shares._shares.elapsed(1, now) == now - 8.0
    assert bench.end_of(1) == 108.0


def test_promised_ends_of_an_earlier_driver_are_kept_and_wake_the_engine():
    bench = Bench(HOST, GUEST, every=50.0, promises={2: 77.0})
    bench.at(0.0, running(GUEST), waiting(HOST))
    assert bench.shares._shares.until(2) == 77.0
    assert bench.shares.wakes() == 50.0
    bench.at(50.0)
    assert bench.shares.wakes() == 77.0
    bench.at(77.5)
    assert bench.shares.wakes() == 100.0


def left_by_another(*left, guest=GUEST, **options):
    third = Candidate(3, "blast", 1, 1e9, 60.0)
    bench = Bench(HOST, guest, third, processors=7, left=left, **options)
    bench.at(0.0, running(HOST), running(guest), running(third))
    return bench


def test_a_pair_of_an_earlier_driver_keeps_its_quota_and_promised_end():
    bench = left_by_another(Pair(1, 2, 30), promises={2: 93.0})
    assert bench.shares._shares.pairs() == [(1, 2, 30)]
    assert bench.system.quotas[0] == (0.0, (Pair(1, 2, 30),))
    assert (bench.book.width(1), bench.book.held, bench.end_of(2)) == (2, 5, 93.0)
    # Without a promise the guest is expected at the end of its request.
    assert left_by_another(Pair(1, 2, 30)).end_of(2) == 40.0


@pytest.mark.parametrize("second", [Pair(1, 3, 50), Pair(3, 2, 50), Pair(2, 3, 50)])
def test_of_two_pairs_with_the_same_job_the_first_continues(second):
    assert left_by_another(Pair(1, 2, 30), second).shares._shares.pairs() == [(1, 2, 30)]


def test_jobs_that_are_no_longer_a_pair_are_not_paired():
    assert left_by_another(Pair(1, 9, 30), Pair(9, 2, 30)).shares._shares.pairs() == []
    bench = Bench(HOST, GUEST, processors=6, left=[Pair(1, 2, 30)])
    bench.system.apart.add(2)
    bench.at(0.0, running(HOST), running(GUEST))
    assert (bench.shares._shares.pairs(), bench.book.held) == ([], 6)
    for willing, other in ((HOST, GUEST), (GUEST, HOST)):
        bench = Bench(willing, processors=6, left=[Pair(1, 2, 30)])
        bench.at(0.0, running(HOST), running(other if other is GUEST else GUEST))
        assert (bench.shares._shares.pairs(), bench.shares._shares.jobs()) == ([], [willing.job])


@pytest.mark.parametrize(("events", "runs"), [((waiting, running), 2), ((running, waiting), 1)])
def test_a_pair_with_a_waiting_job_does_not_continue(events, runs):
    bench = Bench(HOST, GUEST, processors=6, left=[Pair(1, 2, 30)])
    bench.at(0.0, *(event(job) for event, job in zip(events, (HOST, GUEST), strict=True)))
    assert (bench.shares._shares.pairs(), bench.shares._shares.jobs()) == ([], [runs])
    assert bench.book.held == {1: 4, 2: 2}[runs]
    # The other starts later, on its own processors.
    bench.release(3 - runs, 1.0)
    assert (bench.book.held, bench.book.width(1), bench.book.width(2)) == (6, 4, 2)


def test_a_guest_on_other_cores_has_its_own_processors_once_that_is_known():
    bench = Bench(HOST, GUEST, processors=6)
    bench.at(0.0, running(HOST), waiting(GUEST))
    bench.at(10.0)
    bench.act(10.0, HALF)
    bench.system.apart.add(2)
    bench.at(11.0)
    # Its cores are unknown before it runs.
    assert bench.book.held == 4
    bench.at(14.0, Started(2, 14.0))
    assert (bench.shares._shares.pairs(), bench.book.held) == ([], 6)
    # It has used 2 s of its 40.
    assert bench.end_of(2) == 14.0 + 38.0
    assert bench.system.quotas[-1] == (14.0, ())


def test_after_its_host_ends_a_guest_s_expected_end_is_its_remaining_request():
    bench = pair()
    bench.at(50.0, Ended(1, 50.0))
    # Half of 20 s of its 40 are used; its promise was 105 s.
    assert (bench.end_of(2), bench.shares._shares.elapsed(2, 60.0)) == (80.0, 20.0)
    assert bench.system.quotas[-1] == (50.0, ())
