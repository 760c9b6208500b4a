"""Small random clusters of all kinds of parts on common nodes, with many events at equal instants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.coupled.cases import drawn_tasks
from tests.coupled.clusters import TINY, Shape, taken
from tests.sim.queries import KINDS as CONFIGURATIONS
from windlass.model import JobTable
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.model.timetable import NodeTimetable
from windlass.model.use import JobUse, UseStage
from windlass.model.vectors import VectorJobs
from windlass.sim.instances.fleet import InstanceFleet, Interruptions
from windlass.sim.queries.setup import Stays, Terms
from windlass.sim.telemetry.neighbours import CoreChanges


@st.composite
def shapes(draw: st.DrawFn, *, promised: bool = False) -> Shape:
    """One to three nodes of one to four cores, and any kinds of parts; all times are small whole numbers.

    With ``promised``, promises to jobs hold: other parts have limits, and no node has outages.
    """
    nodes = draw(st.lists(st.integers(2 if promised else 1, 4), min_size=1, max_size=3))
    chance = st.sampled_from([True, True, False])
    shape = Shape(nodes, seed=draw(st.integers(0, 99)), all_called=draw(st.booleans()))
    shape = replace(shape, order=tuple(draw(st.permutations(range(7)))), tasks_first=draw(st.booleans()))
    if not promised and draw(chance):
        shape = replace(shape, **draw(_instances()))
    if draw(chance):
        rows = [*nodes, *(shape.fleet.rows() if shape.fleet else [])]
        share = draw(st.sampled_from([0.0, 0.25]))
        dispatch = draw(st.sampled_from(["jsq", "pull"]))
        shape = replace(shape, tasks=draw(drawn_tasks(rows, 1.0)), share=share, dispatch=dispatch)
        if draw(chance):
            rejects = draw(st.sampled_from([0.2, 0.6, 1.0]))
            shape = replace(shape, rejects=rejects, refuses=draw(st.booleans()))
        if share > 0.0 and shape.vectors is not None:
            # Instances of two cores have one for jobs.
            narrow = {"cores": np.ones(len(shape.vectors)), "run": shape.vectors.run}
            shape = replace(shape, vectors=VectorJobs.of(shape.vectors.submit, **narrow))
    if draw(chance):
        shape = replace(shape, **draw(_streams(sum(nodes), limited=promised)))
    if draw(chance):
        shape = replace(shape, **draw(_bursts(sum(nodes), limited=promised)))
    if not promised and draw(chance):
        shape = replace(shape, **draw(_staged(shape)))
    if not promised and draw(chance):
        shape = replace(shape, outages=draw(_outages(shape)))
    if taken(shape) >= sum(nodes):
        shape = replace(shape, keep=0, most=0, most_bursts=0, share=0.0)
    widest = sum(nodes) - taken(shape)
    if draw(chance):
        shape = replace(shape, jobs=draw(_jobs(widest)))
    if shape.jobs is None or (not promised and draw(chance)):
        shape = replace(shape, **draw(_sharing(widest)))
    return shape


def _column(draw: st.DrawFn, count: int, each: st.SearchStrategy[Any]) -> Any:
    return np.array(draw(st.lists(each, min_size=count, max_size=count)))


#: Above, below and exactly the run time; the last is the likeliest.
_SLACKS = st.sampled_from([0, 0, 0, 1, 2, 5, -1, -3])


@st.composite
def _jobs(draw: st.DrawFn, widest: int) -> JobTable:
    count = draw(st.integers(1, 10))
    gap, length = (_column(draw, count, st.integers(low, high)) for low, high in ((0, 2), (1, 8)))
    widths = st.one_of(st.integers(1, widest), st.just(1))
    request = np.maximum(length + _column(draw, count, _SLACKS), 1)
    return JobTable.of(np.cumsum(gap), length, _column(draw, count, widths), request)


@st.composite
def _sharing(draw: st.DrawFn, widest: int) -> dict[str, Any]:
    count = draw(st.integers(1, 8))
    percents, length = st.sampled_from([0.0, 5.0, 40.0, 100.0]), st.integers(1, 5).map(float)
    stage = st.builds(UseStage, length, percents, percents, st.booleans(), st.sampled_from([0.0, 1.0]))
    stages = draw(st.lists(st.lists(stage, min_size=1, max_size=2), min_size=count, max_size=count))
    memory = draw(st.lists(st.sampled_from([0.0, 1e9, 4e9]), min_size=count, max_size=count))
    use = JobUse.of(["montage"] * count, memory, stages)
    request = np.maximum(use.run() + _column(draw, count, _SLACKS), 1.0)
    widths = st.one_of(st.integers(1, widest), st.just(1))
    gap, procs = _column(draw, count, st.integers(0, 2)), _column(draw, count, widths)
    jobs = JobTable.of(np.cumsum(gap), use.run(), procs, request)
    loss, every = draw(st.sampled_from([0.0, 0.02])), draw(st.sampled_from([1.0, 3.0]))
    return {"sharing": jobs, "use": use, "loss": loss, "every": every}


@st.composite
def _instances(draw: st.DrawFn) -> dict[str, Any]:
    count = draw(st.integers(1, 6))
    gap, length = (_column(draw, count, st.integers(low, high)) for low, high in ((0, 3), (1, 8)))
    cores = _column(draw, count, st.sampled_from([1.0, 1.0, 2.0, 3.0]))
    vectors = VectorJobs.of(submit=np.cumsum(gap), run=length, cores=cores)
    cuts = draw(st.lists(st.tuples(st.integers(3, 24), st.integers(0, 1)), max_size=2))
    times = sorted(cuts) + ([(26, TINY.most)] if cuts else [])
    interrupted = Interruptions(
        np.array([float(time) for time, _ in times]),
        np.zeros(len(times), np.int64),
        np.array([limit for _, limit in times], np.int64),
    )
    idle, notice = draw(st.sampled_from([0.0, 2.0, 5.0])), draw(st.sampled_from([0.0, 2.0]))
    fleet = InstanceFleet((TINY,), idle=idle, notice=notice, interruptions=interrupted)
    return {"vectors": vectors, "fleet": fleet, "begin": draw(st.sampled_from([0.0, 3.0]))}


@st.composite
def _streams(draw: st.DrawFn, cores: int, *, limited: bool) -> dict[str, Any]:
    count = draw(st.integers(1, 4))
    arrive, length = (_column(draw, count, st.integers(low, high)) for low, high in ((0, 15), (1, 15)))
    kinds = draw(st.lists(st.integers(0, len(CONFIGURATIONS) - 1), min_size=count, max_size=count))
    delays = draw(st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from([0, 4])))
    keep = draw(st.integers(0, min(2, cores - 1)))
    most = st.integers(keep, max(keep, cores // 2))
    return {
        "stays": Stays(arrive.astype(float), (arrive + length).astype(float)),
        "kinds": tuple(kinds),
        "terms": Terms(restart=float(delays[0]), notice=float(delays[1]), patience=float(delays[2])),
        "keep": keep,
        "most": draw(most if limited else st.one_of(st.none(), most)),
    }


@st.composite
def _staged(draw: st.DrawFn, shape: Shape) -> dict[str, Any]:
    """Jobs of up to three stages over the nodes, with their instances, and the eight cores of the cloud."""
    nodes = sum(shape.nodes) + sum(shape.fleet.rows() if shape.fleet else [])
    count, jobs = draw(st.integers(1, 3)), list[list[StageSpec]]()
    seconds, here = st.sampled_from([1.0, 2.0, 0.5]), st.integers(0, 3)
    for _ in range(count):
        # The cloud has idle cores at all times, so that some tasks of each job can start.
        first = StageSpec(
            draw(seconds),
            here=(draw(here), draw(st.integers(1, 3))),
            task_bytes=draw(st.sampled_from([6.0, 0.0])),
        )
        jobs.append([first])
        for place in range(draw(st.integers(0, 2))):
            jobs[-1].append(
                StageSpec(draw(seconds), tasks=draw(st.integers(1, 4)), parents=(place,), ratio=0.5)
            )
    submit = np.cumsum(_column(draw, count, st.integers(0, 4))).astype(float)
    case = FleetCase(Fleet.of([nodes, 8], [4.0, 4.0], [4.0, 4.0]), FleetJobs.of(submit.tolist(), jobs))
    policies = [
        ("fcfs", True, False),
        ("swag", True, True),
        ("in-place", False, True),
        ("tetrium", False, True),
    ]
    return {"staged": case, "staged_policy": draw(st.sampled_from(policies))}


@st.composite
def _bursts(draw: st.DrawFn, cores: int, *, limited: bool) -> dict[str, Any]:
    """Bursts on the first node."""
    made = draw(
        st.lists(st.tuples(st.integers(0, 20), st.integers(1, 8), st.integers(1, 3)), min_size=1, max_size=3)
    )
    steps = sorted(each for begin, length, more in made for each in ((begin, more), (begin + length, -more)))
    bursts = CoreChanges(
        np.array([float(time) for time, _ in steps]),
        np.zeros(len(steps), np.int64),
        np.array([more for _, more in steps], np.int64),
    )
    most = st.integers(1, max(1, cores // 2))
    return {"bursts": bursts, "most_bursts": draw(most if limited else st.one_of(st.none(), most))}


@st.composite
def _outages(draw: st.DrawFn, shape: Shape) -> NodeTimetable:
    """Drops of nodes in part or in whole, with or without kill, several at one instant; all return."""
    times, nodes = NodeTimetable.none(), shape.nodes
    for _ in range(draw(st.integers(1, 4))):
        node, down, length = (
            draw(st.integers(0, len(nodes) - 1)),
            draw(st.integers(0, 20)),
            draw(st.integers(1, 8)),
        )
        pooled = len(nodes) == 1 and shape.fleet is None
        kill = draw(st.booleans()) and not pooled
        left = draw(st.one_of(st.just(0), st.integers(0, nodes[node])))
        times += NodeTimetable.outage(node, down, down + length, cores=nodes[node], left=left, kill=kill)
    return times
