"""The book of who runs and shares: intervals, what is told of pairs, and what nobody measured."""

from __future__ import annotations

from tests.share.cases import candidate
from windlass.share.book import ShareBook
from windlass.share.meter import Reading


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
