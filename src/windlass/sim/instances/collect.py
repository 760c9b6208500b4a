"""A finished run, taken down from its arrays."""

from __future__ import annotations

import numpy as np

from windlass.model.vectors import VectorJobs
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.needs import Needs
from windlass.sim.instances.result import Attempts, Decisions, Launches, Scaled
from windlass.sim.instances.state import ATTEMPTS, GONE, LAUNCHED, LAUNCHES, LOST, READY, InstanceRun


def taken_down(
    jobs: VectorJobs, fleet: InstanceFleet, needs: Needs, run: InstanceRun, begin: float, decisions: Decisions
) -> Scaled:
    """What happened, in arrays of its own."""
    queues, log, counts = run.queues, run.log, run.queues.counts
    launches, attempts = slice(int(counts[LAUNCHES])), slice(int(counts[ATTEMPTS]))
    times = log.times[launches]
    return Scaled(
        jobs,
        fleet,
        needs.shares()[needs.kind],
        begin,
        float(np.nanmax(queues.end)) if len(jobs) else begin,
        queues.start.copy(),
        queues.end.copy(),
        int(counts[LOST]),
        Launches(
            log.kind[launches].copy(),
            times[:, LAUNCHED].copy(),
            times[:, READY].copy(),
            times[:, GONE].copy(),
            log.why[launches].copy(),
            log.busy[launches].copy(),
        ),
        Attempts(
            log.job[attempts].copy(),
            log.launch[attempts].copy(),
            log.began[attempts].copy(),
            log.ended[attempts].copy(),
        ),
        decisions,
    )
