"""Policies evaluated on recorded telemetry of one or several machines."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from windlass.admit import POLICIES
from windlass.admit.evaluation.candidates import PolicyCandidate, candidates
from windlass.admit.evaluation.judging import Judged, judge, judge_apart
from windlass.admit.evaluation.node import NodeTelemetry, level_of
from windlass.admit.evaluation.variants import tuned
from windlass.io.traces.telemetry import Telemetry
from windlass.io.traces.telemetry.recorded import BUSY
from windlass.model import InputError

#: The share of a recording in which policies warm up and are not judged, if no earlier telemetry is given.
_WARM = 0.2
#: Share of the progress at which the search for the best Pronto is over.
_TUNED = 0.4


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """How policies are evaluated.

    Parameters
    ----------
    spikes
        The column in which spikes are predicted.
    threshold
        The smallest value of a spike: a number, or a percentile such as ``p95``.
    downtimes
        Shares of steps in which policies may reject.
    within
        Steps before an onset within which a signal predicts it.
    apart
        Steps without a spike before an onset.
    seed
        The seed of confidence intervals and of policies that draw random numbers.
    """

    spikes: str
    threshold: str
    downtimes: tuple[float, ...]
    within: int = 10
    apart: int = 5
    seed: int = 1


def node_of(telemetry: Telemetry, options: EvaluationOptions, before: Telemetry | None) -> NodeTelemetry:
    """Return a recording as a node on which policies are judged.

    Policies warm up on earlier telemetry, or on the first fifth of the recording. The level of a spike is a percentile
    of that part alone, so nothing of the judged part is used.

    Parameters
    ----------
    telemetry
        The recording.
    options
        The column and the threshold of spikes.
    before
        Earlier telemetry of the same machine, or None.

    Raises
    ------
    InputError
        The column does not exist, or the earlier telemetry has other metrics.

    Examples
    --------
    >>> rows = Telemetry("here", np.arange(10.0), ("cpu_ready",), np.arange(10.0)[:, None])
    >>> node = node_of(rows, EvaluationOptions("cpu_ready", "p50", (0.05,)), None)
    >>> node.warm, node.level
    (2, 0.5)
    """
    if before is None:
        ready = telemetry.of(options.spikes)
        warm = int(_WARM * len(ready))
        level = level_of(ready[: max(warm, 1)], options.threshold)
        return NodeTelemetry(telemetry.values, ready, level, level, warm, _busy(telemetry))
    if before.names != telemetry.names:
        other = set(before.names) ^ set(telemetry.names)
        raise InputError(
            f"{before.source}: has other metrics than {telemetry.source}: {', '.join(sorted(other)[:4])}"
        )
    both = Telemetry(
        telemetry.source,
        np.concatenate([before.time, telemetry.time]),
        telemetry.names,
        np.concatenate([before.values, telemetry.values]),
    )
    level = level_of(before.of(options.spikes), options.threshold)
    return NodeTelemetry(both.values, both.of(options.spikes), level, level, len(before), _busy(both))


def _busy(telemetry: Telemetry) -> np.ndarray | None:
    return telemetry.of(BUSY) if BUSY in telemetry.names else None


def evaluate(
    nodes: Sequence[NodeTelemetry],
    options: EvaluationOptions,
    progress: Callable[[str, float], None] = lambda name, share: None,
) -> list[Judged]:
    """Judge all candidates on all nodes together.

    The candidates include the Pronto that is best on the warm-up part, if that part has enough onsets.

    Parameters
    ----------
    nodes
        The recordings (:func:`node_of`).
    options
        Downtimes and steps.
    progress
        Called with the name of the next candidate and the share that is done.
    """
    found = []
    for candidate, rng in _listed(nodes, options, progress):
        found.append(judge(POLICIES, candidate, nodes, rng, within=options.within, apart=options.apart))
    return _in_order(found, options)


def evaluate_apart(
    nodes: Sequence[NodeTelemetry],
    options: EvaluationOptions,
    progress: Callable[[str, float], None] = lambda name, share: None,
) -> list[list[Judged]]:
    """Judge all candidates on all nodes together, and then on each node, with the same signals.

    Policies that draw random numbers continue their sequence from node to node. Parameters as in :func:`evaluate`.
    """
    rows = []
    for candidate, rng in _listed(nodes, options, progress):
        rows.append(judge_apart(POLICIES, candidate, nodes, rng, within=options.within, apart=options.apart))
    return [_in_order(column, options) for column in zip(*rows, strict=True)]


def _in_order(found: Iterable[Judged], options: EvaluationOptions) -> list[Judged]:
    """Order candidates by downtime, those without one first."""
    place = {downtime: at for at, downtime in enumerate(options.downtimes)}
    return sorted(found, key=lambda each: place.get(each.candidate.downtime, -1))


def _listed(
    nodes: Sequence[NodeTelemetry], options: EvaluationOptions, progress: Callable[[str, float], None]
) -> Iterator[tuple[PolicyCandidate, np.random.Generator]]:
    """Yield the candidates, each with its own random generator, and report progress."""
    svm = importlib.util.find_spec("sklearn") is not None
    listed = list(candidates(options.downtimes, busy=all(node.busy is not None for node in nodes), svm=svm))
    for place, downtime in enumerate(options.downtimes):
        progress("search for the best Pronto", _TUNED * place / len(options.downtimes))
        rng = np.random.default_rng(options.seed)
        best = tuned(POLICIES, nodes, downtime, rng, within=options.within, apart=options.apart)
        if best is not None:
            last = max(at for at, each in enumerate(listed) if each.downtime == downtime)
            listed.insert(last, best)
    for place, candidate in enumerate(listed):
        progress(candidate.label, _TUNED + (1 - _TUNED) * place / len(listed))
        yield candidate, np.random.default_rng([options.seed, place])
