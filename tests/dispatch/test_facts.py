"""Claims of the paper and of theory about the policies, in large settings."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.dispatch import simulate
from windlass.experiment.workloads.drift import shocks

THOUSAND = np.array([1.0] * 900 + [6.0] * 100)
CLUSTER = np.array([1.0] * 16 + [2.0] * 8 + [4.0] * 6 + [8.0] * 2)


def shocked(name, load, tasks=150_000, every=1000.0, sizes_known=True, **more):
    until = 1.2 * tasks / (load * CLUSTER.sum())
    timetable = shocks(CLUSTER, every, until, np.random.default_rng(3))
    return simulate(
        name, CLUSTER, load, tasks, seed=2, timetable=timetable, sizes_known=sizes_known, **more
    ).mean


@pytest.mark.parametrize("load", [0.8, 0.9])
@pytest.mark.parametrize("known", [True, False], ids=["sizes known", "sizes hidden"])
def test_rosella_is_at_least_65_percent_below_sparrow_after_shocks(load, known):
    assert shocked("rosella", load, sizes_known=known) < 0.35 * shocked("sparrow", load, sizes_known=known)


@pytest.mark.parametrize("load", [0.8, 0.9])
def test_rosella_is_near_known_rates_with_the_same_two_probes(load):
    assert shocked("rosella", load) < 1.15 * shocked("ppot", load)


@pytest.mark.parametrize(("schedulers", "delay"), [(1, 0.2), (8, 0.2), (8, 0.5)])
def test_rosella_beats_bandits_that_see_all_queues_late(schedulers, delay):
    rosella = shocked("rosella", 0.8, schedulers=schedulers, probe_delay=delay)
    for name in ("eps-greedy", "ucb"):
        assert rosella < shocked(name, 0.8, schedulers=schedulers, probe_delay=delay)


@pytest.mark.slow
def test_a_thousand_workers_with_known_rates_match_theory():
    found = {
        name: simulate(name, THOUSAND, 0.9, 5_000_000, seed=7) for name in ("ppot", "pss", "pot", "uniform")
    }
    assert found["ppot"].mean == pytest.approx(1.7, abs=0.1)
    assert found["pss"].mean == pytest.approx(6.7, abs=1.0)
    assert found["ppot"].longest_queue <= 12
    assert 60 <= found["pss"].longest_queue <= 160
    # Unstable: slow workers gain 0.35 tasks/s under uniform, so 0.9 of tasks wait 0.35 · 1852 s on average.
    assert found["uniform"].mean == pytest.approx(0.9 * 0.35 * 5e6 / 1350 / 2, rel=0.05)
    assert 250 < found["pot"].mean < 450


@pytest.mark.slow
def test_longest_queue_grows_like_log_log_n_with_two_choices_and_like_log_n_with_one():
    longest = {
        name: [
            simulate(name, np.tile(THOUSAND[::100], n // 10), 0.9, 40 * n + 200_000, seed=1).longest_queue
            for n in (10, 1000, 100_000)
        ]
        for name in ("ppot", "pss")
    }
    assert longest["ppot"][-1] <= 14
    assert longest["pss"][-1] > 4 * longest["ppot"][-1]


@pytest.mark.slow
def test_learned_rates_are_near_known_ones_at_a_thousand_workers():
    learned = simulate("rosella", THOUSAND, 0.9, 3_000_000, seed=7, sizes_known=True).mean
    assert learned < 1.1 * simulate("ppot", THOUSAND, 0.9, 3_000_000, seed=7).mean
