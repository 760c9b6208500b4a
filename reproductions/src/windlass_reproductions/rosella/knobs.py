"""The policies that are compared with ``pull``, with parameters chosen in the settings of the design.

``python -m windlass_reproductions.rosella.knobs --recorded REQUESTS.csv`` runs each policy with several parameters in
the settings of the design seed, and keeps those with the least geometric mean of the mean response. It then prints in
how many of the judged settings ``pull`` meets its targets, against the defaults and against the chosen parameters too.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.llm import read_llm
from windlass_reproductions.rosella.cells import Cell, Contender, Response, response
from windlass_reproductions.rosella.judged import DESIGN, JUDGED, MEAN, OURS, P99, RIVALS, cells_of

Floats = NDArray[np.float64]

_MEMORIES = (("memory", 10.0),), (("memory", 200.0),)
#: Parameters to try in addition to the defaults, by policy.
TRIED: dict[str, tuple[tuple[tuple[str, float | bool], ...], ...]] = {
    "prequal": ((("probes", 6),), (("hot", 0.5),), (("max_age", 10.0),), *_MEMORIES),
    "fastest-idle": _MEMORIES,
    "weighted-least-request": _MEMORIES,
    "ll": ((("probes", 4),), (("probes", 8),), *_MEMORIES),
    "rosella": ((("probes", 4),), (("probes", 8),)),
    "sparrow": ((("probes", 3),), (("probes", 5),)),
    "eps-greedy": (
        (("epsilon", 0.02),),
        (("epsilon", 0.0), ("memory", 10.0)),
        (("epsilon", 0.0), ("memory", 200.0)),
    ),
}


@dataclass(frozen=True, slots=True)
class Counts:
    """In how many settings the mean and the 99th percentile of ``pull`` are within the targets, of how many."""

    mean: int
    p99: int
    cells: int


def _score(contender: Contender, cells: Sequence[Cell], tasks: int, seeds: int, recorded: Floats) -> float:
    """Return the mean logarithm of the mean response."""
    means = [
        np.mean([response(contender, cell, tasks, seed, recorded).mean for seed in range(1, seeds + 1)])
        for cell in cells
    ]
    return float(np.log(means).mean())


def chosen(cells: Sequence[Cell], tasks: int, seeds: int, recorded: Floats) -> list[Contender]:
    """Return the policies whose best parameters in these settings are not their defaults, with the parameters."""
    found = []
    for policy, tried in TRIED.items():
        variants = [Contender(policy, policy)]
        for parameters in tried:
            words = ", ".join(f"{name} {value:g}" for name, value in parameters)
            variants.append(Contender(f"{policy} ({words})", policy, parameters))
        scores = [_score(variant, cells, tasks, seeds, recorded) for variant in variants]
        best = int(np.argmin(scores))
        if best > 0:
            found.append(variants[best])
            gain = 1.0 - np.exp(scores[best] - scores[0])
            print(f"{variants[best].label}: {gain:.1%} less than with its defaults", flush=True)
    return found


def _least(found: Iterable[Sequence[Response]]) -> tuple[float, float]:
    """Return the least mean and the least 99th percentile of several policies, each a mean over seeds."""
    means = [(np.mean([one.mean for one in each]), np.mean([one.p99 for one in each])) for each in found]
    return float(min(mean for mean, _ in means)), float(min(p99 for _, p99 in means))


def counts(
    cells: Sequence[Cell], others: Sequence[Sequence[Contender]], tasks: int, seeds: int, recorded: Floats
) -> list[Counts]:
    """Return the counts against the first group of other policies, against the first two, and so on."""
    met = np.zeros((len(others), 2), np.int64)
    for cell in cells:

        def run(contender: Contender, cell: Cell = cell) -> list[Response]:
            return [response(contender, cell, tasks, seed, recorded) for seed in range(1, seeds + 1)]

        mean, p99 = _least([run(OURS)])
        least = np.inf, np.inf
        for group, contenders in enumerate(others):
            own = _least([run(each) for each in contenders]) if contenders else (np.inf, np.inf)
            least = min(least[0], own[0]), min(least[1], own[1])
            met[group] += mean <= MEAN * least[0], p99 <= P99 * least[1]
    return [Counts(int(mean), int(p99), len(cells)) for mean, p99 in met]


def main(words: list[str] | None = None) -> None:
    """Print the chosen parameters and the counts."""
    parser = argparse.ArgumentParser(prog="python -m windlass_reproductions.rosella.knobs")
    parser.add_argument("--recorded", type=Path, nargs="+", required=True, help="logs of requests")
    parser.add_argument("--design", type=int, default=30, help="settings of the design")
    parser.add_argument("--cells", type=int, default=80, help="judged settings")
    parser.add_argument("--seeds", type=int, default=3, help="seeds per setting")
    parser.add_argument("--tasks", type=int, default=20_000, help="tasks per run")
    options = parser.parse_args(words)
    recorded = np.concatenate([read_llm(path).work() for path in options.recorded])
    tuned = chosen(cells_of(DESIGN, options.design), options.tasks, options.seeds, recorded)
    judged = cells_of(JUDGED, options.cells)
    found = counts(judged, (RIVALS, tuned), options.tasks, options.seeds, recorded)
    for each, name in zip(found, ("defaults", "defaults and chosen parameters"), strict=True):
        print(f"{name}: mean within 5 % in {each.mean} of {each.cells}, p99 within 10 % in {each.p99}")


if __name__ == "__main__":
    main()
