"""The page When: predicted starts of waiting jobs, and how good such predictions were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from windlass.control.journal import PredictionRecord
from windlass.control.journal.predictions import StartScore
from windlass.control.journal.reader import MOST as MOST_ROWS
from windlass.control.summary import EngineSummary, summaries
from windlass.control.web.html import Markup, joined, tag
from windlass.control.web.pages.context import PageContext
from windlass.control.web.pages.layout import link, more_rows, page, site_links, state_mark, table
from windlass.control.web.request import PageRequest
from windlass.control.words import clock_text, span_text, until_text, zone_text
from windlass.experiment.start_times.calibration import FEWEST
from windlass.report.units import duration

_ROWS = 50
#: What the replays of the site leave out.
_NEGLECTED = (
    "Only batch jobs have predictions, the first 300 waiting ones of each site.",
    "Only processors are predicted: not memory, and not cores that two jobs share.",
    "The cores that batch jobs hold or may take now stay as many. Other loads, outages and new instances change that.",
    "Later arrivals are those of the same time on earlier days, so on the first day there are none.",
    "A requeued job has its place in the queue by its submission. A policy from a file is replaced by easy.",
    "Each job's first prediction is scored, when the job starts. Jobs that still wait are not in the score.",
)


def when_page(request: PageRequest, context: PageContext) -> Markup:
    """Return the page."""
    rows = request.number("rows", 1, MOST_ROWS) or _ROWS
    engine, site, job = (request.text(name) for name in ("engine", "site", "job"))
    found = summaries(context.reader, engine)
    sections = [_section(each, site, job, rows, context) for each in found]
    empty = tag("p", "No engine has written to this journal yet.", class_="empty")
    return page("/when", "When", *(sections or [empty]))


def _section(
    summary: EngineSummary, site: str | None, job: str | None, rows: int, context: PageContext
) -> Markup:
    queries, name, now = context.reader.predictions, summary.name, summary.now
    heading = tag("h2", joined(f"{name} ", state_mark(summary.seen.status.state)))
    if not summary.lists_jobs:
        return tag("section", heading, tag("p", "No starts are predicted: this engine has no queue of jobs."))
    waiting = queries.waiting(name, site)
    score, calibrated = queries.score(name, site), queries.score(name, site, least=FEWEST)
    if job is None:
        shown = _waiting(waiting[:rows], now)
        content = joined(shown, more_rows("/when", min(rows, len(waiting)), len(waiting)))
    else:
        content = joined(
            _of_job(job, queries.of_job(name, job, site)[:rows]),
            tag("p", link("All waiting jobs", "/when", engine=name, site=site)),
        )
    neglected = tag("ul", *(tag("li", each) for each in _NEGLECTED))
    return tag(
        "section",
        heading,
        *(tag("p", each) for each in score_sentences(score, calibrated, waiting)),
        tag("p", f"The time is {zone_text(now)}."),
        tag("details", tag("summary", "What these predictions neglect"), neglected, id=f"neglected-{name}"),
        site_links("/when", name, summary.sites, site),
        content,
    )


def score_sentences(
    score: StartScore, calibrated: StartScore, waiting: Sequence[PredictionRecord]
) -> Iterator[str]:
    """Yield how good scored predictions were, and whether those of waiting jobs are calibrated.

    Parameters
    ----------
    score, calibrated
        The score of all predictions, and of those with a calibrated interval.
    waiting
        The predictions of waiting jobs.

    Examples
    --------
    >>> score = StartScore(120, 109, 1800.0, 600.0, 7500.0)
    >>> for each in score_sentences(score, StartScore(90, 81, 0.0, 0.0, 0.0), ()):
    ...     print(each)
    Of 120 predictions that were scored, 91 % contained the start; median width 30 min; mean error 10 min, against \
2 h 05 min by Slurm's rule.
    Of the 90 with a calibrated interval, 90 % did.
    """
    if not score.scored:
        yield "No prediction was scored yet: a prediction is scored when its job starts."
    else:
        what = "1 prediction that was" if score.scored == 1 else f"{score.scored:,} predictions that were"
        yield (
            f"Of {what} scored, {_share(score)} contained the start; median width"
            f" {span_text(score.median_width)}; mean error {span_text(score.mean_error)}, against"
            f" {span_text(score.planned_error)} by Slurm's rule."
        )
    if calibrated.scored:
        many = f"Of the {calibrated.scored:,} with a calibrated interval, {_share(calibrated)} did."
        one = f"The one with a calibrated interval {'did' if calibrated.contained else 'did not'}."
        yield one if calibrated.scored == 1 else many
    # Immediate starts are calibrated apart, so that some intervals may be calibrated and others not.
    most = max((each.scored for each in waiting), default=FEWEST)
    if most < FEWEST:
        yield f"Not calibrated yet: {most} of {FEWEST} scored."


def _share(score: StartScore) -> str:
    return f"{100 * score.contained / score.scored:.0f} %"


def _waiting(rows: Sequence[PredictionRecord], now: float) -> Markup:
    level = f"{100 * rows[0].level:.0f} % interval" if rows else ""
    return table(
        "Waiting jobs, by their predicted start",
        ("Job", "Site", "Starts in#", level, "Slurm's rule#", "Starts at", "Predicted#"),
        [
            (
                link(each.job.id, "/when", engine=each.job.engine, site=each.job.site, job=each.job.id),
                each.job.site or "all",
                until_text(each.median, now),
                _interval(each, now),
                until_text(each.planned, now),
                clock_text(each.median),
                f"{span_text(now - each.time)} ago",
            )
            for each in rows
        ],
        "No waiting job has a prediction.",
    )


def _interval(each: PredictionRecord, now: float) -> str:
    if now > each.high:
        text = f"ended {span_text(now - each.high)} ago"
    else:
        low = duration(round(each.low - now)) if each.low > now else "now"
        text = f"{low} to {duration(round(each.high - now))}"
    return text if each.scored >= FEWEST else f"{text}, not calibrated"


def _of_job(job: str, rows: Sequence[PredictionRecord]) -> Markup:
    level = f"{100 * rows[0].level:.0f} % interval" if rows else ""
    return table(
        f"Predictions of {job}, the latest first",
        ("Predicted", "Site", "Start", level, "Slurm's rule", "Started"),
        [
            (
                clock_text(each.time),
                each.job.site or "all",
                clock_text(each.median),
                f"{clock_text(each.low)} to {clock_text(each.high)}",
                clock_text(each.planned),
                "–" if each.started is None else clock_text(each.started),
            )
            for each in rows
        ],
        "No prediction of this job is in the journal.",
    )
