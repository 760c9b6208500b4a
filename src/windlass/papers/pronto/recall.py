"""What signals foresee of the onsets of spikes, beside chance; and CDFs over nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from windlass.admit import POLICIES
from windlass.admit.evaluation import Candidate, Judged, Node, candidates, judge
from windlass.papers.plots import Line, Picture
from windlass.papers.pronto.verdicts import beats_chance, foresees_nearly_all
from windlass.papers.reproduction import Row

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
    nodes: Sequence[Node]
    real: bool = True


def chosen(nodes: Sequence[Node]) -> list[Candidate]:
    """All four trackers as printed, and at each downtime ours and baselines."""
    busy = all(node.busy is not None for node in nodes)
    found = list(candidates(DOWNTIMES, busy=busy, svm=False))
    return [each for each in found if each.label in _SHOWN or np.isnan(each.downtime)]


def judged(kind: Set, tell: Callable[[str, float], None]) -> list[Judged]:
    """All that are compared, on all nodes of a set."""
    listed, found = chosen(kind.nodes), []
    for place, candidate in enumerate(listed):
        tell(f"{kind.name}: {candidate.label}", place / len(listed))
        found.append(judge(POLICIES, candidate, kind.nodes, np.random.default_rng([1, place])))
    return found


def rows_of(kind: Set, found: Sequence[Judged]) -> list[Row]:
    """Each beside chance, and what the paper says of its own."""
    rows = [_row(kind, each) for each in found]
    if not kind.real:
        return rows
    printed = next(each for each in found if each.candidate.label == "pronto fpca, as printed")
    directions = next(each for each in found if each.candidate.label == "pronto directions, as printed")
    rows += [
        Row(
            f"{kind.name}: nearly all onsets have a raise of Pronto's signal before them, more than chance has",
            "nearly all",
            f"{printed.quality.recall:.2f}, chance {printed.quality.by_chance:.2f}",
            foresees_nearly_all(printed.quality, printed.intervals),
            "the paper counts raises near spikes and does not say how many chance would have met",
        ),
        Row(
            f"{kind.name}: under Frequent Directions a node is down more than half of the time",
            "more than half",
            f"{directions.quality.downtime:.2f}",
            directions.quality.downtime > 0.5,
            "weights are 1 over the rank there, so that all projections must spike at once",
        ),
    ]
    return rows


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
        f"{found.precision:.2f}, lead {found.lead:.1f} steps; "
        + {True: "above both beyond chance", False: "not above both beyond chance", None: "too few to tell"}[
            beats_chance(found, sure)
        ],
    )


def pictures(kind: Set, found: Sequence[Judged], key: str) -> tuple[Picture, ...]:
    """Over nodes: what share of them has at most so much recall above chance, and downtime."""
    shown = [
        each for each in found if np.isnan(each.candidate.downtime) or each.candidate.downtime == DOWNTIMES[0]
    ]
    gains, downs = [], []
    for each in shown:
        gain = np.sort([own.recall - own.by_chance for own in each.each if own.onsets])
        down = np.sort([own.downtime for own in each.each])
        gains.append(Line(each.candidate.label, gain.tolist(), _steps(len(gain))))
        downs.append(Line(each.candidate.label, down.tolist(), _steps(len(down))))
    caption = "A node each. To the right of 0 a signal foresees more than scattered steps would."
    return (
        Picture(
            f"{key}-recall",
            f"{kind.name}: recall above chance",
            "recall less chance",
            "share of nodes",
            tuple(gains),
            caption,
        ),
        Picture(
            f"{key}-down", f"{kind.name}: downtime", "share of steps down", "share of nodes", tuple(downs)
        ),
    )


def _steps(count: int) -> list[float]:
    return [(place + 1) / count for place in range(count)]
