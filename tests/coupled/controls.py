"""Two clusters with all that a validator checks, and corruptions of their logs."""

from __future__ import annotations

import numpy as np

from tests.coupled.cases import Tasks, jobs_of
from tests.coupled.clusters import TINY, Shape
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.model.timetable import NodeTimetable
from windlass.model.use import JobUse, UseStage
from windlass.model.vectors import VectorJobs
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.queries.setup import Stays, Terms
from windlass.sim.telemetry.neighbours import CoreChanges

_USE = [
    [UseStage(4.0, 40.0), UseStage(3.0, 100.0)],
    [UseStage(6.0, 5.0)],
    [UseStage(5.0, 5.0)],
    [UseStage(9.0, 40.0)],
]
_OUTAGES = NodeTimetable.outage(1, 6.0, 11.0, cores=4, left=1, kill=True)
_OUTAGES += NodeTimetable.outage(0, 8.0, 12.0, cores=4, left=0)
#: All kinds of parts; one node is vacated in part at 6 s, the other one is drained from 8 to 12 s.
FULL = Shape(
    [4, 4],
    jobs=jobs_of((0, 4, 2), (0, 9, 1), (1, 5, 2, 3), (2, 9, 1), (3, 6, 3)),
    sharing=jobs_of((0, 7, 2, 20), (1, 6, 1, 30), (1, 5, 2, 20), (2, 9, 1, 40)),
    use=JobUse.of(["montage"] * 4, [4e9] * 4, _USE),
    loss=0.02,
    every=1.0,
    tasks=Tasks(
        [0.0, 0.5, 2.0, 2.0, 6.0, 7.0, 9.0], [0.5, 1.0, 2.0, 0.25, 3.0, 1.0, 0.5], [1.0, 1.0, 1.0, 1.0]
    ),
    vectors=VectorJobs.of(submit=[0.0, 1.0, 1.0], run=[5.0, 4.0, 3.0], cores=[1.0, 2.0, 1.0]),
    fleet=InstanceFleet((TINY,), idle=2.0),
    stays=Stays(np.array([1.0, 3.0]), np.array([14.0, 20.0])),
    kinds=(0, 1),
    terms=Terms(restart=1.0, notice=0.0),
    keep=1,
    most=3,
    bursts=CoreChanges(np.array([0.0, 5.0]), np.array([0, 0]), np.array([1, -1])),
    most_bursts=1,
    outages=_OUTAGES,
    order=(5, 4, 1, 2, 0, 3),
    seed=3,
)
_STAGED = [
    [StageSpec(2.0, here=(3, 2), task_bytes=6.0), StageSpec(1.0, tasks=4, parents=(0,), ratio=0.5)],
    [StageSpec(1.0, here=(2, 0), task_bytes=6.0)],
]
#: Staged jobs that read over links, and nodes that reject short tasks, which are then refused; tasks start late.
GATED = Shape(
    [4, 4],
    staged=FleetCase(Fleet.of([8, 8], [4.0, 4.0], [4.0, 4.0]), FleetJobs.of([0.0, 1.0], _STAGED)),
    tasks=Tasks([0.25 + 0.5 * each for each in range(24)], [1.5] * 24, [1.0, 1.0]),
    dispatch="pull",
    rejects=0.5,
    refuses=True,
    seed=5,
)
#: Nodes that reject or limit short tasks, each of which gets a node on arrival, if need be one that rejects it.
FORCED = Shape([4, 4], tasks=GATED.tasks, dispatch="jsq", rejects=0.4, refuses=False, seed=6)
#: Jobs on nodes of which tasks keep a core each, with queries that keep a core and may hold two.
PROMISED = Shape(
    [4, 4],
    jobs=jobs_of((0, 6, 2), (0, 4, 1), (1, 5, 4), (2, 9, 1), (2, 3, 1, 5), (4, 6, 3)),
    tasks=Tasks([0.0, 0.5, 2.0], [0.5, 1.0, 2.0], [1.0, 1.0]),
    share=0.25,
    stays=Stays(np.array([1.0, 3.0]), np.array([14.0, 20.0])),
    kinds=(0, 1),
    keep=1,
    most=2,
)
