"""A fleet whose rows concern no other part does not stop at the instants of its tasks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.cases import Case, cases, workers
from tests.coupled.fleets import ORDERED, Shared, fleet_part, shared_cases
from tests.coupled.test_concerns import outcome
from tests.coupled.test_fleets import drawn
from tests.oracles.workloads import CHECK
from windlass.drive import drive
from windlass.order.site.policies.easy import Easy
from windlass.sim.coupled import Coupled
from windlass.sim.fleet.binding import FleetCores
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part
from windlass.sim.site.part import SitePart


@pytest.mark.parametrize("policy", ORDERED, ids=str)
@settings(CHECK, max_examples=40)
@given(shared=shared_cases(), case=cases(with_tasks=True), first=st.booleans(), drop=st.booleans())
def test_a_fleet_on_rows_of_its_own_runs_as_if_all_parts_were_called(
    policy: tuple[str, bool, bool], shared: Shared, case: Case, first: bool, drop: bool
) -> None:
    def make() -> tuple[list[Part], Ledger, dict[str, Any]]:
        ledger = Ledger([*shared.sites, case.cores], parts=3)
        own, site = tuple(range(len(shared.sites))), len(shared.sites)
        fleet, policies = fleet_part(shared.case, policy, FleetCores(ledger, own))
        assert case.tasks is not None
        others = [
            SitePart(case.jobs, Easy(), ledger, site=site, record=True),
            workers(case.tasks, ledger, site=site),
        ]
        outages = [Outages(shared.outages[0], ledger, 0)] if drop and len(shared.outages[0]) else []
        return [*outages, *([fleet, *others] if first else [*others, fleet])], ledger, policies

    assert outcome(make, all_parts=False) == outcome(make, all_parts=True)


@pytest.mark.parametrize("together", [False, True], ids=["rows of their own", "common rows"])
def test_only_fleets_with_common_rows_stop_at_each_other_s_instants(together: bool) -> None:
    made = [drawn(seed, drops=False, sites=3, jobs=30) for seed in (1, 1)]
    slots = made[0].fleet.slots.tolist()
    ledger = Ledger([[each] for each in (slots if together else 2 * slots)], parts=2)
    parts: list[Part] = []
    for number, case in enumerate(made):
        first = 0 if together else 3 * number
        part, _ = fleet_part(case, ("fcfs", True, False), FleetCores(ledger, tuple(range(first, first + 3))))
        parts.append(part)
    cluster = Coupled(parts, ledger)
    drive(cluster, {})
    ends = sum(len(case.jobs.duration) for case in made)
    assert all(part.ended() for part in parts)
    assert (cluster._counts.instants > ends // 2) if together else (cluster._counts.instants < 5)
