"""The recall of signals for the onsets of spikes, compared with chance, and CDFs over nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from windlass.admit import POLICIES
from windlass.admit.evaluation import (
    TUNED,
    VERDICTS,
    CandidateRole,
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
#: Candidates that run within seconds on tens of thousands of steps; ``windlass admit evaluate`` runs all.
_SHOWN = frozenset(
    {
        "random", "utilisation", "ready", "alarm naive", "alarm smoothing", "pronto fpca, z-scores",
        "pronto fpca, z-scores, equal weights", "forewarn", "random, between spikes", "utilisation, between spikes",
        "ready, between spikes", "forewarn, between spikes", "rising, between spikes",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class NodeSet:
    """Nodes of one kind, with their name in the rows; only ``real`` nodes are evidence on the paper's claims."""

    name: str
    nodes: Sequence[NodeTelemetry]
    real: bool = True


def shown_candidates(
    nodes: Sequence[NodeTelemetry], downtimes: Sequence[float] = DOWNTIMES
) -> list[PolicyCandidate]:
    """Return all four trackers as printed, and at each downtime ours and the baselines."""
    busy = all(node.busy is not None for node in nodes)
    found = list(candidates(downtimes, busy=busy, svm=False))
    return [each for each in found if each.label in _SHOWN or np.isnan(each.downtime)]


def judge_all(
    kind: NodeSet,
    notify: Callable[[str, float], None],
    downtimes: Sequence[float] = DOWNTIMES,
    *,
    tune: bool = True,
) -> list[Judged]:
    """Evaluate all candidates on all nodes of a set; ``tune`` adds the Pronto that is best on the steps before."""
    listed = shown_candidates(kind.nodes, downtimes)
    for downtime in downtimes if tune else ():
        notify(f"{kind.name}: tuning Pronto on the steps before", 0.0)
        found = tuned(POLICIES, kind.nodes, downtime, np.random.default_rng(1))
        listed += [] if found is None else [found]
    judgements = []
    for place, candidate in enumerate(listed):
        notify(f"{kind.name}: {candidate.label}", place / len(listed))
        judgements.append(judge(POLICIES, candidate, kind.nodes, np.random.default_rng([1, place])))
    return judgements


def rows_of(kind: NodeSet, found: Sequence[Judged]) -> list[Row]:
    """Return rows that compare each candidate with chance and the best baseline, and rows of the paper's claims."""
    rows = [_row(kind, each) for each in found]
    rows += [_baseline_row(kind, each, found) for each in found if _is_compared(each.candidate)]
    if not kind.real:
        return rows
    printed = next(each for each in found if each.candidate.label == "pronto fpca, as printed")
    directions = next(each for each in found if each.candidate.label == "pronto directions, as printed")
    left, right = printed.quality.left, printed.quality.right
    return [
        *rows,
        Row.by(
            f"{kind.name}: nearly all onsets follow a raise of Pronto's signal, more than by chance",
            "nearly all",
            f"{printed.quality.recall:.2f}, chance {printed.quality.by_chance:.2f}",
            foresees_nearly_all(printed.quality, printed.intervals),
            "the paper counts raises near spikes, and does not state how many chance would have given",
        ),
        Row.by(
            f"{kind.name}: more onsets have a raise before them than only after them",
            "considerably more",
            f"{left} before, {right} only after",
            more_before(left, right),
            "a raise at the onset, as most of Pronto's are, counts as after it",
        ),
        Row.by(
            f"{kind.name}: under Frequent Directions a node is down more than half of the time",
            "more than half",
            f"{directions.quality.downtime:.2f}",
            above([exactly(directions.quality.downtime)], 0.5, rule="holds if it is, over all steps"),
            "its weights are 1 over the rank, so that all projections must spike at once",
        ),
    ]


def _is_compared(candidate: PolicyCandidate) -> bool:
    return candidate.role is CandidateRole.OWN or candidate.label == TUNED


def _baseline_row(kind: NodeSet, each: Judged, found: Sequence[Judged]) -> Row:
    against = against_best(each, found)
    difference = None if against is None else against[1]
    return Row(
        f"{kind.name}, {each.candidate.label} at {each.candidate.downtime:.0%}: recall minus the best baseline's",
        None,
        "unknown"
        if against is None
        else f"{against[1].value:+.2f} ({against[1].interval[0]:+.2f} to {against[1].interval[1]:+.2f})",
        None,
        (
            ""
            if against is None
            else f"baseline {against[0].candidate.label}, down {against[0].quality.downtime:.1%}; "
        )
        + VERDICTS[is_ahead(each.quality, difference)],
    )


def _row(kind: NodeSet, each: Judged) -> Row:
    of, found, sure = each.candidate, each.quality, each.intervals
    at = "" if np.isnan(of.downtime) else f" at {of.downtime:.0%}"
    return Row(
        f"{kind.name}, {of.label}{at}: recall of onsets, compared with chance and its shifted copy",
        None,
        f"{found.recall:.2f} ({sure.recall[0]:.2f}–{sure.recall[1]:.2f}), chance {found.by_chance:.2f}, shifted "
        f"{found.shifted:.2f}, down {found.downtime:.1%}",
        None,
        f"{found.onsets} onsets, {found.left} with a raise before and {found.right} only after; precision "
        f"{found.precision:.2f}, lead {found.lead:.1f} steps; ahead {_lift(found):.2f} "
        f"({sure.lift[0]:.2f}–{sure.lift[1]:.2f}); equalled by {sure.by_shift:.0%} of shifts; "
        + {True: "significantly above both", False: "not significantly above both", None: "too few onsets"}[
            beats_chance(found, sure)
        ],
    )


def _lift(found: Quality) -> float:
    """Return the share of steps before onsets at which a signal was up, relative to its downtime; NaN if never up."""
    return found.ahead / found.downtime if found.downtime > 0.0 else float("nan")


def pictures(kind: NodeSet, found: Sequence[Judged], key: str) -> tuple[Picture, ...]:
    """Return CDFs over nodes: of recall minus chance, of downtime, and of raises before and only after onsets."""
    shown = [
        each for each in found if np.isnan(each.candidate.downtime) or each.candidate.downtime == DOWNTIMES[0]
    ]
    caption = "One value per node. To the right of 0 a signal predicts more onsets than random steps."
    kinds: list[tuple[str, str, str, str, Callable[[Quality], float]]] = [
        (
            "recall",
            "recall above chance",
            "recall − chance",
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
            text,
        )
        for name, title, axis, text, value in kinds
    )


def _cdf(name: str, values: Sequence[float]) -> Line:
    return Line(name, sorted(values), [(place + 1) / len(values) for place in range(len(values))])
