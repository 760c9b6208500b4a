"""The result of a finished run."""

from __future__ import annotations

import numpy as np

from windlass.model.vectors import VectorJobs
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.needs import Needs
from windlass.sim.instances.result import Attempts, Decisions, Launches, Scaled
from windlass.sim.instances.state import InstanceRun, QueueCounts


def collect_run(
    jobs: VectorJobs,
    fleet: InstanceFleet,
    needs: Needs,
    run: InstanceRun,
    begin: float,
    decisions: Decisions,
    others_until: float = -np.inf,
) -> Scaled:
    """Return the result, in arrays of its own; other loads have used the instances until ``others_until``, s."""
    queues, log, counts = run.queues, run.log, QueueCounts.of(run.queues.counts)
    launches, attempts = slice(counts.launches), slice(counts.attempts)
    return Scaled(
        jobs=jobs,
        fleet=fleet,
        shares=needs.shares()[needs.kind],
        begin=begin,
        finish=max(float(np.fmax.reduce(queues.end)) if len(jobs) else begin, others_until),
        start=queues.start.copy(),
        end=queues.end.copy(),
        lost=counts.lost,
        launches=Launches(
            kind=log.kind[launches].copy(),
            launched=log.launched[launches].copy(),
            ready=log.ready[launches].copy(),
            gone=log.gone[launches].copy(),
            why=log.why[launches].copy(),
            busy=log.busy[launches].copy(),
        ),
        attempts=Attempts(
            job=log.job[attempts].copy(),
            launch=log.launch[attempts].copy(),
            began=log.began[attempts].copy(),
            ended=log.ended[attempts].copy(),
        ),
        decisions=decisions,
    )
