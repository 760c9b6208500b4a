"""Allocation and growth of a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.jit.schema import allocate, grown
from windlass.model.vectors import VectorJobs
from windlass.sim.events import tree
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.needs import Needs
from windlass.sim.instances.state import (
    NONE,
    InstanceLog,
    InstanceRun,
    InstanceTable,
    QueueClock,
    QueueCounts,
    Queues,
)
from windlass.sim.nodes import Nodes

#: Slots at first; each start and end climbs the tree of ends, and a small tree is faster.
_FIRST_SLOTS = 64


@dataclass(frozen=True, slots=True)
class DecisionTimes:
    """Times of decisions, as in :class:`~windlass.sim.instances.part.InstancesPart`; ``look`` is infinity for none."""

    begin: float
    warm: float
    look: float
    at_once: bool


def make_run(
    jobs: VectorJobs,
    needs: Needs,
    fleet: InstanceFleet,
    nodes: Nodes,
    times: DecisionTimes,
    *,
    site: int,
    part: int,
    others: bool,
    after: int = 0,
    keeper: int = NONE,
) -> InstanceRun:
    """Return a run without instances and without submitted jobs; the parameters are those of the part."""
    rows = int(nodes.first[site + 1] - nodes.first[site]) - after
    queues = _queues(jobs, needs)
    counts, clock = QueueCounts.of(queues.counts), QueueClock.of(queues.clock)
    counts.site, counts.part, counts.best_fit, counts.shared = site, part, fleet.best_fit, others
    counts.after, counts.keeper = after, keeper
    clock.notice, clock.first_decision = fleet.notice, times.begin
    if times.at_once:
        clock.idle_limit = 0.0
    else:
        clock.decision_due, clock.idle_limit = times.begin, fleet.idle
        clock.warm_until, clock.poll_period = times.warm, times.look
    clock.next_instant = min([clock.decision_due, *jobs.submit[:1].tolist()])
    pieces = int(np.maximum(needs.gang[needs.kind], 1).sum())
    return InstanceRun(
        ends=tree.make_tree(len(queues.job_of)),
        turns=tree.make_tree(rows),
        nodes=nodes,
        fleet=_table(fleet, needs, rows),
        queues=queues,
        log=allocate(InstanceLog, {"launches": 2 * rows + 64, "attempts": pieces + 64}),
    )


def _table(fleet: InstanceFleet, needs: Needs, rows: int) -> InstanceTable:
    most = np.array([kind.most for kind in fleet.types], np.int64)
    first = np.concatenate(([0], np.cumsum(most)))
    count, cuts = len(most), fleet.interruptions
    sizes = {"types": count, "type_bounds": count + 1, "rows": rows, "cuts": len(cuts.time) + 1}
    return allocate(
        InstanceTable,
        # An instance that is launched again at the same instant is listed twice, and may end twice.
        sizes | {"expired": 2 * rows},
        first=first,
        top=first[:-1].copy(),
        capacity=needs.capacity,
        cores=fleet.cores(),
        limit=most,
        kind=np.repeat(np.arange(count), most),
        cut_time=np.append(cuts.time, np.inf),
        cut_kind=np.append(cuts.kind, 0),
        cut_limit=np.append(cuts.limit, 0),
    )


def _queues(jobs: VectorJobs, needs: Needs) -> Queues:
    count, (kinds, types) = len(jobs), needs.welcome.shape
    slots = min(count, _FIRST_SLOTS)
    return allocate(
        Queues,
        {"jobs": count, "kinds": kinds, "types": types, "slots": slots},
        submit=jobs.submit,
        run=jobs.run,
        job_kind=needs.kind,
        vector=needs.vector,
        gang=needs.gang,
        bucket=needs.bucket,
        welcome=needs.welcome,
        free_slots=np.arange(slots),
    )


def grow_run(run: InstanceRun) -> InstanceRun:
    """Return the run with more slots if all are used, and with longer logs if they could fill up at an instant."""
    counts, queues, log = QueueCounts.of(run.queues.counts), run.queues, run.log
    slots = len(queues.job_of)
    if counts.running == slots:
        queues = grown(queues, slots=2 * slots)
        queues.free_slots[slots:] = np.arange(slots, 2 * slots)
        run = run._replace(ends=tree.with_leaves(run.ends, 2 * slots), queues=queues)
    rows, launches, attempts = len(run.fleet.stage), len(log.kind), len(log.job)
    if counts.launches + rows > launches:
        log = grown(log, launches=launches + max(launches, rows))
    if counts.attempts + counts.pieces > attempts:
        log = grown(log, attempts=attempts + max(attempts, counts.pieces))
    return run._replace(log=log)
