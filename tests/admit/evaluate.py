"""``python -m tests.admit.evaluate``: what signals foresee at 5 and 10 % downtime, on drawn and on recorded telemetry.

None of the recordings has CPU Ready. What stands for it is the first metric of a machine of the Server Machine Dataset,
and the CPU usage of a machine of Bitbrains; both are among the metrics that a policy sees, as CPU Ready would be.
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tests.admit.cases import TRACES
from windlass.admit import POLICIES, AdmitView
from windlass.admit.measure import Intervals, Quality, intervals, onsets, quality

WITHIN, APART, WARM = 10, 5, 2016


@dataclass(frozen=True, slots=True)
class Node:
    """Metrics (t, d), what stands for CPU Ready (t,), and from which value on that is a spike."""

    metrics: np.ndarray
    ready: np.ndarray
    level: float


def drawn(seed: int, steps: int = 12000, dim: int = 60, warns: bool = True) -> Node:
    """A node in bursts. If it ``warns``, memory pressure and disk reads rise some steps before tasks wait for cores."""
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
    return Node(metrics, np.maximum(ready + 0.02 * np.abs(rng.normal(size=steps)), 0.0), 0.2)


def level_of(before: np.ndarray) -> float:
    """The 95th percentile of an earlier time; where most values are alike, the least above them."""
    high = float(np.percentile(before, 95))
    return high if high > before.min() else float(np.nextafter(high, np.inf))


def smd(part: str) -> list[Node]:
    """Machines of the Server Machine Dataset, ``train`` or ``test``; what a spike is, ``train`` says."""
    found = []
    for path in sorted((TRACES / "smd").glob("*.npz")):
        both = np.load(path)
        values = both[part].astype(np.float64)
        found.append(Node(values, values[:, 0], level_of(both["train"][:, 0].astype(np.float64))))
    return found


def bitbrains(chosen: range) -> list[Node]:
    """Machines of Bitbrains by their number; five minutes a step. What a spike is, the first week says."""
    found = []
    for number in chosen:
        with gzip.open(TRACES / "bitbrains" / f"{number}.csv.gz", "rt") as text:
            rows = list(csv.reader(text, delimiter=";"))[1:]
        values = np.array([[float(value) for value in row] for row in rows])
        if values[:, 4].std() > 0.0:
            found.append(Node(values[:, 1:], values[:, 4] / 100.0, level_of(values[:2016, 4] / 100.0)))
    return found


def signal(name: str, node: Node, parameters: dict[str, object]) -> np.ndarray:
    """What a policy answers over a node's life."""
    given = {"dim": node.metrics.shape[1], **parameters} if name in ("pronto", "forewarn") else parameters
    if name == "forewarn":
        given = {"spike": node.level, **given}
    policy = POLICIES.make(name, np.random.default_rng(1), **given)
    pairs = zip(node.metrics, node.ready, strict=True)
    return np.array(
        [policy.decide(AdmitView(0.0, row, ready=max(0.0, ready))).reject for row, ready in pairs]
    )


def judged(nodes: list[Node], name: str, parameters: dict[str, object]) -> tuple[Quality, Intervals]:
    """All nodes one after the other, without the time in which policies begin."""
    ups, spikes = [], []
    for node in nodes:
        found = onsets(node.ready, node.level, APART)
        ups.append(signal(name, node, parameters)[WARM:])
        spikes.append(found[WARM:])
    up, spike = np.concatenate(ups), np.concatenate(spikes)
    return quality(up, spike, WITHIN), intervals(
        up, spike, WITHIN, np.random.default_rng(1), blocks=20 * len(nodes)
    )


def candidates(downtime: float) -> Iterator[tuple[str, str, dict[str, object]]]:
    """A label, a policy, and its parameters at a downtime."""
    yield "random", "random", {"downtime": downtime}
    yield "ready", "ready", {"downtime": downtime}
    yield "alarm smoothing", "alarm", {"series": "values", "downtime": downtime}
    for weights in ("raw", "equal"):
        for tracker in ("fpca", "spirit", "directions", "power") if weights == "raw" else ("fpca",):
            label = f"pronto {tracker} {weights} z-scores"
            yield (
                label,
                "pronto",
                {
                    "tracker": tracker,
                    "weights": weights,
                    "signal": "scores",
                    "forget": 0.99,
                    "downtime": downtime,
                },
            )
    yield "forewarn", "forewarn", {"downtime": downtime}


SETS: dict[str, Callable[[], list[Node]]] = {
    "drawn, warns": lambda: [drawn(seed) for seed in range(100, 104)],
    "drawn, no warning": lambda: [drawn(seed, warns=False) for seed in range(100, 104)],
    "smd train": lambda: smd("train"),
    "smd test": lambda: smd("test"),
    "bitbrains 1-8": lambda: bitbrains(range(1, 9)),
    "bitbrains 9-16": lambda: bitbrains(range(9, 17)),
}


def main(names: list[str]) -> None:
    """Print a table for each set that is named; all without a name."""
    print(
        "| set | policy | onsets | downtime | recall | chance | shifted | over shifted "
        "| ahead / downtime | precision | lead |"
    )
    for name in names or SETS:
        nodes = SETS[name]()
        asked = [("pronto as printed", "pronto", {})]
        for label, policy, parameters in [*asked, *candidates(0.05), *candidates(0.10)]:
            found, sure = judged(nodes, policy, parameters)
            print(
                f"| {name} | {label} | {found.onsets} | {found.downtime:.3f} "
                f"| {found.recall:.2f} ({sure.recall[0]:.2f}–{sure.recall[1]:.2f}) | {found.by_chance:.2f} "
                f"| {found.shifted:.2f} | {sure.over_shifted[0]:+.2f} to {sure.over_shifted[1]:+.2f} "
                f"| {found.ahead / found.downtime:.2f} ({sure.lift[0]:.2f}–{sure.lift[1]:.2f}) "
                f"| {found.precision:.2f} | {found.lead:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
