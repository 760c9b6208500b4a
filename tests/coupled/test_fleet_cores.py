"""A fleet on the cores of a ledger: alone as with slots of its own, and next to other parts on the same rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.cases import Tasks
from tests.coupled.fleets import ORDERED, PLACED, Shared, fleet_part, run_shared, shared_cases, validate
from tests.coupled.test_chopping import Chop
from tests.coupled.test_concerns import content
from tests.coupled.test_fleets import bits, drawn, instants_of
from tests.oracles import staged
from tests.oracles.workloads import CHECK
from windlass.drive import drive
from windlass.model import JobTable
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.model.timetable import NodeTimetable, SiteTimetable
from windlass.sim.coupled import Coupled, SinglePart
from windlass.sim.fleet.binding import FleetCores
from windlass.sim.fleet.result import FleetRun
from windlass.sim.ledger import Ledger
from windlass.sim.part import Part


def own_bits(run: FleetRun) -> dict[str, Any]:
    """Return a run without the rows of tasks, which a fleet with slots of its own does not have."""
    return bits(replace(run, row=np.empty(0, np.int64)))


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("nodes", [False, True], ids=["pooled", "nodes"])
@pytest.mark.parametrize("policy", [*ORDERED, *PLACED], ids=str)
@settings(CHECK, max_examples=6)
@given(
    seed=st.integers(0, 10**6),
    look_every=st.sampled_from([0.0, 0.3, 2.0]),
    decide_every=st.sampled_from([0.0, 0.5, 4.0]),
    links_drop=st.booleans(),
    stops=st.booleans(),
    last=st.booleans(),
)
def test_a_fleet_alone_on_a_ledger_runs_as_with_slots_of_its_own(
    nodes: bool,
    policy: tuple[str, bool, bool],
    seed: int,
    look_every: float,
    decide_every: float,
    links_drop: bool,
    stops: bool,
    last: bool,
) -> None:
    case = drawn(seed, drops=links_drop)
    slots = case.fleet.slots
    if links_drop:
        times = case.timetable
        case = replace(
            case, timetable=SiteTimetable(times.time, times.site, slots[times.site], times.up, times.down)
        )
    setting = {"look_every": look_every, "decide_every": decide_every}
    part, policies = fleet_part(case, policy, None, **setting)
    alone = drive(SinglePart(part), policies)
    ledger = Ledger([[1] * each if nodes else [each] for each in slots.tolist()], parts=1)
    part, policies = fleet_part(case, policy, FleetCores(ledger, tuple(range(len(slots)))), **setting)
    parts: list[Part] = [part]
    if stops:
        parts.insert(0 if last else 1, Chop(instants_of(alone, case, seed)))
    done = drive(Coupled(parts, ledger), policies)[1 if stops and last else 0]
    assert own_bits(done) == own_bits(alone)
    rows = [ledger.rows(site) for site in range(len(slots))]
    assert staged.places(done, rows) == []
    assert (
        staged.capacity(staged.holds_of_fleet(done), ledger.nodes.whole.tolist(), NodeTimetable.none()) == []
    )
    assert ledger.nodes.held.sum() == 0


def check_shared(shared: Shared, policy: tuple[str, bool, bool], **setting: Any) -> None:
    """Run a case twice and validate it."""
    done, ledger = run_shared(shared, policy, **setting)
    validate(shared, done, ledger, moves=policy[0] == "centralised")
    again, _ = run_shared(shared, policy, **setting)
    assert content(again) == content(done)


@pytest.mark.matrix
@pytest.mark.parametrize("policy", ORDERED, ids=str)
@settings(CHECK, max_examples=40)
@given(shared=shared_cases(), look_every=st.sampled_from([0.0, 0.0, 0.7]))
def test_ordered_jobs_next_to_others_on_the_same_rows_run_once_in_order_within_capacity(
    policy: tuple[str, bool, bool], shared: Shared, look_every: float
) -> None:
    check_shared(shared, policy, look_every=look_every)


# Without links, tetrium leaves tasks waiting in a fleet alone, too.
@pytest.mark.matrix
@pytest.mark.parametrize("policy", PLACED, ids=str)
@settings(CHECK, max_examples=40)
@given(
    shared=shared_cases(linked=True),
    look_every=st.sampled_from([0.0, 0.0, 0.7]),
    decide_every=st.sampled_from([0.0, 0.0, 1.5]),
)
def test_placed_jobs_next_to_others_on_the_same_rows_run_once_in_order_within_capacity(
    policy: tuple[str, bool, bool], shared: Shared, look_every: float, decide_every: float
) -> None:
    check_shared(shared, policy, look_every=look_every, decide_every=decide_every)


@pytest.mark.matrix
@pytest.mark.parametrize("policy", ORDERED, ids=str)
@settings(CHECK, max_examples=60)
@given(shared=shared_cases(homes=True))
def test_no_core_is_idle_while_a_task_of_its_site_waits(
    policy: tuple[str, bool, bool], shared: Shared
) -> None:
    done, ledger = run_shared(shared, policy)
    validate(shared, done, ledger, homes=True)
    assert content(run_shared(shared, policy, all_parts=True)[0]) == content(done)


@pytest.mark.matrix
@pytest.mark.parametrize("policy", [ORDERED[2], ORDERED[3], PLACED[0], PLACED[2]], ids=str)
def test_many_losses_and_stages_make_the_tables_grow(policy: tuple[str, bool, bool]) -> None:
    rng, nodes = np.random.default_rng(7), [[4] * 6] * 3
    stages = [
        [
            StageSpec(float(rng.uniform(1, 20)), here=tuple(rng.integers(1, 6, 3).tolist()), task_bytes=30.0),
            StageSpec(float(rng.uniform(1, 20)), tasks=int(rng.integers(1, 12)), parents=(0,)),
        ]
        for _ in range(100)
    ]
    submit = np.sort(rng.uniform(0, 60, 100)).tolist()
    case = FleetCase(Fleet.of([24] * 3, [60.0] * 3, [60.0] * 3), FleetJobs.of(submit, stages))
    jobs = JobTable.of(
        np.sort(rng.uniform(0, 200, 40)), rng.uniform(1, 30, 40), rng.integers(1, 25, 40), np.full(40, 30)
    )
    outages = []
    for _ in range(3):
        times = NodeTimetable.none()
        for down in range(5, 250, 5):
            times += NodeTimetable.outage(
                int(rng.integers(6)), down, down + 4.5, cores=4, left=down % 3, kill=True
            )
        outages.append(times)
    tasks = Tasks(np.sort(rng.uniform(0, 300, 200)).tolist(), rng.exponential(0.5, 200).tolist(), [1.0] * 6)
    shared = Shared(nodes, case, [jobs, None, jobs], outages, [None, tasks, tasks], False)
    done, ledger = run_shared(shared, policy, look_every=0.25)
    run = validate(shared, done, ledger)
    assert len(run.lost) > 130
    assert ((run.lost[:, 4] > run.lost[:, 3]) & (run.lost[:, 4] <= 250)).all()
    assert content(run_shared(shared, policy, look_every=0.25, all_parts=True)[0]) == content(done)
