"""Rosella without a known capacity of its workers."""

import numpy as np
import pytest

from windlass.dispatch import Rosella, simulate

_SPEEDS = np.repeat([0.5, 1.0, 2.0, 4.0], 8)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_rosella_learns_rates_at_any_scale(scale: float) -> None:
    speeds = _SPEEDS * scale
    policy = Rosella(len(speeds), rng=np.random.default_rng(1))
    done = simulate(policy, speeds, 0.7, 60_000, seed=2, samples=50, sizes_known=True)
    late = done.estimates[25:].mean(axis=0)
    assert np.abs(late / late.sum() - speeds / speeds.sum()).sum() < 0.1
    assert done.mean * scale < 1.5
    assert done.benchmarks > 500


def test_rosella_sends_no_benchmark_before_the_first_completions() -> None:
    policy = Rosella(3, rng=np.random.default_rng(1))
    assert policy.benchmark_at > 1e6
    for step in range(30):
        policy.arrived(step / 2)
        worker = policy.choose(np.zeros(3, np.int64))
        policy.completed(worker, work=1.0, seconds=1.0)
    assert policy.benchmark_at < 1e3


def test_more_probes_reduce_the_mean_response() -> None:
    means = [
        simulate(
            Rosella(32, 60.0, rng=np.random.default_rng(1), probes=probes),
            _SPEEDS,
            0.85,
            60_000,
            seed=1,
            sizes_known=True,
        ).mean
        for probes in (2, 8)
    ]
    assert means[1] < means[0]
