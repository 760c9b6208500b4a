"""Simulated runs of the SWAG reproduction: all policies on the same random jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.workloads.fixed import draw_fixed
from windlass.experiment.workloads.sizes import MEDIUM, SMALL
from windlass.model.fleet import FleetCase
from windlass.order import reordering
from windlass.order.fleet import POLICIES, FleetView, JobOrder
from windlass.results import Summary, summarise
from windlass.results.metrics.fleet import service_seconds
from windlass.sim.fleet import FleetRun, run_ordered

#: The policies that the thesis compares, by the thesis' names.
CONTENDERS: dict[str, tuple[str, dict[str, Any]]] = {
    "FCFS": ("fcfs", {}),
    "Global-SRPT": ("global-srpt", {}),
    "Independent-SRPT": ("independent-srpt", {}),
    "Global-SRPT w/Reordering": ("reordering", {"base": "global-srpt"}),
    "Independent-SRPT w/Reordering": ("reordering", {"base": "independent-srpt"}),
    "SWAG": ("swag", {}),
    "Optimal order of 10": ("optimal", {"limit": 10}),
}
SRPT = ("Global-SRPT", "Independent-SRPT")
SHOWN = tuple(name for name in CONTENDERS if name not in ("FCFS", "Optimal order of 10"))
REORDERED = ("Global-SRPT w/Reordering", "Independent-SRPT w/Reordering")
CLASSES = ("Overall", "Small", "Medium", "Large")


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a reproduction.

    Parameters
    ----------
    jobs
        Jobs per workload, by law of their sizes.
    utilisations
        Loads of Figures 3.6–3.8.
    seeds
        Random workloads per setting.
    instances
        Instances of jobs that are all present at the start.
    probes
        Jobs per workload in the rows on what the gain depends on, by law.
    """

    jobs: dict[str, int]
    utilisations: tuple[float, ...]
    seeds: int
    instances: int
    probes: dict[str, int]


@dataclass(frozen=True, slots=True)
class Run:
    """One policy on one random workload.

    Parameters
    ----------
    response
        Mean response over jobs, s.
    slowdown
        (4,) mean slowdown over all, small, medium and large jobs; NaN if there are none.
    reported, waiting
        Sub-jobs and jobs that are reported to the policy per decision.
    """

    response: float
    slowdown: NDArray[np.float64]
    reported: float
    waiting: float


@dataclass(frozen=True, slots=True)
class Experiment:
    """One setting under all policies: by policy name, a list with one run per seed."""

    runs: dict[str, list[Run]]

    def responses(self, name: str) -> NDArray[np.float64]:
        """(s,) mean response over the jobs of each seed, s."""
        return np.array([run.response for run in self.runs[name]])

    def response(self, name: str) -> float:
        """Mean response over jobs and seeds, s."""
        return float(self.responses(name).mean())

    def by_fcfs(self, name: str) -> NDArray[np.float64]:
        """(s,) mean response over that of FCFS on the jobs of each seed."""
        return self.responses(name) / self.responses("FCFS")

    def normalised(self, name: str) -> Summary:
        """Mean response over that of FCFS on the same jobs, with half the width of its 95% interval over seeds."""
        return summarise(name, self.by_fcfs(name).tolist())

    def off(self, name: str, other: str) -> NDArray[np.float64]:
        """(s,) share by which a policy's mean response is below another's, by seed."""
        return 1.0 - self.responses(name) / self.responses(other)

    def better(self, names: tuple[str, ...]) -> str:
        """Return the policy with the lowest mean response."""
        return min(names, key=self.response)

    def worse(self, names: tuple[str, ...]) -> str:
        """Return the policy with the highest mean response."""
        return max(names, key=self.response)

    def slowdowns(self, name: str) -> NDArray[np.float64]:
        """(s, 4) mean slowdown of each seed, overall and of small, medium and large jobs; NaN if there are none."""
        return np.array([run.slowdown for run in self.runs[name]])

    def slowdown(self, name: str) -> NDArray[np.float64]:
        """(4,) mean slowdown overall and of small, medium and large jobs, over the seeds that have such jobs."""
        slowdowns = self.slowdowns(name)
        has = np.isfinite(slowdowns)
        sums = np.where(has, slowdowns, 0.0).sum(axis=0)
        return np.where(has.any(axis=0), sums / np.maximum(has.sum(axis=0), 1), np.nan)


def make(name: str) -> Any:
    """Create a policy by its name in the thesis."""
    policy, parameters = CONTENDERS[name]
    return POLICIES.make(policy, np.random.default_rng(0), **parameters)


def measured(done: FleetRun) -> Run:
    """Reduce a run to the values that the figures need."""
    response = done.response
    slowdown = response / np.maximum(service_seconds(done), 1e-9)
    sizes = done.jobs.job_tasks
    small, medium = sizes <= SMALL, (sizes > SMALL) & (sizes <= MEDIUM)
    masks = (np.ones(len(sizes), bool), small, medium, sizes > MEDIUM)
    decisions = max(done.decisions, 1)
    by_class = [float(slowdown[mask].mean()) if mask.any() else np.nan for mask in masks]
    return Run(
        float(response.mean()),
        np.array(by_class),
        done.subjobs_reported / decisions,
        done.jobs_reported / decisions,
    )


def experiment(
    seeds: int,
    names: tuple[str, ...] | None = None,
    notify: Callable[[], None] = lambda: None,
    **setting: Any,
) -> Experiment:
    """Run the policies on the same random jobs, once per seed from 1."""
    chosen = names or tuple(name for name in CONTENDERS if not name.startswith("Optimal"))
    runs: dict[str, list[Run]] = {name: [] for name in chosen}
    for seed in range(1, seeds + 1):
        work = draw_fixed(np.random.default_rng(seed), **setting)
        for name in chosen:
            runs[name].append(measured(run_ordered(work, make(name))))
            notify()
    return Experiment(runs)


def mean_response(work: FleetCase, policy: Any) -> float:
    """Return the mean response of one workload under a policy, s."""
    return float(run_ordered(work, policy).response.mean())


class SizesAtArrival:
    """SRPT by the tasks that jobs had at arrival instead of their remaining tasks, to measure the value of updates.

    If ``then_reorder``, Reordering is applied to the result; it always uses the remaining tasks.
    """

    name = "sizes-at-arrival"

    def __init__(self, work: FleetCase, *, each_site: bool, then_reorder: bool = False) -> None:
        self._sizes = work.jobs.here(len(work.fleet)).astype(np.float64)
        self._each_site = each_site
        self._then_reorder = then_reorder

    def decide(self, view: FleetView) -> JobOrder:
        """Order the jobs by their sizes at arrival."""
        sizes = self._sizes[view.job]
        if self._each_site:
            order = np.ascontiguousarray(np.argsort(sizes, axis=0, kind="stable").T)
        else:
            order = np.argsort(sizes.sum(axis=1), kind="stable")
        if self._then_reorder:
            order = reordering(view.subjobs, view.slots, order)
        return JobOrder(order, "size at arrival")


class Recorder:
    """SWAG with a record of its views, on which policies are timed later."""

    name = "recorder"

    def __init__(self) -> None:
        self._policy = make("SWAG")
        self.views: list[FleetView] = []

    def decide(self, view: FleetView) -> JobOrder:
        """Return SWAG's order."""
        self.views.append(view)
        answer: JobOrder = self._policy.decide(view)
        return answer
