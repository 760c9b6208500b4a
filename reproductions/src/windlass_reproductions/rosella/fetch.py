"""What a fetch costs ``pull``: ``python -m windlass_reproductions.rosella.fetch`` prints a table.

The round trip in which a worker fetches its task is free in the grid of :mod:`windlass_reproductions.rosella.grid`.
Here it takes a share of a mean task, and ``pull`` is compared with the best policy that sends each task at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from windlass.experiment.dispatching import simulate

#: Policies that send each task at once and do not know the speeds of workers.
AT_ONCE = (
    "prequal",
    "jiq",
    "fastest-idle",
    "weighted-least-request",
    "least-outstanding",
    "eps-greedy",
    "rosella",
)
#: Fetch delays, as shares of the mean task on a mean worker.
SHARES = (0.0, 0.01, 0.05, 0.2)
SPEEDS = np.repeat([0.2, 0.5, 1.0, 1.5], 8)


@dataclass(frozen=True, slots=True)
class Response:
    """Mean and 99th percentile of the response, s, as means over seeds."""

    mean: float
    p99: float


@dataclass(frozen=True, slots=True)
class Row:
    """A setting: the best policies that send at once, and ``pull`` over each of them per fetch delay."""

    sizes: str
    load: float
    best_mean: str
    best_p99: str
    mean_ratios: tuple[float, ...]
    p99_ratios: tuple[float, ...]


def response(policy: str, sizes: str, load: float, delay: float, seeds: int, tasks: int) -> Response:
    """Simulate a policy with several seeds.

    >>> response("pull", "fixed", 0.5, 0.5, 1, 500).mean > response("pull", "fixed", 0.5, 0.0, 1, 500).mean
    True
    """
    runs = [
        simulate(policy, SPEEDS, load, tasks, seed, service=sizes, fetch_delay=delay)
        for seed in range(1, seeds + 1)
    ]
    return Response(
        float(np.mean([run.mean for run in runs])), float(np.mean([run.percentile(99.0) for run in runs]))
    )


def rows(seeds: int, tasks: int) -> Iterator[Row]:
    """Yield one row per distribution of sizes and load."""
    mean_task = 1.0 / float(SPEEDS.mean())
    for sizes in ("exponential", "fixed"):
        for load in (0.5, 0.8, 0.9):
            found = {name: response(name, sizes, load, 0.0, seeds, tasks) for name in AT_ONCE}
            first = min(AT_ONCE, key=lambda name: found[name].mean)
            last = min(AT_ONCE, key=lambda name: found[name].p99)
            pulls = [response("pull", sizes, load, share * mean_task, seeds, tasks) for share in SHARES]
            yield Row(
                sizes,
                load,
                first,
                last,
                tuple(pull.mean / found[first].mean for pull in pulls),
                tuple(pull.p99 / found[last].p99 for pull in pulls),
            )


def text(row: Row) -> str:
    """Return a row as Markdown.

    >>> text(Row("fixed", 0.5, "jiq", "rosella", (1.0, 1.25), (1.5, 2.0)))
    '| fixed, 0.5 | `jiq`, `rosella` | 1.00, 1.50 | 1.25, 2.00 |'
    """
    ratios = (f"{mean:.2f}, {p99:.2f}" for mean, p99 in zip(row.mean_ratios, row.p99_ratios, strict=True))
    return f"| {row.sizes}, {row.load} | `{row.best_mean}`, `{row.best_p99}` | {' | '.join(ratios)} |"


def main(words: list[str] | None = None) -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(prog="python -m windlass_reproductions.rosella.fetch")
    parser.add_argument("--seeds", type=int, default=5, help="seeds per setting")
    parser.add_argument("--tasks", type=int, default=100_000, help="tasks per run")
    options = parser.parse_args(words)
    print(f"| sizes, load | best at once: mean, p99 | {' | '.join(f'{share:.0%}' for share in SHARES)} |")
    print(f"|---|---|{'---|' * len(SHARES)}")
    for row in rows(options.seeds, options.tasks):
        print(text(row), flush=True)


if __name__ == "__main__":
    main()
