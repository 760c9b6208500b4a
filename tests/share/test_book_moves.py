"""The book of sharing jobs as they pause, separate, resume and are lost: numbers computed by hand."""

from __future__ import annotations

import math

import pytest

from tests.share.cases import candidate, host
from tests.share.test_book import pair, read
from windlass.share import Allocation, Candidate, Guest, Share, ShareView, Sharing
from windlass.share.book import ShareBook
from windlass.share.pairing import host_ended
from windlass.share.usage import ClassUse, Interval, Reading
from windlass.share.view import Back, Head


def pair_and_single(**changed: object) -> ShareBook:
    """Jobs 1 and 2 share; job 3 has run alone since 4 s and uses 2 of its 8 GB."""
    book = pair(30)
    book.started(candidate(3, job_class="statistics", request=100.0), 4.0, 8e9)
    book.read({3: read(10.0, cpu=12.0, memory=2e9, **changed)})
    return book


def test_the_remaining_walltime_is_never_negative() -> None:
    book = pair_and_single()
    assert (book.left(3, 54.0), book.left(3, 104.0), book.left(3, 200.0)) == (50.0, 0.0, 0.0)
    # The guest has used three tenths of 20 s.
    assert book.left(2, 30.0) == pytest.approx(1800.0 - 6.0)


@pytest.mark.parametrize(("job", "pace"), [(1, 1.0), (2, 0.3), (3, 1.0)])
def test_a_pause_reduces_the_elapsed_walltime_at_the_job_s_pace(job: int, pace: float) -> None:
    book = pair_and_single()
    before = book.elapsed(job, 40.0)
    book.paused(job, 5.0)
    assert book.elapsed(job, 40.0) == pytest.approx(before - 5.0 * pace)


def test_an_interval_with_a_pause_is_not_measured() -> None:
    book = pair_and_single()
    book.paused(3, 5.0)
    book.read({3: read(20.0, cpu=12.0)})
    assert (book.uses.cpu("statistics"), book.view(20.0, []).running[-1].cpu) == (50.0, 50.0)
    assert math.isnan(book.view(20.0, []).running[-1].rate)
    book.read({3: read(30.0, cpu=52.0)})
    assert book.view(30.0, []).running[-1].cpu == 100.0
    assert book.uses.cpu("statistics") == (6.0 * 50.0 + 10.0 * 100.0) / 16.0


def test_elapsed_walltime_is_never_negative() -> None:
    book = pair()
    book.paused(2, 100.0)
    (shown,) = book.view(12.0, []).running
    assert shown.guest is not None
    assert shown.guest.elapsed == 0.0
    book.paused(1, 100.0)
    assert book.view(12.0, []).running[0].elapsed == 0.0


def test_a_guest_on_its_own_cores_is_alone_and_has_no_promised_end() -> None:
    book = pair(30)
    assert book.until(2) == 10.0 + 1790.0 + 1800.0 - 0.3 * 1790.0
    book.apart(2, 20.0)
    assert (book.pairs(), book.host_of(2), book.guest_of(1), book.until(2)) == ([], None, None, math.inf)
    # Of 10 s it has used three, and each second counts from then on.
    assert book.elapsed(2, 30.0) == 13.0
    # Nothing is learned from the time in which the two were wrongly recorded as a pair.
    book.read({1: read(30.0, cpu=100.0, done=30.0), 2: read(30.0, cpu=80.0, done=30.0)})
    assert book.checkpoints() == []
    assert (book.uses.cpu("montage"), math.isnan(book.uses.cpu("blast"))) == (50.0, True)
    book.read({1: read(40.0, cpu=140.0, done=60.0), 2: read(40.0, cpu=120.0, done=60.0)})
    assert (book.uses.cpu("montage"), book.uses.cpu("blast")) == (75.0, 100.0)


def test_a_job_without_a_host_may_be_separated_too() -> None:
    book = pair_and_single()
    book.apart(3, 20.0)
    assert (book.until(3), book.elapsed(3, 30.0), book.pairs()) == (math.inf, 26.0, [(1, 2, 30)])


def test_an_adopted_pair_has_its_quota_and_no_promised_end() -> None:
    book = pair_and_single()
    book.ended(2, {1: read(20.0, cpu=40.0, done=20.0), 2: read(20.0)})
    book.checkpoints()
    book.adopt(3, candidate(9, memory=7e9), 40, 30.0)
    assert (book.pairs(), book.host_of(9)) == ([(3, 9, 40)], 3)
    assert (book.elapsed(9, 50.0), book.until(9)) == (pytest.approx(8.0), math.inf)
    # A guest that the book knows keeps its elapsed walltime.
    book.started(candidate(7), 30.0, 8e9)
    book.adopt(1, candidate(7), 50, 40.0)
    assert book.elapsed(7, 60.0) == 20.0
    # The policy's view of that pair is not known, so it gets no checkpoint.
    book.read({3: read(60.0, cpu=20.0), 9: read(60.0), 1: read(60.0), 7: read(60.0)})
    assert book.checkpoints() == []
    # The guest holds the memory of its request: with 7 of 8 GB taken the host's two do not fit.
    book.read({3: read(70.0, cpu=20.0, memory=2e9)})
    assert book.crowded() == [9]


def test_the_end_of_one_job_gives_the_other_its_full_pace() -> None:
    book = pair(30)
    book.ended(1, {1: read(20.0), 2: read(20.0)}, 20.0)
    assert (book.elapsed(2, 25.0), book.host_of(2), book.jobs()) == (8.0, None, [2])
    book = pair(30)
    book.ended(2, {1: read(20.0), 2: read(20.0)}, 20.0)
    assert (book.elapsed(1, 25.0), book.guest_of(1), book.jobs()) == (25.0, None, [1])
    book = pair(30)
    book.lost(1, 20.0)
    assert (book.elapsed(2, 25.0), book.host_of(2), book.checkpoints()) == (8.0, None, [])


def test_the_end_of_a_single_job_makes_no_checkpoint() -> None:
    book = pair_and_single()
    book.ended(3, {3: read(20.0)})
    assert (book.checkpoints(), book.jobs()) == ([], [1, 2])


@pytest.mark.parametrize("ends", [1, 2])
@pytest.mark.parametrize("paused", [1, 2])
def test_a_pair_that_ends_after_a_pause_makes_no_checkpoint(ends: int, paused: int) -> None:
    book = pair()
    book.paused(paused, 3.0)
    book.ended(ends, {1: read(20.0, cpu=30.0), 2: read(20.0, cpu=10.0)})
    assert book.checkpoints() == []


def test_a_reading_makes_a_checkpoint_of_pairs_only() -> None:
    book = pair_and_single()
    book.read({job: read(30.0, cpu=30.0, memory=4e9) for job in (3, 1, 2)})
    (reported,) = book.checkpoints()
    assert (reported.before.job, reported.before.memory_used, reported.after.memory_used) == (1, 50.0, 50.0)
    # Unknown values are NaN, which no value is equal to.
    assert repr(reported.before.guest) == repr(Guest(candidate(2), 50 - 20, note=(7.0,)))
    assert (reported.after.cpu, reported.guest.job.job) == (50.0, 2)


def test_measurement_restarts_with_a_new_quota_and_continues_with_the_same() -> None:
    book = pair(50)
    book.read({1: read(20.0, cpu=30.0, done=15.0), 2: read(20.0, cpu=10.0)})
    assert book.view(20.0, []).running[0].rate == 0.5
    book.carry_out(book.view(20.0, []), Sharing((Share(1, 2, 50, "same", (8.0,)),)))
    assert book.view(20.0, []).running[0].rate == 0.5
    book.set_pace(2, 0.2, 20.0)
    book.carry_out(book.view(30.0, []), Sharing((Share(1, 2, 50, "same"),)))
    # The measured pace stays in use as long as the quota does.
    assert book.elapsed(2, 40.0) == 5.0 + 4.0
    book.carry_out(book.view(40.0, []), Sharing((Share(1, 2, 10, "less"),)))
    assert math.isnan(book.view(40.0, []).running[0].rate)
    assert book.elapsed(2, 50.0) == 5.0 + 4.0 + 1.0
    # Its promised end is that of its first quota.
    assert book.until(2) == 10.0 + 1790.0 + 1800.0 - 0.5 * 1790.0


def test_requeueing_a_guest_leaves_its_host_alone_and_other_pairs_unchanged() -> None:
    book = pair_and_single()
    book.read({1: read(20.0, cpu=40.0, done=20.0, memory=4e9), 2: read(20.0)})
    book.started(candidate(7, restarts=True, memory=1e9), 20.0, 8e9)
    book.adopt(3, candidate(7, restarts=True, memory=1e9), 50, 20.0)
    book.checkpoints()
    book.carry_out(book.view(30.0, []), Sharing(back=(Back(7, "begins again"),)))
    assert (book.jobs(), book.pairs(), book.guest_of(3)) == ([1, 2, 3], [(1, 2, 30)], None)
    assert 7 not in book
    # It may become a guest again, and starts from zero.
    taken = Sharing((Share(3, 7, 50, "again"),))
    book.carry_out(book.view(40.0, [candidate(7, memory=1e9)]), taken)
    assert (book.pairs(), book.host_of(7)) == ([(1, 2, 30), (3, 7, 50)], 3)
    assert book.elapsed(7, 60.0) == 10.0


def test_a_second_reading_at_the_same_time_changes_no_measurement() -> None:
    book = pair_and_single()
    both = {1: read(20.0, cpu=40.0, done=15.0, waited=1.0, memory=4e9), 2: read(20.0, cpu=10.0)}
    alone = {3: read(20.0, cpu=52.0, done=30.0, memory=2e9)}
    book.read(both | alone)
    before, reported = book.view(20.0, []).running, book.checkpoints()
    book.read(both | alone)
    assert repr(book.view(20.0, []).running) == repr(before)
    assert repr(book.checkpoints()) == repr(reported)
    assert (before[0].rate, before[0].waited, before[1].rate, before[1].cpu) == (0.5, 10.0, 3.0, 100.0)


@pytest.mark.parametrize("between", [False, True])
def test_a_second_reading_at_the_same_time_does_not_make_later_time_alone(between: bool) -> None:
    # A partner is lost, or a job paused, at the time of a reading: the interval since then is not time alone.
    book = pair()
    book.lost(2, 10.0)
    if between:
        book.read({1: read(10.0, cpu=20.0, done=10.0, memory=4e9)})
    book.read({1: read(20.0, cpu=60.0, done=20.0)})
    assert book.uses.cpu("montage") == 50.0
    book = pair_and_single()
    book.paused(3, 2.0)
    if between:
        book.read({3: read(10.0, cpu=12.0, memory=2e9)})
    book.read({3: read(20.0, cpu=52.0)})
    assert book.uses.cpu("statistics") == 50.0


def test_a_promised_end_is_kept() -> None:
    book = pair_and_single()
    assert (book.until(1), book.until(3)) == (math.inf, math.inf)
    book.promise(3, 77.0)
    assert (book.until(3), book.until(1)) == (77.0, math.inf)


def test_the_rate_alone_is_known_per_stage() -> None:
    book = ShareBook()
    book.started(candidate(1), 0.0, 8e9)
    book.read({1: read(0.0)})
    book.read({1: read(10.0, done=20.0)})
    assert book.view(10.0, []).running[0].rate_alone == 2.0
    book.read({1: read(20.0, stage=1, done=1.0, parallel=True, left=3.0, waited=2.0)})
    (shown,) = book.view(20.0, []).running
    assert math.isnan(shown.rate_alone)
    assert (shown.parallel, shown.tasks_done, shown.tasks_left, shown.waited) == (True, 1.0, 3.0, 20.0)
    book.read({1: read(30.0, stage=1, done=6.0)})
    assert book.view(30.0, []).running[0].rate_alone == 0.5


def test_a_job_that_started_earlier_keeps_its_elapsed_time_and_counters() -> None:
    book = ShareBook(uses=ClassUse([("blast", 10.0, 100.0)]))
    book.started(candidate(1), 50.0, 8e9, 20.0, Reading(50.0, 100.0, 1e9, 0, True, 40.0, 9.0, 2.0))
    assert book.elapsed(1, 60.0) == 30.0
    assert book.last(1).cpu == 100.0
    book.read({1: read(60.0, cpu=120.0, done=45.0, waited=3.0)})
    (shown,) = book.view(60.0, []).running
    assert (shown.cpu, shown.rate, shown.waited, shown.elapsed) == (50.0, 0.5, 10.0, 30.0)
    assert book.uses.cpu("blast") == 30.0
    # A job that starts now counts from zero, also its waiting time.
    book.started(candidate(2), 60.0, 8e9)
    book.read({2: read(70.0, cpu=10.0, waited=1.0)})
    assert book.view(70.0, []).running[1].waited == 10.0


@pytest.mark.parametrize(("memory", "used", "shown"), [(8e9, 2e9, 25.0), (8e9, 9e9, 100.0), (0.0, 5e9, 0.0)])
def test_memory_used_is_a_percentage_of_the_granted_memory(memory: float, used: float, shown: float) -> None:
    book = ShareBook()
    book.started(candidate(1), 0.0, memory)
    book.read({1: read(10.0, memory=used)})
    assert book.view(10.0, []).running[0].memory_used == shown


def test_a_guest_without_measured_memory_counts_as_using_its_whole_request() -> None:
    one = host(1, guest=Guest(candidate(5, memory=4e9, cpu=20.0), 30))
    for left, used in ((host_ended(one, 1.0), 100.0), (host_ended(one, 1.0, 25.0), 25.0)):
        assert left is not None
        assert (left.memory_used, left.elapsed, left.cpu) == (used, 1.0, 20.0)


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        # By its walltime, 50 s are left; half of them are the guest's.
        ({"walltime": 60.0, "elapsed": 10.0}, 150.0 + 15.0),
        ({"walltime": 60.0, "elapsed": 99.0}, 100.0 + 40.0),
        # By what it was promised itself.
        ({"walltime": 60.0, "elapsed": 10.0, "ends": 110.0}, 110.0 + 35.0),
        ({"walltime": 60.0, "elapsed": 10.0, "ends": 90.0}, 100.0 + 40.0),
        # A guest that ends before its host keeps nothing longer.
        ({"walltime": 600.0, "elapsed": 10.0}, 690.0),
    ],
)
def test_a_guest_s_promised_end_adds_the_work_that_its_quota_leaves(
    made: dict[str, float], wanted: float
) -> None:
    view = ShareView(100.0, (host(1, **made),), (), head=Head(9, wanted, 0))
    guest = Candidate(2, "blast", 3, 0.0, 40.0)
    assert view.promised_end(view.running[0], guest, 50) == wanted
    assert view.outstays(view.running[0], guest, 50) == 0
    early = ShareView(100.0, (host(1, **made),), (), head=Head(9, wanted - 0.5, 0))
    stays = wanted > view._end(view.running[0])
    assert early.outstays(early.running[0], guest, 50) == (3 if stays else 0)


def test_an_allocation_has_no_task_counts_and_no_guest_by_default() -> None:
    one = Allocation(1, "montage", 4, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0)
    assert (one.parallel, one.guest) == (None, None)
    assert all(
        map(math.isnan, (one.tasks_done, one.tasks_left, one.rate, one.rate_alone, one.waited, one.ends))
    )
    plain = Candidate(2, "blast", 4, 4e9, 60.0)
    assert (math.isnan(plain.cpu), plain.restarts) == (True, False)
    assert (Guest(plain, 0).elapsed, Guest(plain, 0).note, math.isnan(Guest(plain, 0).progress)) == (
        0.0,
        (),
        True,
    )


def test_an_interval_is_normalised_by_its_length_and_cores() -> None:
    made = Interval.between(
        read(10.0, cpu=4.0, done=3.0, waited=1.0), read(14.0, cpu=8.0, done=13.0, waited=3.0), 2
    )
    assert (made.seconds, made.cpu, made.rate, made.waited) == (4.0, 50.0, 2.5, 50.0)
    backwards = Interval.between(read(14.0), read(10.0), 2)
    assert (backwards.seconds, math.isnan(backwards.cpu)) == (0.0, True)


def test_class_use_adds_to_its_initial_totals() -> None:
    use = ClassUse([("a", 10.0, 500.0)])
    use.take("a", 10.0, 100.0)
    use.take("b", 5.0, math.nan)
    assert use.totals() == (("a", 20.0, 1500.0),)
    assert ClassUse([("a", 1.0, 101.0)]).cpu("a") == 100.0
    assert math.isnan(ClassUse([("a", 0.0, 0.0)]).cpu("a"))
    # Also for very short measured times.
    assert ClassUse([("a", 0.5, 40.0)]).cpu("a") == 80.0
    brief = ClassUse()
    brief.take("a", 1e-3, 30.0)
    assert brief.cpu("a") == pytest.approx(30.0)
