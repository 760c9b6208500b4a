"""The HTML report is complete, self-contained and escaped, for any results."""

from __future__ import annotations

import base64
import gzip
import json
import re
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from plotly.offline import get_plotlyjs

from tests.report.made import outcome, random_outcome, results
from tests.report.page import page_of
from windlass.report import write_report
from windlass.report.columns import metric_columns
from windlass.report.script import scatter_only
from windlass.results import Outcome, Results

_NASTY = "</script><script>alert('x')</script> & \"b\" <i>%{x}</i>"
_ALL_PLOTS = {"wait", "slowdown", "utilisation", "waiting", "requested", "schedule"}


def _without(made: Outcome, *columns: str) -> Outcome:
    return replace(made, jobs=made.jobs.drop(columns))


def _two() -> Results:
    return results(
        ("fcfs", [random_outcome(300, 1, 50_000.0)]),
        ("easy", [random_outcome(300, 2, 500.0)]),
        as_run="workload:\n  log: a.swf\n",
    )


def test_the_page_has_every_section(tmp_path: Path) -> None:
    page = page_of(_two(), tmp_path)
    assert page.ids() >= _ALL_PLOTS
    assert set(json.loads(page.scripts["plots"])) == _ALL_PLOTS
    for words in (
        "a scenario",
        "2 variants",
        "300 jobs",
        "Metrics",
        "Reasons for starting jobs",
        "log: a.swf",
        "Windlass",
    ):
        assert words in page.text()


def test_the_page_loads_no_external_resources(tmp_path: Path) -> None:
    page = page_of(_two(), tmp_path)
    assert not [
        attributes for _, attributes in page.elements if {"src", "href", "srcset", "action"} & set(attributes)
    ]
    policy = next(attributes["content"] for _, attributes in page.elements if "http-equiv" in attributes)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    styles = re.findall(
        r"<style>(.*?)</style>", (tmp_path / "new" / "report.html").read_text(encoding="utf-8"), re.S
    )
    assert "url(" not in styles[0]
    assert "@import" not in styles[0]


@pytest.mark.matrix(0)
def test_the_page_contains_the_library_of_figures_compressed(tmp_path: Path) -> None:
    write_report(_two(), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    found = re.findall(r'<script type="text/plain" id="library">([^<]*)</script>', text)
    assert [gzip.decompress(base64.b64decode(each)).decode() for each in found] == [
        scatter_only(get_plotlyjs())
    ]
    assert len(text.encode()) < 1_500_000


@pytest.mark.matrix(0)
def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        write_report(_two(), tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_every_text_is_escaped(tmp_path: Path) -> None:
    nasty = outcome([0, 10], [60, 600], [60, 60], why=[_NASTY, "b"], notes=(_NASTY,))
    page = page_of(results((_NASTY, [nasty]), ("b", [nasty]), scenario=_NASTY, as_run=_NASTY), tmp_path)
    assert page.text().count(" ".join(_NASTY.split())) >= 6
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 4
    assert "<i>" not in page.scripts["plots"]
    names = {trace["name"] for plot in json.loads(page.scripts["plots"]).values() for trace in plot["data"]}
    assert all("<" not in name and "%{" not in name for name in names)


@pytest.mark.matrix(0)
def test_points_per_line_are_bounded(tmp_path: Path) -> None:
    made = results(*((f"v{position}", [random_outcome(20_000, position)]) for position in range(3)))
    for plot in json.loads(page_of(made, tmp_path).scripts["plots"]).values():
        assert all(len(trace["text"]) <= 1500 for trace in plot["data"] if "text" in trace)


def test_one_colour_per_variant_throughout(tmp_path: Path) -> None:
    made = results(*((f"v{position}", [random_outcome(50, position)]) for position in range(12)))
    colours_by_variant: dict[int, set[str]] = {}
    for plot in json.loads(page_of(made, tmp_path).scripts["plots"]).values():
        for trace in plot["data"]:
            colours_by_variant.setdefault(trace["meta"], set()).add(trace["line"]["color"])
    assert len(colours_by_variant) == 12
    assert all(len(colours) == 1 for colours in colours_by_variant.values())


def test_the_page_states_which_seeds_each_section_covers(tmp_path: Path) -> None:
    made = results(("easy", [random_outcome(100, seed) for seed in (4, 5, 6)]))
    text = page_of(made, tmp_path).text()
    assert "Jobs of all 3 seeds are pooled" in text
    assert "Only the first of 3 seeds is shown" in text
    assert "Mean of 3 seeds" in text


def test_reasons_are_counted(tmp_path: Path) -> None:
    made = outcome([0] * 4, [0] * 4, [60] * 4, why=["a", "b", "b", "b"])
    assert "b 3 75.0 % a 1 25.0 %" in page_of(results(("x", [made])), tmp_path).text()


def test_reasons_beyond_the_most_frequent_are_summed(tmp_path: Path) -> None:
    made = outcome([0] * 50, [0] * 50, [60] * 50, why=[f"reason {job}" for job in range(50)])
    assert "44 other reasons 44 88.0 %" in page_of(results(("x", [made])), tmp_path).text()


def test_without_waiting_jobs_the_plots_of_waits_are_left_out(tmp_path: Path) -> None:
    page = page_of(results(("x", [outcome([0, 100], [0, 0], [60, 60])])), tmp_path)
    assert "No job waited" in page.text()
    assert "utilisation" in page.ids()
    assert not {"wait", "slowdown", "waiting", "requested"} & page.ids()
    assert "Slowdown by run time" not in page.text()


def test_the_share_of_jobs_without_wait_is_reported(tmp_path: Path) -> None:
    page = page_of(results(("x", [outcome([0, 0, 0, 0], [0, 0, 0.5, 60], [60] * 4)])), tmp_path)
    assert "Jobs without any wait: x 50.0 %" in page.text()
    (curve,) = json.loads(page.scripts["plots"])["wait"]["data"]
    assert curve["text"] == ["wait at most 1 s", "wait at most 1 min"]


def test_results_without_makespan_have_no_plots(tmp_path: Path) -> None:
    page = page_of(results(("x", [outcome([5], [0], [0])])), tmp_path)
    assert "All jobs end at the time of the first submission" in page.text()
    assert "plots" not in page.scripts


def test_a_variant_without_makespan_does_not_affect_others(tmp_path: Path) -> None:
    made = results(("x", [outcome([5], [0], [0])]), ("y", [outcome([5], [10], [10])]))
    assert page_of(made, tmp_path).ids() >= _ALL_PLOTS - {"schedule"}


def test_the_page_of_one_job_has_all_plots(tmp_path: Path) -> None:
    page = page_of(results(("x", [outcome([7], [100], [1e-3])])), tmp_path)
    assert page.ids() >= _ALL_PLOTS
    assert "1 job ·" in page.text()


@pytest.mark.parametrize(
    ("columns", "plots"),
    [
        (("procs",), {"wait", "slowdown", "waiting"}),
        (("why",), _ALL_PLOTS),
        (("end_s",), set()),
        (("job", "submit_s", "start_s", "end_s", "procs", "request_s", "why"), set()),
    ],
)
def test_plots_of_missing_columns_are_left_out(
    columns: tuple[str, ...], plots: set[str], tmp_path: Path
) -> None:
    made = results(("x", [_without(random_outcome(50, 1), *columns)]))
    page = page_of(made, tmp_path)
    assert page.ids() & _ALL_PLOTS == plots
    assert ("Reasons for starting jobs" in page.text()) == ("why" not in columns)
    assert "Metrics" in page.text()


def test_jobs_that_never_start_are_left_out_and_counted(tmp_path: Path) -> None:
    made = random_outcome(50, 1)
    late = pl.when(pl.col("job") > 47).then(None).otherwise(pl.col("start_s")).alias("start_s")
    page = page_of(results(("x", [replace(made, jobs=made.jobs.with_columns(late))])), tmp_path)
    assert "Not shown: 3 jobs without a start or end time" in page.text()


def test_results_without_jobs_or_variants_are_reported(tmp_path: Path) -> None:
    empty = replace(random_outcome(5, 1), jobs=random_outcome(5, 1).jobs.clear())
    assert "0 jobs" in page_of(results(("x", [empty])), tmp_path).text()
    assert "0 variants" in page_of(results(), tmp_path).text()


def test_rows_of_another_kind_have_their_own_plots(tmp_path: Path) -> None:
    made = random_outcome(50, 1)
    jobs = made.jobs.select(pl.lit("job").alias("kind"), pl.all())
    times = ("submit_s", "start_s", "end_s")
    tasks = random_outcome(20, 2).jobs.select(pl.lit("task").alias("kind"), pl.col(times) / 1e3)
    both = replace(made, jobs=pl.concat([jobs, tasks], how="diagonal"))
    page, alone = (
        page_of(results(("x", [each])), tmp_path / name) for name, each in (("b", both), ("a", made))
    )
    assert page.ids() - alone.ids() == {"wait-task", "response-task"}
    assert "How long tasks wait" in page.text()
    assert "· 50 jobs ·" in page.text()
    plots, of_jobs = json.loads(page.scripts["plots"]), json.loads(alone.scripts["plots"])
    assert {key: plot for key, plot in plots.items() if key in of_jobs} == of_jobs
    assert "% of tasks" in plots["wait-task"]["data"][0]["hovertemplate"]


@pytest.mark.slow
def test_the_page_of_nearly_two_million_jobs_is_fast_and_small(tmp_path: Path) -> None:
    made = results(*((f"v{position}", [random_outcome(450_000, position)]) for position in range(4)))
    begun = time.perf_counter()
    write_report(made, tmp_path / "report.html")
    assert time.perf_counter() - begun < 10
    assert (tmp_path / "report.html").stat().st_size < 10_000_000


@pytest.mark.matrix(0)
def test_a_verdict_on_the_response_has_its_distribution(tmp_path: Path) -> None:
    made = results(
        ("a", [outcome([0.0, 1.0], [2.0, 5.0], [4.0, 9.0])]),
        ("b", [outcome([0.0, 1.0], [3.0, 5.0], [4.0, 9.0])]),
    )
    titles = [
        [
            title
            for title in ("Response", "Bounded slowdown")
            if f"<h3>{title}</h3>" in _text(made, tmp_path, by)
        ]
        for by in ("mean_response_s", "mean_wait_s", None)
    ]
    assert titles == [["Response"], ["Bounded slowdown"], ["Bounded slowdown"]]


def test_jobs_of_one_class_have_no_table_of_classes(tmp_path: Path) -> None:
    one = results(("a", [outcome([0.0, 1.0], [2.0, 5.0], [4.0, 9.0])]))
    two = results(("a", [outcome([0.0, 1.0], [2.0, 5.0], [4.0, 900.0])]))
    none_waits = results(("a", [outcome([0.0, 1.0], [0.0, 0.0], [4.0, 900.0])]))
    has = ["Slowdown by run time" in _text(made, tmp_path) for made in (one, two, none_waits)]
    assert has == [False, True, False]


def test_only_the_answer_of_the_first_sentence_is_bold(tmp_path: Path) -> None:
    sentence = "a has the lowest mean wait: 1.5 s, 2 s less than b; n = 5 seeds. c has more."
    page = _text(results(("a", [outcome([0.0], [2.0], [4.0])])), tmp_path, answer=(sentence,))
    assert (
        "<p><b>a has the lowest mean wait: 1.5 s, 2 s less than b;</b> n = 5 seeds. c has more.</p>" in page
    )


def test_a_bound_is_neither_bold_nor_on_the_front(tmp_path: Path) -> None:
    waits = {"a": (10.0, 20.0, 30.0), "b": (90.0, 99.0, 111.0), "ahead": (1.0, 2.0, 3.0)}
    made = results(
        *(
            (
                name,
                [
                    outcome([0.0, 1.0], [wait] * 2, [4.0 + seed] * 2, seed=seed)
                    for seed, wait in enumerate(each)
                ],
            )
            for name, each in waits.items()
        )
    )
    bounded = replace(
        made, variants=tuple(replace(each, bound=each.name == "ahead") for each in made.variants)
    )
    column = next(each for each in metric_columns(bounded) if each.label == "mean wait")
    assert [cell.best for cell in column.cells] == [True, False, False]


def _text(made: Results, folder: Path, by: str | None = None, answer: tuple[str, ...] | None = None) -> str:
    write_report(made, folder / "r.html", answer, by)
    return (folder / "r.html").read_text(encoding="utf-8")
