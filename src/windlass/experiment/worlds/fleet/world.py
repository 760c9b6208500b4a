"""Jobs over the sites of a fleet: a policy orders jobs, or chooses where each task runs and reads its input."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.dispatch import POLICIES as DISPATCH
from windlass.experiment.workloads.drops import draw_drops
from windlass.experiment.workloads.fixed import draw_fixed
from windlass.experiment.workloads.grid import fixed_grid
from windlass.experiment.workloads.swim import fixed_swim
from windlass.experiment.worlds import LiveWorld, Setting, World
from windlass.experiment.worlds.composition import Composition
from windlass.experiment.worlds.contents import Contents, content_of
from windlass.experiment.worlds.fleet.composition import fleet_composition
from windlass.experiment.worlds.fleet.jobs import FixedSpec
from windlass.experiment.worlds.fleet.live import LiveFleetWorld
from windlass.experiment.worlds.fleet.site_map import site_map
from windlass.experiment.worlds.fleet.spec import FleetSetting
from windlass.io.traces import read_swf, read_swim
from windlass.jit import Kernel
from windlass.jit.compiled import functions_of
from windlass.model import InputError
from windlass.model.fleet import Fleet, FleetCase, FleetJobs
from windlass.model.timetable import SiteTimetable
from windlass.order.fleet import POLICIES as ORDERS
from windlass.place import POLICIES as PLACES
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome
from windlass.results.metrics.fleet import FleetMetrics, fleet_metrics, service_seconds
from windlass.results.metrics.isolated import ALONE
from windlass.sim.fleet import FleetRun, run_ordered, run_placed
from windlass.sim.fleet.run import order_kernels, place_kernels


class FleetWorld(World):
    """The world of jobs over the sites of a fleet.

    Examples
    --------
    >>> setting = FleetSetting.model_validate({"cluster": {"drawn": {"sites": 3}},
    ...     "workload": {"drawn": {"jobs": 3}}, "policies": {"place": "in-place"}})
    >>> world = FleetWorld()
    >>> world.run(setting, 1, world.workload(setting, 1), lambda share: None).metrics.jobs
    3
    """

    name = "fleet"
    summary = "jobs over many sites with slots, and with wide-area links or without"
    setting: type[Setting] = FleetSetting
    decisions: tuple[Registry, ...] = (PLACES, ORDERS, DISPATCH)
    metrics: type[FleetMetrics] = FleetMetrics

    def __init__(self) -> None:
        self.live: LiveWorld | None = LiveFleetWorld(self.run, outcome)

    def composition(
        self, tree: Mapping[str, Any], settings: Sequence[FleetSetting], seed: int
    ) -> Composition:
        """Return sites with staged jobs, all of which run."""
        return fleet_composition(tree, settings)

    def choices(self, setting: FleetSetting) -> tuple[Choice, ...]:
        """Return the ordering or placement policy, and the dispatch policy if there is one."""
        given = setting.policies
        first = given.place.choice(PLACES) if given.order is None else given.order.choice(ORDERS)
        return (first,) if given.dispatch is None else (first, given.dispatch.choice(DISPATCH))

    def kernels(self, setting: FleetSetting) -> tuple[Kernel, ...]:
        """Return the loop's and the policy's functions, and a metric's for tasks that are fixed to sites."""
        policy, spec = make_policy(setting, 0), setting.workload
        measured = (ALONE,) if spec.fixed is not None or spec.names_sites else ()
        if setting.policies.order is not None:
            return (*order_kernels(policy), *measured)
        return (*place_kernels(), *functions_of(policy), *measured)

    def workload_key(self, setting: FleetSetting, seed: int) -> Hashable:
        """Return a key that is equal for equal sites, jobs, estimates and drops; without the seed if none is drawn."""
        cluster = setting.cluster
        given = (
            cluster is not None and cluster.drawn is None and setting.workload.jobs and setting.drops is None
        )
        fields = setting.model_dump_json(include={"workload", "cluster", "drops", "estimates"})
        return fields, None if given else seed

    def workload(self, setting: FleetSetting, seed: int) -> FleetCase:
        """Generate or read sites and jobs."""
        spec, accuracy = setting.workload, setting.estimates.accuracy
        if setting.cluster is None:
            return _grid(setting, np.random.default_rng([seed, 0]))
        fleet = setting.cluster.fleet(np.random.default_rng([seed, 0]))
        if spec.fixed is not None or (spec.trace is not None and not _is_swim(spec.trace.name)):
            return _fixed(setting, fleet, np.random.default_rng([seed, 0]), accuracy)
        jobs = spec.staged(fleet, np.random.default_rng([seed, 1]))
        return FleetCase(fleet, jobs, _drops(setting, fleet, jobs, seed))

    def contents(self, workload: FleetCase) -> Contents:
        """Return the number of jobs and their arrivals."""
        return Contents((content_of("job", workload.jobs.submit),), workload.jobs.notes)

    def run(
        self, setting: FleetSetting, seed: int, workload: FleetCase, progress: Callable[[float], None]
    ) -> Outcome:
        """Simulate the jobs."""
        policy = make_policy(setting, seed)
        if setting.policies.order is None:
            done = run_placed(
                workload,
                policy,
                look_every=setting.look_every,
                decide_every=setting.decide_every,
                estimates=setting.estimates.durations,
                progress=progress,
            )
        else:
            by_seconds = setting.estimates.sizes == "seconds"
            done = run_ordered(
                workload, policy, by_seconds=by_seconds, look_every=setting.look_every, progress=progress
            )
        return outcome(seed, workload, done)


def make_policy(setting: FleetSetting, seed: int) -> Any:
    """Create the policy that starts tasks: the ordering policy if there is one, else the placement."""
    given = setting.policies
    if given.order is not None:
        return given.order.make(ORDERS, np.random.default_rng([seed, 1]))
    return given.place.make(PLACES, np.random.default_rng([seed, 3]))


def _is_swim(name: str) -> bool:
    return name.lower().endswith((".tsv", ".tsv.gz"))


def _fixed(setting: FleetSetting, fleet: Fleet, rng: np.random.Generator, accuracy: float) -> FleetCase:
    """Return jobs whose tasks are fixed to sites, generated or from a log."""
    spec = setting.workload
    fixed = spec.fixed or FixedSpec()
    if spec.trace is None:
        return draw_fixed(
            rng,
            law=fixed.law,
            jobs=fixed.jobs,
            fleet=fleet,
            utilisation=fixed.utilisation,
            skew=fixed.skew,
            longest=fixed.longest_s,
            accuracy=accuracy,
        )
    if not _is_swim(spec.trace.name):
        raise InputError(f"{spec.trace}: unknown suffix, expected .tsv (SWIM), .swf or .swf.gz")
    log = read_swim(spec.trace, spec.skip_bad_lines)
    log = dataclasses.replace(log, records=spec.records(log.records))
    return fixed_swim(log, fixed.model(accuracy), fleet, rng)


def _grid(setting: FleetSetting, rng: np.random.Generator) -> FleetCase:
    """Return the jobs of a log, over the sites that it names."""
    spec = setting.workload
    assert spec.trace is not None  # Validated: only a log may omit the cluster.
    model = (spec.fixed or FixedSpec()).model(setting.estimates.accuracy)
    return fixed_grid(read_swf(spec.trace, spec.skip_bad_lines), spec.trace, model, spec.where, rng)


def _drops(setting: FleetSetting, fleet: Fleet, jobs: FleetJobs, seed: int) -> SiteTimetable:
    if setting.drops is None:
        return SiteTimetable.none()
    until = float(jobs.submit[-1]) + 20 * setting.drops.every
    return draw_drops(
        fleet,
        setting.drops.drop,
        setting.drops.sites,
        setting.drops.every,
        until,
        np.random.default_rng([seed, 2]),
    )


def outcome(seed: int, case: FleetCase, done: FleetRun) -> Outcome:
    """Measure a run."""
    # Computed once for metrics and table, as it replays every task.
    service_s = service_seconds(done)
    return Outcome(
        seed=seed,
        metrics=fleet_metrics(done, service_s),
        jobs=_table(done, service_s),
        processors=int(done.fleet.slots.sum()),
        notes=case.jobs.notes,
        calendar=case.calendar,
        site_map=site_map(done),
    )


def _table(done: FleetRun, service_s: NDArray[np.float64]) -> pl.DataFrame:
    jobs = done.jobs
    columns: dict[str, object] = {
        "job": np.arange(1, len(jobs) + 1),
        "submit_s": jobs.submit,
        "start_s": done.start,
        "end_s": done.end,
        "tasks": jobs.job_tasks,
        "stages": np.diff(jobs.stage0),
    }
    if jobs.homes:
        columns |= {"sites": np.diff(jobs.part0), "service_s": service_s}
    if done.fleet.linked:
        columns |= {"wan_bytes": done.sent}
    return pl.DataFrame(columns)
