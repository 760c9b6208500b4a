"""What a scenario of the elastic world may say of its instances, its jobs and its policy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from windlass.experiment.workloads.seasons import Season, Shape
from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.policy import Policy
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec
from windlass.model.instances import InstanceType
from windlass.sim.instances.fleet import sorted_types

#: A part of something, from none to all of it.
Part = Annotated[float, Field(ge=0, le=1)]


class TypeSpec(Spec):
    """A type of instance: see :class:`~windlass.model.instances.InstanceType`; memory in bytes, ``launch`` in s."""

    name: str
    gpus: NotNegative = 0.0
    cores: NotNegative = 0.0
    memory: NotNegative = 0.0
    price: NotNegative = 0.0
    launch: NotNegative = 300.0
    most: Annotated[int, Field(ge=0, le=100_000)] = 1000


class SpotSpec(Spec):
    """What the provider of one type takes, as a trace of spot capacity says.

    ``each``: so many instances for each one of the trace. ``notice``: s of warning; None for until they are empty.
    """

    trace: Path
    type: str
    each: Annotated[int, Field(ge=1)] = 1
    notice: NotNegative | None = 0.0


class ElasticClusterSpec(Spec):
    """Instances: see :class:`~windlass.sim.instances.fleet.InstanceFleet`.

    ``idle``: s that an instance may be empty where a policy does not say. ``fit``: which of those that have room a job
    goes to.
    """

    types: Annotated[tuple[TypeSpec, ...], Field(min_length=1)]
    idle: NotNegative = 600.0
    launch_spread: NotNegative = 0.0
    boot_failure: Annotated[float, Field(ge=0, lt=1)] = 0.0
    fit: Literal["first", "best"] = "first"
    spot: SpotSpec | None = None

    def kinds(self) -> tuple[InstanceType, ...]:
        """The types, the smallest first."""
        return sorted_types(tuple(InstanceType(**dict(each)) for each in self.types))


class ShapeSpec(Spec):
    """What some of the drawn jobs ask for: see :class:`~windlass.experiment.workloads.seasons.Shape`."""

    gpus: NotNegative = 0.0
    cores: NotNegative = 1.0
    memory: NotNegative = 0.0
    weight: NotNegative = 1.0


class DrawnJobsSpec(Spec):
    """Jobs that are drawn: see :class:`~windlass.experiment.workloads.seasons.Season`."""

    days: Positive = 28.0
    per_hour: Positive = 30.0
    daily: Part = 0.8
    weekend: Part = 0.4
    batch: Annotated[float, Field(ge=1)] = 1.0
    run: Positive = 1800.0
    spread: NotNegative = 1.0
    shapes: Annotated[tuple[ShapeSpec, ...], Field(min_length=1)] = (ShapeSpec(),)

    def season(self) -> Season:
        """As drawing needs it."""
        return Season(self.days, self.per_hour, self.daily, self.weekend, self.batch, self.run, self.spread)

    def drawn_shapes(self) -> tuple[Shape, ...]:
        """As drawing needs them."""
        return tuple(Shape(**dict(shape)) for shape in self.shapes)


class ElasticWorkloadSpec(Spec):
    """Jobs from a log (``trace``), from counts of jobs by time (``bins``), or ``drawn``.

    ``earlier``: so many s of it are history only. ``cores_per_gpu``, ``memory_per_gpu``: of jobs that ask for GPUs and
    of which nobody says more.
    """

    trace: Path | None = None
    bins: Path | None = None
    drawn: DrawnJobsSpec | None = None
    earlier: NotNegative = 0.0
    cores_per_gpu: NotNegative = 0.0
    memory_per_gpu: NotNegative = 0.0

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if [self.trace, self.bins, self.drawn].count(None) != 2:
            raise ValueError("expected one of 'trace', 'bins' and 'drawn'")
        if self.drawn is not None and (self.cores_per_gpu or self.memory_per_gpu):
            raise ValueError("cores_per_gpu and memory_per_gpu are for a trace or bins, not for 'drawn'")
        return self


class ElasticPoliciesSpec(Spec):
    """A policy per decision."""

    scale: Policy


class ElasticSetting(Setting):
    """One variant of an elastic scenario.

    ``period``: s from one decision to the next. ``look``: s from one look at who waits to the next, in between; none
    where it is as long as the period.
    """

    plain_lists: ClassVar[frozenset[str]] = frozenset({"cluster.types", "workload.drawn.shapes"})
    path_fields: ClassVar[tuple[str, ...]] = ("workload.trace", "workload.bins", "cluster.spot.trace")
    options: ClassVar[Mapping[str, str]] = {}

    world: Literal["elastic"] = "elastic"
    cluster: ElasticClusterSpec
    workload: ElasticWorkloadSpec
    policies: ElasticPoliciesSpec
    period: Positive = 600.0
    look: Positive = 10.0
