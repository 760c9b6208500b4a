"""Instances for staged jobs and streaming queries: the cores that these lack, and that the autoscaler serves them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.cases import jobs_of
from tests.coupled.fleets import fleet_part
from tests.oracles.workloads import CHECK
from windlass.drive import drive
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.model.instances import InstanceType
from windlass.model.queries import Cluster, Hierarchy
from windlass.model.timetable import NodeTimetable
from windlass.model.vectors import VectorJobs
from windlass.order.site.policies.fcfs import Fcfs
from windlass.plan import POLICIES as PLAN
from windlass.plan import QueryOptions
from windlass.scale.policies.reactive import Reactive
from windlass.sim.coupled import Coupled
from windlass.sim.demand import CoreDemand, ScaledLoad
from windlass.sim.fleet.binding import FleetCores
from windlass.sim.fleet.result import FleetRun
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.part import InstancesPart
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Due, Quiet
from windlass.sim.queries.part import QueriesPart
from windlass.sim.queries.setup import Stays
from windlass.sim.site.part import SitePart

_NONE = VectorJobs.of([], [])
_FOUR = InstanceType("four", cores=4, launch=30.0, most=3)


class Reader(Quiet):
    """Reads what a load lacks at sites, and their idle cores, at each change; the last of an instant counts."""

    def __init__(self, load: ScaledLoad, ledger: Ledger, sites: tuple[int, ...]) -> None:
        self._load, self._ledger, self._sites = load, ledger, sites
        self.found: dict[float, list[tuple[CoreDemand, int]]] = {}

    def settle(self, now: float) -> None:
        self.found[now] = [
            (self._load.lacking(9.0, site), int(self._ledger.nodes.total[site])) for site in self._sites
        ]

    def decide(self, now: float) -> tuple[Due, ...]:
        self.settle(now)
        return ()


@st.composite
def staged_cases(draw: st.DrawFn) -> FleetCase:
    """Jobs of one to three stages over sites of three and two cores."""
    jobs, here, seconds = list[list[StageSpec]](), st.integers(0, 4), st.sampled_from([1.0, 2.0, 0.5])
    for _ in range(draw(st.integers(1, 4))):
        at = (draw(here), draw(st.integers(1, 4)))
        jobs.append([StageSpec(draw(seconds), here=at, task_bytes=draw(st.sampled_from([6.0, 0.0])))])
        for place in range(draw(st.integers(0, 2))):
            jobs[-1].append(
                StageSpec(draw(seconds), tasks=draw(st.integers(1, 6)), parents=(place,), ratio=0.5)
            )
    submit = np.cumsum(draw(st.lists(st.integers(0, 3), min_size=len(jobs), max_size=len(jobs))))
    return FleetCase(
        Fleet.of([3, 2], [5.0, 5.0], [5.0, 5.0]), FleetJobs.of(submit.astype(float).tolist(), jobs)
    )


def _waiting(run: FleetRun, now: float, site: int) -> list[int]:
    """Return by stage the tasks that wait at a site: where their input is, of a shuffle in proportion to the data."""
    jobs, found, written = run.jobs, list[int](), [[0.0] * len(run.fleet) for _ in run.jobs.tasks]
    ended = [0.0] * len(jobs.tasks)
    for stage, tasks in enumerate(jobs.tasks.tolist()):
        own = range(int(jobs.first[stage]), int(jobs.first[stage]) + tasks)
        begun = [task for task in own if run.begun[task] <= now]
        parts = range(int(jobs.part0[stage]), int(jobs.part0[stage + 1]))
        ready = float(jobs.submit[jobs.job[stage]])
        for parent in range(stage):
            if stage in jobs.children[jobs.child_at[parent] : jobs.child_at[parent + 1]].tolist():
                ready = max(ready, ended[parent])
        ended[stage] = max(float(run.computed[task]) for task in own)
        if ready > now:
            found.append(0)
        elif jobs.shuffles[stage]:
            total = sum(written[stage])
            share = written[stage][site] / total if total > 0.0 else 1.0 / len(run.fleet)
            found.append(math.ceil(round((tasks - len(begun)) * share, 6)))
        else:
            mine = [part for part in parts if jobs.site[part] == site]
            all_here = sum(int(jobs.task0[part + 1] - jobs.task0[part]) for part in mine)
            found.append(all_here - sum(int(run.source[task]) == site for task in begun))
        for task in own:
            read = sum(written[stage]) / tasks if jobs.shuffles[stage] else float(jobs.task_bytes[stage])
            for child in jobs.children[jobs.child_at[stage] : jobs.child_at[stage + 1]].tolist():
                written[child][int(run.site[task])] += read * float(jobs.ratio[stage])
    return found


@pytest.mark.parametrize("policy", [("in-place", False, True), ("tetrium", False, True)])
@settings(CHECK, max_examples=40)
@given(case=staged_cases())
def test_staged_jobs_lack_cores_for_the_tasks_that_wait_beyond_idle_ones(
    policy: tuple[str, bool, bool], case: FleetCase
) -> None:
    ledger = Ledger([[9], [1, 2], [2]], parts=1)
    part, policies = fleet_part(case, policy, FleetCores(ledger, (1, 2)))
    reader = Reader(part, ledger, (1, 2, 0))
    run, _ = drive(Coupled([part, reader], ledger), policies)
    for now, seen in reader.found.items():
        for site in range(2):
            demand, idle = seen[site]
            waiting = _waiting(run, now, site)
            assert demand.cores.sum() == max(sum(waiting) - idle, 0)
            # The first stages get the idle cores.
            assert demand.cores.tolist() == [each for each in _beyond(waiting, idle) if each]
            assert all(since <= now for since in demand.since.tolist())
        assert len(seen[2][0].cores) == 0
    assert part.finish() == run.end.max()


def _beyond(waiting: list[int], idle: int) -> list[int]:
    found = []
    for tasks in waiting:
        found.append(max(tasks - idle, 0))
        idle = max(idle - tasks, 0)
    return found


@pytest.mark.parametrize("ordered", [False, True])
def test_staged_jobs_with_too_few_nodes_get_instances(ordered: bool) -> None:
    fleet = InstanceFleet((_FOUR,), idle=60.0)
    case = FleetCase(Fleet.of([14], [5.0], [5.0]), FleetJobs.of([5.0], [[StageSpec(100.0, here=(10,))]]))
    policy = ("fcfs", True, False) if ordered else ("in-place", False, True)
    done = []
    for served in (True, False):
        ledger = Ledger([[2, *fleet.rows()]], parts=2)
        part, policies = fleet_part(case, policy, FleetCores(ledger, (0,)))
        scaler = InstancesPart(
            _NONE, fleet, ledger, np.random.default_rng(1), begin=0.0, look=10.0, after=1,
            loads=(part,) if served else (),
        )  # fmt: skip
        done.append(drive(Coupled([part, scaler], ledger), policies | {"scale": Reactive(60.0)}))
    (run, scaled), (alone, none) = done
    # Two of ten tasks start at once; eight lack cores at the poll at 10 s, and two instances are up 30 s later.
    assert sorted(run.begun.tolist()) == [5.0, 5.0, *[40.0] * 8]
    assert scaled.launches.launched.tolist() == [10.0, 10.0]
    assert scaled.finish == run.end[0] == 140.0
    assert alone.end[0] == 505.0
    assert len(none.launches.launched) == 0


_SITE = Hierarchy((Cluster("site", 8.0),))
_QUERY = QueryOptions(0, "cars", np.array([0.9]), np.array([[2.5, 0.0, 0.0]]))


def _streamed(served: bool) -> tuple[Any, Any, Reader]:
    """Run a query from 10 to 200 s next to a job that holds 7 of 8 cores."""
    fleet = InstanceFleet((_FOUR,), idle=60.0)
    ledger = Ledger([[8, *fleet.rows()]], parts=3)
    job = SitePart(jobs_of((0, 1000, 7)), Fcfs(), ledger)
    stays = Stays(np.array([10.0]), np.array([200.0]))
    part = QueriesPart(_SITE, [_QUERY], stays, ledger, at=[0], units=1)
    scaler = InstancesPart(
        _NONE, fleet, ledger, np.random.default_rng(1), begin=0.0, look=10.0, after=1,
        loads=(job, part) if served else (job,),
    )  # fmt: skip
    reader = Reader(part, ledger, (0,))
    policies = {"plan": PLAN.make("fair", np.random.default_rng(1)), "scale": Reactive(60.0)}
    _, streamed, scaled, _ = drive(Coupled([job, part, scaler, reader], ledger), policies)
    return streamed, scaled, reader


def test_a_query_without_cores_gets_an_instance() -> None:
    streamed, scaled, reader = _streamed(served=True)
    # At 11 s the planner finds no configuration for one core; the poll at 20 s launches an instance of four.
    assert scaled.launches.launched.tolist() == [20.0]
    # It is up at 50 s; the planner answers, and the components start, a second later each.
    assert streamed.lost.tolist() == [42.0]
    lacking = {
        now: (demand.cores.tolist(), demand.since.tolist()) for now, [(demand, _)] in reader.found.items()
    }
    assert lacking[11.0] == lacking[20.0] == ([2.0], [10.0])
    assert lacking[51.0] == lacking[200.0] == ([], [])
    # The instance is idle from 200 s on.
    assert scaled.launches.gone.tolist() == [260.0]
    alone, none, _ = _streamed(served=False)
    assert alone.lost.tolist() == [190.0]
    assert len(none.launches.launched) == 0


def test_queries_that_slow_down_lack_the_cores_beyond_the_capacity() -> None:
    ledger = Ledger([[4, 4]], parts=1)
    outage = Outages(NodeTimetable.outage(1, 30.0, 50.0, cores=4, kill=True), ledger)
    options = [QueryOptions(row, "cars", _QUERY.accuracy, _QUERY.demand) for row in range(2)]
    stays = Stays(np.array([0.0, 1.0]), np.array([60.0, 60.0]))
    part = QueriesPart(_SITE, options, stays, ledger, at=[0], units=1)
    reader = Reader(part, ledger, (0,))
    drive(Coupled([outage, part, reader], ledger), {"plan": PLAN.make("fair", np.random.default_rng(1))})
    lacking = {
        now: (demand.cores.tolist(), demand.since.tolist()) for now, [(demand, _)] in reader.found.items()
    }
    # Both use 2.5 cores. Four are left; then the planner stops one, which 1.5 idle cores do not suffice for.
    assert lacking[30.0] == ([1.0], [1.0])
    assert lacking[31.0][0] == [1.0]
    # The node returns, and the planner answers.
    assert lacking[51.0] == ([], [])
    assert part.finish() == 60.0
    assert len(part.lacking(9.0, 1).cores) == 0
