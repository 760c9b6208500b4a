"""The book of who runs and shares: intervals, what is told of pairs, and what nobody measured."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.share.cases import candidate
from windlass.model import PolicyError
from windlass.share import Share, Sharing
from windlass.share.book import ShareBook
from windlass.share.usage import Reading
from windlass.share.view import Head


def read(at: float, **changed: object) -> Reading:
    """What an engine that counts everything reads."""
    fields: dict[str, object] = {
        "cpu": 0.0,
        "memory": 0.0,
        "stage": 0,
        "done": 0.0,
        "left": 9.0,
        "waited": 0.0,
    }
    return Reading(at, **{**fields, **changed})  # type: ignore[arg-type]


def test_a_job_that_asked_for_no_time_is_not_shown() -> None:
    # Where jobs are not stopped at their walltimes such a job runs, and no allocation has a walltime of 0.
    book = ShareBook()
    book.started(candidate(1, request=0.0), 0.0, 8e9)
    book.started(candidate(2, request=1.0), 0.0, 8e9)
    book.read({1: read(5.0, cpu=3.0), 2: read(5.0, cpu=3.0)})
    assert [host.job for host in book.view(5.0, []).running] == [2]


def pair(quota: int = 50) -> ShareBook:
    """Job 1, alone for 10 s at half of its 4 cores and 1 task/s, has taken in job 2, of as many cores."""
    book = ShareBook()
    book.started(candidate(1, job_class="montage", memory=8e9), 0.0, 8e9)
    book.read({1: read(5.0, cpu=10.0, done=5.0)})
    book.read({1: read(10.0, cpu=20.0, done=10.0, memory=4e9)})
    view = book.view(10.0, [candidate(2)])
    book.carry_out(view, Sharing((Share(1, 2, quota, "drawn", (7.0,)),)))
    return book


def test_a_checkpoint_is_told_once_and_of_the_time_since_the_quota_was_decided() -> None:
    book = pair()
    book.read({1: read(30.0, cpu=40.0, done=20.0, memory=4e9, waited=5.0), 2: read(30.0, cpu=16.0, done=4.0)})
    (told,) = book.checkpoints()
    assert book.checkpoints() == []
    assert (told.before.elapsed, told.after.elapsed) == (10.0, 30.0)
    assert (told.before.rate, told.after.rate, told.after.rate_alone, told.after.waited) == (
        1.0,
        0.5,
        1.0,
        25.0,
    )
    assert (told.guest.quota, told.guest.note, told.ended, told.killed) == (50, (7.0,), False, False)
    # Nobody has measured what jobs of the guest's class use by themselves.
    assert math.isnan(told.guest.progress)


def test_a_guest_s_walltime_passes_as_its_quota_says() -> None:
    book = pair(quota=30)
    assert (book.elapsed(1, 20.0), book.elapsed(2, 20.0)) == (20.0, 3.0)
    view = book.view(20.0, [])
    book.carry_out(view, Sharing((Share(1, 2, 0, "stops"),)))
    assert book.elapsed(2, 99.0) == 3.0
    book.carry_out(book.view(30.0, []), Sharing((Share(1, 2, 90, "goes on"),)))
    assert book.elapsed(2, 40.0) == pytest.approx(12.0)
    book.ended(1, {1: read(40.0), 2: read(40.0)})
    assert book.elapsed(2, 45.0) == pytest.approx(17.0)


def test_only_time_alone_says_what_a_class_uses() -> None:
    book = pair()
    assert book.uses.cpu("montage") == 50.0
    book.read({1: read(30.0, cpu=100.0), 2: read(30.0, cpu=80.0)})
    assert (book.uses.cpu("montage"), math.isnan(book.uses.cpu("blast"))) == (50.0, True)
    # A guest that is stopped leaves its host alone.
    book.carry_out(book.view(30.0, []), Sharing((Share(1, 2, 0, "stops"),)))
    book.read({1: read(40.0, cpu=140.0), 2: read(40.0, cpu=80.0)})
    assert book.uses.cpu("montage") == 75.0
    # And one that goes on by itself is alone from its host's end on.
    book.ended(1, {1: read(40.0, cpu=140.0), 2: read(40.0, cpu=80.0)})
    book.read({2: read(60.0, cpu=96.0)})
    assert book.uses.cpu("blast") == 20.0


@pytest.mark.parametrize("lost", [1, 2])
def test_time_of_which_a_part_was_shared_says_nothing_of_time_alone(lost: int) -> None:
    # Would catch a book that takes the interval in which a partner was lost for one without it.
    book = pair()
    book.lost(lost, 20.0)
    left = 3 - lost
    book.read({left: read(30.0, cpu=20.0, done=10.0)})
    assert math.isnan(book.uses.cpu("blast"))
    assert book.uses.cpu("montage") == 50.0
    book.read({left: read(40.0, cpu=60.0, done=20.0)})
    assert book.uses.cpu("blast" if left == 2 else "montage") == (100.0 if left == 2 else 75.0)


def test_of_a_pair_that_ends_as_it_begins_nothing_was_measured() -> None:
    # Would catch rates of the time before, told as those of the pair.
    book = pair()
    book.ended(2, {1: read(10.0, cpu=20.0, done=10.0, memory=4e9), 2: read(10.0)})
    (told,) = book.checkpoints()
    assert all(map(math.isnan, (told.after.rate, told.after.waited, told.guest.progress)))
    assert told.after.rate_alone == 1.0


def test_who_ends_is_told_with_whether_it_was_killed() -> None:
    book = pair()
    both = {1: read(20.0, cpu=30.0), 2: read(20.0, cpu=10.0)}
    book.ended(1, both, killed=True)
    (told,) = book.checkpoints()
    assert (told.ended, told.killed, told.after.elapsed) == (True, True, 20.0)
    assert (book.jobs(), book.host_of(2), book.pairs()) == ([2], None, [])
    book = pair()
    book.ended(2, both, killed=True)
    (told,) = book.checkpoints()
    # It is the host that the policy is told of, and that goes on.
    assert (told.ended, told.killed, told.after.job) == (False, False, 1)
    assert (book.jobs(), book.guest_of(1)) == ([1], None)


def test_the_end_of_a_host_may_be_told_by_its_tasks_alone() -> None:
    # Its groups are gone with it: what it used is NaN, also where its guest was stopped and it was by itself.
    book = pair()
    book.carry_out(book.view(10.0, []), Sharing((Share(1, 2, 0, "stops"),)))
    book.ended(1, {1: read(20.0, cpu=math.nan, done=20.0), 2: read(20.0)})
    (told,) = book.checkpoints()
    assert (told.ended, told.after.cpu, told.after.rate) == (True, 50.0, 1.0)
    assert book.uses.cpu("montage") == 50.0


def test_progress_is_by_what_others_of_the_class_used_alone() -> None:
    book = ShareBook()
    book.uses.take("blast", seconds=10.0, cpu=80.0)
    book.started(candidate(1, job_class="montage", memory=8e9), 0.0, 8e9)
    book.read({1: read(10.0, cpu=20.0)})
    view = book.view(10.0, [candidate(2)])
    assert view.waiting[0].cpu == 80.0
    book.carry_out(view, Sharing((Share(1, 2, 50, "drawn"),)))
    book.read({1: read(20.0, cpu=40.0), 2: read(20.0, cpu=16.0)})
    (told,) = book.checkpoints()
    assert told.guest.progress == 50.0


@pytest.mark.parametrize(("used", "asked", "crowded"), [(4.0, 4.0, []), (4.1, 4.0, [2]), (99.0, 0.0, [])])
def test_guests_are_in_the_way_of_memory_that_their_hosts_come_to_use(
    used: float, asked: float, crowded: list[int]
) -> None:
    book = ShareBook()
    book.started(candidate(1, memory=8e9), 0.0, 8e9)
    book.read({1: read(10.0, cpu=20.0)})
    view = book.view(10.0, [candidate(2, memory=asked * 1e9)])
    book.carry_out(view, Sharing((Share(1, 2, 50, "drawn"),)))
    book.read({1: read(20.0, cpu=40.0, memory=used * 1e9), 2: read(20.0)})
    assert book.crowded() == crowded


@pytest.mark.parametrize("percent", range(101))
@pytest.mark.parametrize("memory", [1e9, 1.1e9, 3.8e9 * 7, 64e9])
def test_who_fits_to_the_last_byte_is_not_in_the_way(memory: float, percent: int) -> None:
    # Would catch two ways to add up the same bytes: a guest that is put back and taken in at every checkpoint.
    book = ShareBook()
    book.started(candidate(1, memory=memory), 0.0, memory)
    book.read({1: read(10.0, memory=percent / 100.0 * 0.3 * memory)})
    last = book.view(10.0, []).running[0].memory_free
    view = book.view(10.0, [candidate(2, memory=last)])
    book.carry_out(view, Sharing((Share(1, 2, 50, "drawn"),)))
    assert book.crowded() == []


def test_a_job_that_was_not_read_alone_is_not_shown() -> None:
    book = ShareBook()
    book.started(candidate(1), 5.0, 8e9)
    assert book.view(5.0, []).running == ()
    # Nothing is known of an interval without length.
    book.read({1: read(5.0)})
    assert book.view(5.0, []).running == ()
    book.read({1: read(6.0)})
    assert len(book.view(6.0, []).running) == 1


def test_an_answer_that_cannot_be_carried_out_changes_nothing() -> None:
    book = pair()
    view = book.view(10.0, [candidate(3)])
    with pytest.raises(PolicyError, match="already shares with job 2"):
        book.carry_out(view, Sharing((Share(1, 2, 10, "less"), Share(1, 3, 10, "more"))))
    assert book.pairs() == [(1, 2, 50)]
    assert 3 not in book


def test_ends_are_told_to_the_bit() -> None:
    # By its walltime and what has elapsed, the end of a host misses what the head was promised by a rounding.
    for start, request, part in np.random.default_rng(1).uniform(0.0, 1e5, (50, 3)).tolist():
        book, now, end = ShareBook(), start + request * part / 1e5, start + request
        book.started(candidate(1, request=request), start, 8e9)
        book.read({1: read(now)})
        head = Head(2, end, spare=0)
        view = book.view(now, [candidate(2), candidate(3, request=1e6)], head, {1: end})
        assert [view.outstays(view.running[0], each, 10) for each in view.waiting] == [0, 4]
        assert view.promised_end(view.running[0], candidate(3, request=0.0), 10) == end
