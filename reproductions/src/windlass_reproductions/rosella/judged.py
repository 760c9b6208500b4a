"""``pull`` in drawn settings, compared with the best other policy of each: mean and 99th percentile.

``python -m windlass_reproductions.rosella.judged --recorded REQUESTS.csv`` prints a row per cell. The cells of seed
34001 were used to design the policy; those of the default seed were first run when it was final.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.llm import read_llm
from windlass_reproductions.criteria import Within, over
from windlass_reproductions.rosella.cells import Cell, Contender, Response, draw_cells, response

Floats = NDArray[np.float64]

DESIGN, JUDGED = 34001, 20261127
#: As many cells of the first seed were used.
_DESIGNED = 150
OURS = Contender("pull", "pull")
#: Policies that do not know the speeds of workers.
RIVALS = (
    *(
        Contender(name, name)
        for name in (
            "prequal",
            "jiq",
            "fastest-idle",
            "weighted-least-request",
            "least-outstanding",
            "jsq",
            "ll",
            "rosella",
            "sparrow",
            "eps-greedy",
            "peak-ewma",
        )
    ),
    Contender("SED on learned rates", "eps-greedy", (("epsilon", 0.0),)),
    Contender("pull, at once", "pull", (("late", False),)),
)
#: Targets: the most that ``pull`` takes, over the best other policy, in the mean and in the 99th percentile.
MEAN, P99 = 1.05, 1.10


@dataclass(frozen=True, slots=True)
class Compared:
    """A measure of ``pull`` and of the best other policy, each (s,) by seed, s, and the target for their ratio."""

    ours: Floats
    best: Floats
    best_policy: str
    target: float

    @property
    def ratio(self) -> float:
        """The mean over seeds of ours, over that of the best."""
        return float(self.ours.mean() / self.best.mean())

    @property
    def half(self) -> float:
        """Half the width of the 95 % interval of the ratio, from the differences by seed."""
        return over(self.ours - self.ratio * self.best).half / float(self.best.mean())

    @property
    def holds(self) -> bool | None:
        """Whether the ratio is within the target; None if the interval over seeds includes both.

        >>> best = np.array([1.0, 1.1, 0.9, 1.0])
        >>> [Compared(share * best, best, "jsq", 1.05).holds for share in (1.0, 1.2)]
        [True, False]
        >>> Compared(np.array([0.5, 1.5, 1.5, 0.5]), best, "jsq", 1.05).holds is None
        True
        """
        return Within(over(self.ours - self.target * self.best), high=0.0).holds

    def words(self) -> str:
        """Return the comparison as columns of a row of Markdown."""
        close = {True: "yes", False: "no", None: "open"}[self.holds]
        best = f"`{self.best_policy}` {self.best.mean():.3g}"
        return f"{best} | {self.ours.mean():.3g} | {self.ratio:.2f} ± {self.half:.2f} | {close}"


@dataclass(frozen=True, slots=True)
class Row:
    """A cell with both comparisons."""

    cell: Cell
    mean: Compared
    p99: Compared

    def words(self) -> str:
        """Return a row of Markdown."""
        return f"| {self.cell.words()} | {self.mean.words()} | {self.p99.words()} |"


def _compared(ours: Floats, others: dict[str, Floats], target: float) -> Compared:
    best = min(others, key=lambda label: float(others[label].mean()))
    return Compared(ours, others[best], best, target)


def cells_of(seed: int, count: int) -> list[Cell]:
    """Draw cells, and leave out those that were used to design the policy, unless the seed is that of the design."""
    drawn = draw_cells(seed, count)
    known = set() if seed == DESIGN else set(draw_cells(DESIGN, _DESIGNED))
    return [cell for cell in drawn if cell not in known]


def row(cell: Cell, tasks: int, seeds: int, recorded: Floats) -> Row:
    """Run all policies in one cell on the same workloads."""

    def of(contender: Contender) -> list[Response]:
        return [response(contender, cell, tasks, seed, recorded) for seed in range(1, seeds + 1)]

    ours, others = of(OURS), {rival.label: of(rival) for rival in RIVALS}
    return Row(
        cell,
        _compared(
            np.array([one.mean for one in ours]),
            {label: np.array([one.mean for one in found]) for label, found in others.items()},
            MEAN,
        ),
        _compared(
            np.array([one.p99 for one in ours]),
            {label: np.array([one.p99 for one in found]) for label, found in others.items()},
            P99,
        ),
    )


def rows(cells: Sequence[Cell], tasks: int, seeds: int, recorded: Floats, jobs: int) -> Iterator[Row]:
    """Yield a row per cell, in order; ``jobs`` cells run at once in processes, or in this process if 1."""
    run = partial(row, tasks=tasks, seeds=seeds, recorded=recorded)
    if jobs == 1:
        yield from map(run, cells)
    else:
        with ProcessPoolExecutor(jobs) as pool:
            yield from pool.map(run, cells)


def summary(name: str, found: Sequence[Compared]) -> str:
    """Return in how many cells a target is met, the geometric mean of all ratios, and the extremes."""
    ratios = np.array([each.ratio for each in found])
    counts = ", ".join(
        f"{sum(each.holds is held for each in found)} {word}"
        for held, word in ((True, "yes"), (None, "open"), (False, "no"))
    )
    spread = f"{ratios.min():.2f} to {ratios.max():.2f}"
    return f"{name}: {counts}; ratio {np.exp(np.log(ratios).mean()):.3f} (geometric mean), {spread}"


def main(words: list[str] | None = None) -> None:
    """Print the table, row by row, and a summary."""
    parser = argparse.ArgumentParser(prog="python -m windlass_reproductions.rosella.judged")
    parser.add_argument(
        "--recorded", type=Path, nargs="+", help="logs of requests; without, their cells are left out"
    )
    parser.add_argument("--cells", type=int, default=80, help="cells to draw")
    parser.add_argument("--seed", type=int, default=JUDGED, help="draws the cells")
    parser.add_argument("--seeds", type=int, default=10, help="seeds per cell, at least 2")
    parser.add_argument("--tasks", type=int, default=60_000, help="tasks per run")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args(words)
    recorded = np.concatenate([read_llm(path).work() for path in options.recorded or ()] or [np.zeros(0)])
    cells = cells_of(options.seed, options.cells)
    cells = [cell for cell in cells if len(recorded) or cell.sizes != "recorded"]
    print("| sizes | speeds | workers | load | tasks a job | schedulers | more |", end="")
    print(" best mean, s | `pull`, s | ratio | within 5 % | best p99, s | `pull`, s | ratio | within 10 % |")
    print("|---" * 15 + "|")
    found = []
    for each in rows(cells, options.tasks, options.seeds, recorded, options.jobs):
        found.append(each)
        print(each.words(), flush=True)
    print(summary("\nmean", [each.mean for each in found]))
    print(summary("p99", [each.p99 for each in found]))


if __name__ == "__main__":
    main()
