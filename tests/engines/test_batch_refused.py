"""Refused jobs of a book, and changes that need a new decision."""

import numpy as np
import pytest

from windlass.engines.backoff import Backoff
from windlass.engines.batch.book import BatchBook
from windlass.engines.batch.system import (
    Cancelled,
    Capacity,
    Delayed,
    Ended,
    Holds,
    NoMore,
    Started,
    Submitted,
)


def seen(book):
    """Return whether a decision is due, and the number of refused jobs."""
    return book.processors_changed(), book.refused


def refused(count=2, processors=4):
    """Return the book of a full site with `count` refused jobs."""
    book = BatchBook(processors)
    book.take(Holds(1, 0.0, 3, 50.0))
    for job in range(2, 2 + count):
        book.take(Submitted(job, float(job), 4, 9.0))
    book.processors_changed()
    book.release(np.array([], np.int64), [], 10.0)
    assert seen(book) == (False, count)
    return book


def test_a_job_at_the_end_of_the_queue_keeps_the_refused_and_one_between_resets_them():
    book = refused()
    book.take(Submitted(9, 9.0, 1, 1.0))
    assert seen(book) == (False, 2)
    book.take(Submitted(10, 9.0, 1, 1.0))
    assert seen(book) == (False, 2)
    book.take(Submitted(11, 8.5, 1, 1.0))
    assert seen(book) == (False, 0)


@pytest.mark.parametrize(
    ("event", "due", "left"),
    [
        (Submitted(2, 2.0, 1, 9.0), False, 0),
        (Ended(1, 11.0), True, 0),
        (Cancelled(3, 11.0), False, 0),
        # The system started it itself: more processors are held than exist.
        (Started(2, 11.0), True, 0),
        (Started(1, 11.0), False, 2),
        (Delayed(1, 11.0, 2.0), False, 2),
        (Capacity(3), True, 0),
        (Capacity(2), True, 0),
        (Capacity(4), False, 2),
        (NoMore(), False, 2),
    ],
)
def test_jobs_stay_refused_until_processors_or_the_queue_change(event, due, left):
    book = refused()
    book.take(event)
    assert seen(book) == (due, left)
    # A change is reported once.
    assert seen(book)[0] is False


def test_a_loss_and_return_at_one_time_is_no_change():
    book = refused()
    book.take(Capacity(2))
    book.take(Capacity(4))
    assert seen(book) == (False, 2)


def test_a_decision_itself_is_no_change():
    book = BatchBook(6)
    for job, procs in ((1, 3), (2, 2), (3, 4)):
        book.take(Submitted(job, float(job), procs, 9.0))
    book.processors_changed()
    book.release(book.queue()[:1], ["fits"], 5.0)
    assert seen(book) == (False, 2)
    book.take_in(1, 2, 30.0, "shares", 6.0)
    assert seen(book) == (False, 0)
    book.take(Holds(7, 6.0, 3, 9.0))
    book.take(Holds(8, 6.0, 1, 9.0))
    assert book.processors_changed()
    book.join(7, 8)
    assert seen(book) == (False, 0)
    book.apart(8, 20.0)
    assert seen(book) == (False, 0)
    # A decision that was not carried out leaves more processors idle.
    book.rest(1, 7.0, Backoff(0.25))
    assert book.processors_changed()


def test_the_widest_waiting_job_includes_resting_ones():
    book = BatchBook(9)
    for job, procs in ((3, 2), (4, 7), (5, 4), (6, 8)):
        book.take(Submitted(job, 0.0, procs, 9.0))
    book.take(Cancelled(6, 1.0))
    assert book.widest() == (4, 7)
    book.release(book.queue()[1:2], ["fits"], 1.0)
    assert book.widest() == (5, 4)
    book.rest(4, 1.0, Backoff(0.25))
    assert book.widest() == (4, 7)


def test_the_used_request_of_a_job_is_never_negative():
    book = BatchBook(4)
    book.take(Holds(7, 10.0, 2, 60.0))
    assert (book.ran(7, 25.0), book.ran(7, 9.0)) == (15.0, 0.0)
    book.take(Delayed(7, 25.0, 4.0))
    assert book.ran(7, 25.0) == 11.0
    book.expect(7, 99.0)
    assert book.view(25.0).running.expected_end.tolist() == [99.0]
