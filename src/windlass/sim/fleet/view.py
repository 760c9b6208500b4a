"""Views of jobs over a fleet for policies, built from the simulator's state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.model.fleet import FleetJobs
from windlass.order.fleet.view import FleetView
from windlass.place.view import PlaceView, Ready, Sites
from windlass.sim.fleet.durations import Finished, means_of_finished
from windlass.sim.fleet.state import FleetState

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def following_work(jobs: FleetJobs, task_s: _Floats) -> _Floats:
    """Return (K,) slot-seconds of the stages that read each stage's output; ``task_s`` (K,) is the task time, s."""
    work = jobs.tasks * task_s
    total = np.zeros(len(work))
    np.add.at(total, np.repeat(np.arange(len(work)), np.diff(jobs.child_at)), work[jobs.children])
    return total


def finished_means(state: FleetState) -> _Floats:
    """Return (K,) the mean compute time of finished tasks for each stage, s; see :func:`means_of_finished`."""
    run, stages = state.run[0], state.stages[:-1]
    jobs = state.jobs[stages["job"]]
    return means_of_finished(
        Finished(stages["seconds"], stages["done"].astype(np.float64)),
        Finished(jobs["seconds"], jobs["tasks"]),
        Finished(run["all_seconds"], run["all_tasks"]),
    )


def order_view(state: FleetState) -> FleetView:
    """Return the view of a policy that orders jobs: the jobs with tasks left to start."""
    jobs = int(state.run["groups"][0])
    return FleetView(
        float(state.run["now"][0]),
        state.sized[:jobs].copy(),
        state.slots.copy(),
        state.backlog.copy(),
        state.rows["job"][:jobs].copy(),
    )


def place_view(state: FleetState, stages: _Ints, task_s: _Floats, following: _Floats) -> PlaceView:
    """Return the view of a placement policy: the sites, and the stages with waiting tasks.

    Parameters
    ----------
    state
        The simulator's state.
    stages
        Numbers of the stages with waiting tasks.
    task_s
        (K,) estimated compute time of a task of each stage, s.
    following
        (K,) slot-seconds of the stages that read each stage's output.
    """
    run, own = state.run[0], state.stages[stages]
    rows = own["row"]
    here, data, started, running, plan = (
        state.cells[name][rows] for name in ("left", "data", "started", "running", "plan")
    )
    part = np.where(
        own["shuffles"][:, None] > 0,
        data * (own["waiting"] / own["tasks"])[:, None],
        here * own["task_bytes"][:, None],
    )
    job = state.jobs[own["job"]]
    ready = Ready(
        job=own["job"].copy(),
        left=job["stages_left"].copy(),
        shuffles=own["shuffles"].copy(),
        total=own["tasks"].copy(),
        waiting=own["waiting"].copy(),
        task_s=task_s[stages],
        next_work=following[stages],
        ratio=own["ratio"].copy(),
        since=own["since"].copy(),
        here=here,
        data=part,
        started=started,
        running=running,
        plan=plan,
    )
    fresh = ((own["begun"] == 0) & (here.sum(axis=1) == own["tasks"]) & (job["sent"] == 0)).astype(np.int64)
    return PlaceView(
        float(run["now"]), _sites(state), ready, fresh, bool(run["resources"]), bool(run["moved"])
    )


def _sites(state: FleetState) -> Sites:
    slots, free = state.sites["slots"].copy(), state.sites["free"].copy()
    if not state.run["linked"][0]:
        links = np.full((4, len(slots)), np.inf)
        return Sites(slots, free, *links)
    used = state.rate * state.weight
    up, down = state.sites["up"].copy(), state.sites["down"].copy()
    free_links = np.maximum(up - used.sum(axis=1), 0.0), np.maximum(down - used.sum(axis=0), 0.0)
    return Sites(slots, free, up, down, *free_links)
