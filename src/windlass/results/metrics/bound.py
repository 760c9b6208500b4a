"""A lower bound on the mean response of jobs over many sites, valid for every schedule.

Each job has weights that sum to 1, one for each of its sites and one for the job alone. Its end is at least the
weighted mean of

- the end of its sub-job at each site, with each site scheduled independently. The minimum of the weighted sum of these
  ends is bounded by a relaxation: a site is one preemptive machine as fast as all its slots together, and the mean
  time of a sub-job's work counts instead of its end. Serving the sub-job with the greatest ratio of weight to work
  first is then optimal (Goemans, "Improved approximation algorithms for scheduling with release dates", 1997);
- the end of the job if it had the whole fleet.

Every choice of weights gives a valid bound. In each step, weights move towards the sites where a job ends last, and
the greatest bound counts. The relaxation ignores that tasks cannot be preempted, that one slot is slower than a whole
site, and that the future is unknown. Real schedules therefore lie above the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model.fleet import FleetCase, FleetJobs
from windlass.sim.events.heap import HEAP, make_heap, next_time, pop, push

#: Size of the first move of weights; move k has this size over √(1 + k / _STEPS_TO_SLOW).
_STEP, _STEPS_TO_SLOW = 2.0, 10.0
_LEAST_WEIGHT = 1e-12


@dataclass(frozen=True, slots=True)
class LeastResponse:
    """Lower bounds on the mean response of jobs, s.

    Parameters
    ----------
    any_schedule
        Bound for any schedule, even one that knows the future.
    alone
        Mean response if each job had the whole fleet; never above ``any_schedule``.
    """

    any_schedule: float
    alone: float


def _shapes(task0, duration, slots, work, tail, alone):
    """Compute three times of each sub-job, whose tasks are sorted from the longest.

    ``work`` is the time on its whole site, s. ``tail`` is the minimum time from the mean time of its work to its end,
    s: at least half of the work, and at least half of the sum of the tasks' squared durations over their sum, because
    each task's work has its mean in the middle of the task. ``alone`` is a lower bound on its time with the site to
    itself, s.
    """
    for sub in range(len(work)):
        begin, end = task0[sub], task0[sub + 1]
        size = int(slots[sub])
        total = squares = 0.0
        for task in range(begin, end):
            total += duration[task]
            squares += duration[task] ** 2
        work[sub] = total / size
        tail[sub] = max(work[sub], squares / total) / 2.0 if total > 0.0 else 0.0
        alone[sub] = max(work[sub], duration[begin])
        # Of the k · slots + 1 longest tasks, one slot runs at least k + 1; at best, the shortest of them.
        rounds = 1
        while begin + rounds * size < end:
            least = 0.0
            for back in range(rounds + 1):
                least += duration[begin + rounds * size - back]
            alone[sub] = max(alone[sub], least)
            rounds += 1


def _sites(heap, begin_of_site, submit, work, tail, weight, left, end):
    """Compute each sub-job's end in the relaxed schedule of its site; sub-jobs are sorted by site, then by arrival."""
    for site in range(len(begin_of_site) - 1):
        coming, stop = begin_of_site[site], begin_of_site[site + 1]
        now = 0.0
        while coming < stop or next_time(heap) < np.inf:
            if next_time(heap) == np.inf:
                now = max(now, submit[coming])
            while coming < stop and submit[coming] <= now:
                left[coming], end[coming] = work[coming], tail[coming]
                push(heap, -weight[coming] / work[coming], site, coming)
                coming += 1
            sub = heap.item[0]
            until = now + left[sub]
            if coming < stop and submit[coming] < until:
                until = submit[coming]
                left[sub] -= until - now
            else:
                pop(heap)
            end[sub] += (until - now) / work[sub] * (now + until) / 2.0
            now = until


_floats, _ints = types.float64[::1], types.int64[::1]
SHAPES = Kernel(_shapes, types.void(_ints, _floats, _floats, _floats, _floats, _floats), allocates=False)
SITES = Kernel(
    _sites,
    types.void(HEAP, _ints, _floats, _floats, _floats, _floats, _floats, _floats),
    allocates=False,
)


def least_mean_response(
    case: FleetCase, steps: int = 150, notify: Callable[[], None] = lambda: None
) -> LeastResponse:
    """Return lower bounds on the mean response of these jobs, valid for every schedule.

    Parameters
    ----------
    case
        Jobs whose tasks are fixed to sites.
    steps
        Number of moves of the weights. Every number gives a valid bound; more steps never give a worse one.
    notify
        Called after each step.

    Examples
    --------
    >>> from windlass.model.fleet import Fleet, fixed_table
    >>> case = FleetCase(Fleet.of([1]), fixed_table([0, 0], [[2], [1]], [1.0, 1.0, 1.0]))
    >>> round(least_mean_response(case).any_schedule, 6)  # the shorter first: 1 and 3
    2.0
    """
    workload, slots = case.jobs, case.fleet.slots
    jobs = len(workload)
    owner = np.repeat(np.arange(jobs), np.diff(workload.part0))
    work, tail, alone = np.empty((3, len(owner)))
    SHAPES.ready()(
        workload.task0,
        _longest_first(workload),
        slots[workload.site].astype(np.float64),
        work,
        tail,
        alone,
    )
    alone_of_job = np.maximum.reduceat(alone, workload.part0[:-1])
    # Sub-jobs without work delay no other sub-job, and have no ratio of weight to work.
    order = np.lexsort((owner, workload.site))
    order = order[work[order] > 0.0]
    owner, work, tail = owner[order], work[order], tail[order]
    begin = np.searchsorted(workload.site[order], np.arange(len(slots) + 1)).astype(np.int64)
    submit, end_alone = workload.submit[owner], workload.submit + alone_of_job
    # Initial weights favour the sites with most of a job's work.
    weight, own = work**2, np.full(jobs, 0.1)
    share = np.bincount(owner, weight, jobs)
    weight *= 0.9 / share[owner]
    own[share == 0.0] = 1.0
    heap, left, end = make_heap(len(owner) + 1), np.empty(len(owner)), np.empty(len(owner))
    best = float(end_alone.sum())
    for step in range(steps):
        SITES.ready()(heap, begin, submit, work, tail, weight, left, end)
        best = max(best, float((weight * end).sum() + (own * end_alone).sum()))
        far = _STEP / np.sqrt(1.0 + step / _STEPS_TO_SLOW)
        weight, own = _moved(owner, weight, own, end, end_alone, workload.submit, far)
        notify()
    mean_submit = float(workload.submit.mean())
    return LeastResponse(best / jobs - mean_submit, float(alone_of_job.mean()))


def _longest_first(workload: FleetJobs) -> NDArray[np.float64]:
    """Return (T,) durations of tasks by sub-job, the longest first."""
    of_task = np.repeat(np.arange(len(workload.site)), np.diff(workload.task0))
    return workload.duration[np.lexsort((-workload.duration, of_task))]


def _moved(
    owner: NDArray[np.int64],
    weight: NDArray[np.float64],
    own: NDArray[np.float64],
    end: NDArray[np.float64],
    end_alone: NDArray[np.float64],
    submit: NDArray[np.float64],
    far: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Move weights towards the sites where a job ends last; they stay positive and sum to 1 for each job."""
    last = end_alone.copy()
    np.maximum.at(last, owner, end)
    scale = np.maximum(last - submit, _LEAST_WEIGHT)
    weight = np.maximum(weight * np.exp(far * ((end - last[owner]) / scale[owner])), _LEAST_WEIGHT)
    own = np.maximum(own * np.exp(far * ((end_alone - last) / scale)), _LEAST_WEIGHT)
    total = np.bincount(owner, weight, len(own)) + own
    return weight / total[owner], own / total
