"""What a policy sees and answers."""

from __future__ import annotations

import numpy as np

from windlass.order.site.view import Running, Start, Waiting


def test_running_jobs_are_sorted_by_expected_end_then_processors() -> None:
    running = Running.of(job=[1, 2, 3, 4, 5], procs=[4, 2, 1, 2, 9], expected_end=[7, 7, 8, 7, 3])
    # Jobs 2 and 4 are alike: they stay in the order given.
    assert running.job.tolist() == [5, 2, 4, 1, 3]
    assert running.expected_end.tolist() == [3, 7, 7, 7, 8]
    assert running.procs.tolist() == [9, 2, 2, 4, 1]


def test_nobody_runs() -> None:
    assert [len(column) for column in (Running.of().job, Running.of().procs, Running.of().expected_end)] == [
        0
    ] * 3


def test_no_note_is_nan() -> None:
    assert np.isnan(Waiting.of([1, 2], [0, 0], [1, 1], [5, 5]).note).all()
    assert Waiting.of([1], [0], [1], [5], note=[4]).note.tolist() == [4.0]


def test_one_reason_per_job() -> None:
    assert Start((1, 2), "both fit").reasons() == ("both fit", "both fit")
    assert Start((1, 2), ("one", "two")).reasons() == ("one", "two")
    assert Start().reasons() == ()
