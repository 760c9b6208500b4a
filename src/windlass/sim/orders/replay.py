"""The world of jobs over many sites: each site has slots, each job has tasks fixed to sites.

A task holds one slot from start to end without a break; a job ends with its last task. A policy orders the jobs
that have tasks left to start whenever a job arrives or departs; in between, each idle slot takes the next task of
the first job in its site's order, the one expected to be the longest first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.compiled import Kernel
from windlass.model import InputError, PolicyError
from windlass.model.orders import GeoWorkload
from windlass.order.fleet import FleetPolicy, FleetView
from windlass.order.fleet.compiled import KEEP
from windlass.order.fleet.view import as_orders
from windlass.order.fleet.policies.fcfs import Fcfs
from windlass.sim.orders import state as at
from windlass.sim.orders.loop import ASK, BAD, DONE, FULL, PAUSED, RUN, STUCK
from windlass.sim.orders.state import World, enlarged, make_world

_EVENTS_BETWEEN_REPORTS = 500_000


@dataclass(frozen=True, slots=True, eq=False)
class GeoReplay:
    """What happened.

    Parameters
    ----------
    workload
        What was run.
    start, end
        (J,) s, first start and last end of each job's tasks.
    started
        (T,) s, start of each task, in the order of the workload's tasks.
    decisions
        How often the policy was asked.
    waiting_jobs, waiting_subjobs
        How many it was told of, over all decisions.
    """

    workload: GeoWorkload
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    started: NDArray[np.float64]
    decisions: int
    waiting_jobs: int
    waiting_subjobs: int


def kernels(policy: FleetPolicy) -> tuple[Kernel, ...]:
    """What a run under this policy needs compiled."""
    select, refine = _compiled(policy)
    return (select or Fcfs.select, refine, RUN)


def _compiled(policy: Any) -> tuple[Kernel | None, Kernel]:
    select: Kernel | None = getattr(policy, "select", None)
    refine: Kernel = getattr(policy, "refine", KEEP) if select is not None else KEEP
    return select, refine


def replay_geo(
    workload: GeoWorkload,
    policy: FleetPolicy,
    *,
    by_seconds: bool = False,
    progress: Callable[[int], None] | None = None,
) -> GeoReplay:
    """Run jobs over many sites through a policy.

    Parameters
    ----------
    workload
        Jobs, tasks, sites.
    policy
        Asked whenever a job arrived or departed and some have tasks left to start.
    by_seconds
        Whether policies are told expected seconds instead of numbers of tasks: tasks times the mean of those of
        the job that have finished (of all that have, before that), off by the workload's error.
    progress
        Called now and then with the number of jobs that are done.

    Raises
    ------
    PolicyError
        The policy's answer is no order of the jobs.

    Examples
    --------
    >>> from windlass.order.fleet.policies.swag import Swag
    >>> from windlass.model.orders import workload_of
    >>> subjobs = [[1, 10, 1], [3, 8, 0], [7, 0, 6]]
    >>> work = workload_of([0, 0, 0], subjobs, [1.0] * 36, [1, 1, 1])
    >>> replay_geo(work, Swag()).end.tolist()
    [18.0, 10.0, 7.0]
    """
    select, refine = _compiled(policy)
    python = select is None
    world = make_world(
        workload.submit,
        workload.first,
        workload.site,
        workload.task0,
        workload.duration,
        workload.slots,
        workload.error,
        by_seconds=by_seconds,
        python=python,
    )
    options: NDArray[np.float64] = np.zeros(1) if python else policy.options  # type: ignore[attr-defined]
    # A site without slots has no work; its 0 must not be divided by.
    world.slots[:] = np.maximum(world.slots, 1.0)
    run, chosen, refined = RUN.ready(), (select or Fcfs.select).ready(), refine.ready()
    # Reordering looks at what waits; what runs is past being put off.
    backlog, nothing = np.zeros((2, len(workload.slots)))
    status = PAUSED
    while status in (PAUSED, FULL, ASK):
        status = run(chosen, refined, options, backlog, nothing, world, _EVENTS_BETWEEN_REPORTS)
        if status == FULL:
            world = enlarged(world, _room(world))
        elif status == ASK:
            _ask(world, policy, backlog)
        elif progress is not None:
            progress(int(world.count[at.DONE]))
    _raise_for(status, policy, world)
    count = world.count
    return GeoReplay(
        workload,
        world.start,
        world.end,
        world.started,
        int(count[at.DECISIONS]),
        int(count[at.JOBS_TOLD]),
        int(count[at.SUBJOBS_TOLD]),
    )


def _room(world: World) -> int:
    submitted = world.count[at.SUBMITTED]
    now = world.submit[submitted]
    coming = int(np.searchsorted(world.submit, now, side="right") - submitted)
    return max(2 * len(world.row_job), int(world.count[at.ROWS]) + coming)


def _ask(world: World, policy: FleetPolicy, backlog: NDArray[np.float64]) -> None:
    rows = int(world.count[at.ROWS])
    view = FleetView(
        float(world.clock[at.NOW]),
        world.sized[:rows].copy(),
        world.slots.copy(),
        backlog.copy(),
        world.row_job[:rows].copy(),
    )
    try:
        orders = as_orders(policy.decide(view).order, rows, len(world.slots))
    except InputError as error:
        raise PolicyError(f"policy {policy.name!r} gave no order of the waiting jobs: {error}") from error
    world.order[: len(orders), :rows] = orders
    world.count[at.ORDERS] = len(orders)
    world.count[at.ANSWERED] = 1


def _raise_for(status: int, policy: FleetPolicy, world: World) -> None:
    if status == BAD:
        raise PolicyError(f"policy {policy.name!r} gave no order of the {world.count[at.ROWS]} waiting jobs")
    if status == STUCK:
        left = len(world.submit) - int(world.count[at.DONE])
        raise PolicyError(f"policy {policy.name!r} left {left} jobs unfinished although nothing runs")
    assert status == DONE, status
