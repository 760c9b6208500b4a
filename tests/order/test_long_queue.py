"""EASY with an index of a long queue starts jobs as without one; the index is compared with a plain scan."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.peers_order import Scanning
from hypothesis import given
from hypothesis import strategies as st

from tests.coupled.cases import Case, run
from tests.coupled.test_instants import drained, gone
from tests.oracles.workloads import CHECK
from windlass.experiment.workloads import lublin
from windlass.model import JobTable
from windlass.order.site.compiled import indexed_of
from windlass.order.site.policies.easy import Easy
from windlass.order.site.queue_index import FAN, class_bounds, class_of, level_starts
from windlass.sim import replay


def drawn(seed: int, jobs: int, processors: int) -> JobTable:
    """Jobs that arrive faster than they run; many tie in submission, width or request."""
    rng = np.random.default_rng([5, seed, jobs])
    odd, even = rng.integers(1, processors + 1, jobs), 2 ** rng.integers(0, 5, jobs)
    procs = np.minimum(np.where(rng.random(jobs) < 0.3, odd, even), processors)
    request = rng.choice([0.0, 1.0, 5.0, 60.0, 400.0, 1e4, 1e15], jobs)
    run_times = np.minimum(request, rng.exponential(20.0, jobs).round(int(seed % 3)))
    submit = np.sort(rng.integers(0, 1 + jobs // 4, jobs)).astype(np.float64)
    return JobTable.of(submit=submit, run=run_times, procs=procs, request=request)


def most_waiting(jobs: JobTable, start: np.ndarray) -> int:
    """The most jobs that wait at any instant."""
    times = np.concatenate((jobs.submit, start))
    change = np.repeat([1, -1], len(jobs))
    return int(np.cumsum(change[np.lexsort((-change, times))]).max())


@pytest.mark.parametrize("seed", range(8))
def test_a_long_queue_starts_as_with_a_scan(seed: int) -> None:
    jobs = drawn(seed, jobs=6000, processors=37)
    ours, scanned = replay(jobs, 37, Easy()), replay(jobs, 37, Scanning())
    assert most_waiting(jobs, ours.start) > 3000
    assert ours.start.tolist() == scanned.start.tolist()
    assert ours.why.tolist() == scanned.why.tolist()


@pytest.mark.parametrize("load", [1.2, 3.0])
def test_lublin_jobs_start_as_with_a_scan(load: float) -> None:
    jobs = lublin(20_000, 1024, np.random.default_rng(7), load=load)
    assert replay(jobs, 1024, Easy()).start.tolist() == replay(jobs, 1024, Scanning()).start.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_jobs_return_to_a_long_queue_after_outages(seed: int) -> None:
    jobs = drawn(seed, jobs=2500, processors=16)
    rng = np.random.default_rng([6, seed])
    cores = [16, 8, 8]
    outages = drained(0, 5.0, 40.0, cores=cores[0])
    for at in range(50, 5050, 50):
        node = int(rng.integers(0, 3))
        outages += gone(node, float(at), at + float(rng.integers(1, 45)), cores=cores[node])
    case = Case(jobs, cores, outages)
    ours, scanned = run(case, Easy()).replay, run(case, Scanning()).replay
    assert len(ours.lost) > 20
    assert (ours.start.tolist(), ours.lost.tolist()) == (scanned.start.tolist(), scanned.lost.tolist())


def test_only_easy_has_a_function_for_long_queues() -> None:
    assert indexed_of(Easy()) is Easy.indexed
    assert indexed_of(Scanning()) is None


@CHECK
@given(st.integers(1, 200_000), st.integers(1, 200_000))
def test_each_number_of_processors_has_a_class(most: int, procs: int) -> None:
    bounds = class_bounds(most)
    assert bounds[0] == 1
    assert (np.diff(bounds) > 0).all()
    assert bounds[-1] >= most
    # A class has numbers of processors that differ by an eighth at most.
    first = int(np.searchsorted(bounds, min(procs, most)))
    assert class_of(bounds, min(procs, most)) == first
    assert first == 0 or bounds[first] - bounds[first - 1] <= max(1, bounds[first - 1] // 8)


def test_numbers_beyond_all_classes_are_in_the_last_or_the_first() -> None:
    for most in (1, 5, 8, 9, 100):
        bounds = class_bounds(most)
        assert [class_of(bounds, procs) for procs in (-1, 0, 1, 10**6)] == [0, 0, 0, len(bounds) - 1]


@CHECK
@given(st.integers(0, 3_000_000))
def test_every_position_has_a_node_on_each_level(positions: int) -> None:
    starts, nodes = level_starts(positions)
    sizes = np.diff([*starts.tolist(), nodes])
    last = positions
    for size in sizes.tolist():
        last //= FAN
        assert size == last + 1
    assert sizes[-1] <= FAN
