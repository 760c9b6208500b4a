"""Schedules of `gather` that differ by rounding: each is valid, single jobs differ by seconds, means hardly."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.place.validator import check
from windlass.experiment.workloads.sites import SiteModel, draw_sites
from windlass.experiment.workloads.stages import JobModel, draw_jobs
from windlass.model.fleet import Fleet, FleetCase
from windlass.model.timetable import SiteTimetable
from windlass.place import POLICIES
from windlass.sim.fleet import run_placed

#: Eight sites and chains of 6 to 16 stages, as in Figure 4.7 of Tetrium's thesis.
_SITES = SiteModel(sites=8, slots=(4, 16), mbit=(100.0, 1000.0))
_JOBS = JobModel(jobs=20, load=3.0, tasks=30.0, tasks_spread=0.6, task_bytes=30e6, stages=(6, 16))


def nudged(fleet: Fleet, seed: int) -> Fleet:
    """The same sites with link rates that differ by one part in 10^13, as another order of sums would."""
    rng = np.random.default_rng([9, seed])
    up, down = 1.0 + 1e-13 * rng.uniform(-1.0, 1.0, (2, len(fleet)))
    return dataclasses.replace(fleet, up=fleet.up * up, down=fleet.down * down)


@pytest.mark.slow
def test_rounding_changes_single_jobs_by_seconds_and_the_mean_hardly() -> None:
    most, means = [], []
    for seed in range(1, 7):
        fleet = draw_sites(_SITES, np.random.default_rng([seed, 0]))
        jobs = draw_jobs(_JOBS, fleet, np.random.default_rng([seed, 1]))
        runs = []
        for sites in (fleet, nudged(fleet, 1), nudged(fleet, 2)):
            policy = POLICIES.make("gather", np.random.default_rng(seed))
            case = FleetCase(sites, jobs, SiteTimetable.none())
            runs.append(run_placed(case, policy, look_every=0.25, decide_every=1.0, log=True))
            check(runs[-1], exact=False)
        plain, *others = (run.response for run in runs)
        most.append(max(float(np.abs(other - plain).max()) for other in others))
        means += [float(other.mean() / plain.mean()) for other in others]
    assert max(most) > 7.0
    assert np.mean(means) == pytest.approx(1.0, abs=0.02)
