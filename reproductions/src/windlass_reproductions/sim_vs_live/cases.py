"""Workloads on which the simulator is compared with real runs: four small sites."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from windlass.drive import Decider
from windlass.engines.live.result import LiveRun
from windlass.experiment.worlds.fleet.priority_order import OrderedPlacement
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.order.fleet import FleetPolicy
from windlass.order.fleet.policies.fcfs import Fcfs
from windlass.order.fleet.policies.global_srpt import GlobalSrpt
from windlass.order.fleet.policies.swag import Swag
from windlass.place.policies.centralised import Centralised
from windlass.place.policies.in_place import InPlace
from windlass.place.policies.iridium import Iridium
from windlass.place.policies.tetrium import Tetrium
from windlass.place.view import Placement, PlaceView
from windlass.sim.fleet import FleetRun, run_ordered, run_placed

Policy = Decider[PlaceView, Placement]


@dataclass(frozen=True, slots=True)
class Contender:
    """A policy in two forms: for a live engine, and as a function that simulates a case under it."""

    name: str
    live: Policy
    simulate: Callable[[FleetCase], FleetRun]


def ordered(policy: FleetPolicy) -> Contender:
    """Return the contender of a policy that orders jobs."""
    return Contender(policy.name, OrderedPlacement(policy), lambda case: run_ordered(case, policy))


def placed(policy: Policy) -> Contender:
    """Return the contender of a policy that places tasks."""
    return Contender(policy.name, policy, lambda case: run_placed(case, policy))


@dataclass(frozen=True, slots=True)
class Case:
    """One comparison.

    Parameters
    ----------
    name
        Name of the case in the rows.
    fleet
        Sites and links.
    draw
        Function that draws the jobs from a random generator.
    policies
        Policies to compare; the first is the baseline, the last is expected to win.
    """

    name: str
    fleet: Fleet
    draw: Callable[[np.random.Generator], FleetJobs]
    policies: tuple[Contender, ...]

    @property
    def quick(self) -> Case:
        """The same case with only the first and the last policy."""
        return dataclasses.replace(self, policies=(self.policies[0], self.policies[-1]))


_NAMES = ("tokyo", "oregon", "paris", "sydney")


def _mixed_jobs(rng: np.random.Generator) -> FleetJobs:
    """Draw twelve jobs in a burst of 2 s: most small, a few large, each with tasks fixed at some sites."""
    tasks = np.where(rng.random(12) < 0.7, rng.integers(2, 6, 12), rng.integers(14, 24, 12))
    submit = np.sort(rng.uniform(0.0, 2.0, 12))
    jobs = []
    for count in tasks.tolist():
        here = rng.multinomial(count, rng.dirichlet(np.full(4, 0.5)))
        seconds = float(rng.uniform(0.3, 0.6))
        jobs.append([StageSpec(seconds, here=tuple(here.tolist()), task_bytes=1e4)])
    return FleetJobs.of(submit.tolist(), jobs)


def _skewed_jobs(rng: np.random.Generator) -> FleetJobs:
    """Draw six jobs of a map stage and a shuffle, with half of the data at the site with the fewest slots."""
    jobs = []
    for _ in range(6):
        here = tuple(rng.multinomial(12, [0.2, 0.5, 0.2, 0.1]).tolist())
        seconds = float(rng.uniform(0.5, 0.9))
        jobs.append(
            [StageSpec(seconds, here=here, task_bytes=1e6), StageSpec(seconds / 2, tasks=4, parents=(0,))]
        )
    return FleetJobs.of(np.sort(rng.uniform(0.0, 8.0, 6)).tolist(), jobs)


def cases() -> tuple[Case, ...]:
    """Return two cases: one of job order, one of task placement."""
    order = Fleet.of([2, 2, 2, 2], [20e6] * 4, [20e6] * 4, names=_NAMES)
    place = Fleet.of([4, 1, 2, 2], [20e6, 5e6, 10e6, 10e6], [20e6, 5e6, 20e6, 10e6], names=_NAMES)
    return (
        Case(
            "order", order, _mixed_jobs, tuple(ordered(policy) for policy in (Fcfs(), GlobalSrpt(), Swag()))
        ),
        Case(
            "place",
            place,
            _skewed_jobs,
            tuple(placed(policy) for policy in (InPlace(), Centralised(), Iridium(), Tetrium())),
        ),
    )


@dataclass(frozen=True, slots=True)
class Calibration:
    """Overheads of a real run that a workload does not state.

    Parameters
    ----------
    task_s
        Mean overhead of a task, s: from its launch until its end is reported, minus reading and computing.
    compute
        Seconds computed per nominal second of the workload.
    read_s
        Mean time of a read that crosses no link, s.
    link
        Share of a link's nominal rate that a single read gets.
    """

    task_s: float
    compute: float
    read_s: float
    link: float

    def jobs(self, jobs: FleetJobs) -> FleetJobs:
        """Return the jobs with longer tasks, as input of a calibrated simulation."""
        extra = self.task_s + self.read_s
        return dataclasses.replace(
            jobs, task_s=jobs.task_s * self.compute + extra, duration=jobs.duration * self.compute + extra
        )

    def fleet(self, fleet: Fleet) -> Fleet:
        """Return the fleet with slower links, as input of a calibrated simulation."""
        return dataclasses.replace(fleet, up=fleet.up * self.link, down=fleet.down * self.link)


def calibration_case() -> tuple[Fleet, FleetJobs]:
    """Return the workload of the calibration run.

    It has local tasks of different lengths, so that they do not all end together, and then one remote read at a time.
    """
    fleet = Fleet.of([2, 2, 2, 2], [4e6] * 4, [4e6] * 4, names=_NAMES)
    sites = np.eye(4, dtype=int).repeat(2, axis=0) * 6
    local = [
        [StageSpec(0.2 + 0.03 * at, here=tuple(here), task_bytes=1e5)]
        for at, here in enumerate(sites.tolist())
    ]
    alone = [[StageSpec(0.1, here=(1, 0, 0, 0), task_bytes=4e6)] for _ in range(3)]
    return fleet, FleetJobs.of([0.0] * 8 + [4.0, 6.0, 8.0], [*local, *alone])


class Remote:
    """Runs the single-task jobs one at a time, remotely from their data; all other tasks run in place.

    The data of single-task jobs are at the first site, and they run at the second while no other task runs.
    """

    name = "remote"

    def decide(self, view: PlaceView) -> Placement:
        """Start tasks in place, or one remote read if no task runs."""
        answer = InPlace().decide(view)
        alone = view.ready.total[answer.starts[:, 0]] == 1
        chosen = ~alone
        if alone.all() and (view.sites.free == view.sites.slots).all():
            chosen = np.arange(len(alone)) == 0
        starts = answer.starts[chosen]
        starts[alone[chosen], 2] = 1
        return dataclasses.replace(answer, starts=starts, why=answer.why[chosen])


def calibrate(run: LiveRun) -> Calibration:
    """Return the calibration that a run of :func:`calibration_case` under :class:`Remote` yields."""
    stage = run.jobs.stage
    computed, read = run.computed - run.read, run.read - run.begun
    local = run.site == run.source
    nominal = run.jobs.task_s[stage]
    read_s = float(read[local].mean())
    remote_s = float(read[~local].mean())
    stated_s = float((run.jobs.task_bytes[stage] / run.fleet.up[run.source])[~local].mean())
    return Calibration(
        task_s=float((run.reported - run.launched - computed - read).mean()),
        compute=float((computed / nominal).mean()),
        read_s=read_s,
        link=stated_s / (remote_s - read_s),
    )
