"""Views and answers of site policies."""

from __future__ import annotations

import numpy as np
import pytest

from tests.executed_again import executed_again
from windlass.model import PolicyError
from windlass.order.site.view import Running, SiteView, Start, Waiting


def test_running_jobs_are_sorted_by_expected_end_then_processors() -> None:
    running = Running.of(job=[1, 2, 3, 4, 5], procs=[4, 2, 1, 2, 9], expected_end=[7, 7, 8, 7, 3])
    # Jobs 2 and 4 are equal and keep their order.
    assert running.job.tolist() == [5, 2, 4, 1, 3]
    assert running.expected_end.tolist() == [3, 7, 7, 7, 8]
    assert running.procs.tolist() == [9, 2, 2, 4, 1]


def test_no_running_jobs_give_empty_columns() -> None:
    assert [len(column) for column in (Running.of().job, Running.of().procs, Running.of().expected_end)] == [
        0
    ] * 3


def test_a_missing_note_is_nan() -> None:
    assert np.isnan(Waiting.of([1, 2], [0, 0], [1, 1], [5, 5]).note).all()
    assert Waiting.of([1], [0], [1], [5], note=[4]).note.tolist() == [4.0]


def test_each_started_job_has_a_reason() -> None:
    assert Start((1, 2), "both fit").reasons() == ("both fit", "both fit")
    assert Start((1, 2), ("one", "two")).reasons() == ("one", "two")
    assert Start().reasons() == ()


def test_a_view_of_engine_rows_is_a_copy() -> None:
    columns = {
        "job": np.array([7, 8, 9, 6]),
        "submit": np.array([0.0, 1.0, 2.0, 0.0]),
        "procs": np.array([3, 2, 1, 4]),
        "request": np.array([60.0, 50.0, 40.0, 30.0]),
        "expected_end": np.array([99.0, np.nan, np.nan, 5.0]),
        "note": np.array([1.0, np.nan, 2.0, np.nan]),
    }
    before = {name: column.tolist() for name, column in columns.items()}
    view = SiteView.of_rows(3.0, 8, 1, 2, queue=np.array([1, 2]), running=np.array([3, 0]), **columns)
    assert (view.now, view.processors, view.free, view.refused) == (3.0, 8, 1, 2)
    assert (view.waiting.job.tolist(), view.waiting.submit.tolist()) == ([8, 9], [1, 2])
    assert (view.waiting.procs.tolist(), view.waiting.request.tolist()) == ([2, 1], [50, 40])
    np.testing.assert_array_equal(view.waiting.note, [np.nan, 2])
    assert (view.running.job.tolist(), view.running.procs.tolist()) == ([6, 7], [4, 3])
    assert view.running.expected_end.tolist() == [5, 99]
    for part, names in (
        ("waiting", columns.keys() - {"expected_end"}),
        ("running", {"procs", "expected_end"}),
    ):
        for name in names:
            getattr(getattr(view, part), name)[:] = 77
    assert str({name: column.tolist() for name, column in columns.items()}) == str(before)


def waiting(job, procs, free, needs=None, **pools) -> SiteView:
    """A site at which jobs wait and none runs."""
    zeros = [0.0] * len(job)
    queue = Waiting.of(job, zeros, procs, zeros, needs=needs)
    return SiteView(0.0, 9, free, queue, Running.of(), **pools)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Start((4,), ()), "gave 0 reasons for 1 jobs"),
        (
            Start((4,), notes=np.zeros((2, 1))),
            r"left notes of shape \(2, 1\), expected one per waiting job, 2",
        ),
        (Start((4, 6)), "started a job that does not wait, or the same job twice"),
        (Start((-1,)), "started a job that does not wait, or the same job twice"),
        (Start((5, 5)), "started a job that does not wait, or the same job twice"),
        (Start((5, 4)), "started jobs that need more than the 5 idle processors"),
    ],
)
def test_an_invalid_answer_is_rejected(answer: Start, problem: str) -> None:
    with pytest.raises(PolicyError, match=f"^{problem}$"):
        answer.check(waiting([4, 5], [3, 3], free=5))


def test_a_valid_answer_has_queue_positions() -> None:
    jobs, procs = np.array([4, 5, 9]), np.array([3, 3, 1])
    assert Start((9, 4)).positions(jobs, procs, 4).tolist() == [2, 0]
    assert Start(notes=np.zeros(3)).positions(jobs, procs, 0).tolist() == []


@pytest.mark.parametrize(("name", "verb"), [("GPUs", "are"), ("memory", "is")])
def test_an_answer_beyond_a_pool_names_the_pool(name: str, verb: str) -> None:
    start, pools = (
        Start((4, 6)),
        {"needs": np.array([[1, 1, 1], [2, 3, 4]]), "pool_names": ("licenses", name)},
    )
    start.check(waiting([4, 5, 6], [1, 1, 1], free=2, pools=np.array([2, 6]), **pools))
    with pytest.raises(PolicyError, match=f"^started jobs that need more {name} than {verb} free$"):
        start.check(waiting([4, 5, 6], [1, 1, 1], free=2, pools=np.array([2, 5]), **pools))


def test_owners_are_sorted_with_their_running_jobs() -> None:
    running = Running.of([1, 2], [4, 2], [9, 7], [10, 20], [11, 21], [12, 22], needs=[[5, 6]])
    assert running.user.tolist() == [20, 10]
    assert running.group.tolist() == [21, 11]
    assert running.named_queue.tolist() == [22, 12]
    assert running.needs.tolist() == [[6, 5]]


def test_optional_fields_of_a_view_are_empty_by_default() -> None:
    view = SiteView(0.0, 4, 3, Waiting.of([1], [0], [1], [5]), Running.of())
    assert (view.used.tolist(), view.pools.tolist(), view.pool_names) == ([0.0], [], ())
    assert (view.owed, view.refused, view.waiting.user.tolist()) == (0, 0, [-1])


@pytest.mark.parametrize(
    ("view", "columns"),
    [
        (
            Waiting,
            {"job": [4, 5], "submit": [0.0, 1.0], "procs": [1, 2], "request": [5.0, 6.0], "note": [0, 0]},
        ),
        (Running, {"job": [4, 5], "procs": [1, 2], "expected_end": [5.0, 6.0]}),
    ],
)
def test_jobs_have_no_owner_and_no_pool_needs_by_default(view, columns) -> None:
    given = {name: np.array(values) for name, values in columns.items()}
    found = executed_again(view)(**given)
    for name in ("user", "group", "named_queue"):
        column = getattr(found, name)
        assert (column.tolist(), column.dtype) == ([-1, -1], np.int64)
    assert (found.needs.shape, found.needs.dtype) == ((0, 2), np.int64)
    # Each column that is given is kept, also where others are left out.
    some = executed_again(view)(**given, group=np.array([7, 8]), needs=np.array([[3, 9]]))
    assert (some.user.tolist(), some.group.tolist(), some.named_queue.tolist()) == (
        [-1, -1],
        [7, 8],
        [-1, -1],
    )
    assert some.needs.tolist() == [[3, 9]]


def test_a_site_view_has_no_use_and_pools_by_default() -> None:
    found = executed_again(SiteView)(0.0, 4, 3, Waiting.of([1], [0], [1], [5]), Running.of())
    assert (found.used.tolist(), found.pools.tolist(), found.pool_names) == ([0.0], [], ())
    assert (found.owed, found.refused) == (0, 0)
