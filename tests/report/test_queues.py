"""The report's queue by partition against a plain sum over jobs."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.report.made import random_outcome, results
from tests.report.page import page_of
from tests.report.test_site_cores import drawn
from windlass.report.queues import _MOST
from windlass.results import Outcome


def in_partitions(seed: int, count: int, column: str = "partition", jobs: int = 60) -> Outcome:
    """An outcome whose jobs are in ``count`` partitions."""
    outcome = random_outcome(jobs, seed)
    names = pl.Series(column, [f"p{row % count}" for row in range(jobs)])
    return replace(outcome, jobs=outcome.jobs.with_columns(names))


def requested(table: pl.DataFrame, names: set[str], column: str, begin: float, end: float) -> float:
    """Mean processors that jobs of these names request between two times, job by job."""
    area = 0.0
    for row in table.to_dicts():
        if row[column] in names:
            area += row["procs"] * max(0.0, min(row["start_s"], end) - max(row["submit_s"], begin))
    return area / (end - begin)


@pytest.mark.matrix
@pytest.mark.parametrize("column", ["partition", "queue"])
@pytest.mark.parametrize("count", [2, _MOST + 1, _MOST + 5])
def test_each_area_is_the_mean_of_what_its_jobs_request(tmp_path: Path, column: str, count: int) -> None:
    outcomes = {name: in_partitions(seed, count, column) for seed, name in enumerate(("easy", "fcfs"))}
    page = page_of(results(*((name, [each]) for name, each in outcomes.items())), tmp_path)
    plot = json.loads(page.scripts["plots"])["queues"]
    traces, (_, top) = plot["data"], plot["layout"]["yaxis"]["range"]
    every = {f"p{number}" for number in range(count)}
    begin = min(each.jobs["submit_s"].min() for each in outcomes.values())
    for position, outcome in enumerate(outcomes.values()):
        found = {trace["name"]: trace for trace in traces if trace["meta"] == position}
        assert len(found) == min(count, _MOST + 1)
        named = set(found) - {"others"}
        assert ("others" in found) == (count > _MOST + 1)
        for name, trace in found.items():
            mine = every - named if name == "others" else {name}
            # The axis is in hours or days; its first and last edges give the scale.
            edges = drawn(trace["x"])
            span = max(float(each.jobs["end_s"].max()) for each in outcomes.values()) - begin
            edges = edges * (span / edges[-1]) + begin
            plain = [
                requested(outcome.jobs, mine, column, left, right)
                for left, right in itertools.pairwise(edges)
            ]
            assert np.allclose(drawn(trace["y"])[:-1], plain, atol=0.006)
        assert sum(drawn(trace["y"]) for trace in found.values()).max() <= top


def test_one_partition_has_no_section(tmp_path: Path) -> None:
    page = page_of(results(("easy", [in_partitions(1, 1)])), tmp_path)
    assert "queues" not in json.loads(page.scripts["plots"])


def test_the_areas_of_others_have_the_largest_queues_left_out(tmp_path: Path) -> None:
    outcome = in_partitions(3, _MOST + 4)
    traces = json.loads(page_of(results(("easy", [outcome])), tmp_path).scripts["plots"])["queues"]["data"]
    named = {trace["name"] for trace in traces} - {"others"}
    waited = outcome.jobs.group_by("partition").agg(
        (pl.col("procs") * (pl.col("start_s") - pl.col("submit_s"))).sum().alias("waited")
    )
    ordered = waited.sort("waited", descending=True)["partition"].to_list()
    assert named == set(ordered[:_MOST])
