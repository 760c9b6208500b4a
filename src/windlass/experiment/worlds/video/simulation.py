"""One run of streaming queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from windlass.drive import drive
from windlass.experiment.worlds.video.clusters import UNITS, rows_of
from windlass.experiment.worlds.video.streams import QuerySchedule
from windlass.model.queries import Hierarchy
from windlass.model.timetable import SiteTimetable
from windlass.plan import POLICIES as PLAN
from windlass.plan import PlanPolicy, QueryOptions, configurations
from windlass.sim.coupled import SinglePart
from windlass.sim.ledger import Ledger
from windlass.sim.queries.part import QueriesPart
from windlass.sim.queries.result import Streamed
from windlass.sim.queries.setup import Terms


@dataclass(frozen=True, slots=True, eq=False)
class VideoCase:
    """The input of a run, apart from the planner's decisions.

    Parameters
    ----------
    hierarchy
        The clusters at the start.
    streams
        The queries, and when each starts and ends.
    timetable
        Changes of cores, in units of the ledger, and of links.
    terms
        Durations of restarts, notices and buffers.
    merge
        Whether planners are given the work that queries have in common.
    """

    hierarchy: Hierarchy
    streams: QuerySchedule
    timetable: SiteTimetable
    terms: Terms = field(default_factory=Terms)
    merge: bool = False


def run_video(
    case: VideoCase,
    planner: PlanPolicy,
    progress: Callable[[float], None] | None = None,
) -> Streamed:
    """Simulate the queries.

    Parameters
    ----------
    case
        The clusters and queries.
    planner
        The planning policy.
    progress
        Receives the share of elapsed time.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.experiment.workloads.queries import three_tiers
    >>> from windlass.experiment.worlds.video.spec import VideoWorkloadSpec
    >>> from windlass.experiment.worlds.video.streams import streams_of
    >>> tiers, spec = three_tiers(cameras=2), VideoWorkloadSpec(begin=2, per_hour=0.0, last=1e6, seconds=60.0)
    >>> case = VideoCase(tiers, streams_of(spec, tiers, seed=1), SiteTimetable.none())
    >>> done = run_video(case, PLAN.make("fair", np.random.default_rng(1)))
    >>> done.silent.tolist(), len(done.answers)
    ([2.0, 2.0], 1)
    """
    tiers, ledger, streams = case.hierarchy, Ledger([rows_of(case.hierarchy)], parts=1), case.streams
    options = [
        QueryOptions.of(row, configurations(query, tiers), merging=case.merge)
        for row, query in enumerate(streams.queries)
    ]
    part = QueriesPart(
        tiers,
        options,
        streams.stays,
        ledger,
        terms=case.terms,
        timetable=case.timetable,
        units=UNITS,
        progress=progress,
    )
    done: Streamed = drive(SinglePart(part, ledger), {PLAN.key: planner})
    return done
