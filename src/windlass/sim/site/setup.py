"""A site before anything happens, and the same with more room."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.model import JobTable, Owners
from windlass.model.pools import Pools
from windlass.sim.cores import make_pieces
from windlass.sim.events.tree import grown, make_tree
from windlass.sim.nodes import Nodes
from windlass.sim.site.state import (
    CLOCKS,
    COUNTS,
    HALF_LIFE,
    NEXT,
    NO_ROW,
    NO_SLOT,
    NOW,
    OWED,
    PART,
    PYTHON,
    RATED,
    RECORD,
    SEEN,
    SITE,
    USED_AT,
    USES,
    WANTED,
    WHOLE,
    SiteRun,
    SiteState,
)

#: Slots at first; the tree of ends is climbed for each start and each end, and a low one faster.
_FIRST_SLOTS = 64


def make_run(
    select: object,
    nodes: Nodes,
    site: int,
    part: int,
    table: JobTable,
    *,
    kill: bool,
    python: bool,
    record: bool,
    rated: bool,
    owners: Owners | None = None,
    half_life: float | None = None,
    given: NDArray[np.float64] | None = None,
    pools: Pools | None = None,
) -> SiteRun:
    """A site on which nothing runs yet; the parameters are those of :class:`~windlass.sim.site.part.SitePart`."""
    jobs, most = len(table), int(nodes.whole[nodes.first[site] : nodes.first[site + 1]].sum())
    slots = min(jobs, most, _FIRST_SLOTS)
    counts, clock = np.zeros(COUNTS, np.int64), np.full(CLOCKS, np.inf)
    counts[SITE], counts[PART], counts[PYTHON] = site, part, python
    counts[RECORD], counts[RATED] = record, rated
    counts[SEEN], counts[OWED] = nodes.total[site], nodes.owed[site]
    # Guests hold processors of their hosts: whose use that would be, nobody says.
    counts[USES], counts[WHOLE] = half_life is not None and not rated, most
    clock[NOW], clock[NEXT] = -np.inf, table.submit[0] if jobs else np.inf
    clock[USED_AT], clock[HALF_LIFE] = -np.inf, np.inf if half_life is None else half_life
    owner = np.full((3, jobs), -1, np.int32)
    if owners is not None:
        owner[:] = owners.user, owners.group, owners.queue
    used, using = np.zeros((2, 1 if owners is None else max(owners.entries, 1)))
    note, start, end = np.full((3, jobs), np.nan)
    # Empty where entries are written before they are read: to clear them costs some ns a job.
    why, (queue, chosen, reason) = np.zeros(jobs, np.int64), np.empty((3, jobs), np.int64)
    changing = jobs if rated else 0
    rate, since, left, pace, allowance, stop = np.empty((6, changing))
    expected_end, (host, guest) = np.empty(jobs), np.full((2, changing), NO_ROW)
    running, row_of = np.zeros((2, slots), np.int64)
    pooled = nodes.first[site + 1] - nodes.first[site] == 1
    beside = Pools.none(jobs) if pools is None else pools
    state = SiteState(
        table.submit,
        np.minimum(table.run, table.request) if kill else table.run,
        table.run,
        table.request if kill else np.full(changing, np.inf),
        rate,
        since,
        left,
        pace,
        allowance,
        stop,
        host,
        guest,
        table.procs.copy() if rated else table.procs,
        table.request,
        note,
        expected_end,
        start,
        end,
        why,
        queue,
        running,
        np.full(jobs, NO_SLOT, np.int32),
        row_of,
        np.arange(slots, dtype=np.int32),
        np.zeros(0, np.int64),
        np.zeros((0, 2)),
        np.zeros((0, 4)),
        chosen,
        reason,
        counts,
        clock,
        owner,
        used,
        using,
        np.zeros(0) if given is None else given,
        beside.amount.copy(),
        beside.needs,
    )
    tree = make_tree(max(slots, 1))
    return SiteRun(select, tree, nodes, make_pieces(slots, 0 if pooled else most), state)


def with_slots(run: SiteRun) -> SiteRun:
    """The same site with twice as many slots."""
    slots = len(run.site.row_of)
    more, fresh = np.zeros(slots, np.int64), np.arange(slots, 2 * slots, dtype=np.int32)
    none = np.full(slots, -1, np.int32)
    pieces, site = run.pieces, run.site
    return run._replace(
        tree=grown(run.tree, 2 * slots),
        pieces=pieces._replace(
            **{name: np.append(getattr(pieces, name), none) for name in ("last_row", "last_cores", "chain")}
        ),
        site=site._replace(
            running=np.append(site.running, more),
            row_of=np.append(site.row_of, more),
            spare=np.append(site.spare, fresh),
        ),
    )


def with_log(run: SiteRun) -> SiteRun:
    """The same site with room for more attempts that are lost, and for more pieces."""
    site = run.site
    more = max(64, len(site.lost))
    pieces = (len(site.pieces_log) + int(site.counts[WANTED]) + 1024) * int(site.counts[RECORD])
    return run._replace(
        site=site._replace(
            lost=np.append(site.lost, np.zeros(more, np.int64)),
            lost_times=np.concatenate((site.lost_times, np.zeros((more, 2)))),
            pieces_log=np.concatenate((site.pieces_log, np.zeros((pieces, 4)))),
        )
    )
