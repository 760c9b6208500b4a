"""Policies whose decisions make no progress, and progress reports."""

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
def fifty_idle_decisions(monkeypatch):
    """Lower the limit to fifty decisions without progress."""
    monkeypatch.setattr(module, "_MOST_VAIN_DECISIONS", 50)


def test_too_many_decisions_without_progress_are_an_error(fifty_idle_decisions):
    policy = Counted(lambda calls: 0)
    with pytest.raises(
        PolicyError, match="left 2 jobs waiting although no job runs and no instance is coming"
    ):
        run(VectorJobs.of([0.0, 0.0], [1.0] * 2, cores=1), InstanceFleet((SMALL,)), policy, begin=0.0)
    assert policy.calls == 51


def test_the_limit_is_10000_decisions_without_progress():
    assert module._MOST_VAIN_DECISIONS == 10_000


def test_any_progress_resets_the_count(fifty_idle_decisions):
    small, at = InstanceFleet((SMALL,)), {"begin": 0.0}
    # A job runs while another one waits; one is still to come; launches fail; and the series is broken once.
    run(VectorJobs.of([0.0, 0.0], [3000.0, 1.0], cores=4), small, Counted(lambda calls: 1), **at)
    run(
        VectorJobs.of([0.0, 3000.0], [1.0, 1.0], cores=4),
        small,
        Counted(lambda calls: 1 if calls > 140 else 0),
        **at,
    )
    late = InstanceFleet((replace(SMALL, launch=2500.0),))
    run(VectorJobs.of([0.0], [1.0], cores=4), late, Counted(lambda calls: 1), **at)
    failing = InstanceFleet((replace(SMALL, launch=1.0),), boot_failure=0.99)
    assert (
        len(run(VectorJobs.of([0.0], [1.0], cores=4), failing, Counted(lambda calls: 1), **at).launches.kind)
        > 60
    )
    twice = Counted(lambda calls: 1 if calls in (41, 42, 43, 84, 85, 86) else 0)
    run(VectorJobs.of([0.0, 0.0], [30.0, 30.0], cores=4), small, twice, **at)


def test_jobs_waiting_without_possible_instances_are_an_error():
    fleet = InstanceFleet((SMALL,), interruptions=cuts([0.0], [0], [0]))
    with pytest.raises(PolicyError, match="left 3 jobs waiting"):
        run(VectorJobs.of([0.0] * 3, [1.0] * 3, cores=1), fleet, Counted(lambda calls: 0), at_once=True)


def test_progress_is_the_share_of_arrived_jobs(monkeypatch):
    monkeypatch.setattr(module, "_INSTANTS_BETWEEN_REPORTS", 5)
    reports = []
    jobs = VectorJobs.of(10.0 * np.arange(20), [3.0] * 20, cores=1)
    run(jobs, InstanceFleet((SMALL,)), Counted(lambda calls: 1), at_once=True, progress=reports.append)
    assert reports == sorted(reports)
    assert reports[-1] == 1.0
    assert 0.0 < reports[0] < 0.5
    assert all(20 * share == round(20 * share) for share in reports)
    assert len(set(reports)) > 5
