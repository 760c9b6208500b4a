"""The validator finds planted violations of every kind, and no others."""

from __future__ import annotations

import math

import pytest

from tests.oracles.validator import Ran, violations
from windlass.model import JobTable

JOBS = JobTable.of(submit=[0, 0, 5], run=[10, 10, 0], procs=[2, 2, 3], request=[10, 4, 9], job=[7, 8, 9])
GOOD = (Ran(7, 0, 10), Ran(8, 0, 4), Ran(9, 10, 10))


def test_a_valid_schedule_has_no_violations() -> None:
    assert violations(JOBS, 4, GOOD) == []


def test_ends_free_before_starts_of_the_same_instant() -> None:
    jobs = JobTable.of(submit=[0, 0], run=[5, 5], procs=[4, 4])
    assert violations(jobs, 4, [Ran(2, 5, 10), Ran(1, 0, 5)]) == []


def test_no_jobs_have_no_violations() -> None:
    assert violations(JobTable.of([], [], []), 4, []) == []


@pytest.mark.parametrize(
    ("row", "planted", "expected"),
    [
        (0, (), ["job 7 starts 0 times"]),
        (0, (Ran(7, math.nan, math.nan),), ["job 7 starts 0 times"]),
        (0, (GOOD[0], GOOD[0]), ["job 7 starts 2 times", "at 0 s, 6 of 4 processors are held"]),
        (2, (GOOD[2], Ran(1, 0, 1)), ["job 1 is in the schedule and not in the table"]),
        (0, (Ran(7, -1, 9),), ["job 7 starts at -1 s, submitted at 0 s"]),
        (0, (Ran(7, 0, 9),), ["job 7 ends at 9 s, expected 10 s"]),
        (1, (Ran(8, 0, 10),), ["job 8 ends at 10 s, expected 4 s"]),
        (1, (Ran(8, 0, math.nan),), ["job 8 ends at nan s, expected 4 s"]),
        (2, (Ran(9, 7, 7),), ["job 9 of no length needs 3 processors at 7 s, 2 are held"]),
    ],
)
def test_planted_violations_are_found(row: int, planted: tuple[Ran, ...], expected: list[str]) -> None:
    assert violations(JOBS, 4, [*GOOD[:row], *planted, *GOOD[row + 1 :]]) == expected


def test_too_many_processors_at_any_instant_are_found() -> None:
    jobs = JobTable.of(submit=[0, 0, 0], run=[5, 5, 5], procs=[2, 2, 2])
    schedule = [Ran(1, 0, 5), Ran(2, 1, 6), Ran(3, 4.5, 9.5)]
    assert violations(jobs, 4, schedule) == ["at 4.5 s, 6 of 4 processors are held"]


def test_a_job_wider_than_the_site_is_found() -> None:
    assert violations(JobTable.of([0], [5], [5]), 4, [Ran(1, 0, 5)]) == ["at 0 s, 5 of 4 processors are held"]


def test_without_kill_a_job_runs_to_its_own_end() -> None:
    assert violations(JOBS, 4, GOOD, kill=False) == ["job 8 ends at 4 s, expected 10 s"]
    assert violations(JOBS, 4, [GOOD[0], Ran(8, 0, 10), GOOD[2]], kill=False) == []
