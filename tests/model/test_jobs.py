"""Job tables: rejected input, and its error messages."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.model import InputError, JobTable
from windlass.order.site import POLICIES
from windlass.sim import replay

GOOD = {"submit": [0, 5, 5], "run": [1, 2, 3], "procs": [1, 2, 3], "request": [9, 9, 9], "job": [7, 8, 9]}


def rejection(**changed: object) -> str:
    with pytest.raises(InputError) as caught:
        JobTable.of(**(GOOD | changed))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_valid_table_has_typed_columns() -> None:
    jobs = JobTable.of(**GOOD)
    assert len(jobs) == 3
    assert [column.dtype.name for column in (jobs.job, jobs.submit, jobs.run, jobs.procs, jobs.request)] == [
        "int64",
        "float64",
        "float64",
        "int64",
        "float64",
    ]


def test_missing_columns_are_filled_in() -> None:
    jobs = JobTable.of(submit=[0, 5], run=[1, 2], procs=[1, 2])
    assert (jobs.job.tolist(), jobs.request.tolist()) == ([1, 2], [1.0, 2.0])
    assert jobs.request is not jobs.run


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("submit", [0, np.nan, 5], "jobs: job 8, submit is nan, expected a time of at most 1e15 s"),
        ("submit", [-np.inf, 5, 5], "jobs: job 7, submit is -inf, expected a time of at most 1e15 s"),
        ("run", [1, 2, -0.5], "jobs: job 9, run is -0.5, expected a time of 0 to 1e15 s"),
        ("run", [1, 2, np.inf], "jobs: job 9, run is inf, expected a time of 0 to 1e15 s"),
        ("run", [np.nan, 2, 3], "jobs: job 7, run is nan, expected a time of 0 to 1e15 s"),
        ("procs", [1, 0, 3], "jobs: job 8, procs is 0, expected at least 1"),
        ("procs", [1, -4, -5], "jobs: job 8, procs is -4, expected at least 1"),
        ("request", [9, -1, 9], "jobs: job 8, request is -1.0, expected a time of 0 to 1e15 s"),
        ("request", [9, 9, np.nan], "jobs: job 9, request is nan, expected a time of 0 to 1e15 s"),
        ("request", [9, 9, np.inf], "jobs: job 9, request is inf, expected a time of 0 to 1e15 s"),
        ("job", [7, 8, 7], "jobs: job number 7 appears more than once"),
        (
            "submit",
            [0, 5, 4],
            "jobs: job 9 is submitted at 4 s, before the job ahead of it (5 s): sort by submit first",
        ),
        ("run", [1, 2], "jobs: columns of different lengths: job 3, submit 3, run 2, procs 3, request 3"),
        (
            "procs",
            [1, 2, 3, 4],
            "jobs: columns of different lengths: job 3, submit 3, run 3, procs 4, request 3",
        ),
        ("request", [], "jobs: columns of different lengths: job 3, submit 3, run 3, procs 3, request 0"),
    ],
)
def test_the_error_names_the_column_job_and_value(column: str, values: list[float], message: str) -> None:
    assert rejection(**{column: values}) == message


def test_a_column_of_job_numbers_of_the_wrong_length_is_rejected() -> None:
    assert "columns of different lengths: job 2, submit 3" in rejection(job=[7, 8])


def test_a_fraction_of_a_processor_is_rejected() -> None:
    assert "1.9" in rejection(procs=[1, 1.9, 3])


@pytest.mark.parametrize(("column", "values"), [("procs", [1, np.nan, 3]), ("run", [1, "long", 3])])
def test_values_that_are_not_numbers_are_rejected(column: str, values: list[object]) -> None:
    assert column in rejection(**{column: values})


def test_two_dimensional_columns_are_rejected() -> None:
    square = [[1, 2], [3, 4]]
    assert "shape (2, 2)" in rejection(submit=square, run=square, procs=square, request=square, job=square)


def test_read_only_columns_are_accepted() -> None:
    submit = np.zeros(2)
    submit.flags.writeable = False
    jobs = JobTable.of(submit, [1, 1], [1, 1])
    assert replay(jobs, 1, POLICIES.find("fcfs")()).start.tolist() == [0, 1]


def test_a_table_may_be_empty() -> None:
    assert len(JobTable.of([], [], [])) == 0


def test_zero_times_and_ties_are_allowed() -> None:
    assert len(JobTable.of(submit=[3, 3], run=[0, 0], procs=[1, 1], request=[0, 0])) == 2


@pytest.mark.parametrize("rows", [np.array([True, False, True]), np.array([0, 2])])
def test_take_keeps_the_given_rows(rows: np.ndarray) -> None:
    taken = JobTable.of(**GOOD).take(rows)
    assert [taken.job.tolist(), taken.procs.tolist(), taken.submit.tolist()] == [[7, 9], [1, 3], [0, 5]]


def test_take_rejects_rows_out_of_order_or_repeated() -> None:
    jobs = JobTable.of(**GOOD)
    with pytest.raises(
        InputError, match=r"^jobs: job 7 is submitted at 0 s, before the job ahead of it \(5 s\)"
    ):
        jobs.take(np.array([2, 0]))
    with pytest.raises(InputError, match=r"^jobs: job number 7 appears more than once$"):
        jobs.take(np.array([0, 0]))
