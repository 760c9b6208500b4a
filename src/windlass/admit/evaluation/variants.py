"""The variant of Pronto that does best on earlier telemetry, over the parameters that the paper leaves open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from windlass.admit.evaluation.candidates import BETWEEN, TUNED, CandidateRole, PolicyCandidate
from windlass.admit.evaluation.judging import judge
from windlass.admit.evaluation.node import NodeTelemetry
from windlass.policy.registry import Registry

#: Values tried: weights of projections, lags of the spike detector (steps), and memory of the scaling (steps).
WEIGHTS, LAGS, MEMORIES = ("raw", "equal"), (5, 10, 20, 40), (100.0, 1000.0)
#: Smallest number of onsets on which a variant is chosen.
FEW = 5


def variants(downtime: float) -> list[PolicyCandidate]:
    """Return all variants tried at a downtime.

    >>> len(variants(0.05)), variants(0.05)[0].label
    (32, 'pronto, lag 5, raw weights, memory 100')
    """
    return [
        PolicyCandidate(
            f"pronto, lag {lag}, {weights} weights, memory {memory:.0f}" + (BETWEEN if between else ""),
            "pronto",
            downtime,
            {
                "signal": "scores", "forget": 0.99, "downtime": downtime, "weights": weights, "lag": lag,
                "memory": memory, "between": between,
            },
            CandidateRole.PRONTO,
        )
        for weights, lag, memory, between in product(WEIGHTS, LAGS, MEMORIES, (False, True))
    ]  # fmt: skip


def tuned(
    registry: Registry,
    nodes: Sequence[NodeTelemetry],
    downtime: float,
    rng: np.random.Generator,
    *,
    within: int = 10,
    apart: int = 5,
    notify: Callable[[float], None] = lambda share: None,
) -> PolicyCandidate | None:
    """Return the variant with the most recall above chance on the warm-up parts of the nodes.

    Parameters
    ----------
    registry, nodes, rng, within, apart
        See :func:`~windlass.admit.evaluation.judging.judge`.
    downtime
        Share of steps at which the policy may reject.
    notify
        Called with the share of variants that is done.

    Returns
    -------
    PolicyCandidate or None
        None if there are too few onsets to choose by.
    """
    parts = _distinct([part for part in (node.warm_up_part() for node in nodes) if part is not None])
    if sum(int(part.onsets(apart).sum()) for part in parts) < FEW:
        return None
    gains: list[tuple[float, PolicyCandidate]] = []
    listed = variants(downtime)
    for place, candidate in enumerate(listed):
        notify(place / len(listed))
        found = judge(registry, candidate, parts, rng, within=within, apart=apart).quality
        gains.append((found.recall - found.by_chance, candidate))
    chosen = max(gains, key=lambda each: each[0])[1]
    return replace(chosen, label=TUNED)


def _distinct(parts: Sequence[NodeTelemetry]) -> list[NodeTelemetry]:
    """Return the distinct parts: recordings that follow the same earlier telemetry have the same part."""
    kept: list[NodeTelemetry] = []
    for part in parts:
        if not any(_same(part, other) for other in kept):
            kept.append(part)
    return kept


def _same(one: NodeTelemetry, other: NodeTelemetry) -> bool:
    alike = one.level == other.level and np.array_equal(one.ready, other.ready, equal_nan=True)
    return alike and np.array_equal(one.metrics, other.metrics, equal_nan=True)
