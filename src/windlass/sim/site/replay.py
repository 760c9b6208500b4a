"""Rigid parallel jobs on one site, run through a policy.

A job holds its processors from start to end without a break. At each instant, everything that happens then is
taken in first (ends in the order in which they were scheduled, then submissions in the order of the log); then
the policy is asked once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.compiled import Kernel
from windlass.model import InputError, JobTable, PolicyError
from windlass.order.site import SitePolicy
from windlass.order.site.compiled import CompiledPolicy, as_compiled
from windlass.order.site.view import Running, SiteView, Start, Waiting
from windlass.sim.events.heap import make_heap
from windlass.sim.site.loop import BAD_POSITION, RUN, TOO_WIDE, SiteRun, advance, commit, status_at_end
from windlass.sim.site.state import FREE, HEAD, REFUSED, RUNNING, TAIL, make_site
from windlass.sim.status import PAUSED, STUCK

_INSTANTS_BETWEEN_REPORTS = 50_000


@dataclass(frozen=True, slots=True)
class Replay:
    """What happened to each job, in the order of the job table.

    Parameters
    ----------
    jobs
        What was replayed.
    processors
        On how many.
    start, end
        (n,) s.
    why
        (n,) int64, index into ``reasons``: why the policy started the job when it did.
    reasons
        The policy's reasons.
    """

    jobs: JobTable
    processors: int
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    why: NDArray[np.int64]
    reasons: tuple[str, ...]


def kernels(policy: SitePolicy) -> tuple[Kernel, ...]:
    """What a replay under this policy needs compiled."""
    compiled = as_compiled(policy)
    return () if compiled is None else (compiled.select, RUN)


def replay(
    jobs: JobTable,
    processors: int,
    policy: SitePolicy,
    *,
    kill: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Replay:
    """Run jobs through a policy.

    Parameters
    ----------
    jobs
        Rigid jobs in order of submission.
    processors
        How many the site has.
    policy
        Asked at each instant at which a job was submitted or ended and somebody waits.
    kill
        Whether a job is stopped when it reaches its requested time.
    progress
        Called now and then with the number of jobs submitted so far.

    Raises
    ------
    InputError
        A job is wider than the site.
    PolicyError
        The policy started a job that does not wait or does not fit, or left jobs waiting on an idle site.

    Examples
    --------
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> jobs = JobTable.of(submit=[0, 0, 1], run=[10, 10, 10], procs=[2, 2, 1])
    >>> replay(jobs, processors=3, policy=Fcfs()).start.tolist()
    [0.0, 10.0, 10.0]
    """
    if not (processors >= 1 and processors % 1 == 0):
        raise InputError(f"processors is {processors}, expected a whole number of at least 1")
    if len(jobs) and jobs.procs.max() > processors:
        row = int(np.argmax(jobs.procs))
        raise InputError(f"job {jobs.job[row]} needs {jobs.procs[row]} processors, the site has {processors}")
    state = SiteRun(
        heap=make_heap(min(len(jobs), processors) + 1),
        site=make_site(processors, jobs.procs, jobs.request),
        submit=jobs.submit,
        held=np.minimum(jobs.run, jobs.request) if kill else jobs.run,
        submitted=np.zeros(1, np.int64),
    )
    compiled, report = as_compiled(policy), progress or (lambda _: None)
    if compiled is None:
        reasons = _drive_python(state, jobs, processors, policy, report)
    else:
        reasons = _drive_compiled(state, compiled, report)
    return Replay(jobs, processors, state.site.start, state.site.end, state.site.why, reasons)


def _drive_compiled(
    state: SiteRun, policy: CompiledPolicy, progress: Callable[[int], None]
) -> tuple[str, ...]:
    """Run all jobs, asking the policy from within the loop; its reasons."""
    run, select = RUN.ready(), policy.select.ready()
    chosen, why = np.empty((2, len(state.submit)), np.int64)
    status = PAUSED
    while status == PAUSED:
        status = run(select, state, chosen, why, _INSTANTS_BETWEEN_REPORTS)
        progress(int(state.submitted[0]))
    _raise_for(status, policy, state)
    return tuple(policy.reasons)


def _drive_python(
    state: SiteRun, jobs: JobTable, processors: int, policy: SitePolicy, progress: Callable[[int], None]
) -> tuple[str, ...]:
    """Run all jobs, asking the policy in Python; the reasons that it gave, in the order of first use."""
    row_of = {int(job): row for row, job in enumerate(jobs.job)}
    codes: dict[str, int] = {}
    while (now := advance(state)) < np.inf:
        queue = state.site.queue[state.site.counts[HEAD] : state.site.counts[TAIL]]
        if len(queue) == 0:
            continue
        decision = policy.decide(_view(state, now, queue, jobs, processors))
        _check(decision, len(queue), policy)
        rows = np.array([row_of.get(job, -1) for job in decision.jobs], dtype=np.int64)
        # Rows are in order of submission, and so is the queue.
        chosen = np.searchsorted(queue, rows)
        chosen[queue[np.minimum(chosen, len(queue) - 1)] != rows] = -1
        why = np.array(
            [codes.setdefault(reason, len(codes)) for reason in decision.reasons()], dtype=np.int64
        )
        if decision.notes is not None:
            state.site.note[queue] = decision.notes
        status = commit(state, now, chosen, why)
        if status != PAUSED:
            _raise_for(status, policy, state)
        progress(int(state.submitted[0]))
    _raise_for(status_at_end(state), policy, state)
    return tuple(codes)


def _check(decision: object, waiting: int, policy: SitePolicy) -> None:
    if not isinstance(decision, Start):
        raise PolicyError(f"policy {policy.name!r} decided {decision!r}, expected a Start")
    if len(decision.reasons()) != len(decision.jobs):
        found = f"{len(decision.reasons())} reasons for {len(decision.jobs)} jobs"
        raise PolicyError(f"policy {policy.name!r} gave {found}")
    if decision.notes is not None and np.shape(decision.notes) != (waiting,):
        found = f"notes of shape {np.shape(decision.notes)}"
        raise PolicyError(f"policy {policy.name!r} left {found}, expected one per waiting job, {waiting}")


def _view(state: SiteRun, now: float, queue: NDArray[np.int64], jobs: JobTable, processors: int) -> SiteView:
    site = state.site
    runs = site.running[: site.counts[RUNNING]]
    return SiteView(
        now=now,
        processors=processors,
        free=int(site.counts[FREE]),
        waiting=Waiting(
            jobs.job[queue], jobs.submit[queue], jobs.procs[queue], jobs.request[queue], site.note[queue]
        ),
        running=Running(jobs.job[runs], jobs.procs[runs], site.expected_end[runs]),
        refused=int(site.counts[REFUSED]),
    )


def _raise_for(status: int, policy: SitePolicy | CompiledPolicy, state: SiteRun) -> None:
    counts = state.site.counts
    waiting = counts[TAIL] - counts[HEAD]
    problems = {
        STUCK: f"left {waiting} jobs waiting although nothing runs and nothing more is submitted",
        BAD_POSITION: "started a job that does not wait, or the same job twice",
        TOO_WIDE: f"started jobs that need more than the {counts[FREE]} idle processors",
    }
    if status in problems:
        raise PolicyError(f"policy {policy.name!r} {problems[status]}")
