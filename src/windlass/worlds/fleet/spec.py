"""What a scenario of the wide-area world may say of its sites, jobs and policies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from windlass.drive import Decider
from windlass.engines.live.functions import function_of
from windlass.engines.live.program import Step
from windlass.model import InputError
from windlass.model.fleet import Fleet, StageSpec
from windlass.order.fleet import POLICIES as ORDERS
from windlass.place import POLICIES
from windlass.place.view import Placement, PlaceView
from windlass.traces.wan import read_wan
from windlass.workloads.fleet import JobModel, SiteModel, draw_sites
from windlass.workloads.swim import SwimModel
from windlass.worlds.fleet.in_order import InOrder
from windlass.worlds.policy import Policy, PolicySpec

_FROZEN = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
_JOBS, _SWIM = JobModel(), SwimModel()

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]


class SiteSpec(BaseModel):
    """One site: slots, and up- and downlink in bytes/s."""

    model_config = _FROZEN

    name: str
    slots: Annotated[int, Field(ge=0)]
    up: NotNegative
    down: NotNegative


class DrawnSites(BaseModel):
    """Sites drawn between bounds; see :class:`windlass.workloads.fleet.SiteModel`."""

    model_config = _FROZEN

    sites: Annotated[int, Field(ge=2, le=1000)] = 50
    least_slots: Annotated[int, Field(ge=1)] = 25
    most_slots: Annotated[int, Field(ge=1)] = 5000
    least_mbit: Positive = 100.0
    most_mbit: Positive = 2000.0
    slot_zipf: NotNegative | None = None
    link_zipf: NotNegative | None = None

    def model(self) -> SiteModel:
        """As the generator wants it."""
        slots, mbit = (self.least_slots, self.most_slots), (self.least_mbit, self.most_mbit)
        return SiteModel(self.sites, slots, mbit, self.slot_zipf, self.link_zipf)


class MeasuredSites(BaseModel):
    """Cloud regions with measured throughput; files are relative to the file that names them.

    ``machines`` at a region multiply what one pair of machines was measured to carry.
    """

    model_config = _FROZEN

    throughput: Path
    prices: Path | None = None
    regions: tuple[str, ...]
    slots: tuple[int, ...]
    machines: Positive = 1.0


class ClusterSpec(BaseModel):
    """Sites: listed (``sites``, with ``pair`` and ``price`` for each pair), drawn, or measured."""

    model_config = _FROZEN

    sites: Annotated[tuple[SiteSpec, ...], Field(min_length=1)] | None = None
    pair: tuple[tuple[float, ...], ...] | None = None
    usd_per_gb: tuple[tuple[float, ...], ...] | None = None
    drawn: DrawnSites | None = None
    measured: MeasuredSites | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(given is not None for given in (self.sites, self.drawn, self.measured)) != 1:
            raise ValueError("expected one of 'sites', 'drawn' and 'measured'")
        return self

    def fleet(self, rng: np.random.Generator) -> Fleet:
        """The sites."""
        if self.drawn is not None:
            return draw_sites(self.drawn.model(), rng)
        if self.measured is not None:
            return measured_fleet(self.measured)
        sites = self.sites or ()
        price = None if self.usd_per_gb is None else np.array(self.usd_per_gb) / 1e9
        return Fleet.of(
            [site.slots for site in sites],
            [site.up for site in sites],
            [site.down for site in sites],
            [site.name for site in sites],
            self.pair,
            price,
        )


def measured_fleet(spec: MeasuredSites) -> Fleet:
    """Regions as sites: a region's uplink is the fastest of its measured paths, and each pair has its own limit.

    A machine's paths share its network card, and the fastest path shows what that carries. Policies are told of
    the up- and downlinks alone, as the thesis' programs are; the world keeps to the pairs as well.
    """
    if len(spec.slots) not in (1, len(spec.regions)):
        raise InputError(
            f"slots has {len(spec.slots)} numbers for {len(spec.regions)} regions, expected one each"
        )
    matrix = read_wan(spec.throughput, spec.regions, spec.prices)
    pair = matrix.throughput * spec.machines
    slots = np.broadcast_to(np.array(spec.slots), len(spec.regions))
    up, down = pair.max(axis=1), pair.max(axis=0)
    np.fill_diagonal(pair, np.inf)
    return Fleet.of(slots, up, down, matrix.regions, pair, matrix.price)


class JobsSpec(BaseModel):
    """Jobs drawn at random; see :class:`windlass.workloads.fleet.JobModel`."""

    model_config = _FROZEN

    jobs: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    load: Positive = _JOBS.load
    least_stages: Annotated[int, Field(ge=1)] = 2
    most_stages: Annotated[int, Field(ge=1)] = 5
    tasks: Positive = _JOBS.tasks
    tasks_spread: NotNegative = _JOBS.tasks_spread
    task_s: Positive = _JOBS.task_s
    task_bytes: NotNegative = _JOBS.task_bytes
    ratio: NotNegative = _JOBS.ratio
    ratio_spread: NotNegative = _JOBS.ratio_spread
    least_skew: NotNegative = 0.2
    most_skew: NotNegative = 1.6
    straggler_share: Annotated[float, Field(ge=0, le=1)] = _JOBS.straggler_share
    estimate_error: Annotated[float, Field(ge=0, le=1)] = 0.0

    def model(self) -> JobModel:
        """As the generator wants it."""
        values = self.model_dump()
        stages = values.pop("least_stages"), values.pop("most_stages")
        skew = values.pop("least_skew"), values.pop("most_skew")
        return JobModel(**values, stages=stages, skew=skew)


class StageOf(BaseModel):
    """A stage of a listed job: ``input`` in tasks by site, or ``parents`` (positions, from 0) and ``tasks``.

    On a live engine its tasks hold a slot for ``task_s``, or they ``call`` a function (``./file.py:name``) or run
    a ``command``; ``files`` by site, one a task, are their input then.
    """

    model_config = _FROZEN

    task_s: NotNegative
    input: dict[str, Annotated[int, Field(ge=0)]] | None = None
    task_bytes: NotNegative = 0.0
    tasks: Annotated[int, Field(ge=0)] = 0
    ratio: NotNegative = 1.0
    parents: tuple[int, ...] = ()
    call: str | None = None
    command: str | None = None
    files: dict[str, tuple[str, ...]] | None = None

    @model_validator(mode="after")
    def _one_kind_of_work(self) -> Self:
        if self.call is not None and self.command is not None:
            raise ValueError("expected 'call' or 'command', not both")
        counts = None if self.files is None else {site: len(own) for site, own in self.files.items()}
        if counts is not None and counts != self.input:
            raise ValueError(f"'files' has {counts} by site, expected as many as 'input' says")
        return self

    def step(self, names: tuple[str, ...]) -> Step:
        """What its tasks do on a live engine."""
        found = None if self.call is None else function_of(self.call)
        by_site = self.files or {}
        return Step(found, self.command, tuple(file for name in names for file in by_site.get(name, ())))

    def spec(self, names: tuple[str, ...]) -> StageSpec:
        """As the simulator wants it, over sites of these names."""
        for name in self.input or {}:
            if name not in names:
                raise InputError(f"input: no site {name!r}, expected one of {', '.join(names)}")
        here = tuple((self.input or {}).get(name, 0) for name in names) if self.input else ()
        return StageSpec(self.task_s, here, self.task_bytes, self.tasks, self.ratio, self.parents)


class JobOf(BaseModel):
    """A listed job."""

    model_config = _FROZEN

    name: str = "job"
    submit: NotNegative = 0.0
    stages: Annotated[tuple[StageOf, ...], Field(min_length=1)]


class SwimSpec(BaseModel):
    """How jobs of a Hadoop log become tasks; see :class:`windlass.workloads.swim.SwimModel`."""

    model_config = _FROZEN

    hours: Positive = _SWIM.hours
    block_bytes: Positive = _SWIM.block_bytes
    reduce_bytes: Positive = _SWIM.reduce_bytes
    bytes_per_s: Positive = _SWIM.bytes_per_s
    least_task_s: NotNegative = _SWIM.least_task_s
    skew: NotNegative = _SWIM.skew
    scale: Positive = _SWIM.scale


class WorkloadSpec(BaseModel):
    """Jobs drawn (``drawn``), listed (``jobs``), or those of a Hadoop log of the SWIM form (``trace``)."""

    model_config = _FROZEN

    drawn: JobsSpec | None = None
    jobs: tuple[JobOf, ...] | None = None
    trace: Path | None = None
    swim: SwimSpec = SwimSpec()

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(given is not None for given in (self.drawn, self.jobs, self.trace)) != 1:
            raise ValueError("expected one of 'drawn', 'jobs' and 'trace'")
        return self


class DropsSpec(BaseModel):
    """Every ``every`` s, other ``sites`` lose a part ``drop`` of slots and links until the next time."""

    model_config = _FROZEN

    drop: Annotated[float, Field(ge=0, lt=1)]
    sites: Annotated[int, Field(ge=1)] = 5
    every: Positive = 60.0


class PoliciesSpec(BaseModel):
    """A policy per decision.

    With ``order``, a fleet policy says which job goes first, and ``place`` is ``in-place``: other placement
    policies order jobs themselves. ``dispatch`` chooses among the workers of a site, on live engines.
    """

    model_config = _FROZEN

    place: Policy = PolicySpec(name="in-place")
    order: Policy | None = None
    dispatch: Policy | None = None

    @model_validator(mode="after")
    def _one_order(self) -> Self:
        if self.order is not None and (self.place.name != "in-place" or self.place.parameters):
            raise ValueError(
                f"place {self.place.name!r} orders jobs itself, expected in-place beside 'order'"
            )
        return self

    def make(self, rng: np.random.Generator) -> Decider[PlaceView, Placement]:
        """The policy that the engine asks."""
        if self.order is not None:
            return InOrder(self.order.make(ORDERS, rng))
        made: Decider[PlaceView, Placement] = self.place.make(POLICIES, rng)
        return made
