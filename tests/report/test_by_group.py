"""Slowdown by partition, queue, group and user: a table per kind, with the names with the most jobs."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tests.report.made import random_outcome, results
from windlass.report.by_group import section
from windlass.report.html import write_report
from windlass.report.job_columns import lanes
from windlass.results.metrics.site import bounded_slowdown


def random_outcome_with(seed: int, **names: list):
    made = random_outcome(60, seed)
    return replace(
        made, jobs=made.jobs.with_columns(pl.Series(kind, values) for kind, values in names.items())
    )


USERS = ["<ann>"] * 30 + ["bob"] * 20 + [None] * 10


def cells(html: str) -> list[str]:
    return re.findall(r"<td>(?:<b>)?(.*?)(?:</b>)?</td>", html)


def test_means_are_over_the_jobs_of_each_user():
    first, second = random_outcome_with(1, user=USERS), random_outcome_with(2, user=USERS)
    html = section(lanes(results(("a", [first]), ("b", [second]))))
    assert html.index("&lt;ann&gt;") < html.index(">bob<")
    assert "<ann>" not in html
    found = cells(html)
    assert found[:2] == ["60.0 %", "40.0 %"]
    for row, made in enumerate((first, second)):
        table = made.jobs
        slowed = bounded_slowdown(*(table[name].to_numpy() for name in ("submit_s", "start_s", "end_s")))
        wanted = [slowed[np.array([user == name for user in USERS])].mean() for name in ("<ann>", "bob")]
        assert [float(each.replace(",", "")) for each in found[2 + 2 * row : 4 + 2 * row]] == pytest.approx(
            wanted, rel=1e-3
        )


def test_only_the_six_names_with_the_most_jobs_are_shown():
    names = [f"q{number}" for number in range(9)]
    html = section(lanes(results(("a", [random_outcome_with(1, queue=(names * 6 + ["q8"] * 6))]))))
    assert ">q8<" in html
    assert "by queue (3 more not shown)" in html
    assert len(re.findall(r'<th scope="col">q\d', html)) == 6


@pytest.mark.parametrize("columns", [{}, {"user": ["ann"] * 60}, {"user": [None] * 60}])
def test_with_fewer_than_two_names_there_is_no_section(columns):
    assert section(lanes(results(("a", [random_outcome_with(1, **columns)])))) == ""
    assert section(()) == ""


def test_the_page_has_a_section_for_each_kind_of_group(tmp_path):
    made = results(("a", [random_outcome_with(1, user=USERS, partition=["x", "y"] * 30)]))
    write_report(made, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.index("by partition") < page.index("by user")
