"""Late binding: tasks wait with their scheduler, and each worker takes the oldest one for which it is useful."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import binding, changing, choosing, completing
from windlass.dispatch.lib import learner as learn
from windlass.dispatch.lib import ranking, speeds
from windlass.dispatch.lib.learning import Learning, change_learned
from windlass.dispatch.state import (
    ARRIVED,
    BENCHMARK_AT,
    CENTRAL,
    COPIES,
    DIRTY,
    JOINED,
    LISTENS,
    NOW,
    OFFERED,
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
        # Once every n tasks, all n workers are ranked.
        ints[ranking.TASK] = ints[ARRIVED]
        ranking.count_task(ints, floats)
        ints[learn.TICKS] += 1
        if ints[learn.TICKS] >= ints[WORKERS] or ints[learn.BEGUN] == 0:
            learn.refresh(ints, floats)
            ints[DIRTY] = 1
    if ints[DIRTY] != 0:
        ranking.rank(ints, floats)
    if ints[COPIES] != CENTRAL:
        return ranking.soonest(lengths, ints, floats)
    place = ints[OFFERED]
    ints[OFFERED] = place + 1
    return ints[own_ints(ints) + place] if place < count else -1


def _bind(worker, now, waiting, others, held, fetch, ints, floats):
    if ints[learn.TICKS] >= ints[WORKERS]:
        # With few jobs of its own, a scheduler refreshes its speeds after n completions of other schedulers' tasks.
        floats[NOW] = max(floats[NOW], now)
        learn.refresh(ints, floats)
        ints[DIRTY] = 1
    if fetch != floats[ranking.FETCH]:
        floats[ranking.FETCH] = fetch
        ints[DIRTY] = 1
    if ints[DIRTY] != 0:
        ranking.rank(ints, floats)
    return ranking.place_of(worker, waiting + others, held, ints, floats)


def _completed(worker, work, seconds, own, ints, floats):
    speeds.take(worker, work, seconds, ints, floats)
    learn.take_completion(worker, work, seconds, own != 2, ints, floats)
    ints[learn.TICKS] += own == 0
    return 0


def _changed(kind, worker, rate, ints, floats):
    if kind == JOINED:
        speeds.forget(worker, ints, floats)
    change_learned(kind, worker, ints, floats)
    return 0


class Pull(Learning):
    """Gives a free worker the oldest task for which it is useful, in view of faster workers and of the tasks that wait.

    Tasks wait with their schedulers. A worker that completes a task requests the next one, and an idle worker has
    reported to all schedulers that it is idle. Therefore the policy needs no queue lengths, which could be out of date,
    and several schedulers share the workers as if all tasks waited in one queue.

    The scheduler learns speeds from completions and from benchmark tasks, see :mod:`windlass.dispatch.lib.speeds`. A
    slow worker is useful if enough tasks wait: with fewer, jobs would end sooner, later ones included, if the task
    waited for a faster worker; see :func:`windlass.dispatch.lib.ranking.least_waiting`. If it is useful from the tenth
    waiting task on, it takes the tenth, as faster workers will soon have taken those before it. Tasks that arrive at
    one instant form a job. Several schedulers report to each other how many tasks wait, one number each. A scheduler
    computes new estimates once n of its own tasks have arrived or n of others' have ended, so that a scheduler with few
    jobs does not use old estimates.

    If a worker has to wait for a task that it requests, it requests tasks ahead while it runs others, see
    :mod:`windlass.dispatch.lib.ahead`.

    For an engine without late binding, ``late`` is False: the task is sent at once to where it is expected to
    end first, (queue + 1) / speed.

    Source: late binding as in Ousterhout et al., "Sparrow", SOSP 2013; benchmark tasks, load and silent workers as in
    Wu and Liu, "Rosella". Without arrivals, the use of slow workers is the rule that Agrawala, Coffman, Garey and
    Tripathi prove optimal for exponential tasks, "A stochastic optimization algorithm minimizing expected flow times
    on uniform processors", IEEE Trans. Computers 33(4), 1984. With arrivals, it is the threshold of Lin and Kumar,
    "Optimal control of a queueing system with two heterogeneous servers", IEEE Trans. Automatic Control 29(8), 1984,
    for the faster workers as one server and a slow one that is idle; this step is Windlass's, without a proof for
    more workers.

    Parameters
    ----------
    workers
        Number of workers.
    guaranteed
        Guaranteed total throughput, work/s; None for the last observed one.
    rng
        Random generator.
    late
        Whether tasks wait at the scheduler until a worker requests one.
    gaps, probe_share, window_scale, most_load
        Parameters of the learner; see :class:`~windlass.dispatch.policies.rosella.Rosella`.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> policy = Pull(2, rng=np.random.default_rng(1), late=False)
    >>> policy.choose(np.array([1, 0]))
    1
    """

    name: ClassVar[str] = "pull"
    choosing: ClassVar[Kernel] = choosing(_choose)
    completing: ClassVar[Kernel] = completing(_completed)
    changing: ClassVar[Kernel] = changing(_changed)
    binding: ClassVar[Kernel] = binding(_bind)

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
        own = learn.learner_floats(count) + (3 + speeds.PER_WORKER) * count
        self.ints, self.floats = make_state(count, rng, ints=count, floats=own, gaps=whole("gaps", gaps, 1))
        self.ints[RATES_AT] = VALUES_AT
        self.ints[LISTENS] = self.ints[DIRTY] = 1
        self.ints[COPIES] = CENTRAL if late else 0
        self.floats[VALUES_AT : VALUES_AT + count] = sure / count
        self.floats[learn.GUARANTEED] = sure
        self.floats[learn.LEARNT_SHARE] = guaranteed is None
        self.floats[learn.PART] = 1.0
        # A task that is sent at once waits at a worker that has become slow, so that changes have to be noticed sooner.
        self.floats[speeds.MEMORY], self.floats[speeds.ALARM] = (200.0, 8.0) if late else (40.0, 4.0)
        self.floats[ranking.JOB_AT], self.floats[ranking.PER_JOB] = -1.0, 1.0
        self.floats[learn.PROBE_SHARE] = number("probe_share", probe_share, 0.0)
        self.floats[learn.WINDOW_SCALE] = number("window_scale", window_scale, 0.0, open_below=True)
        self.floats[learn.MOST_LOAD] = number("most_load", most_load, 0.0, 0.999)
        # Until a task has ended, tasks are assumed to be one unit of work.
        self.floats[learn.LENGTH] = self.floats[learn.MEAN_WORK] = 1.0
        rate = self.floats[learn.PROBE_SHARE] * self.floats[learn.GUARANTEED]
        self.floats[BENCHMARK_AT] = rng.exponential(1 / rate) if rate > 0 else np.inf
