"""The report's sections on the reasons for starting jobs, and on slowdown by job size and run time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.report.columns import mark_best
from windlass.report.html_fragments import bar, named, rows, text
from windlass.report.job_columns import JobTimes, VariantLane, has, times
from windlass.report.units import counted, number, share
from windlass.results.metrics.site import bounded_slowdown

_MOST_REASONS = 6


def reasons(lanes: tuple[VariantLane, ...]) -> str:
    """Return the table of reasons: a row per variant and reason, the most frequent first, rare ones added up."""
    body = "".join(_reason_rows(lane) for lane in lanes if has(lane, "why"))
    if not body:
        return ""
    return (
        '<section><h2>Reasons for starting jobs</h2><div class="scroll"><table class="wide"><thead><tr>'
        '<th scope="col">variant</th><th scope="col" style="text-align:left">reason given by the policy</th>'
        '<th scope="col">jobs</th><th scope="col">share</th><th class="bar"></th></tr></thead>'
        f"<tbody>{body}</tbody></table></div></section>"
    )


def _reason_rows(lane: VariantLane) -> str:
    why = pl.concat([outcome.jobs.select(pl.col("why").cast(pl.String)) for outcome in lane.outcomes])["why"]
    counts = why.fill_null("").value_counts(name="jobs").sort(["jobs", "why"], descending=[True, False])
    # A single remaining reason takes as much room as the line "1 other reason" would.
    head = _MOST_REASONS if len(counts) > _MOST_REASONS + 1 else len(counts)
    shown = [(reason or "none given", jobs) for reason, jobs in counts.head(head).iter_rows()]
    others = counts.slice(head)
    if len(others):
        shown.append((counted(len(others), "other reason"), int(others["jobs"].sum())))
    return "".join(
        _reason_row(lane, row == 0, reason, jobs, len(why)) for row, (reason, jobs) in enumerate(shown)
    )


def _reason_row(lane: VariantLane, first: bool, reason: str, jobs: int, of: int) -> str:
    return (
        f'<tr{"" if first else " class=same"}><th scope="row">{named(lane) if first else ""}</th>'
        f'<td class="words">{text(reason)}</td><td>{jobs:,}</td><td>{text(share(jobs, of))}</td>'
        f'<td class="bar">{bar(lane, jobs / of)}</td></tr>'
    )


@dataclass(frozen=True, slots=True)
class _Class:
    """A class of jobs: their measure is above one bound and at most another."""

    label: str
    above: float
    upto: float

    def members(self, measure: NDArray[np.float64]) -> NDArray[np.bool_]:
        return (measure > self.above) & (measure <= self.upto)


_WIDTHS = (
    _Class("1", -np.inf, 1),
    _Class("2–8", 1, 8),
    _Class("9–64", 8, 64),
    _Class("65–512", 64, 512),
    _Class("> 512", 512, np.inf),
)
_RUNS = (
    _Class("≤ 1 min", -np.inf, 60),
    _Class("≤ 10 min", 60, 600),
    _Class("≤ 1 h", 600, 3600),
    _Class("≤ 8 h", 3600, 28800),
    _Class("> 8 h", 28800, np.inf),
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A division of jobs into classes, with a mask per class and variant."""

    title: str
    classes: tuple[_Class, ...]
    members: tuple[tuple[NDArray[np.bool_], ...], ...]


def classes(lanes: tuple[VariantLane, ...]) -> str:
    """Return the tables of mean bounded slowdown by width and by run time.

    They are left out if all jobs are of one class, or if none waited.
    """
    found = [(lane, times(lane.outcomes)) for lane in lanes if has(lane, "submit_s", "start_s", "end_s")]
    found = [(lane, known) for lane, known in found if len(known.submit)]
    if not any(known.queued for _, known in found):
        return ""
    kinds = [_kind("by run time", _RUNS, [known.end - known.start for _, known in found])]
    if all(has(lane, "procs") for lane, _ in found):
        kinds.insert(0, _kind("by processors", _WIDTHS, [known.procs for _, known in found]))
    # One class of all jobs adds nothing to the table of metrics.
    kinds = [kind for kind in kinds if len(kind.classes) > 1]
    if not kinds:
        return ""
    groups = "".join(f'<th class="group" colspan="{len(kind.classes)}">{kind.title}</th>' for kind in kinds)
    heads = "".join(f'<th scope="col">{text(each.label)}</th>' for kind in kinds for each in kind.classes)
    return (
        f"<section><h2>Slowdown {' and '.join(kind.title for kind in kinds).replace(' and by', ' and')}</h2>"
        '<p class="lead">Mean bounded slowdown of the jobs of each class. Bold: lowest of all variants.</p>'
        f'<div class="scroll"><table class="wide"><thead>'
        f'<tr><th scope="col" rowspan="2">variant</th>{groups}</tr><tr>{heads}</tr></thead>'
        f"<tbody>{_class_rows(found, kinds)}</tbody></table></div></section>"
    )


def _kind(title: str, candidates: tuple[_Class, ...], measures: list[NDArray[np.float64]]) -> _Kind:
    members = [tuple(each.members(measure) for measure in measures) for each in candidates]
    used = [place for place, masks in enumerate(members) if any(mask.any() for mask in masks)]
    return _Kind(title, tuple(candidates[place] for place in used), tuple(members[place] for place in used))


def _class_rows(found: list[tuple[VariantLane, JobTimes]], kinds: list[_Kind]) -> str:
    columns = [masks for kind in kinds for masks in kind.members]
    slowdowns = [bounded_slowdown(known.submit, known.start, known.end) for _, known in found]
    of_all = "".join(f"<td>{_share(masks)}</td>" for masks in columns)
    cells = [_class_cells(slowdowns, masks) for masks in columns]
    body = [
        f'<th scope="row">{named(lane)}</th>' + "".join(column[row] for column in cells)
        for row, (lane, _) in enumerate(found)
    ]
    return f'<tr class="quiet"><th scope="row">share of jobs</th>{of_all}</tr>' + rows(body)


def _share(masks: tuple[NDArray[np.bool_], ...]) -> str:
    return text(share(sum(int(mask.sum()) for mask in masks), sum(len(mask) for mask in masks)))


def _class_cells(slowdowns: list[NDArray[np.float64]], masks: tuple[NDArray[np.bool_], ...]) -> list[str]:
    chosen = (all_of[mask] for all_of, mask in zip(slowdowns, masks, strict=True))
    means = [float(values.mean()) if len(values) else np.nan for values in chosen]
    texts = [number(mean) for mean in means]
    best = mark_best(means, texts, -1)
    return [
        f"<td><b>{each}</b></td>" if good else f"<td>{each}</td>"
        for each, good in zip(texts, best, strict=True)
    ]
