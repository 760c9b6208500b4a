"""Making a site's state, and the same state with more room."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.jit.schema import allocate, grown
from windlass.model import JobTable, Owners
from windlass.model.pools import Pools
from windlass.order.site.queue_index import class_bounds, level_starts
from windlass.sim.cores import make_pieces
from windlass.sim.events.tree import make_tree, with_leaves
from windlass.sim.nodes import Nodes
from windlass.sim.site.state import SiteClock, SiteCounts, SiteRun, SiteState

#: Slots at first: each start and each end climbs the tree of ends, and a low tree is faster.
_FIRST_SLOTS = 64


def make_run(
    select: object,
    select_by_index: object,
    nodes: Nodes,
    site: int,
    part: int,
    table: JobTable,
    *,
    kill: bool,
    python: bool,
    record: bool,
    rated: bool,
    indexed: bool,
    owners: Owners | None = None,
    half_life: float | None = None,
    given: NDArray[np.float64] | None = None,
    pools: Pools | None = None,
) -> SiteRun:
    """Return a site on which no job runs yet.

    ``indexed`` states whether long queues have an index; the other parameters are those of
    :class:`~windlass.sim.site.part.SitePart`.
    """
    jobs, most = len(table), int(nodes.whole[nodes.first[site] : nodes.first[site + 1]].sum())
    slots = min(jobs, most, _FIRST_SLOTS)
    others = Pools.none(jobs) if pools is None else pools
    numbers = np.zeros(0) if given is None else given
    bounds = class_bounds(most) if indexed else np.zeros(0, np.int64)
    levels, nodes_of_index = level_starts(jobs) if indexed else (np.zeros(0, np.int64), 0)
    state = allocate(
        SiteState,
        {
            "jobs": jobs,
            "rated": jobs if rated else 0,
            "limited": jobs if rated or kill else 0,
            "slots": slots,
            "lost": 0,
            "lines": 0,
            "users": 1 if owners is None else max(owners.entries, 1),
            "numbers": len(numbers),
            "pools": len(others.amount),
            "classes": len(bounds),
            "levels": len(levels),
            "nodes": nodes_of_index,
        },
        bounds=bounds,
        levels=levels,
        submit=table.submit,
        held=np.minimum(table.run, table.request) if kill else table.run,
        work=table.run,
        limit=table.request if kill else None,
        procs=table.procs.copy() if rated else table.procs,
        request=table.request,
        spare=np.arange(slots, dtype=np.int32),
        given=numbers,
        pools=others.amount.copy(),
        needs=others.needs,
    )
    if owners is not None:
        state.owner[:] = owners.user, owners.group, owners.queue
    counts, clock = SiteCounts.of(state.counts), SiteClock.of(state.clock)
    counts.site, counts.part, counts.in_python = site, part, python
    counts.records, counts.rated, counts.whole = record, rated, most
    counts.idle_before, counts.owed_before = nodes.total[site], nodes.owed[site]
    # A guest holds processors of its host, and neither user's use of them is defined.
    counts.counts_use = half_life is not None and not rated
    if jobs:
        clock.next_instant = table.submit[0]
    if half_life is not None:
        clock.half_life = half_life
    pooled = nodes.first[site + 1] - nodes.first[site] == 1
    tree = make_tree(max(slots, 1))
    return SiteRun(select, select_by_index, tree, nodes, make_pieces(slots, 0 if pooled else most), state)


def with_slots(run: SiteRun) -> SiteRun:
    """Return the same site with twice as many slots."""
    slots = len(run.site.row_of)
    site = grown(run.site, slots=2 * slots)
    site.spare[slots:] = np.arange(slots, 2 * slots)
    return run._replace(
        tree=with_leaves(run.tree, 2 * slots), pieces=grown(run.pieces, holders=2 * slots), site=site
    )


def with_log(run: SiteRun) -> SiteRun:
    """Return the same site with room for more killed attempts, and for more pieces."""
    site, counts = run.site, SiteCounts.of(run.site.counts)
    lost, lines = len(site.lost), len(site.pieces_log)
    more = (lines + counts.wanted + 1024) * counts.records
    return run._replace(site=grown(site, lost=lost + max(64, lost), lines=lines + more))
