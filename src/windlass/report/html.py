"""Results as one self-contained HTML page."""

from __future__ import annotations

from pathlib import Path

from windlass.io import write_text
from windlass.report import (
    ablation_section,
    breakdowns,
    by_group,
    by_hour,
    distributions,
    gantt,
    group_tables,
    overview,
    queues,
    site_cores,
    site_map,
    sweep,
    timelines,
    trade_off,
    winners,
)
from windlass.report.answer import answer_sentences
from windlass.report.html_fragments import PageSection
from windlass.report.html_fragments import answer as answer_section
from windlass.report.job_columns import JOB, lanes, only, other_kinds
from windlass.report.page import page
from windlass.results import Results
from windlass.results.verdict import judge, judgement
from windlass.results.verdict.judge import default_metric
from windlass.results.winners import winner_matrices


def write_report(
    results: Results, path: Path, answer: tuple[str, ...] | None = None, by: str | None = None
) -> None:
    """Write results as one HTML file, which opens from disk and loads nothing else.

    It has the verdict, what each decision is worth, the metrics, curves over swept parameters, the distributions of
    wait and bounded slowdown, utilisation and queue over time, the queue of each partition, utilisation and wait by
    hour and weekday, the schedule around the longest queue, the policies' reasons for starting jobs, and the scenario.
    A section is omitted if the jobs tables lack its columns. Rows of other kinds, such as tasks, have their own
    distributions of wait and response. Further time series of a world are plotted, too. The same results give the same
    bytes.

    Parameters
    ----------
    results
        Results of any world.
    path
        The file; its folder is created if necessary.
    answer
        Sentences at the top of the page; by default, the verdict on the first metric with a direction.
    by
        Metric that curves of a sweep show; by default, the first metric with a direction.

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
    if answer is None:
        answer = answer_sentences(judgement(results))
    write_text(_page(results, answer, by), path)


def _page(results: Results, answer: tuple[str, ...], by: str | None) -> str:
    shown = lanes(results)
    jobs = only(shown, JOB)
    by_jobs = timelines.section(jobs)
    return page(
        results.scenario,
        (
            PageSection(overview.head(results) + answer_section(answer) + overview.notes(results)),
            winners.section(winner_matrices(results, judge(results, by))),
            # A sweep with many points has a long table, so its curves come first.
            sweep.section(results, shown, by),
            ablation_section.section(results),
            PageSection(overview.metrics(results, shown) + overview.legend(shown)),
            trade_off.section(results, shown),
            site_map.section(shown),
            site_cores.section(shown),
            site_cores.section_of_instances(shown),
            distributions.section(jobs, by or default_metric(results) or ""),
            *(distributions.section_of(only(shown, kind), kind) for kind in other_kinds(shown)),
            by_jobs,
            queues.section(jobs),
            by_hour.section(jobs),
            gantt.section(jobs),
            timelines.section_of_series(shown, "Sites over time" if by_jobs.html else "Over time"),
            PageSection(breakdowns.reasons(jobs) + breakdowns.classes(jobs) + by_group.section(jobs)),
            PageSection(group_tables.section(results)),
            PageSection(overview.scenario(results) + overview.foot()),
        ),
    )
