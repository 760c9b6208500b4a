"""Three runs of one site under the same outages: jobs alone, tasks alone, and both together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from windlass.dispatch import POLICIES as DISPATCH
from windlass.dispatch import DispatchPolicy
from windlass.drive import drive
from windlass.experiment.dispatching import make_policy, tasks_on_nodes
from windlass.experiment.workloads.tasks import DrawnTasks
from windlass.experiment.worlds.colocated.spec import ColocatedSetting
from windlass.experiment.worlds.custom_parts import make_part
from windlass.experiment.worlds.dispatch.tasks import DispatchTasks
from windlass.experiment.worlds.outages import check_room, outage_times
from windlass.model import JobTable
from windlass.model.timetable import NodeTimetable
from windlass.order.site import POLICIES as ORDER
from windlass.order.site import SitePolicy
from windlass.sim.coupled import Coupled
from windlass.sim.nodes import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import NamedPart, Part
from windlass.sim.site.part import SitePart
from windlass.sim.site.result import Replay
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.result import Dispatched


@dataclass(frozen=True, slots=True, eq=False)
class Colocation:
    """The input of a run at one site, apart from the policies' decisions.

    Parameters
    ----------
    setting
        The scenario's variant.
    seed
        The random seed of policies; each run creates new ones, so that they do not share learned state.
    jobs
        Rigid jobs, in order of submission.
    tasks
        Small tasks, in order of arrival.
    outages
        The times at which nodes lose and regain cores.
    """

    setting: ColocatedSetting
    seed: int
    jobs: JobTable
    tasks: DrawnTasks
    outages: NodeTimetable


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """The results of jobs and tasks that shared a site, and a line with the result of each custom part."""

    jobs: Replay
    tasks: Dispatched
    notes: tuple[str, ...] = ()


def colocate(setting: ColocatedSetting, seed: int, jobs: JobTable, tasks: DispatchTasks) -> Colocation:
    """Generate tasks and outages.

    Parameters
    ----------
    setting
        The scenario's variant.
    seed
        The random seed.
    jobs
        The rigid jobs.
    tasks
        Parameters of the tasks.

    Raises
    ------
    InputError
        There would be more outages than the simulator accepts, or outages without an end leave too few cores for a job.
    """
    until = max(float(jobs.submit[-1]), tasks.last)
    groups, rng = [(setting.cluster.nodes, setting.cluster.cores)], np.random.default_rng([seed, 2])
    outages = outage_times(setting.cluster.outages, groups, until, rng)
    check_room(outages, [setting.cluster.cores] * setting.cluster.nodes, jobs, "cluster.outages")
    drawn = tasks.drawn(float(setting.cluster.speeds().sum()), seed)
    return Colocation(setting, seed, jobs, drawn, outages)


def jobs_alone(case: Colocation, progress: Callable[[float], None] | None = None) -> Replay:
    """Run the jobs; ``progress`` receives the submitted share of jobs."""
    ledger, policy = _ledger(case), order_policy(case.setting, case.seed)
    site = _site(case, ledger, policy, progress)
    parts: tuple[Part, ...] = (Outages(case.outages, ledger), site, *_further(case, ledger))
    result: Replay = drive(Coupled(parts, ledger), {ORDER.key: policy})[1]
    return result


def tasks_alone(case: Colocation, progress: Callable[[float], None] | None = None) -> Dispatched:
    """Run the tasks; ``progress`` receives the completed share of tasks."""
    ledger, policy = _ledger(case), dispatch_policy(case.setting, case.seed)
    workers = _workers(case, ledger, policy, progress, record=False)
    parts: tuple[Part, ...] = (Outages(case.outages, ledger), *_further(case, ledger), workers)
    result: Dispatched = drive(Coupled(parts, ledger), {DISPATCH.key: policy})[-1]
    return result


def together(
    case: Colocation, progress: Callable[[float], None] | None = None, *, record: bool = True
) -> Together:
    """Run jobs and tasks on the same nodes.

    Parameters
    ----------
    case
        The jobs, tasks and outages.
    progress
        Receives the completed share of tasks.
    record
        Whether to record the node and the start of each task.
    """
    ledger = _ledger(case)
    order, dispatch = order_policy(case.setting, case.seed), dispatch_policy(case.setting, case.seed)
    further = _further(case, ledger)
    parts: tuple[Part, ...] = (
        Outages(case.outages, ledger),
        _site(case, ledger, order, None),
        *further,
        _workers(case, ledger, dispatch, progress, record=record),
    )
    _, jobs, *others, tasks = drive(Coupled(parts, ledger), {ORDER.key: order, DISPATCH.key: dispatch})
    notes = tuple(f"{part.name}: {result}" for part, result in zip(further, others, strict=True))
    return Together(jobs, tasks, notes)


def order_policy(setting: ColocatedSetting, seed: int) -> SitePolicy:
    """Create the ordering policy."""
    policy: SitePolicy = setting.policies.order.make(ORDER, np.random.default_rng([seed, 1]))
    return policy


def dispatch_policy(setting: ColocatedSetting, seed: int) -> DispatchPolicy:
    """Create the dispatch policy.

    A policy with rates receives the nodes' speeds without jobs. One with a guaranteed rate receives the floor's share
    of their sum; with a higher rate it would fill busy nodes with its own benchmark tasks.
    """
    cluster, spec = setting.cluster, setting.policies.dispatch
    speeds, rng = cluster.speeds(), np.random.default_rng([seed, 1])
    policy: DispatchPolicy = make_policy(
        spec.name, speeds, rng, cluster.floor * float(speeds.sum()), **spec.parameters
    )
    return policy


def _ledger(case: Colocation) -> Ledger:
    cluster = case.setting.cluster
    return Ledger([[cluster.cores] * cluster.nodes], parts=1 + len(case.setting.parts))


def _further(case: Colocation, ledger: Ledger) -> tuple[NamedPart, ...]:
    """Create the scenario's custom parts; the jobs are part 0 of the ledger."""
    return tuple(
        make_part(spec, np.random.default_rng([case.seed, 3, number]), ledger, 0, number)
        for number, spec in enumerate(case.setting.parts, start=1)
    )


def _site(
    case: Colocation, ledger: Ledger, policy: SitePolicy, progress: Callable[[float], None] | None
) -> SitePart:
    notify, count = progress or (lambda _: None), len(case.jobs)
    return SitePart(
        case.jobs,
        policy,
        ledger,
        kill=case.setting.kill_at_walltime,
        progress=lambda submitted: notify(submitted / count),
    )


def _workers(
    case: Colocation,
    ledger: Ledger,
    policy: DispatchPolicy,
    progress: Callable[[float], None] | None,
    *,
    record: bool,
) -> WorkersPart:
    per_job = case.setting.workload.tasks.tasks_per_job
    return tasks_on_nodes(
        case.setting, case.tasks, policy, ledger, tasks_per_job=per_job, record=record, progress=progress
    )
