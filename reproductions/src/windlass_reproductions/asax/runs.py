"""Simulations of all policies on the same draws of the 45 jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.worlds.sharing.simulation import SharingCase, SharingRun, run_sharing, share_policy
from windlass.order.site import POLICIES as ORDER
from windlass.results.metrics.sharing import SharingMetrics, sharing_metrics
from windlass_reproductions.asax.mix import CORES, draw_mix

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Contender:
    """A combination of an order and a sharing policy, with its name in the rows."""

    shown: str
    order: str
    share: str
    parameters: tuple[tuple[str, Any], ...] = ()


EASY = Contender("EASY", "easy", "none")
STATIC = Contender("static", "easy", "static")
ASAX = Contender("ASAx", "easy", "asax")
PROGRESS = Contender("ASAx, progress", "easy", "asax", (("loss", "progress"),))
EXP4_IX = Contender("ASAx, EXP4-IX", "easy", "asax", (("loss", "progress"), ("update", "exp4-ix")))
#: Ablations: the same policies with weights that stay equal.
FROZEN = Contender("ASAx, frozen", "easy", "asax", (("learn", False),))
PROGRESS_FROZEN = Contender(
    "ASAx, progress, frozen", "easy", "asax", (("loss", "progress"), ("learn", False))
)
PAIRS = Contender("pairs", "easy", "pairs")
CONTENDERS = (
    Contender("FCFS", "fcfs", "none"),
    Contender("conservative", "conservative", "none"),
    EASY,
    STATIC,
    Contender("always 30 %", "easy", "always"),
    ASAX,
    PROGRESS,
    EXP4_IX,
    FROZEN,
    PROGRESS_FROZEN,
    PAIRS,
    Contender("oracle", "easy", "oracle"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Results of a contender, one for each seed; ``by_program`` has the mean run time of each program, s."""

    metrics: tuple[SharingMetrics, ...]
    by_program: tuple[dict[str, float], ...]
    quota_use: _Floats

    def of(self, name: str) -> _Floats:
        """Return a metric by its name, (s,) one value for each seed."""
        return np.array([getattr(each, name) for each in self.metrics])

    def run_of(self, program: str) -> _Floats:
        """Return the mean run times of a program, (s,) one for each seed, s."""
        return np.array([each[program] for each in self.by_program])


def run_all(
    seeds: range, contenders: tuple[Contender, ...], notify: Callable[[str, float], None]
) -> dict[int, dict[str, Found]]:
    """Run each contender on each size of the cluster, on the same draws."""
    found: dict[int, dict[str, Found]] = {}
    total, done = len(CORES) * len(contenders), 0
    for size in CORES:
        found[size] = {}
        for contender in contenders:
            notify(f"{size} cores, {contender.shown}", done / total)
            found[size][contender.shown] = _run(size, contender, seeds)
            done += 1
    return found


def _run(size: int, contender: Contender, seeds: range) -> Found:
    metrics, programs, use = [], [], []
    for seed in seeds:
        case = draw_mix(size, np.random.default_rng([seed, 7]))
        rng = np.random.default_rng([seed, 1])
        share = share_policy(contender.share, dict(contender.parameters), case, rng)
        order = ORDER.make(contender.order, np.random.default_rng([seed, 2]))
        done = run_sharing(case, order, share, np.random.default_rng([seed, 3]))
        metrics.append(sharing_metrics(done.jobs, done.shared, case.use, done.left, kill=case.kill))
        ran = done.jobs.end - done.jobs.start
        classes = np.array(case.use.job_class)
        programs.append({str(name): float(ran[classes == name].mean()) for name in np.unique(classes)})
        use.append(_use_of_quotas(case, done))
    return Found(tuple(metrics), tuple(programs), np.array(use))


def _use_of_quotas(case: SharingCase, done: SharingRun) -> float:
    """Return the percentage of its quota that a job uses, averaged over its run time and over jobs.

    Table 2 appears to contain this quantity. A job alone has a quota of 100 %. A job that shares demands as much CPU
    as alone from a smaller quota, and uses at most the whole quota.
    """
    shared, jobs = done.shared, done.jobs
    ran = jobs.end - jobs.start
    alone = 100.0 * case.use.core_seconds(np.ones(len(ran), np.int64)) / case.use.run()
    used = alone * ran
    for host, guest, quota, start, end in zip(
        shared.host, shared.guest, shared.quota, shared.start, shared.end, strict=True
    ):
        for row, share in ((host, 100 - quota), (guest, quota)):
            if start >= jobs.start[row] and share > 0:
                used[row] += (end - start) * (min(100.0, 100.0 * alone[row] / share) - alone[row])
    return float(np.mean(used / ran))
