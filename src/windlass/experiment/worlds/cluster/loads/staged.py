"""Jobs of stages of tasks over several sites, whose cores are the slots."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, SerializerFunctionWrapHandler, model_serializer, model_validator

from windlass.experiment.workloads.streams import RandomStreams
from windlass.experiment.worlds.composition import without
from windlass.experiment.worlds.fleet.jobs import FleetWorkloadSpec, JobsSpec
from windlass.experiment.worlds.spec import NotNegative
from windlass.model import InputError
from windlass.model.fleet import Fleet, FleetCase


class StagedJobsSpec(JobsSpec):
    """Generated jobs, as in the fleet world; their number and the simulated time give ``load``, unless all jobs run."""

    @model_serializer(mode="wrap")
    def _without_default_load(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit a load that is not given, as a saved scenario is read again."""
        found: dict[str, Any] = handler(self)
        return found if "load" in self.model_fields_set else without(found, "load")


class StagedSpec(FleetWorkloadSpec):
    """Jobs of stages of tasks, as in the fleet world, which arrive within the simulated time.

    ``look_every``, ``decide_every``, ``durations``: as in the fleet world, the latter two for placements.
    """

    drawn: StagedJobsSpec | None = None
    look_every: NotNegative = 0.25
    decide_every: NotNegative = 1.0
    durations: Annotated[
        Literal["finished", "true"], BeforeValidator(lambda value: "true" if value is True else value)
    ] = "finished"

    @model_validator(mode="before")
    @classmethod
    def _drawn_by_default(cls, given: Any) -> Any:
        sources = {"drawn", "jobs", "trace", "fixed"}
        return given if not isinstance(given, dict) or sources & given.keys() else {**given, "drawn": {}}

    @model_serializer(mode="wrap")
    def _without_fields_of_logs(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit defaults for logs if there is none."""
        found: dict[str, Any] = handler(self)
        return found if self.trace is not None else without(found, "swim", "skip_bad_lines")

    @model_validator(mode="after")
    def _over_sites(self) -> Self:
        if self.fixed is not None or self.names_sites:
            raise ValueError(
                "fixed: a cluster has no tasks that are fixed to sites; expected drawn, jobs or trace"
            )
        return self


def draw_staged(
    spec: StagedSpec, fleet: Fleet, seconds: float, streams: RandomStreams, name: str
) -> FleetCase:
    """Generate, list or read the jobs.

    Parameters
    ----------
    spec
        The jobs.
    fleet
        The sites.
    seconds
        The simulated time; infinite if all jobs run.
    streams, name
        The random streams, and the load's name.

    Raises
    ------
    InputError
        The log cannot be read, or a job arrives after the simulated time.

    Examples
    --------
    >>> case = draw_staged(StagedSpec(), Fleet.of(slots=[40, 40]), 3600.0, RandomStreams(1), "etl")
    >>> len(case.jobs), bool(case.jobs.submit.max() < 3600.0)
    (100, True)
    """
    jobs = spec.staged(fleet, streams.stream(name))
    if math.isinf(seconds):
        return FleetCase(fleet, jobs)
    if spec.drawn is None:
        last = float(jobs.submit[-1])
        if last >= seconds:
            raise InputError(
                f"loads.{name}: a job arrives at {last:g} s, expected less than the {seconds:g} seconds of the "
                "cluster; raise seconds, or select jobs by where or swim.hours"
            )
        return FleetCase(fleet, jobs)
    count = len(jobs)
    # The gaps are those of a Poisson process; the last job arrives one mean gap before the end.
    span = max(float(jobs.submit[-1]), 1e-9)
    submit = jobs.submit * (seconds * (count - 1) / count / span)
    return FleetCase(fleet, replace(jobs, submit=submit))
