"""The world of one cluster: all kinds of load at several sites, under up to seven decisions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from windlass.admit import POLICIES as ADMIT
from windlass.dispatch import POLICIES as DISPATCH
from windlass.experiment.worlds import Explainer, Setting, World
from windlass.experiment.worlds.cluster.build import run_cluster
from windlass.experiment.worlds.cluster.draw import ClusterArrivals, draw_arrivals
from windlass.experiment.worlds.cluster.explain.explainer import ClusterExplainer
from windlass.experiment.worlds.cluster.make_policies import make, make_admit, make_dispatch, model_at
from windlass.experiment.worlds.cluster.outcome import outcome_of
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.experiment.worlds.contents import Content, Contents, content_of
from windlass.jit import Kernel
from windlass.jit.compiled import functions_of
from windlass.order.fleet import POLICIES as ORDER_STAGED
from windlass.order.site import POLICIES as ORDER
from windlass.place import POLICIES as PLACE
from windlass.plan import POLICIES as PLAN
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome
from windlass.results.metrics.cluster import ClusterMetrics
from windlass.scale import POLICIES as SCALE
from windlass.share import POLICIES as SHARE
from windlass.sim.fleet.run import order_kernels, place_kernels
from windlass.sim.fleet.steps import LEDGER_KERNELS as FLEET_KERNELS
from windlass.sim.instances.part import kernels as instance_kernels
from windlass.sim.queries.part import QueriesPart
from windlass.sim.shares.part import SharesPart
from windlass.sim.site.part import kernels as site_kernels
from windlass.sim.site.rated import KERNELS as RATED_KERNELS
from windlass.sim.telemetry.binding import binding_kernels
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.neighbours import Neighbours
from windlass.sim.telemetry.part import TelemetryPart, policy_kernels
from windlass.sim.workers.part import kernels as worker_kernels


class ClusterWorld(World):
    """The world of one cluster.

    Examples
    --------
    >>> setting = ClusterSetting.model_validate({
    ...     "seconds": 86400, "sites": {"iowa": {"nodes": [{"count": 4, "cores": 8}]}},
    ...     "loads": {"batch": {"rigid": {"lublin": {"jobs": 60, "load": 0.9}}}, "web": {"tasks": {"tasks": 500}}}})
    >>> world = ClusterWorld()
    >>> found = world.run(setting, 1, world.workload(setting, 1), lambda share: None).metrics
    >>> found.tasks, found.jobs > 0, found.queries
    (500, True, 0)
    """

    name = "cluster"
    summary = "one cluster of several sites: jobs, tasks, queries and instances that share nodes, under all decisions"
    setting: type[Setting] = ClusterSetting
    decisions: tuple[Registry, ...] = (PLAN, ORDER, ORDER_STAGED, PLACE, SCALE, SHARE, DISPATCH, ADMIT)
    metrics: type[ClusterMetrics] = ClusterMetrics
    explainer: Explainer | None = ClusterExplainer()

    def choices(self, setting: ClusterSetting) -> tuple[Choice, ...]:
        """Return the policy of each decision, and what stands in for those that are left out."""
        return setting.choices()

    def kernels(self, setting: ClusterSetting) -> tuple[Kernel, ...]:
        """Return the functions of all parts and policies; each policy is made, to validate its parameters."""
        return tuple(dict.fromkeys(_kernels(setting)))

    def workload_key(self, setting: ClusterSetting, seed: int) -> Hashable:
        """Return a key that is equal for equal sites, links and loads."""
        fields = {"seconds", "begin", "sites", "links", "cloud", "loads", "streams"}
        return setting.model_dump_json(include=fields), seed

    def workload(self, setting: ClusterSetting, seed: int) -> ClusterArrivals:
        """Read or generate all loads."""
        return draw_arrivals(setting, seed)

    def contents(self, workload: ClusterArrivals) -> Contents:
        """Return the numbers of jobs, tasks and queries, and their arrivals."""
        found: list[Content] = []
        for rigid in workload.rigid:
            found.append(content_of("batch job", rigid.drawn.jobs.jobs.submit))
        for staged in workload.staged:
            found.append(content_of("staged job", staged.drawn.jobs.submit))
        for vectors in workload.vectors:
            found.append(content_of("vector job", vectors.drawn.jobs.submit))
        for tasks in workload.tasks:
            found.append(content_of("task", tasks.drawn.submit))
        for queries in workload.queries:
            found.append(content_of("query", queries.drawn.stays.arrive))
        return Contents(tuple(_added(found)), tuple(workload.notes()))

    def run(
        self, setting: ClusterSetting, seed: int, workload: ClusterArrivals, progress: Callable[[float], None]
    ) -> Outcome:
        """Simulate the cluster."""
        return outcome_of(setting, seed, workload, run_cluster(setting, seed, workload, progress))


def _added(contents: list[Content]) -> Iterator[Content]:
    """Return one entry for each noun."""
    for noun in dict.fromkeys(each.noun for each in contents):
        some = [each for each in contents if each.noun == noun and each.count]
        if some:
            yield Content(
                noun,
                sum(each.count for each in some),
                min(each.first for each in some),
                max(each.last for each in some),
            )


def _kernels(setting: ClusterSetting) -> Iterator[Kernel]:
    chosen, kinds = setting.chosen(), {load.kind for load in setting.loads.values()}
    streams = setting.random(0)
    if "queries" in kinds:
        yield from (*QueriesPart.kernels, *functions_of(make(chosen.plan, PLAN, streams, "")))
    if "neighbours" in kinds:
        yield from Neighbours.kernels
    if "staged" in kinds:
        yield from FLEET_KERNELS
        if chosen.order.staged is not None:
            yield from order_kernels(make(chosen.order.staged, ORDER_STAGED, streams, ""))
        else:
            yield from (*place_kernels(), *functions_of(make(chosen.place, PLACE, streams, "")))
    for name, site in setting.sites.items():
        if "rigid" in kinds and (order := chosen.of("order", name)) is not None:
            share = chosen.of("share", name)
            yield from site_kernels(make(order, ORDER, streams, ""), rated=share is not None)
            if share is not None:
                make(share, SHARE, streams, "")
                yield from (*RATED_KERNELS, *SharesPart.kernels)
        if "tasks" in kinds and (dispatch := chosen.of("dispatch", name)) is not None:
            policy = make_dispatch(dispatch, site, setting.guaranteed(name), streams, "")
            if (admit := chosen.of("admit", name)) is not None:
                nodes = make_admit(admit, 1, model_at(setting.telemetry.model).dim, streams, "")
                gated = gate(policy)
                yield from (*TelemetryPart.kernels, *policy_kernels(nodes), *binding_kernels(gated))
                yield from worker_kernels(gated, spills=setting.telemetry.full == "spill")
            else:
                yield from worker_kernels(policy)
        if site.instances is not None and (scale := chosen.of("scale", name)) is not None:
            make(scale, SCALE, streams, "")
            yield from instance_kernels()
