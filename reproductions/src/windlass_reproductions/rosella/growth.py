"""How the longest queue grows with the number of workers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.dispatching import simulate
from windlass.report.pictures import Line, Picture
from windlass_reproductions.criteria import above, below, over
from windlass_reproductions.reproduction import Reproduction, Row

_LOAD = 0.9
_SPAN = 300.0
#: The least that a queue can grow by.
_SLACK = 1.0


def fit(law: NDArray[np.float64], longest: NDArray[np.float64]) -> tuple[float, float, float]:
    """Least squares a + b·law: a, b and the share of variance explained."""
    design = np.column_stack((np.ones(len(law)), law))
    (a, b), *_ = np.linalg.lstsq(design, longest, rcond=None)
    rest = longest - design @ np.array([a, b])
    return float(a), float(b), float(1 - rest.var() / longest.var()) if longest.var() > 0 else 1.0


def growth(quick: bool) -> Reproduction:
    """PSS like log n, PPoT like log log n, at load 0.9 on nine workers of rate 1 to one of rate 6."""
    sizes = np.array(
        [10, 30, 100, 300, 1000, 3000] if quick else [10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000]
    )
    # Of few workers the longest queue differs much from seed to seed; only the largest clusters take long.
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
        "Straight on this axis is log n (PSS); PPoT hardly grows.",
        log_x=True,
    )
    return Reproduction(rows, (picture,))


def growth_rows(
    sizes: NDArray[np.int64], pss: NDArray[np.float64], ppot: NDArray[np.float64]
) -> tuple[Row, ...]:
    """Whether longest queues grow as the laws allow; (s, k) tasks by seed and number of workers."""
    rise = np.log(sizes[-1] / sizes[0])
    # Queues of their own are M/M/1: the longest of n is that of chance ρ^k = 1/n. Of two choices: log log n / log 2.
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
    for policy, said, longest, allowed, law in laws:
        means = longest.mean(axis=0)
        log, loglog = fit(np.log(sizes), means), fit(np.log(np.log(sizes)), means)
        rows.append(
            Row.by(
                f"longest queue against n = {sizes[0]} … {sizes[-1]:,}, load {_LOAD}: {policy}",
                said,
                f"{log[0]:.2f} + {log[1]:.2f} log n (R² {log[2]:.3f}); "
                f"{loglog[0]:.2f} + {loglog[1]:.2f} log log n (R² {loglog[2]:.3f})",
                below(
                    [over(longest[:, -1] - longest[:, 0])],
                    float(allowed) + _SLACK,
                    rule=f"holds where from the fewest to the most workers it grows by no more than {law} does, "
                    f"{allowed:.1f}, and {_SLACK:g} task for the O(1) (95 % interval over seeds)",
                ),
                f"longest queue at an instant, mean over the second half of {_SPAN:g} s from empty and over "
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
                rule="holds where it does beyond chance (95 % interval over seeds)",
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
