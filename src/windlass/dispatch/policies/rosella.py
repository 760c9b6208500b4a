"""Proportional sampling on learned rates with benchmark tasks (Rosella)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import choosing, completing
from windlass.dispatch.lib import learner as learn
from windlass.dispatch.lib.alias import ALIAS_INTS, build, sample
from windlass.dispatch.lib.learning import Learning
from windlass.dispatch.lib.rated import first_to_serve, two_by_queue, two_by_wait
from windlass.dispatch.state import (
    BENCHMARK_AT,
    DIRTY,
    LISTENS,
    PRESENT,
    RATES_AT,
    VALUES_AT,
    WORKERS,
    make_state,
)
from windlass.jit import Kernel
from windlass.model import InputError
from windlass.model.values import number, whole


def _choose(lengths, ints, floats):
    if ints[PRESENT] == 0:
        return -1
    ints[learn.TICKS] += 1
    # Once every n tasks, so that the cost per task of refreshing all n workers does not depend on n.
    if ints[learn.TICKS] >= ints[WORKERS] or ints[learn.BEGUN] == 0:
        learn.refresh(ints, floats)
    if ints[DIRTY] != 0:
        build(ints, floats)
    by_wait = ints[learn.BY_WAIT] != 0
    chosen = two_by_wait(lengths, ints, floats) if by_wait else two_by_queue(lengths, ints)
    for _ in range(2, ints[learn.PROBES]):
        other = sample(ints)
        if (
            first_to_serve(other, chosen, lengths, ints, floats)
            if by_wait
            else lengths[other] < lengths[chosen]
        ):
            chosen = other
    return chosen


def _completed(worker, work, seconds, own, ints, floats):
    learn.take_completion(worker, work, seconds, own != 2, ints, floats)
    return 0


class Rosella(Learning):
    """Learns the rates of workers while it dispatches, and sends each task to the shorter of two sampled queues.

    It has three parts, none of which coordinates with other schedulers:

    1. *Arrival estimator*: arrival rate λ̂ = 1 / mean gap of the last ``gaps`` tasks.
    2. *Dispatch*: two workers are drawn in proportion to the rates μ̂ (an alias table), and the task is sent to the
       shorter queue. If both draws are the same worker, it gets the task; on a tie, the worker drawn first gets it.
       If all μ̂ are 0, every present worker is equally likely. Estimates are renewed every n tasks. The table is
       rebuilt if they moved by 0.1 % of their sum, and at once when a worker leaves or joins.
    3. *Learner*: μ̂ = (1 − ε) · work / busy time over a worker's last L completions, with α̂ = λ̂ · mean work / μ̄,
       ε = 0.3 (1 − α̂) and L = c₁ log(n) / ε², at least 16. The paper prints log(1/n), which is negative, for log n. A
       worker without L completions in the last (1 + ε) L / μ*, where μ* = (1 − α̂)/10 of a mean worker's rate, has
       μ̂ = 0 until it has them. Benchmark tasks, Poisson at rate c₀ (μ̄ − λ̂), are sent to workers drawn uniformly, at
       low priority, and replay the sizes of recent real tasks. At c₀ = 0.1, the cut-off is the time in which benchmark
       tasks alone would bring L completions.

    Under overload, α̂ counts as ``most_load``: windows stay finite, and some benchmark tasks are still sent,
    which costs nothing because they run only if no real task waits. A worker without completions, or that
    joined again, is assumed to have the mean guaranteed rate. With k schedulers that share the workers, each
    is notified of all completions and assumes that its own arrivals are 1/k of all (:meth:`split`).

    Source: Wu and Liu, "Rosella", Section IV, Figures 3 and 4.

    Parameters
    ----------
    workers
        Number of workers.
    guaranteed
        Guaranteed total throughput μ̄, work/s; None for the last observed one.
    rng
        Random generator.
    gaps
        Number of gaps between arrivals that λ̂ is computed from (S).
    probe_share
        Benchmark tasks per idle capacity (c₀); 0 sends none.
    window_scale
        c₁. A smaller value follows changes faster with more noise; the paper gives no value. Two-choice
        dispatch tolerates noise better than stale rates, so the default is well below 1.
    most_load
        Upper limit of α̂, below 1.
    by
        ``"queue"`` for the shorter queue (SQ), ``"wait"`` for the least expected wait (LL).
    probes
        Workers drawn per task, at least 2, as in the paper.

    Raises
    ------
    InputError
        A parameter is out of bounds; the message names it.

    Examples
    --------
    >>> policy = Rosella(2, guaranteed=4.0, rng=np.random.default_rng(1))
    >>> for step in range(400):
    ...     policy.arrived(step * 0.5)
    ...     worker = policy.choose(np.zeros(2, np.int64))
    ...     policy.completed(worker, work=1.0, seconds=(1.0, 1 / 3)[worker])
    >>> (policy.rates / policy.rates.sum()).round(2).tolist()
    [0.25, 0.75]
    """

    name: ClassVar[str] = "rosella"
    probe_trips: ClassVar[float] = 1.0
    choosing: ClassVar[Kernel] = choosing(_choose)
    completing: ClassVar[Kernel] = completing(_completed)

    def __init__(
        self,
        workers: int,
        guaranteed: float | None = None,
        *,
        rng: np.random.Generator,
        gaps: int = 1000,
        probe_share: float = 0.1,
        window_scale: float = 0.02,
        most_load: float = 0.95,
        by: str = "queue",
        probes: int = 2,
    ) -> None:
        if by not in ("queue", "wait"):
            raise InputError(f"by is {by!r}, expected 'queue' or 'wait'")
        count = whole("workers", workers, 1)
        sure = learn.UNKNOWN if guaranteed is None else number("guaranteed", guaranteed, 0.0, open_below=True)
        self.ints, self.floats = make_state(
            count,
            rng,
            ints=ALIAS_INTS * count,
            floats=learn.learner_floats(count),
            gaps=whole("gaps", gaps, 1),
        )
        self.ints[RATES_AT] = VALUES_AT
        self.ints[LISTENS] = self.ints[DIRTY] = 1
        self.ints[learn.BY_WAIT] = by == "wait"
        self.ints[learn.PROBES] = whole("probes", probes, 2)
        self.floats[VALUES_AT : VALUES_AT + count] = sure / count
        self.floats[learn.GUARANTEED] = sure
        self.floats[learn.LEARNT_SHARE] = guaranteed is None
        self.floats[learn.PART] = 1.0
        self.floats[learn.PROBE_SHARE] = number("probe_share", probe_share, 0.0)
        self.floats[learn.WINDOW_SCALE] = number("window_scale", window_scale, 0.0, open_below=True)
        self.floats[learn.MOST_LOAD] = number("most_load", most_load, 0.0, 0.999)
        # Until a task has ended, tasks are assumed to be one unit of work.
        self.floats[learn.LENGTH] = self.floats[learn.MEAN_WORK] = 1.0
        self._first_benchmark(rng)

    def _first_benchmark(self, rng: np.random.Generator) -> None:
        rate = self.floats[learn.PROBE_SHARE] * self.floats[learn.GUARANTEED]
        self.floats[BENCHMARK_AT] = rng.exponential(1 / rate) if rate > 0 else np.inf
