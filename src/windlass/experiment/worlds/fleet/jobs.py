"""What a scenario may say of the jobs of a fleet: drawn, listed, or from a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

import polars as pl
from pydantic import Field, model_validator

from windlass.engines.live.functions import function_of
from windlass.engines.live.program import StageProgram
from windlass.experiment.workloads.seconds import MEAN_TASK_S
from windlass.experiment.workloads.stages import JobModel
from windlass.experiment.workloads.swim import FixedModel, SwimModel
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec
from windlass.model import InputError
from windlass.model.fleet import StageSpec

_JOBS, _SWIM, _FIXED = JobModel(), SwimModel(), FixedModel()


class JobsSpec(Spec):
    """Jobs drawn at random; see :class:`windlass.experiment.workloads.stages.JobModel`."""

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


class StageOf(Spec):
    """A stage of a listed job: ``input`` in tasks by site, or ``parents`` (positions, from 0) and ``tasks``.

    On a live engine its tasks hold a slot for ``task_s``, or they ``call`` a function (``./file.py:name``) or run
    a ``command``; ``files`` by site, one a task, are their input then.
    """

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

    def step(self, names: tuple[str, ...]) -> StageProgram:
        """What its tasks do on a live engine."""
        found = None if self.call is None else function_of(self.call)
        by_site = self.files or {}
        return StageProgram(
            found, self.command, tuple(file for name in names for file in by_site.get(name, ()))
        )

    def spec(self, names: tuple[str, ...]) -> StageSpec:
        """As the simulator wants it, over sites of these names."""
        for name in self.input or {}:
            if name not in names:
                raise InputError(f"input: no site {name!r}, expected one of {', '.join(names)}")
        here = tuple((self.input or {}).get(name, 0) for name in names) if self.input else ()
        return StageSpec(self.task_s, here, self.task_bytes, self.tasks, self.ratio, self.parents)


class JobOf(Spec):
    """A listed job."""

    name: str = "job"
    submit: NotNegative = 0.0
    stages: Annotated[tuple[StageOf, ...], Field(min_length=1)]


class SwimSpec(Spec):
    """How jobs of a Hadoop log become stages of tasks; see :class:`windlass.experiment.workloads.swim.SwimModel`."""

    hours: Positive = _SWIM.hours
    block_bytes: Positive = _SWIM.block_bytes
    reduce_bytes: Positive = _SWIM.reduce_bytes
    bytes_per_s: Positive = _SWIM.bytes_per_s
    least_task_s: NotNegative = _SWIM.least_task_s
    skew: NotNegative = _SWIM.skew
    scale: Positive = _SWIM.scale

    def model(self) -> SwimModel:
        """As the reader wants it."""
        return SwimModel(**self.model_dump())


class FixedSpec(Spec):
    """Jobs of tasks that are fixed to sites: drawn by a law of sizes, or, beside ``trace``, those of a log.

    ``law`` and ``jobs`` are for drawn ones; the rest is as :class:`windlass.experiment.workloads.swim.FixedModel` says.
    """

    law: Literal["facebook", "google", "exponential"] = "facebook"
    jobs: Annotated[int, Field(ge=1, le=10_000_000)] = 2000
    utilisation: Positive = _FIXED.utilisation
    skew: NotNegative | Literal["uniform", "one-site"] = 2.0
    longest_s: Annotated[float, Field(gt=MEAN_TASK_S)] = _FIXED.longest_s
    block_bytes: Positive = _FIXED.block_bytes
    bag_gap_s: NotNegative = _FIXED.bag_gap_s

    def model(self, accuracy: float) -> FixedModel:
        """As the readers of logs want it."""
        return FixedModel(**self.model_dump(exclude={"law", "jobs"}), accuracy=accuracy)


class FleetWorkloadSpec(Spec):
    """Jobs drawn (``drawn``), listed (``jobs``), fixed to sites (``fixed``), or of a log (``trace``).

    A log in the SWIM form (``.tsv``) becomes jobs of stages, by ``swim``, or of tasks fixed to sites, by ``fixed``;
    one in the SWF (``.swf``), whose jobs name sites, the latter. ``where`` takes some of its records, an SQL condition;
    ``skip_bad_lines`` goes on without lines that cannot be read.
    """

    drawn: JobsSpec | None = None
    jobs: tuple[JobOf, ...] | None = None
    trace: Path | None = None
    where: str | None = None
    skip_bad_lines: bool = False
    swim: SwimSpec = SwimSpec()
    fixed: FixedSpec | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        sources = (self.drawn, self.jobs, self.trace, None if self.trace else self.fixed)
        if sum(given is not None for given in sources) != 1:
            raise ValueError("expected one of 'drawn', 'jobs', 'fixed' and 'trace'")
        if self.trace is None and (self.where or self.skip_bad_lines):
            raise ValueError("where and skip_bad_lines are for a trace")
        if self.fixed is not None and self.swim != SwimSpec():
            raise ValueError("expected 'swim' or 'fixed', not both")
        return self

    @property
    def names_sites(self) -> bool:
        """Whether the jobs bring the sites along: those of a log in the SWF name theirs.

        Examples
        --------
        >>> FleetWorkloadSpec(trace="grid.swf.gz").names_sites, FleetWorkloadSpec(trace="hadoop.tsv").names_sites
        (True, False)
        """
        return self.trace is not None and self.trace.name.lower().endswith((".swf", ".swf.gz"))

    def records(self, records: pl.DataFrame) -> pl.DataFrame:
        """Those that ``where`` takes.

        Raises
        ------
        InputError
            It cannot be evaluated, or takes none.
        """
        if self.where is None:
            return records
        try:
            found = records.filter(pl.sql_expr(self.where))
        except pl.exceptions.PolarsError as error:
            raise InputError(f"where: {self.where!r} cannot be evaluated: {error}") from error
        if not len(found):
            raise InputError(f"where: {self.where!r} leaves no job of {self.trace}")
        return found
