"""Jobs of stages of tasks over several sites, whose cores are the slots."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, Self

from pydantic import Field, model_validator

from windlass.experiment.workloads.stages import draw_jobs
from windlass.experiment.workloads.streams import Streams
from windlass.experiment.worlds.fleet.jobs import JobsSpec
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec
from windlass.model.fleet import Fleet, FleetCase


class StagedJobsSpec(JobsSpec):
    """Generated jobs, as in the fleet world, without ``load``: their number and the simulated time give it."""

    load: Positive = Field(default=0.7, exclude=True)

    @model_validator(mode="after")
    def _no_load(self) -> Self:
        if "load" in self.model_fields_set:
            raise ValueError(
                "load: the number of jobs and the seconds of the cluster give it; remove it here"
            )
        return self


class StagedSpec(Spec):
    """Jobs of stages of tasks, which arrive within the simulated time.

    ``look_every``, ``decide_every``, ``durations``: as in the fleet world, the latter two for placements.
    """

    drawn: StagedJobsSpec = StagedJobsSpec()
    look_every: NotNegative = 0.25
    decide_every: NotNegative = 1.0
    durations: Literal["finished", "true"] = "finished"


def draw_staged(spec: StagedSpec, fleet: Fleet, seconds: float, streams: Streams, name: str) -> FleetCase:
    """Generate the jobs.

    Parameters
    ----------
    spec
        The jobs.
    fleet
        The sites.
    seconds
        The simulated time.
    streams, name
        The random streams, and the load's name.

    Examples
    --------
    >>> case = draw_staged(StagedSpec(), Fleet.of(slots=[40, 40]), 3600.0, Streams(1), "etl")
    >>> len(case.jobs), bool(case.jobs.submit.max() < 3600.0)
    (100, True)
    """
    jobs = draw_jobs(spec.drawn.model(), fleet, streams.stream(name))
    count = len(jobs)
    # The gaps are those of a Poisson process; the last job arrives one mean gap before the end.
    span = max(float(jobs.submit[-1]), 1e-9)
    submit = jobs.submit * (seconds * (count - 1) / count / span)
    return FleetCase(fleet, replace(jobs, submit=submit))
