"""Small coupled clusters, drawn and run: jobs and small tasks on the same nodes, whose cores come and go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from windlass.drive import drive
from windlass.experiment.dispatching import make_policy
from windlass.model import JobTable
from windlass.model.timetable import NodeTimetable, WorkerTimetable
from windlass.order.site import POLICIES
from windlass.sim import Replay
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part
from windlass.sim.site.part import SitePart
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.result import Dispatched
from windlass.sim.workers.setup import Setup

#: Seconds that a unit of the drawn whole numbers stands for: whole ones tie, the others round.
_UNITS = (1.0, 1.0, 1.0, 0.1, 1 / 3)


class Tasks(NamedTuple):
    """Small tasks, and the workers that they run on, one on each node."""

    submit: list[float]
    work: list[float]
    speeds: list[float]
    floor: float = 0.05


@dataclass(frozen=True)
class Case:
    """Jobs, the cores of each node, when these change, and tasks."""

    jobs: JobTable
    cores: Sequence[int]
    outages: NodeTimetable
    tasks: Tasks | None = None


class Ran(NamedTuple):
    """The results, and the ledger at the end."""

    replay: Replay
    tasks: Dispatched | None
    ledger: Ledger


def setup(speeds: Sequence[float], **changed: Any) -> Setup:
    """Workers of these speeds."""
    plain = dict(
        timetable=WorkerTimetable.none(),
        schedulers=1,
        probe_delay=0.0,
        sizes_known=True,
        lane=8,
        samples=0,
        record=True,
        tasks_per_job=1,
    )
    return Setup(speeds=np.array(speeds, np.float64), **{**plain, **changed})


def workers(
    tasks: Tasks,
    ledger: Ledger | None,
    *,
    site: int | Sequence[int] = 0,
    policy: Any = "jsq",
    options: dict[str, Any] | None = None,
    keep: float = 0.0,
    **changed: Any,
) -> WorkersPart:
    """The part of these tasks."""
    speeds = np.array(tasks.speeds, np.float64)
    chosen = policy
    if isinstance(policy, str):
        chosen = make_policy(policy, speeds, np.random.default_rng(3), **(options or {}))
    return WorkersPart(
        setup(tasks.speeds, **changed),
        chosen,
        np.array(tasks.submit, np.float64),
        np.array(tasks.work, np.float64),
        np.random.default_rng(4),
        ledger=ledger,
        site=site,
        floor=tasks.floor,
        keep=keep,
    )


def run(
    case: Case, order: Any = "fcfs", *, dispatch: Any = "jsq", also: Sequence[Part] = (), **changed: Any
) -> Ran:
    """Run a case: outages, then jobs, then tasks decide at one instant; `changed` is of the workers."""
    policy = POLICIES.find(order)() if isinstance(order, str) else order
    ledger = Ledger([case.cores], parts=1)
    parts: list[Part] = [*also, SitePart(case.jobs, policy, ledger, record=True)]
    # No part at all if nothing changes: an unwatched site takes another code path.
    if len(case.outages):
        parts.insert(0, Outages(case.outages, ledger))
    if case.tasks is not None:
        parts.append(workers(case.tasks, ledger, policy=dispatch, **changed))
    results = drive(Coupled(parts, ledger), {"order": policy, "dispatch": policy})
    replay = next(result for result in results if isinstance(result, Replay))
    return Ran(replay, results[-1] if case.tasks is not None else None, ledger)


def jobs_of(*rows: Sequence[float]) -> JobTable:
    """Rows of (submit, run, procs[, request])."""
    submit, length, procs = zip(*(row[:3] for row in rows), strict=True)
    return JobTable.of(submit, length, procs, [row[3] if len(row) > 3 else row[1] for row in rows])


def none() -> NodeTimetable:
    """Return an empty timetable."""
    return NodeTimetable.none()


@st.composite
def timetables(draw: st.DrawFn, cores: list[int], unit: float, *, kills: bool = True) -> NodeTimetable:
    """Outages of nodes: drained, vacated, in part, for ever, all of a site; several may be at one instant."""
    made = NodeTimetable.none()
    for _ in range(draw(st.integers(0, 5))):
        whole_site = draw(st.sampled_from([False, False, False, True]))
        nodes = range(len(cores)) if whole_site else [draw(st.integers(0, len(cores) - 1))]
        down, length = draw(st.integers(0, 20)), draw(st.integers(1, 8))
        for_ever = draw(st.sampled_from([False] * 9 + [True]))
        kill = kills and draw(st.booleans())
        for node in nodes:
            left = draw(st.integers(0, cores[node]))
            up = None if for_ever else (down + length) * unit
            left = 0 if whole_site else left
            made += NodeTimetable.outage(node, down * unit, up, cores=cores[node], left=left, kill=kill)
    return made


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    with_tasks: bool | None = None,
    outages: bool = True,
    units: Sequence[float] = _UNITS,
) -> Case:
    """1 to 6 nodes of 0 to 4 cores and up to 14 jobs, at instants that tie; tasks on the same nodes or none."""
    unit = draw(st.sampled_from(units))
    cores = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    if len(cores) > 1 and draw(st.sampled_from([False, False, True])):
        cores[draw(st.integers(0, len(cores) - 1))] = 0
    whole = sum(cores)
    count = draw(st.integers(1, 14))
    widths = st.one_of(st.integers(1, whole), st.integers(1, min(whole, 4)), st.just(1))
    # Above, below and exactly the run time; the last is the likeliest.
    slacks = st.sampled_from([0, 0, 0, 0, 1, 2, 5, -1, -3])
    columns = [
        draw(st.lists(each, min_size=count, max_size=count))
        for each in (st.integers(0, 2), st.integers(0, 8), widths, slacks)
    ]
    gap, run_time, procs, slack = (np.array(column, dtype=np.int64) for column in columns)
    request = np.maximum(run_time + slack, 0)
    jobs = JobTable.of(np.cumsum(gap) * unit, run_time * unit, procs, request * unit)
    # On a pooled site the jobs to kill are undefined.
    changes = draw(timetables(cores, unit, kills=len(cores) > 1)) if outages else NodeTimetable.none()
    tasks = None
    if draw(st.booleans()) if with_tasks is None else with_tasks:
        tasks = draw(drawn_tasks(cores, unit))
    return Case(jobs, cores, changes, tasks)


@st.composite
def drawn_tasks(draw: st.DrawFn, cores: list[int], unit: float) -> Tasks:
    """Up to 20 tasks, some of which would end just when jobs start or end."""
    count = draw(st.integers(1, 20))
    gaps = draw(st.lists(st.sampled_from([0, 0, 0.5, 1, 2]), min_size=count, max_size=count))
    work = draw(st.lists(st.sampled_from([0.25, 0.5, 1, 2, 0.7]), min_size=count, max_size=count))
    speeds = draw(st.lists(st.sampled_from([1.0, 1.0, 0.5, 3.0]), min_size=len(cores), max_size=len(cores)))
    floor = draw(st.sampled_from([0.05, 0.0, 0.25]))
    return Tasks(list(np.cumsum(gaps) * unit), [each * unit for each in work], speeds, floor)
