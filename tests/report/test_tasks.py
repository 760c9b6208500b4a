"""Reports of small tasks: they are named so, their workers are rows of the schedule, and samples are scaled up."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from tests.report.made import results
from tests.report.page import Page, page_of
from windlass.results import Outcome


@dataclass(frozen=True, slots=True)
class Metrics:
    """As in worlds of tasks, the first metric counts them."""

    tasks: int
    mean_response_s: float


def outcome(workers: list[int], each: int = 1) -> Outcome:
    """Tasks of 2 s, one a second, that wait for 1 s."""
    submit = np.arange(float(len(workers)))
    table = pl.DataFrame(
        {
            "job": np.arange(len(workers)),
            "submit_s": submit,
            "start_s": submit + 1.0,
            "end_s": submit + 3.0,
            "procs": np.ones(len(workers), np.int64),
            "worker": workers,
        }
    )
    return Outcome(
        0, Metrics(len(workers), 3.0), table if each == 1 else table.with_columns(stands_for=each), 20
    )


def plot(page: Page, key: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(page.scripts["plots"])[key]["data"]
    return found


def decoded(values: object) -> np.ndarray:
    """Return the numbers of an axis, which Plotly packs."""
    assert isinstance(values, dict)
    return np.frombuffer(base64.b64decode(values["bdata"]), np.dtype(values["dtype"]))


WORKERS = [0, 1, 2] * 20


def test_tasks_are_not_called_jobs(tmp_path: Path) -> None:
    page = page_of(results(("pull", [outcome(WORKERS)])), tmp_path)
    for words in (
        "How long tasks wait",
        "Tasks waiting",
        "Processors of the running tasks",
        "Each box is a task",
    ):
        assert words in page.text()
    assert "job" not in page.text().replace("longest", "")
    # Each task has one processor, so that the number of waiting tasks is shown once.
    assert "requested" not in page.ids()


def test_a_task_is_in_the_row_of_its_worker(tmp_path: Path) -> None:
    page = page_of(results(("pull", [outcome(WORKERS)])), tmp_path)
    assert "Workers of tasks" in page.text()
    assert "its row is the worker" in page.text()
    lines = [each for each in plot(page, "schedule") if each["mode"] == "markers"]
    assert lines[0]["y"] == [worker + 0.5 for worker in WORKERS]
    # Where a worker has two tasks at once, a row is no worker.
    both = page_of(results(("pull", [outcome([0] * 60)])), tmp_path)
    assert "Processors of tasks" in both.text()


def test_only_some_variants_have_a_schedule_and_the_text_says_so(tmp_path: Path) -> None:
    five = results(*((name, [outcome(WORKERS)]) for name in "abcde"))
    assert "The first 4 of 5 variants are shown." in page_of(five, tmp_path).text()


def test_a_table_of_some_tasks_is_scaled_up(tmp_path: Path) -> None:
    whole = page_of(results(("pull", [outcome(WORKERS)])), tmp_path)
    some = page_of(results(("pull", [outcome(WORKERS, each=5)])), tmp_path)
    for key in ("utilisation", "waiting"):
        one, five = (decoded(plot(page, key)[0]["y"]) for page in (whole, some))
        assert one.max() > 0
        if key == "utilisation":
            np.testing.assert_allclose(five, 5 * one)
        else:
            assert five.max() == 5 * one.max()
    assert "1 variant · 60 tasks" in whole.text()
    assert "1 variant · 300 tasks" in some.text()
    assert "Estimates: one in 5 tasks is in the table." in some.text()
    assert "Not shown: one in 5 tasks is in the table." in some.text()
    assert "schedule" not in some.ids()


def test_an_estimate_above_100_percent_is_not_called_sharing(tmp_path: Path) -> None:
    page = page_of(results(("pull", [replace(outcome(WORKERS, each=15), processors=20)])), tmp_path)
    assert "exceeds 100 %" not in page.text()
