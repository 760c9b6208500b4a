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
from windlass.experiment.worlds.cluster.layout import outages_of
from windlass.experiment.worlds.cluster.loads.tasks import ShortTasks
from windlass.experiment.worlds.colocated.simulation import Colocation, together
from windlass.experiment.worlds.colocated.spec import ColocatedSetting
from windlass.experiment.worlds.colocated.world import Colocated
from windlass.experiment.worlds.stands_for import cluster_of
from windlass.jit import prepare
from windlass.model import JobTable

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
    return Colocation(cluster_of(world, setting), 1, world.workload(setting, 1))


def _jobs_and_tasks(case: Colocation) -> tuple[JobTable, ShortTasks]:
    return case.arrivals.rigid[0].drawn.jobs.jobs, case.arrivals.tasks[0].drawn


def _events(case: Colocation) -> int:
    jobs, tasks = _jobs_and_tasks(case)
    lost, rng = len(together(case).jobs.lost), case.cluster.random(case.seed).stream("outages@site")
    outages = outages_of(case.cluster.sites["site"], case.arrivals.span[1], rng)
    return 2 * (len(jobs) + len(tasks.submit)) + lost + len(outages)


def _throughputs(repeats: int) -> list[Row]:
    """Compare a small workload without outages, and the large ones, with the rate of plain Python on the small one."""
    small = _case("ppot", 60, 200_000, outages=False)
    given, tasks = _jobs_and_tasks(small)
    jobs, submit, work = plain_jobs(given), tasks.submit.tolist(), tasks.work.tolist()

    def peer() -> list[float]:
        return plain_together(jobs, submit, work, _plain_nodes(), seed=1)

    if peer() != together(small).jobs.start.tolist():
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
            lambda case=case: together(case),  # type: ignore[misc]
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
    ((rigid,), (short,)) = case.arrivals.rigid, case.arrivals.tasks
    workload = dataclasses.replace(rigid.drawn.jobs, jobs=jobs)
    tasks = dataclasses.replace(short.drawn, submit=np.array([0.0, times[-1]]), work=np.ones(2))
    arrivals = dataclasses.replace(
        case.arrivals,
        rigid=[dataclasses.replace(rigid, drawn=dataclasses.replace(rigid.drawn, jobs=workload))],
        tasks=[dataclasses.replace(short, drawn=tasks)],
        span=(0.0, float(times[-1])),
    )
    return Colocation(case.cluster, 1, arrivals)


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
    given, tasks = _jobs_and_tasks(case)
    jobs = plain_jobs(given)

    def plain() -> list[float]:
        return plain_together(jobs, tasks.submit.tolist(), tasks.work.tolist(), _plain_nodes(), seed=1)

    return [
        compare_rates(
            "synchronisation of jobs, tasks and outages, one node changed at each",
            lambda: together(case),
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
