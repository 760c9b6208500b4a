"""Cost and gain of learning: recovery from a shock, benchmark tasks, learning time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.dispatching import make_policy, simulate
from windlass.experiment.workloads.drift import shocks
from windlass.model.timetable import WorkerTimetable
from windlass.report.pictures import Line, Picture
from windlass_reproductions.criteria import Judged, Within, above, below, over
from windlass_reproductions.reproduction import Reproduction, Row
from windlass_reproductions.rosella.growth import fit
from windlass_reproductions.rosella.table import SHOCK_EVERY

_FOUR = np.repeat([0.5, 1.0, 2.0, 4.0], 8) / 1.875
_ACCURATE = 0.1
_SIGNIFICANTLY = "significantly (95 % interval over seeds)"


def shock(quick: bool) -> Reproduction:
    """Swap the speeds of fast and slow workers once, at load 0.8."""
    runs = 5 if quick else 40
    load, at, last = 0.8, 300.0, 900.0
    tasks = int(load * _FOUR.sum() * last)
    swap = WorkerTimetable.speeds(np.full(32, at), np.arange(32), _FOUR[::-1])
    edges = np.arange(0, last + 1, 15.0)
    lines, recovery, after = [], {}, {}
    for policy in ("rosella", "eps-greedy", "ucb", "halo", "sparrow", "ppot"):
        sums, counts = np.zeros(len(edges) - 1), np.zeros(len(edges) - 1)
        of_seeds = []
        for seed in range(runs):
            done = simulate(
                policy, _FOUR, load, tasks, seed=seed, timetable=swap, samples=0, sizes_known=True
            )
            sums += np.histogram(done.submit, edges, weights=done.response)[0]
            counts += np.histogram(done.submit, edges)[0]
            of_seeds.append(done.response[done.submit >= at].mean())
        after[policy] = np.array(of_seeds)
        means = sums / np.maximum(counts, 1)
        lines.append(Line(policy, edges[:-1].tolist(), means.tolist()))
        before = means[(edges[:-1] > 100) & (edges[:-1] < at - 15)].mean()
        slow = np.flatnonzero((means > 1.5 * before) & (edges[:-1] >= at - 15))
        recovery[policy] = (edges[slow[-1] + 1] - at) if len(slow) else 0.0
    rows = shock_rows(recovery, after["rosella"], after["halo"], runs)
    picture = Picture(
        "shock",
        "Response around a shock",
        "time of arrival, s",
        "mean response, s",
        tuple(lines),
        f"At {at:g} s the fastest workers become the slowest and the reverse; mean of {runs} runs.",
        log_y=True,
    )
    return Reproduction(rows, (picture,))


def shock_rows(
    recovery: Mapping[str, float], rosella: NDArray[np.float64], halo: NDArray[np.float64], runs: int
) -> tuple[Row, ...]:
    """Return the rows on a shock.

    ``recovery`` is the time from the shock until a policy's response is as before, s; ``rosella`` and ``halo`` are (s,)
    mean responses of the tasks after the shock by seed, s.
    """
    return (
        Row(
            "all 32 workers swap speeds at once, load 0.8: time until Rosella's response is within 1.5 of before, s",
            "adapts quickly",
            float(recovery["rosella"]),
            None,
            "the paper does not state how quickly, and the available text lacks the evaluation; other policies: "
            + "; ".join(f"{policy} {time:g}" for policy, time in recovery.items() if policy != "rosella")
            + f" (halo never learns; ppot receives the new rates); mean of {runs} runs",
        ),
        Row.by(
            "the same: mean response of the tasks after it, over that of Halo, which continues with the old rates",
            "adapts",
            float(rosella.mean() / halo.mean()),
            below([over(rosella - halo)], rule=f"holds if it is {_SIGNIFICANTLY} lower"),
            "the minimum requirement for adapting",
        ),
    )


def benchmark_tasks(quick: bool) -> Reproduction:
    """Vary the share c0 of idle capacity that is used for benchmark tasks from none to all, under shocks."""
    tasks, seeds = (50_000, (1, 2, 3)) if quick else (400_000, (1, 2, 3, 4, 5))
    shares = (0.0, 0.03, 0.1, 0.3, 1.0)
    lines, by_load = [], {}
    for load in (0.3, 0.8):
        means: list[NDArray[np.float64]] = []
        for share in shares:
            values = []
            for seed in seeds:
                timetable = shocks(_FOUR, SHOCK_EVERY, tasks / (load * 32), np.random.default_rng([seed, 9]))
                policy = make_policy("rosella", _FOUR, np.random.default_rng(seed), probe_share=share)
                done = simulate(
                    policy, _FOUR, load, tasks, seed=seed, timetable=timetable, samples=0, sizes_known=True
                )
                values.append(float(done.response[tasks // 10 :].mean()))
            means.append(np.array(values))
        lines.append(
            Line(f"load {load}", list(range(len(shares))), [float(values.mean()) for values in means])
        )
        by_load[load] = dict(zip(shares, means, strict=True))
    rows = tuple(benchmark_row(load, found) for load, found in by_load.items())
    picture = Picture(
        "benchmarks",
        "Cost and gain of benchmark tasks",
        "c0, benchmark tasks per idle capacity",
        "mean response, s",
        tuple(lines),
        "Benchmark tasks run only if no real task waits; without them, a worker estimated as slow is never retried.",
        categories=tuple(f"{share:g}" for share in shares),
    )
    return Reproduction(rows, (picture,))


def benchmark_row(load: float, found: Mapping[float, NDArray[np.float64]]) -> Row:
    """Return the row on whether benchmark tasks slow other jobs down; ``found`` has (s,) mean responses, s, by c0."""
    return Row.by(
        f"benchmark tasks, c0 = 0.1, load {load}, shocks every {SHOCK_EVERY:g} s: mean response over that without",
        "do not slow down other jobs",
        float(found[0.1].mean() / found[0.0].mean()),
        Judged(
            (Within(over(found[0.1] - found[0.0]), high=0.0),),
            "holds if the 95 % interval over seeds of the added response is at most 0, fails if it is above 0",
        ),
        "mean responses, s: "
        + ", ".join(f"c0 = {share:g}: {values.mean():.3f}" for share, values in found.items()),
    )


def _learning_time(workers: int, load: float, seed: int) -> float:
    speeds = np.resize(_FOUR, workers)
    # Shuffled to make speed independent of the worker's number.
    speeds = np.random.default_rng(seed).permutation(speeds) / speeds.mean()
    last = 400.0
    done = simulate(
        "rosella", speeds, load, int(load * workers * last), seed=seed, samples=400, sizes_known=True
    )
    wrong = _error(done.estimates, speeds) > _ACCURATE
    late = np.flatnonzero(wrong)
    return float(done.sample_time[late[-1]]) if len(late) else 0.0


def _error(estimates: NDArray[np.float64], speeds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the (m,) errors of the estimated shares of capacity: half the sum of absolute differences."""
    totals = np.maximum(estimates.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(np.abs(estimates / totals - speeds / speeds.sum()).sum(axis=1) / 2)


def size_row(sizes: NDArray[np.int64], found: NDArray[np.float64]) -> Row:
    """Return the row on whether learning times, (s, k) s by seed and number of workers, grow as log n."""
    a, b, explained = fit(np.log(sizes), found.mean(axis=0))
    more = [fit(np.log(sizes), own)[2] - fit(sizes.astype(np.float64), own)[2] for own in found]
    return Row.by(
        f"learning time against n = {sizes[0]} … {sizes[-1]}, load 0.8, s",
        "log n, as the window L of Figure 4",
        f"{a:.1f} + {b:.2f} log n (R² {explained:.2f}): {', '.join(f'{time:.0f}' for time in found.mean(axis=0))}",
        above(
            [over(more)], rule=f"holds if log n explains {_SIGNIFICANTLY} more of its variance than n does"
        ),
        "until estimated shares stay within 0.1 of the true ones in total variation; load 0.8; task sizes known. "
        "The paper gives L, but no measurement",
    )


def load_row(loads: Sequence[float], found: NDArray[np.float64]) -> Row:
    """Return the row on whether learning times, (s, k) s by seed and load, grow with the load."""
    return Row.by(
        f"learning time against load {', '.join(map(str, loads))}, 32 workers, s",
        "grows with the load, as the window L of Figure 4",
        ", ".join(f"{time:.0f}" for time in found.mean(axis=0)),
        above(
            [over(np.polyfit(loads, found.T, 1)[0])],
            rule=f"holds if its linear fit rises {_SIGNIFICANTLY}",
        ),
        "rates are learned from real tasks too: at higher load they arrive faster, while L grows as 1/(1 − load)². The "
        "paper gives L, but no measurement",
    )


def learning_time(quick: bool) -> Reproduction:
    """Measure the time from a cold start until estimated shares stay within 0.1 of the true ones in total variation."""
    sizes = np.array([8, 32, 128, 512] if quick else [8, 32, 128, 512, 2048])
    loads = (0.3, 0.5, 0.7, 0.8, 0.9)
    seeds = range(3 if quick else 6)
    by_size = np.array([[_learning_time(int(n), 0.8, seed) for n in sizes] for seed in seeds])
    by_load = np.array([[_learning_time(32, load, seed) for load in loads] for seed in seeds])
    rows = (size_row(sizes, by_size), load_row(loads, by_load))
    pictures = (
        Picture(
            "learning-n",
            "Learning time against workers",
            "workers",
            "s",
            (Line("load 0.8", sizes.tolist(), by_size.mean(axis=0).tolist()),),
            log_x=True,
        ),
        Picture(
            "learning-load",
            "Learning time against load",
            "load",
            "s",
            (Line("32 workers", list(loads), by_load.mean(axis=0).tolist()),),
        ),
    )
    return Reproduction(rows, pictures)
