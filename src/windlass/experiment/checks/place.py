"""Checks for placement policies."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windlass.experiment.checks.capabilities import require_compiled
from windlass.experiment.checks.common import require, require_defaults
from windlass.experiment.workloads.drops import draw_drops
from windlass.experiment.workloads.sites import SiteModel, draw_sites
from windlass.experiment.workloads.stages import JobModel, draw_jobs
from windlass.model.fleet import FleetCase
from windlass.model.timetable import SiteTimetable
from windlass.place.view import Placement, PlaceView
from windlass.policy.registry import Registry
from windlass.sim.fleet import FleetRun, run_placed


@dataclass
class _Recorder:
    """Drives a policy by hand: keeps what it answers, and watches the view."""

    policy: Any
    answers: list[Placement] = field(default_factory=list)
    views: list[PlaceView] = field(default_factory=list)
    changed: bool = False

    @property
    def name(self) -> str:
        return str(self.policy.name)

    def decide(self, view: PlaceView) -> Placement:
        before = pickle.dumps(view)
        answer: Placement = self.policy.decide(view)
        self.changed = self.changed or pickle.dumps(view) != before
        self.answers.append(answer)
        self.views.append(pickle.loads(before))
        return answer


def _run(policy: Any, seed: int, drops: bool = False) -> FleetRun:
    """A few jobs over sites of which some have no slots or few."""
    fleet = draw_sites(SiteModel(sites=6, slots=(2, 60)), np.random.default_rng([seed, 1]))
    fleet.slots[seed % 6] = 0
    jobs = draw_jobs(JobModel(jobs=12, tasks=30, load=1.5), fleet, np.random.default_rng([seed, 2]))
    timetable = SiteTimetable.none()
    if drops:
        timetable = draw_drops(fleet, 0.5, 2, 20.0, float(jobs.submit[-1]) + 60, np.random.default_rng(seed))
    return run_placed(FleetCase(fleet, jobs, timetable), policy, decide_every=0.5)


def _make(registry: Registry, name: str) -> Any:
    return registry.make(name, np.random.default_rng(7))


def _global_state() -> bytes:
    return pickle.dumps(np.random.get_state(legacy=False))  # noqa: NPY002


def check_parameters_have_defaults(registry: Registry, name: str) -> None:
    """A policy can be named alone."""
    require_defaults(registry, name, ())


def check_seeded(registry: Registry, name: str) -> None:
    """The same seed gives the same placement, and no global generator is touched."""
    state = _global_state()
    first, second = _run(_make(registry, name), 3), _run(_make(registry, name), 3)
    same = bool((first.site == second.site).all() and (first.end == second.end).all())
    require(same, f"{name}: two runs with one seed differ")
    require(_global_state() == state, f"{name}: uses NumPy's global generator")


def check_picklable(registry: Registry, name: str) -> None:
    """A copy decides as the original does, and nothing is remembered between decisions."""
    recorder = _Recorder(_make(registry, name))
    _run(recorder, 4)
    copy = pickle.loads(pickle.dumps(_make(registry, name)))
    for view, answer in list(zip(recorder.views, recorder.answers, strict=True))[::7]:
        again = copy.decide(view)
        require(
            bool(np.array_equal(again.starts, answer.starts) and np.array_equal(again.moves, answer.moves)),
            f"{name}: asked again at {view.now:g} s, a copy answers otherwise",
        )


def check_leaves_the_view_alone(registry: Registry, name: str) -> None:
    """A policy decides; only the engine acts."""
    recorder = _Recorder(_make(registry, name))
    _run(recorder, 5, drops=True)
    require(not recorder.changed, f"{name}: changes the view")


def check_gives_reasons(registry: Registry, name: str) -> None:
    """Every start has a reason."""
    recorder = _Recorder(_make(registry, name))
    _run(recorder, 6)
    for answer in recorder.answers:
        require(
            len(answer.why) == len(answer.starts),
            f"{name}: {len(answer.why)} reasons for {len(answer.starts)} starts",
        )
        require(all(answer.reasons[code] for code in answer.why), f"{name}: starts tasks without a reason")


def check_no_task_starves(registry: Registry, name: str) -> None:
    """Every job ends, also where slots and links drop and return (the world refuses what does not fit)."""
    for seed in range(7, 13):
        done = _run(_make(registry, name), seed, drops=seed % 2 == 0)
        require(bool(np.isfinite(done.end).all()), f"{name}: leaves a job without an end")


def check_compiled_ahead(registry: Registry, name: str) -> None:
    """Where a policy says what is compiled ahead of a run, that is a tuple of kernels."""
    require_compiled(_make(registry, name), name)
