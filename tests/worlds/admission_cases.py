"""Runs of the world ``admission``, with what the simulator reports, with and without a policy of ``admit``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from windlass.dispatch import DispatchPolicy
from windlass.experiment.worlds.admission.world import AdmissionWorld
from windlass.experiment.worlds.cluster.draw import ClusterArrivals
from windlass.experiment.worlds.cluster.loads.tasks import ShortTasks
from windlass.experiment.worlds.cluster.make_policies import make_dispatch
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.experiment.worlds.stands_for import cluster_of, run_as_cluster
from windlass.sim.telemetry.neighbours import CoreChanges
from windlass.sim.telemetry.result import Observed
from windlass.sim.workers.result import Dispatched


@dataclass(frozen=True)
class AdmissionCase:
    """The input of a run: the variant, its seed, and what arrives."""

    setting: Any
    seed: int
    arrivals: ClusterArrivals

    @property
    def cluster(self) -> ClusterSetting:
        return cluster_of(AdmissionWorld(), self.setting)

    @property
    def tasks(self) -> ShortTasks:
        return self.arrivals.tasks[0].drawn

    @property
    def bursts(self) -> CoreChanges:
        return self.arrivals.neighbours[0].drawn


def draw_case(setting: Any, seed: int) -> AdmissionCase:
    return AdmissionCase(setting, seed, AdmissionWorld().workload(setting, seed))


def with_admission(case: AdmissionCase) -> tuple[Dispatched, Observed]:
    done = run_as_cluster(case.cluster, case.seed, case.arrivals)
    return done.tasks[0].result, done.observed[0].result


def without_admission(case: AdmissionCase) -> Dispatched:
    policies = case.cluster.policies.model_copy(update={"admit": None})
    cluster = case.cluster.model_copy(update={"policies": policies})
    return run_as_cluster(cluster, case.seed, case.arrivals).tasks[0].result


def dispatch_policy(setting: Any, seed: int) -> DispatchPolicy:
    cluster = cluster_of(AdmissionWorld(), setting)
    spec, streams = cluster.policies.dispatch, cluster.random(seed)
    return make_dispatch(spec, cluster.sites["site"], cluster.guaranteed("site"), streams, "tasks@site")
