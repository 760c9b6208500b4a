"""From records to jobs: each rule, and the note it leaves."""

from __future__ import annotations

import polars as pl
import pytest

from windlass.io.traces import Trace, to_workload
from windlass.model import InputError


def trace(processors: int | None = 8, **columns: list[object]) -> Trace:
    rows = max(len(column) for column in columns.values())
    usual = {
        "job": list(range(1, rows + 1)),
        "submit": [10.0 * row for row in range(rows)],
        "run": [60.0] * rows,
        "procs_allocated": [2] * rows,
        "procs_requested": [4] * rows,
        "request": [90.0] * rows,
        "user": [7] * rows,
        "group": [1] * rows,
    }
    return Trace("log", pl.DataFrame(usual | columns, strict=False), processors)


def test_requested_processors_are_used_without_a_note() -> None:
    workload = to_workload(trace(run=[5.0, 6.0]))
    assert workload.jobs.procs.tolist() == [4, 4]
    assert workload.jobs.request.tolist() == [90, 90]
    assert (workload.processors, workload.notes) == (8, ())
    assert workload.jobs.run.flags.writeable


@pytest.mark.parametrize(
    ("columns", "jobs", "note"),
    [
        (
            {"procs_requested": [4, None, 0]},
            [1, 2, 3],
            "2 jobs request no processors, so the allocated ones are used, the first: job 2 (2)",
        ),
        (
            {"procs_requested": [4, None], "procs_allocated": [None, 0]},
            [1],
            "1 job has no processors and is left out: job 2",
        ),
        ({"run": [1.0, None]}, [1], "1 job has no run time and is left out: job 2"),
        ({"run": [1.0, float("nan")]}, [1], "1 job has no run time and is left out: job 2"),
        (
            {"run": [-3.0, 1.0, -2.0]},
            [2],
            "2 jobs have negative run times and are left out, the first: job 1 (-3)",
        ),
        ({"submit": [0.0, None]}, [1], "1 job has no time of submission and is left out: job 2"),
        (
            {"procs_requested": [8, 1234567]},
            [1],
            "1 job requests more than 8 processors and is left out: job 2 (1234567)",
        ),
        (
            {"request": [None, -2.0, 5.0]},
            [1, 2, 3],
            "2 jobs request no run time, so their actual ones are used, the first: job 1 (60)",
        ),
        (
            {"request": [0.0, 5.0]},
            [1, 2],
            "1 job requests no run time, so its actual one is used: job 1 (60)",
        ),
        (
            {"submit": [5.0, 3.0, 5.0, 5.0]},
            [2, 1, 3, 4],
            "1 job is submitted before the preceding one, so jobs are sorted by submission: job 2",
        ),
        (
            {"job": [5, 6, 5]},
            [1, 2, 3],
            "2 jobs have no number or a repeated one, so all are renumbered, the first: job 5",
        ),
        ({"job": [5, None]}, [1, 2], "1 job has no number, so all are renumbered: record 2"),
    ],
)
def test_each_rule_leaves_its_note(columns: dict[str, list[object]], jobs: list[int], note: str) -> None:
    workload = to_workload(trace(**columns))
    assert workload.jobs.job.tolist() == jobs
    assert workload.notes == (note,)


def test_a_missing_request_is_the_run_time() -> None:
    assert to_workload(trace(request=[None, 5.0])).jobs.request.tolist() == [60, 5]


def test_processors_come_from_the_argument_the_log_or_the_largest_job() -> None:
    assert to_workload(trace(run=[1.0]), processors=5).processors == 5
    assert to_workload(trace(run=[1.0])).processors == 8
    workload = to_workload(trace(None, procs_requested=[3, 6]))
    assert workload.processors == 6
    assert workload.notes == ("the log does not state the number of processors; its largest job has 6",)


def test_notes_of_the_reader_come_first() -> None:
    noted = Trace("log", trace(run=[1.0, None]).records, 8, notes=("read at night",))
    assert to_workload(noted).notes == ("read at night", "1 job has no run time and is left out: job 2")


@pytest.mark.parametrize(
    ("where", "jobs"),
    [
        ("procs_requested > 3", [2, 3]),
        ("user == 17", [1]),
        ("user = 17 OR\n group = 3", [1, 3]),
        ('"user" = 17', [1]),
        ("user IN (17, 18) AND run < 100 AND 'user' = 'user'", [1, 2]),
        ("request IS NULL", [2]),
    ],
)
def test_where_selects_records(where: str, jobs: list[int]) -> None:
    log = trace(user=[17, 18, 19], group=[1, 2, 3], procs_requested=[3, 4, 5], request=[1.0, None, 1.0])
    workload = to_workload(log, where=where)
    assert workload.jobs.job.tolist() == jobs
    assert workload.notes[0] == f"{len(jobs)} of 3 jobs are used, those where {' '.join(where.split())}"


@pytest.mark.parametrize(
    "where",
    ["", "run >", "queue_name = 3", "run", "1", "run > 'a'", "run; drop", "select 1", "sleep(run)", "("],
)
def test_an_invalid_where_is_rejected(where: str) -> None:
    with pytest.raises(InputError, match=r"^log: where is .*, expected an SQL condition: ") as caught:
        to_workload(trace(run=[1.0]), where=where)
    assert "\n" not in str(caught.value)


def test_a_selected_job_before_time_0_is_an_error() -> None:
    log = trace(submit=[0.0, -3.0])
    with pytest.raises(InputError, match=r"^log: job 2, submit is -3, expected a time of 0 s or more"):
        to_workload(log)
    assert len(to_workload(log, where="submit >= 0").jobs) == 1


@pytest.mark.parametrize("processors", [0, -4])
def test_too_few_processors_are_rejected(processors: int) -> None:
    with pytest.raises(InputError, match=f"^log: processors is {processors}, expected at least 1$"):
        to_workload(trace(run=[1.0]), processors=processors)


def test_a_workload_without_jobs_is_an_error() -> None:
    with pytest.raises(
        InputError, match=r"^log: no jobs are left: 1 job requests more than 2 .* job 1 \(4\)$"
    ):
        to_workload(trace(run=[1.0]), processors=2)
    with pytest.raises(InputError, match=r"^log: no jobs are left: the log has none$"):
        to_workload(Trace("log", trace(run=[1.0]).records.clear()))
    with pytest.raises(InputError, match=r"no jobs are left: 0 of 1 jobs are used, those where run > 5"):
        to_workload(trace(run=[1.0]), where="run > 5")


def test_columns_without_numbers_are_rejected() -> None:
    with pytest.raises(InputError, match=r"^log: expected columns of numbers: ") as caught:
        to_workload(trace(run=["a"]))
    assert "\n" not in str(caught.value)


def test_a_trace_has_the_required_columns() -> None:
    with pytest.raises(InputError, match=r"^log: no column 'job', found run$"):
        Trace("log", pl.DataFrame({"run": [1.0]}))
