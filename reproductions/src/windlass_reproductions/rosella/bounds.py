"""The cells in which ``pull`` misses a target, compared with lower bounds and with policies that know more.

``python -m windlass_reproductions.rosella.bounds --recorded REQUESTS.csv`` prints a row per cell and measure.

No policy has a response below the bound, which knows the speeds. It is the largest of three:

- *chain*, for exponential sizes and Poisson arrivals: the mean number of tasks if n tasks always run on the n fastest
  workers, and change workers at no cost. No policy that does not know the sizes has fewer.
- *work*: the mean duration if the fastest workers are always busy, and nothing ever waits.
- *alone*: the response of each job if it had all workers for itself.

The columns after it have ``pull`` with a free fetch, ``pull`` that sends at once, and the shortest expected delay that
knows the true speeds, with one scheduler that sees the queues at once. None of them is a bound.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.llm import read_llm
from windlass_reproductions.rosella.cells import SPEEDS, Cell, Contender, Response, response, sizes_of
from windlass_reproductions.rosella.judged import JUDGED, OURS, RIVALS, cells_of

Floats = NDArray[np.float64]

#: Cells of the default seed with a missed target, from 0 in the order of docs/results-dispatch-drawn.md: the mean,
#: and the 99th percentile.
MISSED = {
    8: (True, False), 13: (True, True), 16: (True, False), 21: (True, True), 26: (True, True),
    32: (True, True), 37: (True, False), 40: (True, True), 58: (False, True), 62: (True, False),
}  # fmt: skip
_NEGLIGIBLE = 1e-13
_TAIL = 0.01
_ORACLE = Contender("SED, known speeds", "sed")


@dataclass(frozen=True, slots=True)
class Bound:
    """A lower bound of the response of jobs, s, and the name of the argument behind it."""

    seconds: float
    name: str


def chain_mean(speeds: Floats, load: float, per_job: int) -> float:
    """Return the mean response of tasks of mean work 1 if n of them always run on the n fastest workers, s.

    Parameters
    ----------
    speeds
        Speeds of workers, work/s.
    load
        Arriving work over the rate of all workers, below 1.
    per_job
        Tasks that arrive together.

    Examples
    --------
    >>> round(chain_mean(np.array([2.0]), 0.5, 1), 6)
    1.0
    """
    rates = np.cumsum(np.sort(speeds)[::-1])
    jobs_per_second = load * float(rates[-1]) / per_job
    chances, total, tasks, count = [1.0], 1.0, 0.0, 0
    while chances[-1] > _NEGLIGIBLE * total or count < len(rates):
        count += 1
        # The flow up past this number equals the flow down.
        upward = jobs_per_second * sum(chances[-per_job:])
        chances.append(upward / float(rates[min(count, len(rates)) - 1]))
        total += chances[-1]
        tasks += count * chances[-1]
    return tasks / total / (jobs_per_second * per_job)


def work_mean(speeds: Floats, load: float, mean_work: float) -> float:
    """Return the mean duration of tasks if the fastest workers do all the work that they can, s.

    Examples
    --------
    >>> work_mean(np.array([1.0, 2.0]), 2 / 3, 4.0), work_mean(np.array([1.0, 2.0]), 1.0, 3.0)
    (2.0, 2.0)
    """
    fastest = np.sort(speeds)[::-1]
    shares = np.clip(load * fastest.sum() - np.cumsum(fastest) + fastest, 0.0, fastest) / (
        load * fastest.sum()
    )
    return float(mean_work * (shares / fastest).sum())


def alone(speeds: Floats, sizes: Floats) -> Floats:
    """Return the least response of jobs that have all workers for themselves, s; ``sizes`` is (jobs, tasks).

    Examples
    --------
    >>> alone(np.array([1.0, 2.0]), np.array([[2.0, 2.0], [1.0, 5.0]])).tolist()
    [1.3333333333333333, 2.5]
    """
    fastest = np.sort(speeds)[::-1]
    together = float(fastest[: sizes.shape[1]].sum())
    found: Floats = np.maximum(sizes.max(axis=1) / fastest[0], sizes.sum(axis=1) / together)
    return found


def mean_bound(cell: Cell, sizes: Floats) -> Bound:
    """Return the largest bound of the mean response in a cell whose tasks have these sizes."""
    speeds = SPEEDS[cell.speeds](cell.workers)
    found = [
        # A job ends no earlier than its mean task.
        Bound(work_mean(speeds, cell.load, float(sizes.mean())), "work"),
        Bound(float(alone(speeds, sizes.reshape(-1, cell.per_job)).mean()), "alone"),
    ]
    if cell.sizes == "exponential" and not cell.bursts:
        found.append(Bound(chain_mean(speeds, cell.load, cell.per_job), "chain"))
    return max(found, key=lambda bound: bound.seconds)


def tail_bound(cell: Cell, sizes: Floats) -> Bound:
    """Return the largest bound of the 99th percentile of the response in a cell."""
    speeds = np.sort(SPEEDS[cell.speeds](cell.workers))[::-1]
    of_jobs = alone(speeds, sizes.reshape(-1, cell.per_job))
    found = [Bound(float(np.percentile(of_jobs, 100.0 * (1.0 - _TAIL))), "alone")]
    if cell.sizes == "fixed":
        # Workers that are faster cannot run 99 % of the tasks, so more than 1 % of jobs have a task on this one.
        done = np.cumsum(speeds) / (cell.load * speeds.sum())
        slowest = speeds[min(int(np.searchsorted(done, 1.0 - _TAIL)), len(speeds) - 1)]
        found.append(Bound(float(sizes[0] / slowest), "work"))
    return max(found, key=lambda bound: bound.seconds)


def _measured(contender: Contender, cell: Cell, tasks: int, seeds: int, recorded: Floats) -> Response:
    found = [response(contender, cell, tasks, seed, recorded) for seed in range(1, seeds + 1)]
    return Response(float(np.mean([one.mean for one in found])), float(np.mean([one.p99 for one in found])))


def rows(number: int, cell: Cell, tasks: int, seeds: int, recorded: Floats) -> list[str]:
    """Return a row of Markdown for each missed target of a cell."""

    def measured(contender: Contender, where: Cell = cell) -> Response:
        return _measured(contender, where, tasks, seeds, recorded)

    others = {rival.label: measured(rival) for rival in RIVALS}
    ideal = dataclasses.replace(cell, fetch=0.0, lateness=0.0, schedulers=1)
    ours, free = measured(OURS), measured(OURS, dataclasses.replace(cell, fetch=0.0))
    oracle = measured(_ORACLE, ideal)
    whole = tasks // cell.per_job * cell.per_job
    sizes = np.concatenate([sizes_of(cell.sizes, whole, seed, recorded) for seed in range(1, seeds + 1)])
    measures: Sequence[tuple[str, Callable[[Response], float], Callable[[Cell, Floats], Bound]]] = (
        ("mean", lambda one: one.mean, mean_bound),
        ("p99", lambda one: one.p99, tail_bound),
    )
    found = []
    for (name, of, bound_of), missed in zip(measures, MISSED[number], strict=True):
        if missed:
            best, bound = min(others, key=lambda label: of(others[label])), bound_of(cell, sizes)
            least = of(others[best])
            columns = [
                cell.words(),
                name,
                f"`{best}` {least:.3g}",
                f"{of(ours):.3g}",
                f"{of(ours) / least:.2f}",
                f"{bound.seconds:.3g} ({bound.name})",
                f"{least / bound.seconds:.2f}",
                f"{of(ours) / bound.seconds:.2f}",
                f"{of(free) / least:.2f}",
                f"{of(others['pull, at once']) / least:.2f}",
                f"{of(oracle) / least:.2f}",
            ]
            found.append(f"| {' | '.join(columns)} |")
    return found


def main(words: list[str] | None = None) -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(prog="python -m windlass_reproductions.rosella.bounds")
    parser.add_argument("--recorded", type=Path, nargs="+", required=True, help="logs of requests")
    parser.add_argument("--seeds", type=int, default=5, help="seeds per cell")
    parser.add_argument("--tasks", type=int, default=60_000, help="tasks per run")
    options = parser.parse_args(words)
    recorded = np.concatenate([read_llm(path).work() for path in options.recorded])
    print(
        "| sizes | speeds | workers | load | tasks a job | schedulers | more | measure | best, s | `pull`, s | ratio |",
        end="",
    )
    print(
        " bound, s | best / bound | `pull` / bound | free fetch / best | at once / best | known speeds / best |"
    )
    print("|---" * 17 + "|")
    for number, cell in enumerate(cells_of(JUDGED, max(MISSED) + 3)):
        if number in MISSED:
            for line in rows(number, cell, options.tasks, options.seeds, recorded):
                print(line, flush=True)


if __name__ == "__main__":
    main()
