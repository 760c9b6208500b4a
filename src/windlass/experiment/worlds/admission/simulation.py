"""One run of tasks with neighbours and telemetry, or with neighbours alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from windlass.admit import POLICIES as ADMIT
from windlass.admit import AdmitsSite
from windlass.admit.context import AdmitContext
from windlass.dispatch import POLICIES as DISPATCH
from windlass.dispatch import DispatchPolicy
from windlass.drive import Policies, drive
from windlass.experiment.dispatching import make_policy, tasks_on_nodes
from windlass.experiment.workloads.tasks import DrawnTasks
from windlass.experiment.worlds.admission.spec import AdmissionSetting
from windlass.experiment.worlds.dispatch.tasks import DispatchTasks
from windlass.experiment.worlds.policy import PolicySpec
from windlass.policy.registry import capability
from windlass.sim.coupled import Coupled
from windlass.sim.nodes import Ledger
from windlass.sim.part import Part
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.metrics import RECORDED, MetricModel, Metrics, read_model
from windlass.sim.telemetry.neighbours import CoreChanges, Neighbours, draw_bursts
from windlass.sim.telemetry.part import TelemetryPart
from windlass.sim.telemetry.result import Observed
from windlass.sim.telemetry.site_policy import AdmitSitePolicy
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.result import Dispatched


@dataclass(frozen=True, slots=True, eq=False)
class AdmissionCase:
    """The input of a run, apart from the policies' decisions.

    Parameters
    ----------
    setting
        The scenario's variant.
    seed
        The random seed of policies and noise.
    tasks
        The tasks, in order of arrival.
    bursts
        Bursts of the neighbours.
    """

    setting: AdmissionSetting
    seed: int
    tasks: DrawnTasks
    bursts: CoreChanges


def draw_case(setting: AdmissionSetting, seed: int, tasks: DispatchTasks) -> AdmissionCase:
    """Generate tasks and bursts, which are the same for all policies.

    Parameters
    ----------
    setting
        The scenario's variant.
    seed
        The random seed of tasks and bursts.
    tasks
        Parameters of the tasks.
    """
    cluster = setting.cluster
    drawn = tasks.drawn(cluster.capacity, seed)
    bursts = draw_bursts(
        cluster.nodes,
        cluster.cores,
        cluster.bursts.every,
        cluster.bursts.last,
        cluster.bursts.ramp,
        tasks.last,
        np.random.default_rng([seed, 2]),
    )
    return AdmissionCase(setting, seed, drawn, bursts)


def with_admission(
    case: AdmissionCase, progress: Callable[[float], None] | None = None
) -> tuple[Dispatched, Observed]:
    """Run tasks, neighbours and telemetry; ``progress`` receives the completed share of tasks."""
    dispatch = gate(dispatch_policy(case.setting, case.seed), case.setting.admission.full)
    ledger = _ledger(case)
    model = model_of(case.setting)
    workers = _workers(case, ledger, dispatch, progress)
    admit = site_policy(case.setting, case.seed, model.dim)
    telemetry = TelemetryPart(
        workers,
        Metrics(model, case.setting.cluster.nodes, np.random.default_rng([case.seed, 4])),
        ledger,
        reads=admit.reads,
        every=case.setting.telemetry.every,
        policy=admit,
    )
    parts: tuple[Part, ...] = (Neighbours(case.bursts, ledger), telemetry, workers)
    named: Policies = {DISPATCH.key: dispatch, ADMIT.key: admit}
    _, observed, done = drive(Coupled(parts, ledger), named)
    return done, observed


def without_admission(case: AdmissionCase) -> Dispatched:
    """Run tasks and neighbours without telemetry, so that no node rejects tasks."""
    dispatch, ledger = dispatch_policy(case.setting, case.seed), _ledger(case)
    workers = _workers(case, ledger, dispatch, None)
    parts: tuple[Part, ...] = (Neighbours(case.bursts, ledger), workers)
    done: Dispatched = drive(Coupled(parts, ledger), {DISPATCH.key: dispatch})[-1]
    return done


def dispatch_policy(setting: AdmissionSetting, seed: int) -> DispatchPolicy:
    """Create the dispatch policy, given the nodes' speeds without neighbours and their mean rate with neighbours."""
    cluster, spec = setting.cluster, setting.policies.dispatch
    rng = np.random.default_rng([seed, 1])
    policy: DispatchPolicy = make_policy(
        spec.name, cluster.speeds(), rng, cluster.capacity, **spec.parameters
    )
    return policy


def site_policy(setting: AdmissionSetting, seed: int, dim: int) -> AdmitSitePolicy:
    """Create the admission policy of all nodes, each with its own random generator."""
    nodes = setting.cluster.nodes
    return admission_policy(
        setting.policies.admit, nodes, dim, lambda node: np.random.default_rng([seed, 3, node])
    )


def admission_policy(
    spec: PolicySpec, nodes: int, dim: int, stream: Callable[[int], np.random.Generator]
) -> AdmitSitePolicy:
    """Create the admission policy of a site: one for all nodes, if it decides so, or else one for each node.

    Parameters
    ----------
    spec
        The policy.
    nodes, dim
        Numbers of nodes and of metrics.
    stream
        Returns the random generator of a node's policy.
    """
    if capability(ADMIT.find(spec.name), AdmitsSite) is not None:
        context = AdmitContext(stream(0), dim, nodes=nodes)
        return AdmitSitePolicy([ADMIT.make(spec.name, context, **spec.parameters)])
    contexts = (AdmitContext(stream(node), dim) for node in range(nodes))
    return AdmitSitePolicy([ADMIT.make(spec.name, context, **spec.parameters) for context in contexts])


def model_of(setting: AdmissionSetting) -> MetricModel:
    """Return the model of how metrics follow the pressure on a node's cores."""
    return model_at(setting.telemetry.model)


@functools.lru_cache(maxsize=8)
def model_at(path: Path | None) -> MetricModel:
    """Return the model in a file, or the recorded one; the file is read once."""
    return read_model(path or RECORDED)


def _ledger(case: AdmissionCase) -> Ledger:
    cluster = case.setting.cluster
    return Ledger([[cluster.cores] * cluster.nodes], parts=1)


def _workers(
    case: AdmissionCase,
    ledger: Ledger,
    policy: DispatchPolicy,
    progress: Callable[[float], None] | None,
) -> WorkersPart:
    per_job = case.setting.workload.tasks_per_job
    return tasks_on_nodes(case.setting, case.tasks, policy, ledger, tasks_per_job=per_job, progress=progress)
