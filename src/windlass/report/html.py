"""Results as one page that needs nothing but itself."""

from __future__ import annotations

from pathlib import Path

from windlass.io import write_text
from windlass.report import breakdowns, by_group, distributions, overview, sweep, timelines
from windlass.report.html_fragments import PageSection
from windlass.report.job_columns import JOB, lanes, only, other_kinds
from windlass.report.page import page
from windlass.report.sentence import sentences
from windlass.results import Results
from windlass.results.verdict import judge


def write_report(
    results: Results, path: Path, answer: tuple[str, ...] | None = None, by: str | None = None
) -> None:
    """Write results as one HTML file, which opens from disk and loads nothing.

    It has the verdict, the metrics, curves over what is swept, the distributions of wait and bounded slowdown,
    utilisation and queue over time, the reasons for which jobs started, and the scenario. What needs columns that the
    jobs tables lack is left out. Rows of other kinds, such as tasks, have distributions of wait and response of their
    own. Further time series of a world are plotted unchanged. The same results give the same
    bytes.

    Parameters
    ----------
    results
        Of any world.
    path
        The file; its folder is made.
    answer
        What it begins with; by default, the verdict on the first metric with a direction.
    by
        The metric that curves of a sweep show; by default, that one.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from windlass.results.metrics.site import BatchMetrics
    >>> from windlass.results import Outcome, Results, VariantResult
    >>> metrics = BatchMetrics(1.0, 0.0, 0.0, 0.0, 60.0, 1.0, 0.5, 60.0)
    >>> jobs = pl.DataFrame({"submit_s": [0.0], "start_s": [0.0], "end_s": [60.0], "procs": [4]})
    >>> easy = VariantResult("easy", (), (Outcome(1, metrics, jobs, processors=8),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Results("one job", "", (easy,)), Path(folder) / "report.html")
    ...     (Path(folder) / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(_page(results, sentences(judge(results)) if answer is None else answer, by), path)


def _page(results: Results, answer: tuple[str, ...], by: str | None) -> str:
    shown = lanes(results)
    jobs = only(shown, JOB)
    return page(
        results.scenario,
        (
            PageSection(overview.head(results) + overview.answer(answer) + overview.notes(results)),
            # Of many points the table is long: curves are seen at once.
            sweep.section(results, shown, by),
            PageSection(overview.metrics(results, shown) + overview.legend(shown)),
            distributions.section(jobs),
            *(distributions.section_of(only(shown, kind), kind) for kind in other_kinds(shown)),
            timelines.section(jobs),
            timelines.section_of_series(shown),
            PageSection(breakdowns.reasons(jobs) + breakdowns.classes(jobs) + by_group.section(jobs)),
            PageSection(overview.scenario(results) + overview.foot()),
        ),
    )
