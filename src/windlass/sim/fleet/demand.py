"""The cores that waiting tasks of a fleet lack at a site, for an autoscaler."""

from __future__ import annotations

import numpy as np

from windlass.sim.demand import CoreDemand
from windlass.sim.fleet.state import FleetState


def lacking_at(state: FleetState, number: int) -> CoreDemand:
    """Return the cores that waiting tasks lack at a site, beyond its idle slots; one row for each stage.

    A task waits at the site of its input, and the tasks of a shuffle in proportion to the data at each site. Under a
    standing order, these are the sites to which tasks are assigned. Each stage waits since the submission of its job.

    Parameters
    ----------
    state
        The fleet's state.
    number
        The fleet's number of the site.
    """
    stages = np.flatnonzero((state.stages["ready"] > 0) & (state.stages["waiting"] > 0))
    if not len(stages):
        return CoreDemand.none()
    own = state.stages[stages]
    cells = state.cells[own["row"]]
    tasks = cells["left"][:, number].astype(np.float64)
    if not state.run["standing"][0]:
        shuffles = own["shuffles"] > 0
        data = cells["data"][shuffles]
        total = data.sum(axis=1)
        # Without any data, each site may run the tasks.
        share = np.divide(
            data[:, number], total, out=np.full(len(data), 1.0 / data.shape[1]), where=total > 0.0
        )
        tasks[shuffles] = np.ceil(np.round(own["waiting"][shuffles] * share, 6))
    idle = max(int(state.sites["free"][number]), 0)
    lacking = np.clip(np.cumsum(tasks) - idle, 0.0, tasks)
    some = lacking > 0.0
    submit = state.jobs["submit"][own["job"][some]]
    return CoreDemand(lacking[some], submit, np.full(len(submit), np.inf))
