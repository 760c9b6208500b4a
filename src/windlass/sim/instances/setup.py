"""Instances and jobs before anything happens, and the same with more room."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.model.vectors import VectorJobs
from windlass.sim.events.tree import make_tree, with_leaves
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.needs import Needs
from windlass.sim.instances.state import (
    ATTEMPTS,
    AWAY,
    BEST,
    CLOCKS,
    COUNTS,
    DUE,
    EVERY,
    FIRST,
    KEEP,
    LAUNCHES,
    NEXT,
    NOBODY,
    NOTICE,
    NOW,
    OTHERS,
    PART,
    PIECES,
    RUNNING,
    SITE,
    WARM,
    InstanceLog,
    InstanceRun,
    InstanceTable,
    Queues,
)
from windlass.sim.nodes import Nodes

#: Slots at first: the tree of ends is climbed for each start and each end, and a low one faster.
_FIRST_SLOTS = 64


@dataclass(frozen=True, slots=True)
class DecisionTimes:
    """When the policy is asked: see :class:`~windlass.sim.instances.part.InstancesPart`; no look is infinity."""

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
) -> InstanceRun:
    """No instance is there and no job was submitted; the parameters are those of the part."""
    rows = int(nodes.first[site + 1] - nodes.first[site])
    queues = _queues(jobs, needs)
    counts, clock = queues.counts, queues.clock
    counts[SITE], counts[PART], counts[BEST] = site, part, fleet.best_fit
    counts[OTHERS] = others
    clock[NOW], clock[NOTICE], clock[FIRST] = -np.inf, fleet.notice, times.begin
    if times.at_once:
        clock[KEEP] = 0.0
    else:
        clock[DUE], clock[KEEP], clock[WARM], clock[EVERY] = times.begin, fleet.idle, times.warm, times.look
    clock[NEXT] = min([clock[DUE], *jobs.submit[:1].tolist()])
    pieces = int(np.maximum(needs.gang[needs.kind], 1).sum())
    return InstanceRun(
        make_tree(len(queues.job_of)),
        make_tree(rows),
        nodes,
        _fleet(fleet, needs, rows),
        queues,
        _log(2 * rows + 64, pieces + 64),
    )


def _fleet(fleet: InstanceFleet, needs: Needs, rows: int) -> InstanceTable:
    most = np.array([kind.most for kind in fleet.types], np.int64)
    first = np.concatenate(([0], np.cumsum(most)))
    of, cuts = len(most), fleet.interruptions
    return InstanceTable(
        first=first,
        top=first[:-1].copy(),
        capacity=np.ascontiguousarray(needs.capacity),
        cores=np.array(fleet.cores(), np.int64),
        number=np.zeros((of, 4), np.int64),
        wanted=np.zeros(of, np.int64),
        limit=most.copy(),
        stage=np.full(rows, AWAY, np.int64),
        kind=np.repeat(np.arange(of), most),
        jobs=np.zeros(rows, np.int64),
        owner=np.full(rows, NOBODY, np.int64),
        line=np.full(rows, NOBODY, np.int64),
        used=np.zeros((rows, 3), np.int64),
        since=np.zeros(rows),
        boots=np.zeros(rows, np.uint8),
        changed=np.zeros(rows, np.int64),
        marked=np.zeros(rows, np.uint8),
        # A row may be there twice, and go twice, where it comes back at the same instant.
        expired=np.zeros(2 * rows, np.int64),
        vacated=np.zeros(4 * rows, np.int64),
        cut_time=np.append(cuts.time, np.inf),
        cut_kind=np.append(cuts.kind, 0),
        cut_limit=np.append(cuts.limit, 0),
    )


def _queues(jobs: VectorJobs, needs: Needs) -> Queues:
    count, kinds = len(jobs), len(needs.gang)
    slots = min(count, _FIRST_SLOTS)
    start, end = np.full((2, count), np.nan)
    sequence, after, where, slot = np.full((4, count), NOBODY, np.int64)
    head, tail = np.full((2, kinds), NOBODY, np.int64)
    alive, some, place, opened = np.zeros((4, kinds), np.int64)
    return Queues(
        submit=np.ascontiguousarray(jobs.submit),
        run=np.ascontiguousarray(jobs.run),
        start=start,
        end=end,
        job_kind=needs.kind,
        sequence=sequence,
        after=after,
        where=where,
        slot=slot,
        vector=np.ascontiguousarray(needs.vector),
        gang=needs.gang,
        bucket=needs.bucket,
        welcome=np.ascontiguousarray(needs.welcome, np.uint8),
        head=head,
        tail=tail,
        fresh=np.zeros(kinds, np.uint8),
        alive=alive,
        some=some,
        place=place,
        open=opened,
        job_of=np.full(slots, NOBODY, np.int64),
        spare=np.arange(slots),
        counts=np.zeros(COUNTS, np.int64),
        clock=np.full(CLOCKS, np.inf),
    )


def _log(launches: int, attempts: int) -> InstanceLog:
    return InstanceLog(
        kind=np.zeros(launches, np.int64),
        why=np.zeros(launches, np.int64),
        times=np.full((launches, 3), np.nan),
        busy=np.zeros(launches),
        job=np.zeros(attempts, np.int64),
        launch=np.zeros(attempts, np.int64),
        began=np.zeros(attempts),
        ended=np.zeros(attempts),
    )


def with_room(run: InstanceRun) -> InstanceRun:
    """The same with more slots, or longer logs, where these are too few."""
    counts, queues, log = run.queues.counts, run.queues, run.log
    slots = len(queues.job_of)
    if counts[RUNNING] == slots:
        queues = queues._replace(
            job_of=np.append(queues.job_of, np.full(slots, NOBODY)),
            spare=np.append(queues.spare, np.arange(slots, 2 * slots)),
        )
        run = run._replace(ends=with_leaves(run.ends, 2 * slots), queues=queues)
    rows = len(run.fleet.stage)
    if counts[LAUNCHES] + rows > len(log.kind):
        log = log._replace(**_longer(log, ("kind", "why", "times", "busy"), rows))
    if counts[ATTEMPTS] + counts[PIECES] > len(log.job):
        log = log._replace(**_longer(log, ("job", "launch", "began", "ended"), int(counts[PIECES])))
    return run._replace(log=log)


def _longer(log: InstanceLog, names: tuple[str, ...], more: int) -> dict[str, np.ndarray]:
    found = {}
    for name in names:
        old = getattr(log, name)
        room = np.zeros((max(len(old), more), *old.shape[1:]), old.dtype)
        found[name] = np.concatenate((old, room))
    return found
