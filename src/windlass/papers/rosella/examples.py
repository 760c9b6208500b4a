"""Examples 1 to 3, and a cluster of 1,000 workers with known rates."""

from __future__ import annotations

import numpy as np

from windlass.papers.plots import Line, Picture
from windlass.papers.reproduction import Reproduction, Row
from windlass.sim.workers.result import Dispatched
from windlass.sim.workers.simulate import simulate

_TEN = np.array([1.0] * 9 + [6.0])
_TEN_LOAD = 14 / 15


def grows(done: Dispatched) -> bool:
    """Whether queues grow without bound: the last quarter holds over half as much again as the second quarter."""
    quarter = len(done.waiting) // 4
    early, late = done.waiting[quarter : 2 * quarter].mean(), done.waiting[-quarter:].mean()
    return bool(late > 1.5 * early and late - early > 10 * len(done.waiting) ** 0.5)


def examples(quick: bool) -> Reproduction:
    """Nine workers of rate 1 and one of rate 6, tasks at rate 14."""
    tasks = 200_000 if quick else 2_000_000
    claims = (("uniform", False), ("pot", False), ("pss", True), ("ppot", True))
    rows, lines = [], []
    for policy, stable in claims:
        done = simulate(policy, _TEN, _TEN_LOAD, tasks, seed=1, samples=200)
        said = "stable" if stable else "unstable"
        growth = (done.waiting[-1] - done.waiting[len(done.waiting) // 2]) / (
            done.sample_time[-1] - done.sample_time[len(done.waiting) // 2]
        )
        ours = "unstable" if grows(done) else "stable"
        rows.append(
            Row(
                f"Examples 1, 2: {policy}, 9 workers of rate 1 and one of 6, λ = 14",
                said,
                f"{ours}, waiting tasks grow by {growth:.3f}/s, {done.waiting[-1]:,} at the end",
                ours == said,
            )
        )
        lines.append(Line(policy, done.sample_time.tolist(), (done.waiting + 1).tolist()))
    picture = Picture(
        "examples",
        "Examples 1 and 2: tasks in the system",
        "time, s",
        "1 + tasks waiting or running",
        tuple(lines),
        "Uniform choice and power of two choices leave the fast worker idle while the slow ones drown.",
        log_y=True,
    )
    return Reproduction(tuple(rows), (picture,))


def fast_worker(quick: bool) -> Reproduction:
    """Example 3: one worker of rate μ and μ of rate 1, tasks at rate 1.5 μ, LL against SQ."""
    mu = 100
    tasks = 300_000 if quick else 3_000_000
    speeds = np.array([float(mu)] + [1.0] * mu)
    found = {}
    for policy in ("ppot", "ppot-ll"):
        done = simulate(policy, speeds, 0.75, tasks, seed=1, record=True)
        fast = done.worker == 0
        late = np.arange(tasks) > tasks // 5
        found[policy] = float(done.response[fast & late].mean()), done.mean, done.longest_queue
    sq, ll = found["ppot"], found["ppot-ll"]
    rows = (
        Row(
            f"Example 3: LL, response at the worker of rate μ = {mu}, s",
            1.0,
            ll[0],
            abs(ll[0] - 1.0) < 0.2,
            "as slow as the slow workers, whose service takes 1 s",
        ),
        Row(f"Example 3: LL, longest queue, about μ − 1 = {mu - 1}", float(mu - 1), float(ll[2]), None),
        Row(
            "Example 3: SQ, response at the fast worker, s",
            "much less than with LL",
            sq[0],
            sq[0] < ll[0] / 5,
        ),
        Row(
            "Example 3: mean response of all tasks, SQ below LL, s",
            "SQ is better",
            f"SQ {sq[1]:.3f}, LL {ll[1]:.3f}",
            sq[1] < ll[1],
            "The fast worker is quicker under SQ, but SQ sends more tasks to slow workers, each of which costs 1 s: "
            "the mean over all tasks can go either way, and Example 3 speaks of the fast worker only.",
        ),
    )
    return Reproduction(rows)


def large_cluster(_quick: bool) -> Reproduction:
    """900 workers of rate 1 and 100 of rate 6, load 0.9, known rates."""
    tasks = 5_000_000
    speeds = np.array([1.0] * 900 + [6.0] * 100)
    expected = (("ppot", 1.7, 0.1), ("pss", 6.7, 1.0))
    rows = []
    for policy, mean, tolerance in expected:
        done = simulate(policy, speeds, 0.9, tasks, seed=1)
        late = float(done.response[tasks // 10 :].mean())
        rows.append(
            Row(
                f"900 workers of rate 1, 100 of 6, load 0.9, {tasks:,} tasks: {policy}, mean response, s",
                mean,
                done.mean,
                abs(done.mean - mean) <= tolerance,
                f"without the first tenth {late:.3f}",
            )
        )
        longest, bound = done.longest_queue, 12 if policy == "ppot" else 200
        rows.append(
            Row(
                f"the same: {policy}, longest queue",
                8 if policy == "ppot" else 100,
                longest,
                longest <= bound,
            )
        )
    for policy, mean in (("uniform", 700), ("pot", 390)):
        done = simulate(policy, speeds, 0.9, tasks, seed=1)
        rows.append(
            Row(
                f"the same: {policy}",
                f"unstable (mean about {mean} s after 5,000,000 tasks)",
                f"{'unstable' if grows(done) else 'stable'}, mean {done.mean:.4g} s",
                grows(done),
                "a fluid estimate for uniform gives 0.9 · (0.9 · 1.5 − 1) / 2 · 3,704 s = 583 s"
                if policy == "uniform"
                else "",
            )
        )
    return Reproduction(tuple(rows))
