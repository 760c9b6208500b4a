"""What signals foresee of the onsets of spikes, beside chance; and CDFs over nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from windlass.admit import POLICIES
from windlass.admit.evaluation import (
    OURS,
    TUNED,
    VERDICTS,
    Judged,
    NodeTelemetry,
    PolicyCandidate,
    against_best,
    candidates,
    judge,
    tuned,
)
from windlass.admit.measure import Quality
from windlass.report.pictures import Line, Picture
from windlass_reproductions.criteria import above, exactly
from windlass_reproductions.pronto.verdicts import beats_chance, foresees_nearly_all, is_ahead, more_before
from windlass_reproductions.reproduction import Row

DOWNTIMES = (0.05, 0.10)
#: What runs in seconds on tens of thousands of steps; ``windlass admit evaluate`` has all.
_SHOWN = frozenset(
    {
        "random", "utilisation", "ready", "alarm naive", "alarm smoothing", "pronto fpca, z-scores",
        "pronto fpca, z-scores, equal weights", "forewarn",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Set:
    """Nodes of one kind, by the name that rows call them; what was drawn is no evidence of what the paper claims."""

    name: str
    nodes: Sequence[NodeTelemetry]
    real: bool = True


def chosen(nodes: Sequence[NodeTelemetry], downtimes: Sequence[float] = DOWNTIMES) -> list[PolicyCandidate]:
    """All four trackers as printed, and at each downtime ours and baselines."""
    busy = all(node.busy is not None for node in nodes)
    found = list(candidates(downtimes, busy=busy, svm=False))
    return [each for each in found if each.label in _SHOWN or np.isnan(each.downtime)]


def judged(
    kind: Set,
    notify: Callable[[str, float], None],
    downtimes: Sequence[float] = DOWNTIMES,
    *,
    tune: bool = True,
) -> list[Judged]:
    """All that are compared, on all nodes of a set; ``tune`` adds the Pronto that was best on what came before."""
    listed = chosen(kind.nodes, downtimes)
    for downtime in downtimes if tune else ():
        notify(f"{kind.name}: which Pronto is best on what came before", 0.0)
        found = tuned(POLICIES, kind.nodes, downtime, np.random.default_rng(1))
        listed += [] if found is None else [found]
    judgements = []
    for place, candidate in enumerate(listed):
        notify(f"{kind.name}: {candidate.label}", place / len(listed))
        judgements.append(judge(POLICIES, candidate, kind.nodes, np.random.default_rng([1, place])))
    return judgements


def rows_of(kind: Set, found: Sequence[Judged]) -> list[Row]:
    """Each beside chance and the best baseline, and what the paper says of its own."""
    rows = [_row(kind, each) for each in found]
    rows += [_beside(kind, each, found) for each in found if each.candidate.label in (OURS, TUNED)]
    if not kind.real:
        return rows
    printed = next(each for each in found if each.candidate.label == "pronto fpca, as printed")
    directions = next(each for each in found if each.candidate.label == "pronto directions, as printed")
    left, right = printed.quality.left, printed.quality.right
    return [
        *rows,
        Row.by(
            f"{kind.name}: nearly all onsets have a raise of Pronto's signal before them, more than chance has",
            "nearly all",
            f"{printed.quality.recall:.2f}, chance {printed.quality.by_chance:.2f}",
            foresees_nearly_all(printed.quality, printed.intervals),
            "the paper counts raises near spikes and does not say how many chance would have met",
        ),
        Row.by(
            f"{kind.name}: more onsets have a raise before them than only after",
            "considerably more",
            f"{left} before, {right} only after",
            more_before(left, right),
            "a raise that comes with the spike, which Pronto's mostly do, is one after",
        ),
        Row.by(
            f"{kind.name}: under Frequent Directions a node is down more than half of the time",
            "more than half",
            f"{directions.quality.downtime:.2f}",
            above([exactly(directions.quality.downtime)], 0.5, rule="holds where it is, over all steps"),
            "weights are 1 over the rank there, so that all projections must spike at once",
        ),
    ]


def _beside(kind: Set, each: Judged, found: Sequence[Judged]) -> Row:
    against = against_best(each, found)
    sure = None if against is None else against[1]
    return Row(
        f"{kind.name}, {each.candidate.label} at {each.candidate.downtime:.0%}: recall above the best baseline's",
        None,
        "not known"
        if against is None
        else f"{against[1].value:+.2f} ({against[1].interval[0]:+.2f} to {against[1].interval[1]:+.2f})",
        None,
        (
            ""
            if against is None
            else f"over {against[0].candidate.label}, down {against[0].quality.downtime:.1%}; "
        )
        + VERDICTS[is_ahead(each.quality, sure)],
    )


def _row(kind: Set, each: Judged) -> Row:
    of, found, sure = each.candidate, each.quality, each.intervals
    at = "" if np.isnan(of.downtime) else f" at {of.downtime:.0%}"
    return Row(
        f"{kind.name}, {of.label}{at}: recall of onsets, beside chance and its shifted copy",
        None,
        f"{found.recall:.2f} ({sure.recall[0]:.2f}–{sure.recall[1]:.2f}) beside {found.by_chance:.2f} and "
        f"{found.shifted:.2f}, down {found.downtime:.1%}",
        None,
        f"{found.onsets} onsets, {found.left} with a raise before and {found.right} only after; precision "
        f"{found.precision:.2f}, lead {found.lead:.1f} steps; ahead {_lift(found):.2f} "
        f"({sure.lift[0]:.2f}–{sure.lift[1]:.2f}); as much by {sure.by_shift:.0%} of shifts; "
        + {True: "above both beyond chance", False: "not above both beyond chance", None: "too few to tell"}[
            beats_chance(found, sure)
        ],
    )


def _lift(found: Quality) -> float:
    """The share of steps before onsets at which it was up, over the downtime; NaN for one that was never up."""
    return found.ahead / found.downtime if found.downtime > 0.0 else float("nan")


def pictures(kind: Set, found: Sequence[Judged], key: str) -> tuple[Picture, ...]:
    """Over nodes: what share of them has at most so much recall above chance, downtime, and raises before and after."""
    shown = [
        each for each in found if np.isnan(each.candidate.downtime) or each.candidate.downtime == DOWNTIMES[0]
    ]
    caption = "A node each. To the right of 0 a signal foresees more than scattered steps would."
    kinds: list[tuple[str, str, str, str, Callable[[Quality], float]]] = [
        (
            "recall",
            "recall above chance",
            "recall less chance",
            caption,
            lambda own: own.recall - own.by_chance,
        ),
        ("down", "downtime", "share of steps down", "", lambda own: own.downtime),
        ("left", "onsets with a raise before", "share of onsets", "", lambda own: own.left / own.onsets),
        (
            "right",
            "onsets with a raise only after",
            "share of onsets",
            "",
            lambda own: own.right / own.onsets,
        ),
    ]
    return tuple(
        Picture(
            f"{key}-{name}",
            f"{kind.name}: {title}",
            axis,
            "share of nodes",
            tuple(
                _cdf(each.candidate.label, [value(own) for own in each.each if own.onsets]) for each in shown
            ),
            says,
        )
        for name, title, axis, says, value in kinds
    )


def _cdf(name: str, values: Sequence[float]) -> Line:
    return Line(name, sorted(values), [(place + 1) / len(values) for place in range(len(values))])
