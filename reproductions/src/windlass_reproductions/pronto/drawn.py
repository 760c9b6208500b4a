"""Randomly drawn nodes with bursts of CPU Ready, with or without metrics that rise before a burst."""

from __future__ import annotations

import numpy as np

from windlass.admit.evaluation import NodeTelemetry

#: Level of CPU Ready that is a spike, and number of steps that policies observe before the evaluation.
LEVEL, WARM = 0.2, 2016


def drawn_node(seed: int, steps: int = 12_000, dim: int = 60, *, warns: bool = True) -> NodeTelemetry:
    """Draw a node; if it warns, a factor of its metrics rises two to seven steps before each burst of CPU Ready.

    Parameters
    ----------
    seed
        Seed of all random draws.
    steps, dim
        Number of steps and of metrics.
    warns
        Whether metrics rise before bursts.

    Examples
    --------
    >>> node = drawn_node(1, steps=3000)
    >>> node.metrics.shape, bool((node.ready > LEVEL).any())
    ((3000, 60), True)
    """
    rng = np.random.default_rng(seed)
    begins = np.flatnonzero(rng.random(steps) < 0.006)
    ready, before, busy = np.zeros(steps), np.zeros(steps), np.zeros(steps)
    for at in begins:
        last, lead = int(rng.integers(4, 15)), int(rng.integers(2, 8))
        ready[at : at + last] += rng.uniform(0.3, 1.0)
        before[max(0, at - lead) : at] = 1.0
    for at in np.flatnonzero(rng.random(steps) < 0.01):
        busy[at : at + int(rng.integers(5, 40))] = rng.uniform(0.5, 1.0)
    daily = 0.5 + 0.5 * np.sin(2 * np.pi * np.arange(steps) / 2880)
    factors = np.column_stack([daily, busy, ready, before * warns])
    mixed = factors @ (rng.normal(size=(4, dim)) * (rng.random((4, dim)) < [[0.8], [0.5], [0.3], [0.15]]))
    metrics = mixed + 0.3 * rng.normal(size=(steps, dim))
    seen = np.maximum(ready + 0.02 * np.abs(rng.normal(size=steps)), 0.0)
    return NodeTelemetry(metrics, seen, LEVEL, LEVEL, min(WARM, steps // 4))
