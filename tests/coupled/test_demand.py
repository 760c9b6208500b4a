"""Instances for batch jobs and short tasks: what loads lack, and that the autoscaler serves them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.cases import Tasks, jobs_of, workers
from tests.coupled.test_concerns import content
from tests.oracles.workloads import CHECK
from windlass.drive import drive
from windlass.model import InputError, JobTable
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.order.site.policies.fcfs import Fcfs
from windlass.scale.policies.reactive import Reactive
from windlass.scale.policies.thrifty import Thrifty
from windlass.sim.coupled import Coupled
from windlass.sim.demand import CoreDemand
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.part import InstancesPart
from windlass.sim.ledger import Ledger
from windlass.sim.part import Part, Quiet
from windlass.sim.site.part import SitePart

_NONE = VectorJobs.of([], [])
_ONE = InstanceType("one", cores=1, launch=30.0, most=40)
_FOUR = InstanceType("four", cores=4, launch=30.0, most=8)


@settings(CHECK)
@given(
    lacking=st.lists(st.one_of(st.integers(1, 70).map(float), st.just(np.inf)), max_size=6),
    sizes=st.lists(st.integers(1, 32), min_size=1, max_size=3),
)
def test_requests_are_the_lacking_cores_in_pieces_that_fit(lacking: list[float], sizes: list[int]) -> None:
    types = [InstanceType(f"t{size}", cores=size) for size in sorted(sizes)]
    since = np.arange(len(lacking), dtype=float)
    found = CoreDemand(np.array(lacking), since, since + 9.0).requests(types)
    whole = [min(sizes) if cores == np.inf else cores for cores in lacking]
    assert found.resources[:, 1].sum() == sum(whole)
    assert (found.resources[:, [0, 2]] == 0).all()
    assert len(found) == 0 or (found.resources[:, 1].min() > 0 and found.resources[:, 1].max() <= max(sizes))
    for job, cores in enumerate(whole):
        pieces = found.since == job
        # As few pieces as possible.
        assert pieces.sum() == -(-cores // max(sizes))
        assert found.resources[pieces, 1].sum() == cores
        assert (found.walltime[pieces] == job + 9.0).all()


def scaled(
    fleet: InstanceFleet,
    jobs: JobTable,
    policy: Any,
    *,
    static: Sequence[int] = (),
    others: Sequence[Part] = (),
) -> tuple[Any, ...]:
    """Run batch jobs on static nodes and instances of one site."""
    ledger = Ledger([[*static, *fleet.rows()]], parts=2)
    site = SitePart(jobs, Fcfs(), ledger, record=True)
    part = InstancesPart(
        _NONE, fleet, ledger, np.random.default_rng(1), begin=0.0, look=10.0, after=len(static), loads=(site,)
    )
    result: tuple[Any, ...] = drive(Coupled([site, part, *others], ledger), {"scale": policy})
    assert ledger.nodes.held.sum() == 0
    return result


def test_a_waiting_batch_job_launches_the_instances_that_it_lacks() -> None:
    # Two of six processors are there: one instance of four has the others, and one the last job.
    fleet = InstanceFleet((_FOUR,), idle=60.0)
    replay, done = scaled(fleet, jobs_of((5, 100, 6), (7, 10, 1)), Reactive(60.0), static=[2])
    # The wait is noticed at 10 s, and the instances are up 30 s later.
    assert replay.start.tolist() == [40.0, 40.0]
    assert (done.launches.launched.tolist(), done.launches.ready.tolist()) == ([10.0, 10.0], [40.0, 40.0])


def test_an_instance_that_no_load_uses_ends_and_a_later_job_launches_another() -> None:
    fleet = InstanceFleet((_FOUR,), idle=60.0)
    replay, done = scaled(fleet, jobs_of((5, 100, 5), (1003, 10, 5)), Reactive(60.0), static=[1])
    assert replay.start.tolist() == [40.0, 1040.0]
    assert done.launches.launched.tolist() == [10.0, 1010.0]
    # Empty since 140 s; the next poll after a minute is at 200 s.
    assert done.launches.gone.tolist()[0] == 200.0
    assert done.finish >= 1050.0


@settings(CHECK, max_examples=40)
@given(
    gaps=st.lists(st.integers(0, 120), min_size=1, max_size=14),
    lengths=st.lists(st.integers(1, 400), min_size=14, max_size=14),
)
def test_batch_jobs_of_one_core_are_served_as_vector_jobs_are(gaps: list[int], lengths: list[int]) -> None:
    submit, fleet = np.cumsum(gaps).astype(float) + 0.5, InstanceFleet((_ONE,), idle=1e6)
    run = np.array(lengths[: len(gaps)], float)
    jobs = JobTable.of(submit, run, np.ones(len(run), int))
    replay, _ = scaled(fleet, jobs, Reactive(1e6))
    ledger = Ledger([fleet.rows()], parts=1)
    vectors = VectorJobs.of(submit, run, cores=1)
    part = InstancesPart(vectors, fleet, ledger, np.random.default_rng(1), begin=0.0, look=10.0)
    (done,) = drive(Coupled([part], ledger), {"scale": Reactive(1e6)})
    assert replay.start.tolist() == done.start.tolist()


def test_short_tasks_launch_instances_while_they_wait_and_keep_those_in_use() -> None:
    fleet = InstanceFleet((_FOUR,), idle=20.0)
    ledger = Ledger([[4], fleet.rows()], parts=1)
    rng = np.random.default_rng(3)
    # One worker serves one task a second; for five minutes three arrive.
    submit = np.sort(np.concatenate((rng.uniform(0, 300, 900), rng.uniform(300, 900, 100))))
    tasks = workers(Tasks(submit.tolist(), [1.0] * 1000, [1.0] * (1 + _FOUR.most)), ledger, site=(0, 1))
    part = InstancesPart(_NONE, fleet, ledger, rng, site=1, begin=0.0, look=10.0, loads=(tasks,))
    served, done = drive(Coupled([tasks, part], ledger), {"scale": Reactive(20.0)})
    alone = Ledger([[4]], parts=0)
    (slow,) = drive(Coupled([workers(Tasks(submit.tolist(), [1.0] * 1000, [1.0]), alone)], alone), {})
    assert served.response.mean() < slow.response.mean() / 4
    launched = done.launches.launched
    assert launched.min() < 60.0
    # Afterwards one worker suffices.
    assert np.isfinite(done.launches.gone[done.launches.launched < 300.0]).sum() >= 1
    up = (done.launches.ready <= 800.0) & ~(done.launches.gone <= 800.0)
    assert up.sum() <= 2


def test_an_instance_of_which_tasks_keep_a_core_ends_once_no_job_uses_it() -> None:
    fleet = InstanceFleet((_FOUR,), idle=60.0)
    ledger = Ledger([[4, *fleet.rows()]], parts=3)
    speeds = [1.0] * (1 + _FOUR.most)
    tasks = workers(Tasks([0.0, 1000.0], [0.5, 0.5], speeds), ledger, keep=0.25)
    jobs = SitePart(jobs_of((5, 100, 5), (1000, 10, 1)), Fcfs(), ledger, record=True)
    part = InstancesPart(
        _NONE, fleet, ledger, np.random.default_rng(1), begin=0.0, look=10.0, after=1, loads=(jobs, tasks)
    )
    replay, _, done = drive(Coupled([jobs, tasks, part], ledger), {"scale": Reactive(60.0)})
    # Three cores of the node and of the instance are for jobs. The second job needs no instance.
    assert replay.start.tolist() == [40.0, 1000.0]
    assert (done.launches.launched.tolist(), done.launches.ready.tolist()) == ([10.0], [40.0])
    # Empty since 140 s; the next poll after a minute is at 200 s.
    assert done.launches.gone.tolist() == [200.0]
    assert ledger.nodes.held.sum(axis=1).tolist() == [1, *[0] * _FOUR.most]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("policy", [Reactive, Thrifty])
def test_calling_the_parts_concerned_equals_calling_all_parts(policy: Any, seed: int) -> None:
    found = []
    for others in ((), (Quiet(),)):
        rng = np.random.default_rng(seed)
        submit = np.sort(rng.integers(0, 900, 40)).astype(float)
        jobs = JobTable.of(submit, rng.integers(1, 200, 40), rng.integers(1, 9, 40))
        fleet = InstanceFleet((_ONE, _FOUR), idle=30.0)
        replay, done, *_ = scaled(fleet, jobs, policy(), static=[2, 2], others=others)
        assert np.isfinite(replay.end).all()
        found.append(content((replay, done)))
    assert found[0] == found[1]


def test_loads_need_a_type_without_gpus() -> None:
    fleet = InstanceFleet((InstanceType("gpu", gpus=1, cores=4, most=2),))
    with pytest.raises(InputError, match="loads: every instance type has GPUs or no cores"):
        scaled(fleet, jobs_of((0, 1, 1)), Reactive())


def test_the_rows_after_the_static_nodes_are_those_of_the_fleet() -> None:
    fleet = InstanceFleet((_FOUR,))
    ledger = Ledger([[2, *fleet.rows()]], parts=1)
    with pytest.raises(
        InputError, match=r"expected those of InstanceFleet\.rows\(\) from row 0 of the site on"
    ):
        InstancesPart(_NONE, fleet, ledger, np.random.default_rng(1))
