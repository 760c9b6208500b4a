"""A fake bench of Tetrium whose runs are computed from their arguments, and the texts of its rows."""

import numpy as np

from tests.reproductions.keyed import number_for, rounded_text
from windlass.experiment.workloads.sites import SiteModel
from windlass.experiment.workloads.stages import JobModel
from windlass.model.fleet import Fleet, FleetJobs, StageSpec
from windlass_reproductions.tetrium.runs import JOBS, SITES, Bench, RunSummary

SEEDS = (1, 2, 3)
DELAY = "delay-scheduling"
FLEET = Fleet.of([2, 8])
WORK = FleetJobs.of(
    [0.0, 1.0, 3.0, 7.0],
    [
        [StageSpec(4.0, (1, 1), 1e6), StageSpec(1.0, tasks=2, parents=(0,))],
        [StageSpec(2.0, (3, 0), 1e6)],
        [StageSpec(5.0, (0, 4), 1e6)],
        [StageSpec(3.0, (2, 2), 1e6)],
    ],
)


class FakeBench(Bench):
    """A bench whose runs are computed from their arguments."""

    def run(self, policy, seed, sites=SITES, jobs=JOBS, drop=0.0, estimates="finished", **parameters):
        key = policy, seed, sites, jobs, drop, estimates, sorted(parameters.items())
        response = np.array([number_for(key, job) for job in range(4)]) + number_for(key, low=0.0, high=300.0)
        sent = np.array([number_for(key, job, "sent") for job in range(4)])
        used = np.array([number_for(key, site, "used", low=0.0, high=1.0) for site in range(2)])
        return RunSummary(FLEET, WORK, response, sent, np.zeros(len(WORK.stage), np.int16), used)

    def workload(self, seed, sites, jobs):
        slots = 1 + int(number_for(seed, sites, jobs, "slots", low=0.0, high=3.0))
        return Fleet.of([slots, 1]), WORK


def percents(bench, policy, against, of=None, other=None, measure="response", **setting):
    """Return (s,) by how many percent a policy's mean is below another's."""
    found = []
    for seed in bench.seeds:
        mine = getattr(bench.run(policy, seed, **setting, **(of or {})), measure).mean()
        theirs = getattr(bench.run(against, seed, **setting, **(other or {})), measure).mean()
        found.append(100.0 * (1.0 - mine / theirs))
    return np.array(found)


def gain_text(bench, *arguments, **setting):
    return rounded_text(percents(bench, *arguments, **setting))


def text_by_wait(bench, policy, of=None, **setting):
    """Format the gains over delay scheduling at each wait as the rows print them."""
    each = [gain_text(bench, policy, DELAY, of, {"wait": wait}, **setting) for wait in (0.0, 3.0, 5.0)]
    return f"{', '.join(each)} against waits of 0, 3, 5 s"


def text_over_in_place(bench, policy, of=None, **setting):
    alone = gain_text(bench, policy, "in-place", of, **setting)
    return f"{text_by_wait(bench, policy, of, **setting)}; without delay scheduling {alone}"


def small(sites, stages):
    """Return the setting of the deployment on Amazon's machines."""
    jobs = JobModel(load=3.0, tasks=30.0, tasks_spread=0.6, task_bytes=30e6, stages=stages)
    return {"sites": SiteModel(sites=sites, slots=(4, 16), mbit=(100.0, 1000.0)), "jobs": jobs}
