"""Policies that answer in vain, and what is reported meanwhile."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.sim.instances import SMALL, run
from tests.sim.test_instances_edges import Counted, cuts
from windlass.model import PolicyError
from windlass.model.vectors import VectorJobs
from windlass.sim.instances import part as module
from windlass.sim.instances.fleet import InstanceFleet


@pytest.fixture
def patient(monkeypatch):
    """Fifty decisions in a row may be in vain."""
    monkeypatch.setattr(module, "_MOST_VAIN_DECISIONS", 50)


def test_as_many_decisions_may_be_in_vain_and_no_more(patient):
    policy = Counted(lambda asked: 0)
    with pytest.raises(
        PolicyError, match="left 2 jobs waiting although no job runs and no instance is coming"
    ):
        run(VectorJobs.of([0.0, 0.0], [1.0] * 2, cores=1), InstanceFleet((SMALL,)), policy, begin=0.0)
    assert policy.asked == 51


def test_ten_thousand_decisions_may_be_in_vain():
    assert module._MOST_VAIN_DECISIONS == 10_000


def test_while_anything_happens_no_decision_is_in_vain(patient):
    small, at = InstanceFleet((SMALL,)), {"begin": 0.0}
    # A job runs while another one waits; one is still to come; launches fail; and the series is broken once.
    run(VectorJobs.of([0.0, 0.0], [3000.0, 1.0], cores=4), small, Counted(lambda asked: 1), **at)
    run(
        VectorJobs.of([0.0, 3000.0], [1.0, 1.0], cores=4),
        small,
        Counted(lambda asked: 1 if asked > 140 else 0),
        **at,
    )
    late = InstanceFleet((replace(SMALL, launch=2500.0),))
    run(VectorJobs.of([0.0], [1.0], cores=4), late, Counted(lambda asked: 1), **at)
    failing = InstanceFleet((replace(SMALL, launch=1.0),), boot_failure=0.99)
    assert (
        len(run(VectorJobs.of([0.0], [1.0], cores=4), failing, Counted(lambda asked: 1), **at).launches.kind)
        > 60
    )
    twice = Counted(lambda asked: 1 if asked in (41, 42, 43, 84, 85, 86) else 0)
    run(VectorJobs.of([0.0, 0.0], [30.0, 30.0], cores=4), small, twice, **at)


def test_without_room_for_ever_jobs_that_wait_are_an_error():
    fleet = InstanceFleet((SMALL,), interruptions=cuts([0.0], [0], [0]))
    with pytest.raises(PolicyError, match="left 3 jobs waiting"):
        run(VectorJobs.of([0.0] * 3, [1.0] * 3, cores=1), fleet, Counted(lambda asked: 0), at_once=True)


def test_progress_is_the_share_of_the_jobs_that_came(monkeypatch):
    monkeypatch.setattr(module, "_INSTANTS_BETWEEN_REPORTS", 5)
    told = []
    jobs = VectorJobs.of(10.0 * np.arange(20), [3.0] * 20, cores=1)
    run(jobs, InstanceFleet((SMALL,)), Counted(lambda asked: 1), at_once=True, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert 0.0 < told[0] < 0.5
    assert all(20 * share == round(20 * share) for share in told)
    assert len(set(told)) > 5
