"""Workers that are free pull tasks; a slow one passes on what a fast one would end sooner."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import (
    binding,
    choosing,
    completing,
)
from windlass.dispatch.lib import learner as learn
from windlass.dispatch.lib import ranking
from windlass.dispatch.lib.learning import Learning
from windlass.dispatch.state import (
    ARRIVED,
    BENCHMARK_AT,
    COPIES,
    DIRTY,
    LISTENS,
    NOW,
    PRESENT,
    RATES_AT,
    VALUES_AT,
    WORKERS,
    make_state,
    own_ints,
)
from windlass.jit import Kernel
from windlass.model.values import number, whole


def _choose(lengths, ints, floats):
    count = ints[PRESENT]
    if count == 0:
        return -1
    if ints[ranking.TASK] != ints[ARRIVED] or ints[ranking.TASK] == 0:
        # Its first reservation: once every n tasks, all n workers are looked at.
        ints[ranking.TASK], ints[ranking.ASKED] = ints[ARRIVED], 0
        ranking.count_task(ints, floats)
        ints[learn.TICKS] += 1
        if ints[learn.TICKS] >= ints[WORKERS] or ints[learn.BEGUN] == 0:
            learn.refresh(ints, floats)
            ints[DIRTY] = 1
    if ints[DIRTY] != 0:
        ranking.rank(ints, floats)
    if ints[COPIES] == 0:
        return ranking.soonest(lengths, ints, floats)
    if ints[ranking.ASKED] >= count:
        ints[ranking.ASKED] = 0
    ints[ranking.ASKED] += 1
    return ints[own_ints(ints) + ints[ranking.ASKED] - 1]


def _bind(worker, now, waiting, ints, floats):
    if ints[learn.TICKS] >= ints[WORKERS]:
        # One whose own jobs are few goes by what it heard of others' since: speeds may have changed many times.
        floats[NOW] = max(floats[NOW], now)
        learn.refresh(ints, floats)
        ints[DIRTY] = 1
    if ints[DIRTY] != 0:
        ranking.rank(ints, floats)
    takes = ranking.enough(worker, waiting, ints, floats)
    ints[ranking.WAITING] = waiting - 1 if takes else waiting
    return 1 if takes else 0


def _completed(worker, work, seconds, own, ints, floats):
    learn.take_completion(worker, work, seconds, own != 2, ints, floats)
    ints[learn.TICKS] += own == 0
    return 0


class Pull(Learning):
    """A worker that is free asks for a task, and gets the oldest unless a faster worker would end it sooner.

    Each task has a reservation with every worker, which is as many messages as looking at every queue is. A worker
    that reaches one asks its scheduler, and gets the task that has waited longest there, of whichever job. So no
    queue has to be known or guessed, and a view of queues cannot be out of date; several schedulers share the
    workers as if all waited in one line.

    Of a worker's speed the scheduler knows what Rosella's learner does, from the last completions and from benchmark
    tasks, and draws it towards the mean of all as far as chance alone may have set it apart. A worker of speed μ is
    given a task if more than (M − λ/m)/μ − k wait, where the k workers that are faster do M together, and jobs of m
    tasks bring work λ; tasks that come at one instant are a job. With fewer, a job would end sooner if the task
    waited for one of the faster, those that come later counted in. A scheduler that sees but a part of all
    arrivals takes the others to have as many waiting as it had itself of late. It estimates speeds anew once n tasks
    have come to it or others' have ended, so that one whose own jobs are few does not go by what was long ago. A
    worker that is passed over keeps its reservations, and is asked anew with the next one.

    An engine without late binding sets ``late`` to False: the task goes at once to where it is expected to end first,
    (queue + 1) / speed.

    Source: late binding as in Ousterhout et al., "Sparrow", SOSP 2013; the learner as in Wu and Liu, "Rosella"; when a
    slow processor is worth having as in Agrawala, Coffman, Garey and Tripathi, "A stochastic optimization algorithm
    minimizing expected flow times on uniform processors", IEEE Trans. Computers 33(4), 1984, who prove the rule
    optimal for exponential tasks of which no more arrive (λ = 0); the term of λ is ours, and proved by nobody.

    Parameters
    ----------
    workers
        How many there are.
    guaranteed
        Throughput that all of them together are sure to have, work/s; None for what they were last seen to do.
    rng
        Where chance comes from.
    late
        Whether tasks wait at the scheduler until a worker asks.
    gaps, probe_share, window_scale, most_load
        Of the learner, as :class:`~windlass.dispatch.policies.rosella.Rosella` has them.

    Raises
    ------
    InputError
        A parameter out of bounds.

    Examples
    --------
    >>> policy = Pull(2, rng=np.random.default_rng(1), late=False)
    >>> policy.choose(np.array([1, 0]))
    1
    """

    name: ClassVar[str] = "pull"
    choosing: ClassVar[Kernel] = choosing(_choose)
    completing: ClassVar[Kernel] = completing(_completed)
    binding: ClassVar[Kernel] = binding(_bind)
    pools: ClassVar[bool] = True

    def __init__(
        self,
        workers: int,
        guaranteed: float | None = None,
        *,
        rng: np.random.Generator,
        late: bool = True,
        gaps: int = 1000,
        probe_share: float = 0.1,
        window_scale: float = 0.02,
        most_load: float = 0.95,
    ) -> None:
        count = whole("workers", workers, 1)
        sure = learn.UNKNOWN if guaranteed is None else number("guaranteed", guaranteed, 0.0, open_below=True)
        own = learn.learner_floats(count) + 2 * count
        self.ints, self.floats = make_state(count, rng, ints=count, floats=own, gaps=whole("gaps", gaps, 1))
        self.ints[RATES_AT] = VALUES_AT
        self.ints[LISTENS] = self.ints[DIRTY] = 1
        self.ints[COPIES] = count if late else 0
        self.floats[VALUES_AT : VALUES_AT + count] = sure / count
        self.floats[learn.GUARANTEED] = sure
        self.floats[learn.LEARNT_SHARE] = guaranteed is None
        self.floats[learn.PART] = 1.0
        self.floats[ranking.JOB_AT], self.floats[ranking.PER_JOB] = -1.0, 1.0
        self.floats[learn.PROBE_SHARE] = number("probe_share", probe_share, 0.0)
        self.floats[learn.WINDOW_SCALE] = number("window_scale", window_scale, 0.0, open_below=True)
        self.floats[learn.MOST_LOAD] = number("most_load", most_load, 0.0, 0.999)
        # Until a task has ended, one is taken to be one unit of work.
        self.floats[learn.LENGTH] = self.floats[learn.MEAN_WORK] = 1.0
        rate = self.floats[learn.PROBE_SHARE] * self.floats[learn.GUARANTEED]
        self.floats[BENCHMARK_AT] = rng.exponential(1 / rate) if rate > 0 else np.inf
