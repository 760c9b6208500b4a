"""The fields of a cluster scenario: sites, links, loads, policies, and decisions that variants leave out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    field_serializer,
    field_validator,
    model_validator,
)

from windlass.experiment.workloads.streams import RandomStreams
from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.cluster.consistency import check_consistency
from windlass.experiment.worlds.cluster.load import ClusterLoadSpec
from windlass.experiment.worlds.cluster.loads.cut import Seconds
from windlass.experiment.worlds.cluster.loads.neighbours import NeighboursSpec
from windlass.experiment.worlds.cluster.loads.staged import StagedSpec
from windlass.experiment.worlds.cluster.policies import ClusterPoliciesSpec, LeftOut, with_defaults
from windlass.experiment.worlds.cluster.policy_addresses import by_address, nested
from windlass.experiment.worlds.cluster.sites import ClusterSiteSpec, MeasuredLinks, TierSpec, resolve_like
from windlass.experiment.worlds.cluster.variant_names import variant_names
from windlass.experiment.worlds.composition import without
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec
from windlass.experiment.worlds.video.clusters import UNITS
from windlass.results import Choice
from windlass.sim.fleet.durations import Estimates

#: A cloud that is never full: a thousand times the default.
_ROOM_FOR_ALL: Final = TierSpec(cores=64_000, up=625e6)
#: The number of a random stream, or several.
StreamNumbers = Annotated[
    tuple[Annotated[int, Field(ge=0)], ...],
    BeforeValidator(lambda value: value if isinstance(value, list | tuple) else (value,)),
    PlainSerializer(lambda numbers: numbers[0] if len(numbers) == 1 else list(numbers)),
]


class ClusterTelemetrySpec(Spec):
    """How often nodes measure themselves and decide whether they accept tasks, s; only with a policy of ``admit``.

    ``full``: what happens to a task that all nodes of its site reject: ``force`` sends it to one of them, ``refuse``
    refuses it, and ``spill`` sends it to the other sites with tasks of this load, one after the other, until one
    accepts it, else refuses it. ``delay``: time from a refusal to the arrival at the next site, s. ``model``: how
    metrics follow the pressure on a node's cores; by default, the model recorded for Windlass.
    """

    every: Positive = 1.0
    model: Path | None = None
    full: Literal["force", "refuse", "spill"] = "force"
    delay: Positive = 0.1


class ClusterSetting(Setting):
    """One variant of a cluster scenario.

    ``seconds``: time in which jobs, tasks and queries arrive; with ``all``, all jobs of the logs and all generated ones
    run. ``begin``: when it begins, s since the
    first midnight of loads that are generated with a daily cycle. ``without``: decisions that are left out; see
    :meth:`~windlass.experiment.worlds.cluster.policies.ClusterPoliciesSpec.without`. ``floor``: the share of a node's
    speed that is left for short tasks while other loads hold all its cores. ``checkpoint``, ``noise``: as in the
    sharing world. ``period``, ``look``: as in the elastic world. ``keep_tasks``: the most short tasks in the table,
    evenly spaced; metrics cover all tasks. ``sample``: time between two samples of the cores that are in use, s.
    ``bound_of``: a decision whose limit is lifted, so that the variant is a bound: it is compared, and cannot win. With
    ``dispatch`` and ``admit``, short tasks have their nodes to themselves; with ``plan``, the cloud and the links to it
    have room for all queries; with ``place``, placements see true durations of tasks. ``streams``: numbers of random
    streams, by their names, as in worlds with one load; others have names only.
    """

    plain_lists: ClassVar[frozenset[str]] = frozenset(
        {
            "sites.*.nodes",
            "sites.*.outages",
            "sites.*.instances.types",
            "loads.*.at",
            "loads.*.rigid.use.cpu",
            "loads.*.rigid.use.memory",
            "loads.*.vectors.drawn.shapes",
            "loads.*.queries.plans",
            "loads.*.queries.changes",
            "loads.*.staged.jobs",
            "loads.*.queries.drawn.kinds",
            "streams.*",
        }
    )
    policy_fields: ClassVar[frozenset[str]] = frozenset({"policies", "without", "bound_of"})
    path_fields: ClassVar[tuple[str, ...]] = (
        "links.throughput",
        "links.prices",
        "sites.*.instances.spot.trace",
        "sites.*.speed_changes.drift",
        "loads.*.rigid.trace",
        "loads.*.tasks.llm",
        "loads.*.vectors.trace",
        "loads.*.vectors.bins",
        "loads.*.queries.profile",
        "loads.*.queries.file",
        "loads.*.staged.trace",
        "telemetry.model",
    )

    world: Literal["cluster"] = "cluster"
    seconds: Seconds = 86_400.0
    begin: NotNegative = 0.0
    sites: Annotated[dict[str, ClusterSiteSpec], Field(min_length=1)]
    links: MeasuredLinks | None = None
    cloud: TierSpec | None = None
    loads: Annotated[dict[str, ClusterLoadSpec], Field(min_length=1)]
    policies: ClusterPoliciesSpec = ClusterPoliciesSpec()
    without: LeftOut = ()
    bound_of: Literal["place", "plan", "dispatch", "admit"] | None = None
    telemetry: ClusterTelemetrySpec = ClusterTelemetrySpec()
    floor: Annotated[float, Field(gt=0, le=1)] = 0.05
    checkpoint: Positive = 60.0
    noise: NotNegative = 0.02
    period: Positive = 600.0
    look: Positive = 30.0
    kill_at_walltime: bool = True
    keep_tasks: Annotated[int, Field(ge=1)] = 20_000
    sample: Positive = 60.0
    streams: dict[str, StreamNumbers] | None = None
    #: The name of the variant among all variants; set by :meth:`together`.
    label: str = Field(default="", exclude=True)

    @field_serializer("without")
    def _written(self, left_out: LeftOut) -> list[Any]:
        """Write one variant as a sweep, which a saved scenario is read as; an empty one would have no variant."""
        return list(left_out) or [[]]

    @field_validator("sites", mode="before")
    @classmethod
    def _like(cls, given: Any) -> Any:
        return resolve_like(given)

    @model_validator(mode="after")
    def _what_goes_together(self) -> Self:
        check_consistency(self)
        return self

    @property
    def units(self) -> int:
        """Units of the ledger in a core."""
        fractions = any(load.queries is not None and load.queries.fractions for load in self.loads.values())
        return UNITS if fractions else 1

    @property
    def tier(self) -> TierSpec:
        """The tier above all sites, with its defaults if the scenario has none."""
        return self.cloud or TierSpec()

    @property
    def floor_of_tasks(self) -> float:
        """Share of a node's speed that short tasks keep: all of it where the variant is a bound of their policies."""
        return 1.0 if self.bound_of in ("dispatch", "admit") else self.floor

    def durations_of(self, load: StagedSpec) -> Estimates:
        """Return which durations placements of a load see: the true ones under a bound of place."""
        return "true" if self.bound_of == "place" else load.durations

    @property
    def cloud_for_queries(self) -> TierSpec:
        """The tier above all sites in the simulation, with room for all queries under a bound of plan."""
        return _ROOM_FOR_ALL if self.bound_of == "plan" else self.tier

    def sites_of(self, load: ClusterLoadSpec) -> tuple[str, ...]:
        """Return the sites of a load."""
        return tuple(self.sites) if load.at == "each" else load.at

    def neighbours_of(self, site: str) -> NeighboursSpec | None:
        """Return the neighbours at a site; None if it has none."""
        loads = (load for load in self.loads.values() if load.neighbours is not None)
        return next((load.neighbours for load in loads if site in self.sites_of(load)), None)

    def mean_rate(self, site: str) -> float:
        """Return the mean rate of a site's nodes for short tasks, without instances, work/s: less with neighbours."""
        own, neighbours = self.sites[site], self.neighbours_of(site)
        return own.capacity if neighbours is None else neighbours.mean_rate(own.groups)

    def guaranteed(self, site: str) -> float:
        """Return the rate that dispatch policies of a site may count on, work/s.

        By default it is what its nodes have while other loads hold all their cores: with a higher rate, a policy with
        benchmark tasks would fill busy nodes with them.
        """
        loads = (load for load in self.loads.values() if site in self.sites_of(load))
        share = next((load.tasks.guaranteed for load in loads if load.tasks is not None), None)
        return self.floor * self.sites[site].capacity if share is None else share * self.mean_rate(site)

    def random(self, seed: int) -> RandomStreams:
        """Return the random streams of a run."""
        return RandomStreams(seed, self.streams or {})

    def chosen(self) -> ClusterPoliciesSpec:
        """Return the policies, with those that stand in for decisions that are left out."""
        sites = self.sites.items()
        bases = {name: site.instances.kept for name, site in sites if site.instances is not None}
        return self.policies.without(self.without, bases)

    def choices(self) -> tuple[Choice, ...]:
        """Return the policy of each decision; those of decisions that are left out stand in for them."""
        return tuple(
            replace(
                choice,
                stands_in=choice.decision in self.without,
                bound=choice.bound or choice.decision == self.bound_of,
            )
            for choice in self.chosen().choices()
        )

    def called(self) -> str:
        """Return the name of the choice of policies: what differs between the variants."""
        return self.label

    @classmethod
    def together(cls, variants: Sequence[Self]) -> tuple[Self, ...]:
        """Name each variant by the decisions in which the variants differ."""
        labels = variant_names(variants)
        return tuple(
            variant.model_copy(update={"label": label})
            for variant, label in zip(variants, labels, strict=True)
        )

    @classmethod
    def written_policies(cls, defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the policies of a scenario and defaults of the others, without those that have addresses in it."""
        own = nested(dict.fromkeys(given))
        return {**{name: value for name, value in defaults.items() if name not in own}, **given}

    @classmethod
    def written_long(cls, tree: dict[str, Any]) -> dict[str, Any]:
        """Return the scenario with each policy by its address, and no site that is like another.

        Named variants replace a field of ``policies`` as a whole, so that its form is kept for them.
        """
        sites = {name: without(site, "like") for name, site in tree["sites"].items()}
        policies = with_defaults(tree.get("policies", {}))
        return {
            **tree,
            "sites": sites,
            "policies": policies if "variants" in tree else by_address(policies),
        }
