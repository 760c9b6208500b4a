"""The compiled steps of queries: equal to those in Python to the bit, and enough while no query is concerned."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.clusters import Shape, run
from tests.coupled.drawn_clusters import shapes
from tests.coupled.python_steps import KINDS, bits, steps_in_python
from tests.oracles.workloads import CHECK
from tests.sim.queries import TIERS, Case, RandomPlanner, cases, one
from windlass.drive import drive
from windlass.model import JobTable
from windlass.model.timetable import NodeTimetable
from windlass.order.site.policies.easy import Easy
from windlass.plan import POLICIES
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Concerns, Part, Quiet
from windlass.sim.queries.part import QueriesPart
from windlass.sim.site.part import SitePart
from windlass.sim.workers.part import WorkersPart

#: Nodes of the clusters east, west, private and cloud. Site 2 is of no cluster.
_NODES: list[list[int]] = [[1], [2, 3, 4], [9], [4, 4, 4], [1]]
_AT = (0, 4, 1, 3)


@pytest.mark.matrix(0)
@settings(CHECK, max_examples=80)
@given(shape=shapes())
def test_a_cluster_is_the_same_with_all_steps_in_python(shape: Shape) -> None:
    compiled = bits(run(shape))
    # Telemetry reads short tasks in its compiled steps, and needs theirs.
    kinds = [kind for kind in KINDS if shape.rejects is None or kind is not WorkersPart]
    with steps_in_python(*kinds):
        assert bits(run(shape)) == compiled


@pytest.mark.matrix(0)
@settings(CHECK, max_examples=80)
@given(shape=shapes().filter(lambda shape: shape.stays is not None))
def test_a_cluster_is_the_same_with_the_steps_of_queries_in_python(shape: Shape) -> None:
    compiled = bits(run(shape))
    with steps_in_python(QueriesPart):
        assert bits(run(shape)) == compiled


def _run(case: Case, *, keep: tuple[int, ...] | None, most: int | None, first: bool) -> Any:
    """Run queries on nodes with jobs on two of their sites, and outages."""
    ledger = Ledger(_NODES, parts=3)
    if most is not None:
        ledger.limit(3, 0, most)
    queries: Part = QueriesPart(
        TIERS, case.options(), case.stays, ledger, terms=case.terms, units=1, at=_AT, keep=keep
    )
    rng = np.random.default_rng(case.seed)
    parts: list[Part] = [queries]
    for site in (1, 3):
        length = rng.integers(1, 9, 40).astype(float)
        begin = np.sort(rng.integers(0, 60, 40)).astype(float)
        jobs = JobTable.of(begin, length, rng.integers(1, 5, 40), length)
        parts.append(SitePart(jobs, Easy(), ledger, site=site))
    for site, kill in ((1, True), (3, False)):
        parts.append(
            Outages(NodeTimetable.outage(1, 7.0, 31.0, cores=_NODES[site][1], kill=kill), ledger, site=site)
        )
    planner = RandomPlanner(np.random.default_rng(case.seed))
    return drive(Coupled(parts if first else parts[::-1], ledger), {"plan": planner}), ledger.nodes.held


@settings(CHECK, max_examples=80)
@given(
    case=cases(),
    patience=st.sampled_from([0.0, 3.0, 20.0]),
    keep=st.sampled_from([None, (0, 0, 2, 1)]),
    most=st.sampled_from([None, 2, 7]),
    first=st.booleans(),
)
def test_queries_next_to_jobs_are_the_same_with_steps_in_python(
    case: Case, patience: float, keep: tuple[int, ...] | None, most: int | None, first: bool
) -> None:
    case = replace(case, terms=replace(case.terms, patience=patience))
    compiled = bits(_run(case, keep=keep, most=most, first=first))
    with steps_in_python(QueriesPart):
        assert bits(_run(case, keep=keep, most=most, first=first)) == compiled


@settings(CHECK, max_examples=40)
@given(case=cases())
def test_queries_alone_are_the_same_with_steps_in_python(case: Case) -> None:
    compiled = bits(case.run(RandomPlanner(np.random.default_rng(case.seed))))
    with steps_in_python(QueriesPart):
        assert bits(case.run(RandomPlanner(np.random.default_rng(case.seed)))) == compiled


def _calls_in_python(jobs: int) -> dict[str, int]:
    """Return how often each step of a query of 60 s is called in Python while jobs start and end on its clusters."""
    ledger, counts = Ledger([[1], [0], [40, 40], [8]], parts=2), dict[str, int]()
    case = one(patience=25.0)
    part = QueriesPart(TIERS, case.options(), case.stays, ledger, terms=case.terms, units=1, at=(0, 1, 2, 3))

    def counted(step: str) -> Any:
        method = getattr(part, step)

        def call(*given: Any) -> Any:
            counts[step] = counts.get(step, 0) + 1
            return method(*given)

        return call

    with ExitStack() as stack:
        for step in ("advance", "alter", "settle", "decide", "_find_next_event"):
            stack.enter_context(mock.patch.object(part, step, counted(step)))
        begin = np.linspace(2.5, 59.5, jobs)
        table = JobTable.of(begin, np.full(jobs, 0.25), np.full(jobs, 3), np.full(jobs, 0.25))
        site = SitePart(table, Easy(), ledger, site=2)
        policies = {"plan": POLICIES.make("fair", np.random.default_rng(1))}
        replay, done = drive(Coupled([site, part], ledger), policies)
    assert (replay.start == begin).all()
    # After its arrival, and because of the jobs 25 s after the call before.
    assert [round(answer.time) for answer in done.answers] == [1, 27, 53]
    return counts


def test_changes_that_concern_no_query_need_no_python() -> None:
    few, many = _calls_in_python(20), _calls_in_python(500)
    assert few == many
    assert max(many.values()) < 20
    assert "alter" not in many
    with steps_in_python(QueriesPart):
        assert _calls_in_python(500)["settle"] > 900


def test_rows_changed_by_parts_that_settle_before_are_seen() -> None:
    """A part before the queries returns cores when it settles: the queries see these at once."""
    seen: list[tuple[float, float]] = []

    class Gives(Quiet):
        """Gives up the cores of one site when those of another change."""

        def concerns(self) -> Concerns:
            return Concerns(sites=(3,))

        def settle(self, now: float) -> None:
            if now == 5.0:
                ledger.hold(2, 1, -38)

    class Sees(Gives):
        def settle(self, now: float) -> None:
            seen.append((now, float(part._run.capacity[6])))

    ledger = Ledger([[1], [0], [40], [8]], parts=2)
    ledger.hold(2, 1, 38)
    part = QueriesPart(TIERS, one().options(), one().stays, ledger, number=0, units=1, at=(0, 1, 2, 3))
    gone = Outages(NodeTimetable.outage(0, 5.0, 9.0, cores=8, left=7), ledger, site=3)
    policies = {"plan": POLICIES.make("fair", np.random.default_rng(1))}
    drive(Coupled([gone, Gives(), part, Sees()], ledger), policies)
    assert next(cores for now, cores in seen if now >= 5.0) == 40.0
