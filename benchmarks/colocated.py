"""Jobs and tasks on the nodes of one site: events per second, compared with plain Python, and synchronisations.

An event is an arrival or end of a job or task, a killed attempt, or a change of a node's capacity.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import simpy

from benchmarks.batch import plain_jobs
from benchmarks.measure import Row, compare_rates
from benchmarks.peers_colocated import PlainNodes, plain_together
from windlass.experiment.worlds.colocated.simulation import Colocation, colocate, together
from windlass.experiment.worlds.colocated.spec import ColocatedSetting
from windlass.experiment.worlds.colocated.world import Colocated
from windlass.jit import prepare
from windlass.model import JobTable
from windlass.model.timetable import NodeTimetable

_NODES, _CORES, _SPEED, _FLOOR = 48, 4, 3.0, 0.05
_OUTAGES = {"every": 500_000, "last": 7_200, "kill": 0.5}
_SYNC_JOBS = 50_000


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite."""
    return [*_throughputs(repeats), *_synchronisations(repeats)]


def _case(dispatch: str, jobs: int, tasks: int, *, outages: bool) -> Colocation:
    """Return a case with drawn jobs and tasks that arrive over about the same time."""
    setting = ColocatedSetting.model_validate(
        {
            "cluster": {
                "nodes": _NODES,
                "cores": _CORES,
                "speed": _SPEED,
                "floor": _FLOOR,
                "outages": _OUTAGES if outages else (),
            },
            "workload": {
                "batch": {"lublin": {"jobs": jobs, "load": 0.6}},
                "tasks": {"tasks": tasks, "load": 0.04},
            },
            "policies": {"order": "easy", "dispatch": dispatch},
            "sizes": "known",
        }
    )
    world = Colocated()
    prepare(world.kernels(setting))
    workload = world.workload(setting, 1)
    return colocate(setting, 1, workload.jobs.jobs, workload.tasks)


def _events(case: Colocation) -> int:
    lost = len(together(case, record=False).jobs.lost)
    return 2 * (len(case.jobs) + len(case.tasks.submit)) + lost + len(case.outages)


def _throughputs(repeats: int) -> list[Row]:
    """Compare a small workload without outages, and the large ones, with the rate of plain Python on the small one."""
    small = _case("ppot", 60, 200_000, outages=False)
    jobs = plain_jobs(small.jobs)
    submit, work = small.tasks.submit.tolist(), small.tasks.work.tolist()

    def peer() -> list[float]:
        return plain_together(jobs, submit, work, _plain_nodes(), seed=1)

    if peer() != together(small, record=False).jobs.start.tolist():
        raise AssertionError("the peer's schedule of jobs is another one")
    found, events = [], _events(small)
    for case, what in (
        (small, "EASY and ppot, 60 jobs, 0.2 M tasks, no outages"),
        (_case("ppot", 600, 2_000_000, outages=True), "EASY and ppot, 600 jobs, 2 M tasks, outages"),
        (_case("rosella", 600, 2_000_000, outages=True), "EASY and Rosella, the same"),
    ):
        own = _events(case)
        row = compare_rates(
            f"{what}, {_NODES} nodes of {_CORES}",
            lambda case=case: together(case, record=False),  # type: ignore[misc]
            peer,
            "plain Python loop with heapq, EASY and ppot with known rates, no outages",
            amount=own,
            unit="events/s",
            repeats=repeats,
        )
        # The peer always runs the small workload.
        found.append(row.with_peer_of_part(own / events))
    return found


def _sync_case() -> Colocation:
    """Return a case of sequential jobs of one core and few tasks: each start and each end is a synchronisation."""
    case = _case("ppot", 60, 200_000, outages=False)
    times = np.arange(_SYNC_JOBS, dtype=np.float64) * 10.0
    jobs = JobTable.of(submit=times, run=np.full(_SYNC_JOBS, 5.0), procs=np.ones(_SYNC_JOBS, np.int64))
    tasks = dataclasses.replace(case.tasks, submit=np.array([0.0, times[-1]]), work=np.ones(2))
    return Colocation(case.setting, 1, jobs, tasks, NodeTimetable.none())


def simpy_instants(instants: int) -> float:
    """Run three SimPy processes that all wake at every instant; return the time of the end."""
    environment = simpy.Environment()

    def part() -> Iterator[Any]:
        for _ in range(instants):
            yield environment.timeout(5.0)

    for _ in range(3):
        environment.process(part())
    environment.run()
    return float(environment.now)


def _synchronisations(repeats: int) -> list[Row]:
    """Compare with plain Python, which has no parts to synchronise, and SimPy, whose processes only wake."""
    case, syncs = _sync_case(), 2 * _SYNC_JOBS
    jobs, tasks = plain_jobs(case.jobs), case.tasks

    def plain() -> list[float]:
        return plain_together(jobs, tasks.submit.tolist(), tasks.work.tolist(), _plain_nodes(), seed=1)

    return [
        compare_rates(
            "synchronisation of jobs, tasks and outages, one node changed at each",
            lambda: together(case, record=False),
            peer,
            name,
            amount=syncs / 1e6,
            unit="1/µs",
            repeats=repeats,
        ).as_time("µs")
        for peer, name in (
            (plain, "plain Python loop with heapq, jobs and tasks in one"),
            (lambda: simpy_instants(syncs), "SimPy, three processes that only wake at each"),
        )
    ]


def _plain_nodes() -> PlainNodes:
    return PlainNodes.idle_nodes(_NODES, _CORES, _SPEED, _FLOOR)
