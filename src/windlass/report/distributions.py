"""The report's section on the distributions of wait, response and bounded slowdown."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from windlass.report.figures import DECADE_TICKS, TIME_TICKS, Plot, cumulative
from windlass.report.html_fragments import NOTHING, PageSection, figure, text
from windlass.report.job_columns import JOB, JobTimes, VariantLane, has, noun_of, times
from windlass.report.series import distribution
from windlass.report.units import counted, duration, number, share
from windlass.results.metrics.site import SLOWDOWN_THRESHOLD, bounded_slowdown

#: Resolution of a plotted distribution: its steps are off by less than 1 / _LEVELS.
_LEVELS = 740
#: Minimum start of the axis for rows other than jobs, s.
_LEAST = 1e-3
#: Maximum number of variants of which a caption has a value each.
_MOST_SHARES = 8
_Found = list[tuple[VariantLane, JobTimes]]


def section(lanes: tuple[VariantLane, ...], metric: str = "") -> PageSection:
    """Return the distributions of wait and bounded slowdown of jobs, with all seeds of a variant pooled.

    Parameters
    ----------
    lanes
        The variants.
    metric
        The metric of the verdict. If it is a response, the distribution of the response replaces that of the slowdown.
    """
    found = _found(lanes)
    if not found:
        return NOTHING
    noun = noun_of([lane for lane, _ in found])
    second = _response(found, noun) if "response" in metric or noun != JOB else _slowdown(found)
    return _section(found, noun, _wait(found, noun), second)


def section_of(lanes: tuple[VariantLane, ...], kind: str) -> PageSection:
    """Return the distributions of wait and response of rows of another kind, with all seeds of a variant pooled."""
    found = _found(lanes)
    return _section(found, kind, _wait(found, kind), _response(found, kind)) if found else NOTHING


def _found(lanes: tuple[VariantLane, ...]) -> _Found:
    found = [(lane, times(lane.outcomes)) for lane in lanes if has(lane, "submit_s", "start_s", "end_s")]
    return [(lane, known) for lane, known in found if len(known.wait)]


def _section(found: _Found, kind: str, *plots: PageSection) -> PageSection:
    seeds = max(len(lane.outcomes) for lane, _ in found)
    pooled = f" {kind.capitalize()}s of all {seeds} seeds are pooled." if seeds > 1 else ""
    lacking = sum(known.lacking for _, known in found)
    without = f" Not shown: {counted(lacking, kind)} without a start or end time." if lacking else ""
    return PageSection(
        f"<section><h2>How long {text(kind)}s wait</h2>"
        f'<p class="lead">Share of {text(kind)}s at or below each value; higher curves are better.{pooled}{without}</p>'
        f'<div class="plots">{"".join(plot.html for plot in plots)}</div></section>',
        tuple(each for plot in plots for each in plot.plots),
    )


def _lowest(values: Iterable[NDArray[np.float64]], kind: str) -> float:
    """Return the start of the axis, s: a power of ten below 99 % of the positive values, but 1 for jobs of seconds.

    Jobs are of seconds if at least half of those that wait do so for a second or longer, under every variant.
    """
    positive = [each[each > 0] for each in values if (each > 0).any()]
    shares = [float(np.percentile(each, 1)) for each in positive]
    if not shares or (kind == JOB and all(float(np.median(each)) >= 1 for each in positive)):
        return 1.0
    return min(max(10.0 ** math.floor(math.log10(min(shares))), _LEAST), 1.0)


def _key(name: str, kind: str) -> str:
    return name if kind == JOB else f"{name}-{kind}"


def _wait(found: _Found, kind: str = JOB) -> PageSection:
    title = "Wait"
    at_once = _listed([(lane, float((known.wait <= 0).sum()), len(known.wait)) for lane, known in found])
    if not any(known.queued for _, known in found):
        return PageSection(
            f"<figure><h3>{title}</h3><p>No {text(kind)} waited: all started when they were submitted.</p></figure>"
        )
    lowest = _lowest([known.wait for _, known in found], kind)
    plot = cumulative(
        _key("wait", kind),
        [(lane, distribution(known.wait, lowest, _LEVELS)) for lane, known in found],
        "wait, from submission to start (logarithmic)",
        TIME_TICKS,
        lambda wait: f"wait at most {duration(wait)}",
        f"{kind}s",
    )
    caption = (
        f"The axis starts at {duration(lowest)}; the first point includes all shorter waits."
        f" {text(kind).capitalize()}s without any wait: {at_once}."
    )
    return _part(plot, title, caption)


def _response(found: _Found, kind: str) -> PageSection:
    spans = [(lane, known.end - known.submit) for lane, known in found]
    lowest = _lowest([span for _, span in spans], kind)
    plot = cumulative(
        _key("response", kind),
        [(lane, distribution(span, lowest, _LEVELS)) for lane, span in spans],
        "response, from submission to end (logarithmic)",
        TIME_TICKS,
        lambda span: f"end at most {duration(span)} after submission",
        f"{kind}s",
    )
    caption = f"The axis starts at {duration(lowest)}; the first point includes all shorter responses."
    return _part(plot, "Response", caption)


def _slowdown(found: _Found) -> PageSection:
    title = "Bounded slowdown"
    slowdowns = [(lane, bounded_slowdown(known.submit, known.start, known.end)) for lane, known in found]
    if all((values <= 1).all() for _, values in slowdowns):
        return PageSection(
            f"<figure><h3>{title}</h3><p>Every job has a slowdown of 1, the minimum.</p></figure>"
        )
    plot = cumulative(
        "slowdown",
        [(lane, distribution(values, 1.0, _LEVELS)) for lane, values in slowdowns],
        "bounded slowdown (logarithmic)",
        DECADE_TICKS,
        lambda slowdown: f"have a slowdown of at most {number(slowdown)}",
    )
    least = _listed([(lane, float(np.sum(values <= 1)), len(values)) for lane, values in slowdowns])
    caption = (
        f"Response time over run time; runs under {SLOWDOWN_THRESHOLD:g} s count as {SLOWDOWN_THRESHOLD:g} s."
        f" Jobs with the minimum of 1: {least}."
    )
    return _part(plot, title, caption)


def _listed(shares: list[tuple[VariantLane, float, int]]) -> str:
    """Return the share of each variant; the lowest and the highest one if there are many variants."""
    if len(shares) > _MOST_SHARES:
        ordered = sorted(shares, key=lambda each: each[1] / each[2])
        return f"from {_percent(*ordered[0])} to {_percent(*ordered[-1])}"
    return ", ".join(_percent(*each) for each in shares)


def _percent(lane: VariantLane, part: float, whole: int) -> str:
    percent = share(part, whole).replace(" ", "\N{NO-BREAK SPACE}")
    return text(f"{lane.name}\N{NO-BREAK SPACE}{percent}")


def _part(plot: Plot, title: str, caption: str) -> PageSection:
    return PageSection(figure(plot, title, caption), (plot,))
