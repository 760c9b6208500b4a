"""Growth of the longest queue with the number of workers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.dispatching import simulate
from windlass.report.pictures import Line, Picture
from windlass_reproductions.criteria import above, below, over
from windlass_reproductions.reproduction import Reproduction, Row

_LOAD = 0.9
_SPAN = 300.0
#: Tolerance of one task, the smallest step of a queue.
_SLACK = 1.0


def fit(law: NDArray[np.float64], longest: NDArray[np.float64]) -> tuple[float, float, float]:
    """Fit a + b·law by least squares; return a, b and the share of the variance explained."""
    design = np.column_stack((np.ones(len(law)), law))
    (a, b), *_ = np.linalg.lstsq(design, longest, rcond=None)
    rest = longest - design @ np.array([a, b])
    return float(a), float(b), float(1 - rest.var() / longest.var()) if longest.var() > 0 else 1.0


def growth(quick: bool) -> Reproduction:
    """Check that the longest queue grows as log n under PSS and as log log n under PPoT.

    The load is 0.9, with nine workers of rate 1 for each of rate 6.
    """
    sizes = np.array(
        [10, 30, 100, 300, 1000, 3000] if quick else [10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000]
    )
    # With few workers the longest queue varies much between seeds; only the largest clusters take long to simulate.
    seeds = range(1, 9 if quick else 7)
    found = {
        policy: np.array([[_longest(policy, int(n), seed) for n in sizes] for seed in seeds])
        for policy in ("pss", "ppot")
    }
    lines = [Line(policy, sizes.tolist(), longest.mean(axis=0).tolist()) for policy, longest in found.items()]
    rows = growth_rows(sizes, found["pss"], found["ppot"])
    picture = Picture(
        "growth",
        "Longest queue against the number of workers",
        "workers",
        "tasks at the longest queue",
        tuple(lines),
        "On this axis log n is a straight line (PSS); PPoT hardly grows.",
        log_x=True,
    )
    return Reproduction(rows, (picture,))


def growth_rows(
    sizes: NDArray[np.int64], pss: NDArray[np.float64], ppot: NDArray[np.float64]
) -> tuple[Row, ...]:
    """Return the rows on whether longest queues, (s, k) tasks by seed and number of workers, grow as the laws allow."""
    rise = np.log(sizes[-1] / sizes[0])
    # PSS makes independent M/M/1 queues: the longest of n has the length k with ρ^k = 1/n. Two choices give
    # log log n / log 2.
    laws = (
        ("pss", "O(log n)", pss, rise / -np.log(_LOAD), "log n / log (1/ρ)"),
        (
            "ppot",
            "O(log log n)",
            ppot,
            np.log(np.log(sizes[-1]) / np.log(sizes[0])) / np.log(2),
            "log log n / log 2",
        ),
    )
    rows = []
    for policy, published, longest, allowed, law in laws:
        means = longest.mean(axis=0)
        log, loglog = fit(np.log(sizes), means), fit(np.log(np.log(sizes)), means)
        rows.append(
            Row.by(
                f"longest queue against n = {sizes[0]} … {sizes[-1]:,}, load {_LOAD}: {policy}",
                published,
                f"{log[0]:.2f} + {log[1]:.2f} log n (R² {log[2]:.3f}); "
                f"{loglog[0]:.2f} + {loglog[1]:.2f} log log n (R² {loglog[2]:.3f})",
                below(
                    [over(longest[:, -1] - longest[:, 0])],
                    float(allowed) + _SLACK,
                    rule=f"holds if from the fewest to the most workers it grows by at most the growth of {law}, "
                    f"{allowed:.1f}, plus {_SLACK:g} task for the O(1) (95 % interval over seeds)",
                ),
                f"longest queue at an instant, mean over the second half of {_SPAN:g} s from an empty start and over "
                f"{len(longest)} seeds: {', '.join(f'{mean:.1f}' for mean in means)}",
            )
        )
    slopes = [np.polyfit(np.log(sizes), longest.T, 1)[0] for longest in (pss, ppot)]
    rows.append(
        Row.by(
            "the same: growth per e-fold of n, PSS and PPoT",
            "PSS grows faster",
            f"{slopes[0].mean():.2f}, {slopes[1].mean():.2f}",
            above(
                [over(slopes[0] - slopes[1])],
                rule="holds if it does significantly (95 % interval over seeds)",
            ),
        )
    )
    return tuple(rows)


def _longest(policy: str, workers: int, seed: int) -> float:
    fast = max(1, workers // 10)
    speeds = np.array([1.0] * (workers - fast) + [6.0] * fast)
    tasks = int(_LOAD * speeds.sum() * _SPAN)
    done = simulate(policy, speeds, _LOAD, tasks, seed=seed, samples=200)
    return float(done.longest[len(done.longest) // 2 :].mean())
