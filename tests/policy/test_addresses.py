"""Decisions by address: which policy decides what, and what one object may not decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.coupled.cases import jobs_of
from tests.oracles.plain import Plain
from tests.sim.instances import SMALL
from windlass.drive import drive
from windlass.model import InputError, PolicyError
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.model.vectors import VectorJobs
from windlass.order.fleet.compiled import in_loop
from windlass.order.site import POLICIES
from windlass.order.site.view import Start
from windlass.policy.addresses import Assignment, names_of, policy_at
from windlass.scale.policies.hazard import Hazard
from windlass.scale.policies.reactive import Reactive
from windlass.scale.policies.thrifty import Thrifty
from windlass.sim.coupled import Coupled
from windlass.sim.fleet.part import OrderedFleet
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.part import InstancesPart
from windlass.sim.ledger import Ledger
from windlass.sim.part import Part
from windlass.sim.site.part import SitePart

_WORDS = st.sampled_from(["", "batch", "etl"])


@given(load=_WORDS, site=_WORDS)
def test_the_most_specific_name_is_used(load: str, site: str) -> None:
    of, at = f".{load}" if load else "", f"@{site}" if site else ""
    names = names_of(f"order{of}{at}")
    assert names[0] == f"order{of}{at}"
    assert names[-1] == "order"
    assert len(set(names)) == len(names)
    # Each name given alone is found; of several, the first.
    for place, name in enumerate(names):
        assert policy_at(names[0], {name: name}) == name
        assert policy_at(names[0], {each: each for each in names[place:]}) == name
    assert policy_at(names[0], {"orders": 1, "order.": 2, "order@": 3, "place": 4}) is None


class Backwards:
    """A fleet policy that serves the jobs in reverse."""

    name = "backwards"

    def decide(self, view: Any) -> Any:
        from windlass.order.fleet.view import JobOrder

        return JobOrder(tuple(range(len(view.subjobs)))[::-1])


def two_sites() -> tuple[list[Part], Ledger]:
    """Return two sites of two processors, with the same jobs."""
    ledger, policy = Ledger([[2], [2]], parts=2), Plain(POLICIES.find("fcfs")())
    jobs = jobs_of((0, 9, 2), (1, 5, 2), (2, 1, 2))
    return [SitePart(jobs, policy, ledger, site=site) for site in (0, 1)], ledger


def test_each_site_has_the_policy_of_its_address_and_the_log_has_the_addresses() -> None:
    parts, ledger = two_sites()
    seen: list[str] = []
    policies = {"order": Plain(POLICIES.find("fcfs")()), "order@b": Plain(POLICIES.find("sjf")())}
    cluster = Coupled(parts, ledger, [".batch@a", ".batch@b"])
    done = drive(cluster, policies, lambda address, view, answer: seen.append(address))
    assert [each.start.tolist() for each in done] == [[0, 9, 14], [0, 10, 9]]
    assert set(seen) == {"order.batch@a", "order.batch@b"}


def test_orders_of_sites_and_of_fleets_are_distinguished_by_the_load() -> None:
    # Both decisions are named `order`; their views differ.
    def run(policies: dict[str, Any]) -> tuple[Any, ...]:
        parts, ledger = two_sites()
        jobs = FleetJobs.of([0.0, 0.0], [[StageSpec(2.0, here=(2,))], [StageSpec(1.0, here=(1,))]])
        fleet = OrderedFleet(FleetCase(Fleet.of(slots=[1]), jobs), in_loop(None))
        result: tuple[Any, ...] = drive(Coupled([parts[0], fleet], ledger, [".batch@a", ".etl"]), policies)
        return result

    batch = Plain(POLICIES.find("fcfs")())
    done = run({"order.batch": batch, "order.etl": Backwards()})
    assert (done[0].start.tolist(), done[1].end.tolist()) == ([0, 9, 14], [5.0, 1.0])
    with pytest.raises(InputError, match=r"no policy for the decision 'order\.etl', which is due"):
        run({"order.batch": batch})


def scaled(policies: dict[str, Any]) -> tuple[Any, ...]:
    """Run two regions of instances under policies."""
    fleet = InstanceFleet((SMALL,))
    ledger = Ledger([fleet.rows(), fleet.rows()], parts=2)
    jobs = VectorJobs.of(submit=[10.0, 700.0], run=[50.0, 60.0], cores=2)
    parts = [
        InstancesPart(jobs, fleet, ledger, np.random.default_rng(1), site=site, begin=0.0, look=10.0)
        for site in (0, 1)
    ]
    result: tuple[Any, ...] = drive(Coupled(parts, ledger, ["@a", "@b"]), policies)
    return result


def test_one_object_decides_for_two_sites_only_if_it_declares_so() -> None:
    # An object that learns from both regions would mix them silently.
    message = r"one 'thrifty' is given for 'scale@a' and 'scale@b', and does not declare `shared = True`"
    with pytest.raises(InputError, match=message):
        scaled({"scale": Thrifty()})
    apart = scaled({"scale@a": Thrifty(), "scale@b": Thrifty()})
    assert apart[0].start.tolist() == apart[1].start.tolist()
    both = scaled({"scale": Reactive()})
    assert both[0].start.tolist() == both[1].start.tolist()


@pytest.mark.parametrize("learns", [Hazard, Thrifty])
def test_an_object_that_learns_decides_for_one_site(learns: type[Hazard | Thrifty]) -> None:
    policies = Assignment({"scale": learns()})
    assert policies.at("scale@a") is policies.at("scale@a")
    with pytest.raises(InputError, match="is given for 'scale@a' and 'scale@b', and does not declare"):
        policies.at("scale@b")


def test_a_policy_that_declares_to_be_shared_keeps_nothing() -> None:
    policy = Reactive()
    before = dict(vars(policy))
    scaled({"scale": policy})
    assert vars(policy) == before


class Idle:
    """A policy that starts nothing."""

    name = "idle"

    def decide(self, view: Any) -> Start:
        return Start((), ())


def test_an_error_names_the_address_and_the_policy_at_fault() -> None:
    parts, ledger = two_sites()
    policies = {"order@a": Plain(POLICIES.find("fcfs")()), "order@b": Idle()}
    with pytest.raises(PolicyError, match=r"policy 'idle'.* left 3 jobs waiting .* \(batch@b\)"):
        drive(Coupled(parts, ledger, [".batch@a", ".batch@b"]), policies)


def test_there_is_a_name_for_each_part() -> None:
    parts, ledger = two_sites()
    with pytest.raises(InputError, match="names has 1 entries, expected one for each of 2 parts"):
        Coupled(parts, ledger, ["@a"])
