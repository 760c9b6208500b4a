"""How the longest queue grows with the number of workers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.papers.plots import Line, Picture
from windlass.papers.reproduction import Reproduction, Row
from windlass.sim.workers.simulate import simulate

_LOAD = 0.9
_SPAN = 300.0


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
    seeds = (1, 2, 3)
    lines, rows, slopes = [], [], {}
    for policy in ("pss", "ppot"):
        means = np.array([np.mean([_longest(policy, int(n), seed) for seed in seeds]) for n in sizes])
        lines.append(Line(policy, sizes.tolist(), means.tolist()))
        log, loglog = fit(np.log(sizes), means), fit(np.log(np.log(sizes)), means)
        slopes[policy] = log[1]
        # Two choices: log log n / log 2 + O(1); a task of slack for the constant.
        allowed = np.log(np.log(sizes[-1]) / np.log(sizes[0])) / np.log(2) + 1
        holds = log[2] > 0.9 if policy == "pss" else bool(means[-1] - means[0] <= allowed)
        rows.append(
            Row(
                f"longest queue against n = {sizes[0]} … {sizes[-1]:,}, load {_LOAD}: {policy}",
                "O(log n)" if policy == "pss" else "O(log log n)",
                f"{log[0]:.2f} + {log[1]:.2f} log n (R² {log[2]:.3f}); "
                f"{loglog[0]:.2f} + {loglog[1]:.2f} log log n (R² {loglog[2]:.3f})",
                holds,
                f"longest queue at an instant, mean over the second half of {_SPAN:g} s from empty and over three "
                f"seeds: {', '.join(f'{mean:.1f}' for mean in means)}",
            )
        )
    rows.append(
        Row(
            "the same: growth per e-fold of n, PSS over PPoT",
            "PSS grows faster",
            slopes["pss"] / max(slopes["ppot"], 1e-9),
            slopes["pss"] > 3 * slopes["ppot"],
        )
    )
    picture = Picture(
        "growth",
        "Longest queue against the number of workers",
        "workers",
        "tasks at the longest queue",
        tuple(lines),
        "Straight on this axis is log n (PSS); PPoT hardly grows.",
        log_x=True,
    )
    return Reproduction(tuple(rows), (picture,))


def _longest(policy: str, workers: int, seed: int) -> float:
    fast = max(1, workers // 10)
    speeds = np.array([1.0] * (workers - fast) + [6.0] * fast)
    tasks = int(_LOAD * speeds.sum() * _SPAN)
    done = simulate(policy, speeds, _LOAD, tasks, seed=seed, samples=200)
    return float(done.longest[len(done.longest) // 2 :].mean())
