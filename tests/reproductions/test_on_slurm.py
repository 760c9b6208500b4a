"""The simulator compared with Slurm: schedules differ only by Slurm's latency."""

import dataclasses

import numpy as np
import pytest

from tests.engines.fake_batch import FakeBatch
from tests.reproductions.turning import rows_with_fixed_verdicts
from windlass.drive import drive
from windlass.engines.slurm.host import missing
from windlass.model import InputError
from windlass.order.site.policies.conservative import Conservative
from windlass.order.site.policies.easy import Easy
from windlass_reproductions import find_paper, on_engine
from windlass_reproductions.sim_vs_live.delayed import delayed_releases
from windlass_reproductions.sim_vs_live.on_slurm import rows_of
from windlass_reproductions.sim_vs_live.site_case import mixed_jobs, observe, simulate_releases, start_order
from windlass_reproductions.sim_vs_live.verdicts import close, same_order

JOBS = mixed_jobs(40, 8, np.random.default_rng(3))


def observed(policy, latency):
    """Return the observations of a run in virtual time in which each job starts ``latency`` seconds late."""
    engine = observe(FakeBatch(JOBS, 8, latency=latency, kill=False))
    return engine.observed(drive(engine, {"order": policy}))


def test_orders_are_compared_position_by_position():
    assert same_order([1, 2, 3], [1, 2, 3]).holds
    verdict = same_order([1, 2, 3, 4], [1, 4, 2, 3])
    assert not verdict.holds
    assert (verdict.same, verdict.first, verdict.pairs) == (1, (2, 2, 4), 2)
    assert "position 2: job 2 in the real run, job 4 simulated; 2 of 6 pairs" in verdict.note
    with pytest.raises(ValueError, match="two orders of the same jobs"):
        same_order([1, 2], [1, 3])


def test_means_within_5_percent_are_close():
    assert [close(10.0, mean).holds for mean in (10.49, 9.51, 10.51, 9.49)] == [True, True, False, False]


@pytest.mark.parametrize("policy", [Easy(), Conservative()], ids=lambda policy: policy.name)
def test_without_latency_the_observed_run_matches_the_simulation(policy):
    seen = observed(policy, 0.0)
    assert np.abs(seen.occupied - JOBS.run).max() < 1e-5
    assert same_order(
        start_order(JOBS, seen.released),
        start_order(JOBS, simulate_releases(seen.as_observed(JOBS), 8, policy)),
    ).holds
    rows = rows_of(policy, JOBS, seen, 0.0)
    assert all(row.holds is not False for row in rows)
    assert rows_with_fixed_verdicts(rows) == {}


@pytest.mark.parametrize("policy", [Easy(), Conservative()], ids=lambda policy: policy.name)
def test_a_simulation_with_the_observed_delays_matches_the_run(policy):
    seen = observed(policy, 0.7)
    delayed = delayed_releases(JOBS, seen, 8, policy)
    assert same_order(start_order(JOBS, seen.released), start_order(JOBS, delayed)).holds
    assert np.abs(delayed - seen.released).max() < 1e-5


def test_claims_fail_for_another_order_or_longer_waits():
    seen = observed(Easy(), 0.0)
    turned = dataclasses.replace(seen, released=seen.released[::-1].copy())
    rows = rows_of(Easy(), JOBS, turned, 0.0)
    assert [row.holds for row in rows].count(False) >= 2
    assert rows_with_fixed_verdicts(rows) == {}
    slower = dataclasses.replace(seen, released=seen.released * 2)
    rows = rows_of(Easy(), JOBS, slower, 0.0)
    assert all(row.note for row in rows if row.holds is False)
    assert sum(row.holds is False for row in rows) == 3


def test_papers_without_a_live_run_refuse_an_engine():
    paper = find_paper("sim-vs-live")
    assert on_engine(paper, None) is on_engine(paper, "ray") is paper
    with pytest.raises(InputError, match="'rosella', which runs only in the simulator: omit --engine"):
        on_engine(find_paper("rosella"), "slurm")
    with pytest.raises(InputError, match="'sim-vs-live', expected one of ray, slurm"):
        on_engine(paper, "kubernetes")


# Takes more than two minutes.
@pytest.mark.nightly
@pytest.mark.live
@pytest.mark.slow
def test_slurm_follows_the_simulated_order_except_for_late_starts():
    if reason := missing():
        pytest.skip(reason)
    found = on_engine(find_paper("sim-vs-live"), "slurm").reproduce(
        quick=True, notify=lambda step, share: None
    )
    delayed = [row for row in found.rows if "reported as late" in row.what]
    assert len(delayed) == 4
    assert all(row.holds for row in delayed)
    assert all(row.note for row in found.rows if row.holds is False)
    assert len({picture.key for picture in found.pictures}) == 2
