"""Policies on telemetry that is there: what each foresees of the onsets of spikes, at a downtime.

A policy runs through a node's telemetry step by step, as it would live. Steps in which it begins are not judged, and
what it is told of spikes is of before those that are.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windlass.admit.lib.subspace import Floats
from windlass.admit.measure import Bools, Intervals, Quality, intervals, onsets, quality
from windlass.admit.view import AdmitView
from windlass.model import InputError
from windlass.model.values import number, whole
from windlass.registry import Registry

#: The trackers that Pronto can have, in the order of tables.
TRACKERS = ("fpca", "spirit", "directions", "power")
#: The alarm's forecasters, likewise.
FORECASTERS = ("naive", "smoothing", "arima", "svm")


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One node's telemetry, and what a spike is on it.

    Parameters
    ----------
    metrics
        (t, d); NaN where one is missing.
    ready
        (t,) CPU Ready, or what stands for it.
    level
        From which value of it on a step is judged a spike.
    told
        The value that policies are told.
    warm
        So many steps at the beginning are not judged.
    busy
        (t,) share of the cores' time that was used; None where nobody knows.

    Raises
    ------
    InputError
        Lengths differ, or no step is left to judge.
    """

    metrics: Floats
    ready: Floats
    level: float
    told: float
    warm: int
    busy: Floats | None = None

    def __post_init__(self) -> None:
        steps = len(self.ready)
        lengths = {"metrics": len(self.metrics), "busy": steps if self.busy is None else len(self.busy)}
        for name, length in lengths.items():
            if length != steps:
                raise InputError(f"{name} has {length} steps, expected {steps}")
        if not 0 <= self.warm < steps:
            raise InputError(f"warm is {self.warm}, expected fewer than the {steps} steps")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy by the name that it has in tables, and the downtime that it was asked for; NaN where none can be."""

    label: str
    policy: str
    downtime: float
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a candidate foresaw on all nodes, and how sure that is; and its recall on each node by itself."""

    candidate: Candidate
    quality: Quality
    intervals: Intervals
    each: tuple[Quality, ...]


def level_of(values: Floats, threshold: str | float) -> float:
    """From which value on one is a spike.

    Parameters
    ----------
    values
        (t,) that percentiles are of; NaN is passed over.
    threshold
        ``p95`` for a percentile, or a number. Where most values are alike, a percentile is the least value above.

    Raises
    ------
    InputError
        It is neither, or no value is known.

    Examples
    --------
    >>> level_of(np.arange(101.0), "p95"), level_of(np.arange(3.0), 0.2)
    (95.0, 0.2)
    """
    text = str(threshold)
    try:
        value = float(text.removeprefix("p"))
    except ValueError:
        raise InputError(f"threshold is {text!r}, expected a number, or a percentile such as p95") from None
    if not text.startswith("p"):
        return number("threshold", value, -np.inf)
    number("threshold: percentile", value, 0.0, 100.0)
    known = values[~np.isnan(values)]
    if not len(known):
        raise InputError("threshold: no value of the column is known")
    high = float(np.percentile(known, value))
    return high if high > known.min() else float(np.nextafter(high, np.inf))


def candidates(downtimes: Sequence[float], *, busy: bool, svm: bool = True) -> Iterator[Candidate]:
    """All that are compared: Pronto as printed, then at each downtime every tracker, ours, and every baseline.

    Parameters
    ----------
    downtimes
        Shares of steps, 0 to 1 and neither.
    busy
        Whether the use of cores is known, which ``utilisation`` asks for.
    svm
        Whether scikit-learn is there, which the forecaster ``svm`` asks for.

    Examples
    --------
    >>> [each.label for each in candidates([0.05], busy=True)][3:6]
    ['pronto power, as printed', 'random', 'utilisation']
    """
    for tracker in TRACKERS:
        yield Candidate(f"pronto {tracker}, as printed", "pronto", np.nan, {"tracker": tracker})
    for downtime in downtimes:
        number("downtime", downtime, 0.0, 1.0, open_below=True)
        at = {"downtime": downtime}
        yield Candidate("random", "random", downtime, at)
        if busy:
            yield Candidate("utilisation", "utilisation", downtime, at)
        yield Candidate("ready", "ready", downtime, at)
        for forecaster in FORECASTERS if svm else FORECASTERS[:-1]:
            alarm = {"forecaster": forecaster, "series": "values", **at}
            yield Candidate(f"alarm {forecaster}", "alarm", downtime, alarm)
        scores = {"signal": "scores", "forget": 0.99, **at}
        for tracker in TRACKERS:
            yield Candidate(f"pronto {tracker}, z-scores", "pronto", downtime, {"tracker": tracker, **scores})
        equal = {"weights": "equal", **scores}
        yield Candidate("pronto fpca, z-scores, equal weights", "pronto", downtime, equal)
        yield Candidate("forewarn", "forewarn", downtime, at)


def signal(
    registry: Registry, candidate: Candidate, node: Node, within: int, rng: np.random.Generator
) -> Bools:
    """(t,) what a candidate answers over a node's telemetry, True where it rejects.

    Parameters
    ----------
    registry
        Of admission's policies.
    candidate, node
        Who, and where.
    within
        Onsets are to be foreseen by so many steps.
    rng
        For policies that draw.
    """
    wanted = inspect.signature(registry.find(candidate.policy)).parameters
    offered = {"dim": node.metrics.shape[1], "spike": node.told, "within": within}
    known = {name: value for name, value in offered.items() if name in wanted}
    policy = registry.make(candidate.policy, rng, **{**known, **candidate.parameters})
    busy = np.full(len(node.ready), np.nan) if node.busy is None else np.clip(node.busy, 0.0, 1.0)
    ready = np.maximum(node.ready, 0.0)
    return np.array(
        [
            policy.decide(AdmitView(float(step), row, float(busy[step]), float(ready[step]))).reject
            for step, row in enumerate(node.metrics)
        ],
        np.bool_,
    )


def judge(
    registry: Registry,
    candidate: Candidate,
    nodes: Sequence[Node],
    rng: np.random.Generator,
    *,
    within: int = 10,
    apart: int = 5,
    blocks: int = 20,
) -> Judged:
    """What a candidate foresees on some nodes, taken one after the other.

    Parameters
    ----------
    registry
        Of admission's policies.
    candidate, nodes
        Who, and where.
    rng
        For policies that draw, and for the intervals.
    within, apart
        An onset is to be foreseen by so many steps, and has so many steps without a spike before.
    blocks
        Of a node's time, for the intervals.

    Raises
    ------
    InputError
        There are no nodes, or a policy refuses its parameters.

    Examples
    --------
    >>> from windlass.admit import POLICIES
    >>> ready = np.tile([0.0] * 18 + [1.0] * 2, 20)
    >>> node = Node(np.zeros((400, 2)), ready, 0.5, 0.5, warm=40)
    >>> found = judge(POLICIES, Candidate("always down", "never", 1.0), [node], np.random.default_rng(1))
    >>> found.quality.onsets, found.quality.recall, found.quality.downtime
    (18, 1.0, 1.0)
    """
    if not nodes:
        raise InputError("there are no nodes to judge on")
    whole("blocks", blocks, 2)
    ups, spikes = [], []
    for node in nodes:
        ups.append(signal(registry, candidate, node, within, rng)[node.warm :])
        spikes.append(onsets(node.ready, node.level, apart)[node.warm :])
    up, spike = np.concatenate(ups), np.concatenate(spikes)
    return Judged(
        candidate,
        quality(up, spike, within),
        intervals(up, spike, within, rng, blocks=blocks * len(nodes)),
        tuple(quality(*pair, within) for pair in zip(ups, spikes, strict=True)),
    )
