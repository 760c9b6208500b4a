"""Staged jobs and jobs on instances in a cluster of several parts, compared with plain loops."""

import numpy as np
import pytest
from benchmarks.peers_cluster import plain_instances, plain_stages

from windlass.drive import drive
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.order.fleet.compiled import in_loop
from windlass.order.fleet.policies.fcfs import Fcfs
from windlass.sim.coupled import Coupled
from windlass.sim.fleet.binding import FleetCores
from windlass.sim.fleet.part import OrderedFleet
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.part import InstancesPart
from windlass.sim.ledger import Ledger

SLOTS, CORES, MOST = 5, 6, 3


def staged_jobs(rng, count):
    """Jobs of one to three stages; whole seconds, so that events coincide."""
    submit = np.sort(rng.integers(0, 40, count)).astype(float).tolist()
    stages = [
        [rng.integers(0, 9, rng.integers(1, 6)).astype(float).tolist() for _ in range(rng.integers(1, 4))]
        for _ in range(count)
    ]
    return list(zip(submit, stages, strict=True))


def as_case(jobs):
    specs = [
        [
            StageSpec(1.0, here=(len(tasks),))
            if number == 0
            else StageSpec(1.0, tasks=len(tasks), parents=(number - 1,))
            for number, tasks in enumerate(stages)
        ]
        for _, stages in jobs
    ]
    durations = np.array([each for _, stages in jobs for tasks in stages for each in tasks])
    fleet_jobs = FleetJobs.of([submit for submit, _ in jobs], specs, durations)
    return FleetCase(Fleet.of(slots=[SLOTS]), fleet_jobs)


@pytest.mark.parametrize("seed", range(30))
def test_stages_and_instances_equal_plain_loops(seed):
    rng = np.random.default_rng(seed)
    staged = staged_jobs(rng, 12)
    count = 25
    submit = np.sort(rng.integers(0, 30, count)).astype(float)
    run, cores = rng.integers(0, 12, count).astype(float), rng.integers(1, CORES + 1, count)
    types = InstanceFleet((InstanceType("small", cores=CORES, launch=0.0, most=MOST),), idle=0.0)
    ledger = Ledger([[SLOTS], types.rows()], parts=2)
    parts = [
        OrderedFleet(as_case(staged), in_loop(Fcfs()), cores=FleetCores(ledger, (0,))),
        InstancesPart(VectorJobs.of(submit, run, cores=cores), types, ledger, rng, site=1, at_once=True),
    ]
    stages, instances = drive(Coupled(parts, ledger), {})
    assert stages.end.tolist() == plain_stages(staged, SLOTS)
    packed = list(zip(submit.tolist(), run.tolist(), cores.tolist(), strict=True))
    assert instances.start.tolist() == plain_instances(packed, CORES, MOST)
