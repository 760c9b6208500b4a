"""The fields of an elastic scenario: instances, jobs and policy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from windlass.experiment.workloads.seasons import Season, Shape
from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.batch.spec import Columns
from windlass.experiment.worlds.policy import Policy
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec
from windlass.model.instances import InstanceType
from windlass.sim.instances.fleet import sorted_types

#: A share, 0 to 1.
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
    """Interruptions of one type by the provider, from a trace of spot capacity.

    ``each``: instances for each one in the trace. ``notice``: warning before an interruption, s; with None, an instance
    is interrupted when it is empty.
    """

    trace: Path
    type: str
    each: Annotated[int, Field(ge=1)] = 1
    notice: NotNegative | None = 0.0


class ElasticClusterSpec(Spec):
    """Instances: see :class:`~windlass.sim.instances.fleet.InstanceFleet`.

    ``idle``: time for which an instance may stay empty, s, unless the policy sets it. ``fit``: which instance with
    room a job is placed on.
    """

    types: Annotated[tuple[TypeSpec, ...], Field(min_length=1)]
    idle: NotNegative = 600.0
    launch_spread: NotNegative = 0.0
    boot_failure: Annotated[float, Field(ge=0, lt=1)] = 0.0
    fit: Literal["first", "best"] = "first"
    spot: SpotSpec | None = None

    def kinds(self) -> tuple[InstanceType, ...]:
        """Return the types, smallest first."""
        return sorted_types(tuple(InstanceType(**dict(each)) for each in self.types))


class ShapeSpec(Spec):
    """Resource request of a share of the generated jobs, see :class:`~windlass.experiment.workloads.seasons.Shape`."""

    gpus: NotNegative = 0.0
    cores: NotNegative = 1.0
    memory: NotNegative = 0.0
    weight: NotNegative = 1.0


class DrawnJobsSpec(Spec):
    """Generated jobs: see :class:`~windlass.experiment.workloads.seasons.Season`."""

    days: Positive = 28.0
    per_hour: Positive = 30.0
    daily: Part = 0.8
    weekend: Part = 0.4
    batch: Annotated[float, Field(ge=1)] = 1.0
    run: Positive = 1800.0
    spread: NotNegative = 1.0
    shapes: Annotated[tuple[ShapeSpec, ...], Field(min_length=1)] = (ShapeSpec(),)

    def season(self) -> Season:
        """Return the parameters for the generator."""
        return Season(self.days, self.per_hour, self.daily, self.weekend, self.batch, self.run, self.spread)

    def drawn_shapes(self) -> tuple[Shape, ...]:
        """Return the resource requests for the generator."""
        return tuple(Shape(**dict(shape)) for shape in self.shapes)


class ElasticWorkloadSpec(Spec):
    """Jobs from a log (``trace``), from counts of jobs by time (``bins``), or ``drawn``.

    ``format``, ``where``, ``skip_bad_lines``, ``columns``: as for a log of the world ``batch``, whose formats are read
    as well; a processor is a core. ``earlier``: length of the initial part that serves as history only, s.
    ``cores_per_gpu``, ``memory_per_gpu``: request of GPU jobs for which the log has no cores or memory.
    """

    trace: Path | None = None
    format: str | None = None
    where: str | None = None
    skip_bad_lines: bool = False
    columns: Columns = ()
    bins: Path | None = None
    drawn: DrawnJobsSpec | None = None
    earlier: NotNegative = 0.0
    cores_per_gpu: NotNegative = 0.0
    memory_per_gpu: NotNegative = 0.0

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if [self.trace, self.bins, self.drawn].count(None) != 2:
            raise ValueError("expected one of 'trace', 'bins' and 'drawn'")
        if self.trace is None and (self.format or self.where or self.skip_bad_lines or self.columns):
            raise ValueError("format, where, skip_bad_lines and columns are for a trace")
        if self.drawn is not None and (self.cores_per_gpu or self.memory_per_gpu):
            raise ValueError("cores_per_gpu and memory_per_gpu are for a trace or bins, not for 'drawn'")
        return self


class ElasticPoliciesSpec(Spec):
    """One policy for each decision."""

    scale: Policy


class ElasticSetting(Setting):
    """One variant of an elastic scenario.

    ``period``: time between two decisions, s. ``look``: time between two checks of the queue in between, s; no checks
    if it is at least the period.
    """

    plain_lists: ClassVar[frozenset[str]] = frozenset({"cluster.types", "workload.drawn.shapes"})
    path_fields: ClassVar[tuple[str, ...]] = ("workload.trace", "workload.bins", "cluster.spot.trace")
    options: ClassVar[Mapping[str, str]] = {
        "--where": "workload.where",
        "--format": "workload.format",
        "--skip-bad-lines": "workload.skip_bad_lines",
        "--columns": "workload.columns",
    }

    world: Literal["elastic"] = "elastic"
    cluster: ElasticClusterSpec
    workload: ElasticWorkloadSpec
    policies: ElasticPoliciesSpec
    period: Positive = 600.0
    look: Positive = 10.0
