"""The fields of a dispatch scenario: workers, tasks and policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.outages import Outage
from windlass.experiment.worlds.policy import Policy, PolicySpec
from windlass.experiment.worlds.spec import NotNegative, Positive, Sizes, Spec
from windlass.model.limits import WORKERS


class Group(Spec):
    """A number of workers of one speed, work/s."""

    workers: Annotated[int, Field(ge=1)]
    speed: NotNegative


class Failure(Spec):
    """A worker that fails at ``down`` and returns at ``up``, s; permanently without ``up``."""

    worker: Annotated[int, Field(ge=0)]
    down: NotNegative
    up: Positive | None = None

    def outage(self) -> Outage:
        """Return the outage of the node that the worker is."""
        return Outage(node=self.worker, down=self.down, up=self.up)


class DispatchClusterSpec(Spec):
    """The workers, and changes of their speeds.

    ``shocks_every``: interval at which the speeds are permuted, s. ``drift``: a log of benchmark scores, stretched over
    the run, that speeds follow.
    """

    groups: Annotated[tuple[Group, ...], Field(min_length=1)]
    shocks_every: Positive | None = None
    drift: Path | None = None
    failures: tuple[Failure, ...] = ()

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        WORKERS.check(sum(group.workers for group in self.groups), "groups")
        return self

    def speeds(self) -> NDArray[np.float64]:
        """Return the speeds, (n,) work/s."""
        return np.repeat([group.speed for group in self.groups], [group.workers for group in self.groups])


class DispatchWorkloadSpec(Spec):
    """Tasks: their number, arrivals and sizes.

    ``llm`` replays the arrivals and token counts of a log of requests; its time is stretched to reach the load.
    """

    tasks: Annotated[int, Field(ge=1, le=100_000_000)] = 200_000
    load: Positive = 0.8
    tasks_per_job: Annotated[int, Field(ge=1)] = 1
    arrivals: Literal["poisson", "bursty"] = "poisson"
    service: Literal["exponential", "fixed", "pareto"] = "exponential"
    llm: Path | None = None

    @model_validator(mode="after")
    def _whole_jobs(self) -> Self:
        if self.llm is None and self.tasks % self.tasks_per_job:
            raise ValueError(
                f"tasks is {self.tasks}, expected a multiple of tasks_per_job, {self.tasks_per_job}"
            )
        if self.llm is not None and self.tasks_per_job != 1:
            raise ValueError("tasks_per_job: expected 1 if requests are replayed with 'llm'")
        for name in ("arrivals", "service") if self.llm is not None else ():
            # A default value is allowed, as the scenario stored with a run contains every field.
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name}: not used with 'llm', whose log has arrivals and sizes; remove it")
        return self


class DispatchPoliciesSpec(Spec):
    """A policy per decision; the default is the best of the grid in docs/results-dispatch.md, or nearly so."""

    dispatch: Policy = PolicySpec(name="pull")


class DispatchSetting(Setting):
    """One variant of a dispatch scenario.

    ``sizes``: with ``hidden``, each task counts as 1 and a policy sees service times only, as on a live engine; with
    ``known``, it also receives the work of each completed task. ``fetch_delay``: how long a worker waits for a task
    that it requests, s. ``probe_trip``: round trip of a probe, for which tasks of policies that probe wait, s.
    ``count_sent``: whether a scheduler adds the tasks that it sent within the
    last ``probe_delay`` to the queue lengths that it sees.
    """

    plain_lists: ClassVar[frozenset[str]] = frozenset({"cluster.groups", "cluster.failures"})
    path_fields: ClassVar[tuple[str, ...]] = ("workload.llm", "cluster.drift")

    world: Literal["dispatch"] = "dispatch"
    cluster: DispatchClusterSpec
    workload: DispatchWorkloadSpec = DispatchWorkloadSpec()
    policies: DispatchPoliciesSpec = DispatchPoliciesSpec()
    schedulers: Annotated[int, Field(ge=1)] = 1
    probe_delay: NotNegative = 0.0
    fetch_delay: NotNegative = 0.0
    probe_trip: NotNegative = 0.0
    count_sent: bool = False
    sizes: Sizes = "hidden"
