"""The section on how waits and slowdowns are spread over the jobs."""

from __future__ import annotations

import numpy as np

from windlass.metrics.site import SLOWDOWN_THRESHOLD, bounded_slowdown
from windlass.report.figures import DECADE_TICKS, TIME_TICKS, Plot, cumulative
from windlass.report.observed import Lane, Times, has, times
from windlass.report.parts import NOTHING, Part, figure, text
from windlass.report.series import distribution
from windlass.report.units import counted, duration, number, share

_LEVELS = 740
_Found = list[tuple[Lane, Times]]


def section(lanes: tuple[Lane, ...]) -> Part:
    """Cumulative distributions of wait and bounded slowdown, all seeds of a variant pooled."""
    found = [(lane, times(lane.outcomes)) for lane in lanes if has(lane, "submit_s", "start_s", "end_s")]
    found = [(lane, known) for lane, known in found if len(known.wait)]
    if not found:
        return NOTHING
    seeds = max(len(lane.outcomes) for lane, _ in found)
    pooled = f" Jobs of all {seeds} seeds are pooled." if seeds > 1 else ""
    lacking = sum(known.lacking for _, known in found)
    without = f" {counted(lacking, 'job')} without a start or an end left out." if lacking else ""
    wait, slowdown = _wait(found), _slowdown(found)
    return Part(
        "<section><h2>How long jobs wait</h2>"
        f'<p class="lead">The higher a curve, the more jobs were served by then.{pooled}{without}</p>'
        f'<div class="plots">{wait.html}{slowdown.html}</div></section>',
        wait.plots + slowdown.plots,
    )


def _wait(found: _Found) -> Part:
    title = "Wait"
    at_once = _listed([(lane, float((known.wait <= 0).sum()), len(known.wait)) for lane, known in found])
    if all((known.wait <= 0).all() for _, known in found):
        return Part(
            f"<figure><h3>{title}</h3><p>No job waited: each started when it was submitted.</p></figure>"
        )
    plot = cumulative(
        "wait",
        [(lane, distribution(known.wait, 1.0, _LEVELS)) for lane, known in found],
        "wait, from submission to start (logarithmic)",
        TIME_TICKS,
        lambda wait: f"wait at most {duration(wait)}",
    )
    caption = f"The axis starts at 1 s, with all jobs that wait no longer. Did not wait at all: {at_once}."
    return _part(plot, title, caption)


def _slowdown(found: _Found) -> Part:
    title = "Bounded slowdown"
    slowdowns = [(lane, bounded_slowdown(known.submit, known.start, known.end)) for lane, known in found]
    if all((values <= 1).all() for _, values in slowdowns):
        return Part(
            f"<figure><h3>{title}</h3><p>The slowdown of each job is 1, the least there is.</p></figure>"
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
        f" Jobs with the least there is, 1: {least}."
    )
    return _part(plot, title, caption)


def _listed(shares: list[tuple[Lane, float, int]]) -> str:
    said = (
        (lane.name, share(part, whole).replace(" ", "\N{NO-BREAK SPACE}")) for lane, part, whole in shares
    )
    return ", ".join(text(f"{name}\N{NO-BREAK SPACE}{percent}") for name, percent in said)


def _part(plot: Plot, title: str, caption: str) -> Part:
    return Part(figure(plot, title, caption), (plot,))
