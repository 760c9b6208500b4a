"""The book of running and sharing jobs: intervals, checkpoints of pairs, and missing measurements."""

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
    """A reading of an engine that measures everything."""
    fields: dict[str, object] = {
        "cpu": 0.0,
        "memory": 0.0,
        "stage": 0,
        "done": 0.0,
        "left": 9.0,
        "waited": 0.0,
    }
    return Reading(at, **{**fields, **changed})  # type: ignore[arg-type]


def test_a_job_with_a_zero_time_request_is_not_shown() -> None:
    # Where jobs are not stopped at their walltimes such a job runs, and no allocation has a walltime of 0.
    book = ShareBook()
    book.started(candidate(1, request=0.0), 0.0, 8e9)
    book.started(candidate(2, request=1.0), 0.0, 8e9)
    book.read({1: read(5.0, cpu=3.0), 2: read(5.0, cpu=3.0)})
    assert [host.job for host in book.view(5.0, []).running] == [2]


def pair(quota: int = 50) -> ShareBook:
    """Job 1 ran alone for 10 s at half of its 4 cores and 1 task/s; then job 2, of as many cores, became its guest."""
    book = ShareBook()
    book.started(candidate(1, job_class="montage", memory=8e9), 0.0, 8e9)
    book.read({1: read(5.0, cpu=10.0, done=5.0)})
    book.read({1: read(10.0, cpu=20.0, done=10.0, memory=4e9)})
    view = book.view(10.0, [candidate(2)])
    book.carry_out(view, Sharing((Share(1, 2, quota, "drawn", (7.0,)),)))
    return book


def test_a_checkpoint_is_reported_once_and_covers_the_time_since_the_quota_was_set() -> None:
    book = pair()
    book.read({1: read(30.0, cpu=40.0, done=20.0, memory=4e9, waited=5.0), 2: read(30.0, cpu=16.0, done=4.0)})
    (checkpoint,) = book.checkpoints()
    assert book.checkpoints() == []
    assert (checkpoint.before.elapsed, checkpoint.after.elapsed) == (10.0, 30.0)
    assert (
        checkpoint.before.rate,
        checkpoint.after.rate,
        checkpoint.after.rate_alone,
        checkpoint.after.waited,
    ) == (
        1.0,
        0.5,
        1.0,
        25.0,
    )
    assert (checkpoint.guest.quota, checkpoint.guest.note, checkpoint.ended, checkpoint.killed) == (
        50,
        (7.0,),
        False,
        False,
    )
    # The CPU use of the guest's class alone was never measured.
    assert math.isnan(checkpoint.guest.progress)


def test_a_guest_s_walltime_passes_in_proportion_to_its_quota() -> None:
    book = pair(quota=30)
    assert (book.elapsed(1, 20.0), book.elapsed(2, 20.0)) == (20.0, 3.0)
    view = book.view(20.0, [])
    book.carry_out(view, Sharing((Share(1, 2, 0, "stops"),)))
    assert book.elapsed(2, 99.0) == 3.0
    book.carry_out(book.view(30.0, []), Sharing((Share(1, 2, 90, "goes on"),)))
    assert book.elapsed(2, 40.0) == pytest.approx(12.0)
    book.ended(1, {1: read(40.0), 2: read(40.0)})
    assert book.elapsed(2, 45.0) == pytest.approx(17.0)


def test_a_class_s_use_is_measured_only_from_time_alone() -> None:
    book = pair()
    assert book.uses.cpu("montage") == 50.0
    book.read({1: read(30.0, cpu=100.0), 2: read(30.0, cpu=80.0)})
    assert (book.uses.cpu("montage"), math.isnan(book.uses.cpu("blast"))) == (50.0, True)
    # A guest that is stopped leaves its host alone.
    book.carry_out(book.view(30.0, []), Sharing((Share(1, 2, 0, "stops"),)))
    book.read({1: read(40.0, cpu=140.0), 2: read(40.0, cpu=80.0)})
    assert book.uses.cpu("montage") == 75.0
    # A guest is alone after its host ends.
    book.ended(1, {1: read(40.0, cpu=140.0), 2: read(40.0, cpu=80.0)})
    book.read({2: read(60.0, cpu=96.0)})
    assert book.uses.cpu("blast") == 20.0


@pytest.mark.parametrize("lost", [1, 2])
def test_an_interval_that_was_partly_shared_does_not_count_as_time_alone(lost: int) -> None:
    # Would catch a book that counts the interval in which a partner was lost as time alone.
    book = pair()
    book.lost(lost, 20.0)
    left = 3 - lost
    book.read({left: read(30.0, cpu=20.0, done=10.0)})
    assert math.isnan(book.uses.cpu("blast"))
    assert book.uses.cpu("montage") == 50.0
    book.read({left: read(40.0, cpu=60.0, done=20.0)})
    assert book.uses.cpu("blast" if left == 2 else "montage") == (100.0 if left == 2 else 75.0)


def test_a_pair_that_ends_at_once_has_no_measurements() -> None:
    # Would catch rates from before the pair, reported as those of the pair.
    book = pair()
    book.ended(2, {1: read(10.0, cpu=20.0, done=10.0, memory=4e9), 2: read(10.0)})
    (checkpoint,) = book.checkpoints()
    assert all(map(math.isnan, (checkpoint.after.rate, checkpoint.after.waited, checkpoint.guest.progress)))
    assert checkpoint.after.rate_alone == 1.0


def test_the_checkpoint_of_an_end_states_whether_the_job_was_killed() -> None:
    book = pair()
    both = {1: read(20.0, cpu=30.0), 2: read(20.0, cpu=10.0)}
    book.ended(1, both, killed=True)
    (checkpoint,) = book.checkpoints()
    assert (checkpoint.ended, checkpoint.killed, checkpoint.after.elapsed) == (True, True, 20.0)
    assert (book.jobs(), book.host_of(2), book.pairs()) == ([2], None, [])
    book = pair()
    book.ended(2, both, killed=True)
    (checkpoint,) = book.checkpoints()
    # The checkpoint is of the host, which keeps running.
    assert (checkpoint.ended, checkpoint.killed, checkpoint.after.job) == (False, False, 1)
    assert (book.jobs(), book.guest_of(1)) == ([1], None)


def test_the_last_reading_of_a_host_may_have_task_counts_only() -> None:
    # Its cgroups are gone: its CPU use is NaN, also where its guest was stopped and it ran alone.
    book = pair()
    book.carry_out(book.view(10.0, []), Sharing((Share(1, 2, 0, "stops"),)))
    book.ended(1, {1: read(20.0, cpu=math.nan, done=20.0), 2: read(20.0)})
    (checkpoint,) = book.checkpoints()
    assert (checkpoint.ended, checkpoint.after.cpu, checkpoint.after.rate) == (True, 50.0, 1.0)
    assert book.uses.cpu("montage") == 50.0


def test_progress_is_relative_to_the_use_of_the_class_alone() -> None:
    book = ShareBook()
    book.uses.take("blast", seconds=10.0, cpu=80.0)
    book.started(candidate(1, job_class="montage", memory=8e9), 0.0, 8e9)
    book.read({1: read(10.0, cpu=20.0)})
    view = book.view(10.0, [candidate(2)])
    assert view.waiting[0].cpu == 80.0
    book.carry_out(view, Sharing((Share(1, 2, 50, "drawn"),)))
    book.read({1: read(20.0, cpu=40.0), 2: read(20.0, cpu=16.0)})
    (checkpoint,) = book.checkpoints()
    assert checkpoint.guest.progress == 50.0


@pytest.mark.parametrize(("used", "requested", "crowded"), [(4.0, 4.0, []), (4.1, 4.0, [2]), (99.0, 0.0, [])])
def test_a_guest_is_crowded_when_its_host_needs_its_memory(
    used: float, requested: float, crowded: list[int]
) -> None:
    book = ShareBook()
    book.started(candidate(1, memory=8e9), 0.0, 8e9)
    book.read({1: read(10.0, cpu=20.0)})
    view = book.view(10.0, [candidate(2, memory=requested * 1e9)])
    book.carry_out(view, Sharing((Share(1, 2, 50, "drawn"),)))
    book.read({1: read(20.0, cpu=40.0, memory=used * 1e9), 2: read(20.0)})
    assert book.crowded() == crowded


@pytest.mark.matrix
@pytest.mark.parametrize("percent", range(101))
@pytest.mark.parametrize("memory", [1e9, 1.1e9, 3.8e9 * 7, 64e9])
def test_a_guest_that_fits_to_the_last_byte_is_not_crowded(memory: float, percent: int) -> None:
    # Would catch two ways to add up the same bytes: a guest would be requeued and restarted at every checkpoint.
    book = ShareBook()
    book.started(candidate(1, memory=memory), 0.0, memory)
    book.read({1: read(10.0, memory=percent / 100.0 * 0.3 * memory)})
    last = book.view(10.0, []).running[0].memory_free
    view = book.view(10.0, [candidate(2, memory=last)])
    book.carry_out(view, Sharing((Share(1, 2, 50, "drawn"),)))
    assert book.crowded() == []


def test_a_job_without_a_measured_interval_is_not_shown() -> None:
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


def test_the_end_of_a_host_equals_the_head_s_start_to_the_bit() -> None:
    # Computed from walltime and elapsed time, the end of a host misses the head's promised start by a rounding error.
    for start, request, part in np.random.default_rng(1).uniform(0.0, 1e5, (50, 3)).tolist():
        book, now, end = ShareBook(), start + request * part / 1e5, start + request
        book.started(candidate(1, request=request), start, 8e9)
        book.read({1: read(now)})
        head = Head(2, end, spare=0)
        view = book.view(now, [candidate(2), candidate(3, request=1e6)], head, {1: end})
        assert [view.outstays(view.running[0], each, 10) for each in view.waiting] == [0, 4]
        assert view.promised_end(view.running[0], candidate(3, request=0.0), 10) == end
