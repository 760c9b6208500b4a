"""Neighbours on nodes whose capacity changes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.coupled.cases import jobs_of
from tests.coupled.clusters import Observer
from tests.coupled.test_instants import drained, gone
from windlass.model.timetable import NodeTimetable
from windlass.order.site.policies.fcfs import Fcfs
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part
from windlass.sim.site.part import SitePart
from windlass.sim.telemetry.neighbours import CoreChanges, Neighbours

_OTHERS, _JOBS = 0, 1
#: Three cores of node 0 from 1 to 12 s, and a fourth from 10 s on; one core of node 1.
_BURSTS = CoreChanges(
    np.array([1.0, 2.0, 10.0, 12.0]), np.array([0, 1, 0, 0]), np.array([3, 1, 1, -4], np.int64)
)


def held(outages: NodeTimetable, *, first: bool, all_called: bool) -> dict[float, list[list[int]]]:
    """Return the cores that neighbours and jobs hold of each node after each instant."""
    ledger = Ledger([[4, 4]], parts=2)
    # The first job has a core of each node, the second one the core of node 1 from 11 s on.
    others = Neighbours(_BURSTS, ledger, number=_OTHERS)
    jobs = SitePart(jobs_of((0, 30, 1), (11, 30, 1)), Fcfs(), ledger, number=_JOBS, record=True)
    parts: list[Part] = [others, jobs] if first else [jobs, others]
    observer = Observer(ledger, all_called=all_called)
    assert Coupled([*parts, Outages(outages, ledger), observer], ledger).wait() is None
    return {each.time: [list(row) for row in each.held] for each in observer.snapshots}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("all_called", [True, False])
def test_neighbours_leave_a_node_that_is_vacated(first: bool, all_called: bool) -> None:
    found = held(gone(0, 5.0, 9.0, cores=4), first=first, all_called=all_called)
    assert found[2.0] == [[3, 1], [1, 0]]
    # The job is killed as well, and starts again on the other node.
    assert found[5.0] == [[0, 0], [1, 1]]
    # The burst takes no cores again when the node is back, but grows.
    assert (found[9.0], found[10.0]) == ([[0, 0], [1, 1]], [[1, 0], [1, 1]])
    assert found[12.0][0][_OTHERS] == 0


@pytest.mark.parametrize("all_called", [True, False])
def test_neighbours_give_up_no_more_cores_than_a_node_loses(all_called: bool) -> None:
    # They settle before the job, which stays.
    found = held(gone(0, 5.0, 9.0, cores=4, left=3), first=True, all_called=all_called)
    assert found[5.0] == [[2, 1], [1, 0]]


@pytest.mark.parametrize("all_called", [True, False])
def test_neighbours_keep_the_cores_of_a_node_that_is_drained(all_called: bool) -> None:
    found = held(drained(0, 5.0, 20.0, cores=4), first=True, all_called=all_called)
    assert found[5.0] == [[3, 1], [1, 0]]
    assert found[12.0] == [[0, 1], [1, 1]]


def test_the_steps_of_neighbours_run_alone() -> None:
    ledger = Ledger([[4, 4], [4, 4]], parts=2)
    part, other = Neighbours(_BURSTS, ledger, site=1), Neighbours(_BURSTS, ledger)
    part.decide(1.0), other.decide(1.0)
    ledger.set_capacity(2, 1, vacate=True)
    ledger.take_changed()
    other.settle(5.0)
    assert ledger.nodes.idle.tolist() == [1, 4, -2, 4]
    part.settle(5.0)
    assert ledger.nodes.held.T.tolist() == [[0, 0, 1, 0], [3, 0, 0, 0]]
    assert ledger.nodes.idle.tolist() == [1, 4, 0, 4]


def test_a_job_starts_when_a_burst_gives_back_its_cores() -> None:
    ledger = Ledger([[4, 4]], parts=2)
    burst = CoreChanges(np.array([1.0, 12.0]), np.array([0, 0]), np.array([3, -3]))
    # No other part watches the nodes.
    parts: list[Part] = [SitePart(jobs_of((5, 30, 6)), Fcfs(), ledger), Neighbours(burst, ledger)]
    cluster = Coupled(parts, ledger)
    assert cluster.wait() is None
    assert cluster.result()[0].start.tolist() == [12.0]
