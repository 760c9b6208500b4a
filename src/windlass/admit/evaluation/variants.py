"""The variant of Pronto that does best on what came before: what the paper leaves open is chosen there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from windlass.admit.evaluation.candidates import TUNED, CandidateRole, PolicyCandidate
from windlass.admit.evaluation.judging import judge
from windlass.admit.evaluation.node import NodeTelemetry
from windlass.policy.registry import Registry

#: What is tried: how projections are weighed, and over how many steps spikes and the scale of a metric are told.
WEIGHTS, LAGS, MEMORIES = ("raw", "equal"), (5, 10, 20, 40), (100.0, 1000.0)
#: Of fewer onsets nothing is chosen.
FEW = 5


def variants(downtime: float) -> list[PolicyCandidate]:
    """All that are tried at a downtime.

    >>> len(variants(0.05)), variants(0.05)[0].label
    (16, 'pronto, lag 5, raw weights, memory 100')
    """
    return [
        PolicyCandidate(
            f"pronto, lag {lag}, {weights} weights, memory {memory:.0f}",
            "pronto",
            downtime,
            {
                "signal": "scores", "forget": 0.99, "downtime": downtime, "weights": weights, "lag": lag,
                "memory": memory,
            },
            CandidateRole.PRONTO,
        )
        for weights, lag, memory in product(WEIGHTS, LAGS, MEMORIES)
    ]  # fmt: skip


def tuned(
    registry: Registry,
    nodes: Sequence[NodeTelemetry],
    downtime: float,
    rng: np.random.Generator,
    *,
    within: int = 10,
    apart: int = 5,
    tell: Callable[[float], None] = lambda share: None,
) -> PolicyCandidate | None:
    """The variant with the most recall above chance on what nodes are known of before they are judged.

    Parameters
    ----------
    registry, nodes, rng, within, apart
        As of :func:`~windlass.admit.evaluation.judging.judge`.
    downtime
        Share of steps.
    tell
        Told the share that is done.

    Returns
    -------
    PolicyCandidate or None
        None where there were too few onsets to choose by.
    """
    parts = _distinct([part for part in (node.begun() for node in nodes) if part is not None])
    if sum(int(part.onsets(apart).sum()) for part in parts) < FEW:
        return None
    gains: list[tuple[float, PolicyCandidate]] = []
    listed = variants(downtime)
    for place, candidate in enumerate(listed):
        tell(place / len(listed))
        found = judge(registry, candidate, parts, rng, within=within, apart=apart).quality
        gains.append((found.recall - found.by_chance, candidate))
    chosen = max(gains, key=lambda each: each[0])[1]
    return replace(chosen, label=TUNED)


def _distinct(parts: Sequence[NodeTelemetry]) -> list[NodeTelemetry]:
    """Those that differ: of recordings after the same one, that one is known once."""
    kept: list[NodeTelemetry] = []
    for part in parts:
        if not any(_same(part, other) for other in kept):
            kept.append(part)
    return kept


def _same(one: NodeTelemetry, other: NodeTelemetry) -> bool:
    alike = one.level == other.level and np.array_equal(one.ready, other.ready, equal_nan=True)
    return alike and np.array_equal(one.metrics, other.metrics, equal_nan=True)
