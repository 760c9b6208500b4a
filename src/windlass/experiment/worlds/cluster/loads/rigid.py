"""Batch jobs of one site, which hold processors until they end, and may share them."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from pydantic import model_validator

from windlass.experiment.workloads.streams import RandomStreams
from windlass.experiment.workloads.use import UseLaw, draw_use
from windlass.experiment.worlds.batch.jobs import jobs_of
from windlass.experiment.worlds.batch.spec import Load
from windlass.experiment.worlds.cluster.loads.cut import Span, early_notes
from windlass.experiment.worlds.sharing.spec import SharingWorkloadSpec
from windlass.io.traces import Workload
from windlass.model.use import JobUse


class RigidSpec(SharingWorkloadSpec):
    """Batch jobs, their resource use, and the cost of sharing, as in the sharing world, without ``ran``.

    ``load``: as in the batch world.
    """

    load: Load | None = None

    @model_validator(mode="after")
    def _only_jobs(self) -> Self:
        if self.ran is not None:
            raise ValueError("ran: a cluster is not compared with the logged schedule; remove it")
        if self.load is not None and self.lublin is not None and self.lublin.load is not None:
            raise ValueError("load: lublin.load is given as well, expected one of the two")
        return self


@dataclass(frozen=True, eq=False)
class RigidJobs:
    """The batch jobs of one site.

    Parameters
    ----------
    jobs
        The jobs.
    law, classes
        The law of their resource use, and the number of classes of jobs without users.
    rng
        The random generator of resource use, in its first state.
    """

    jobs: Workload
    law: UseLaw
    classes: int
    rng: np.random.Generator

    @cached_property
    def use(self) -> JobUse:
        """Their resource use, which is drawn once it is needed."""
        rng, classes = copy.deepcopy(self.rng), self.jobs.users
        if classes is None:
            classes = rng.integers(0, self.classes, len(self.jobs.jobs))
        return draw_use(self.jobs.jobs, classes, self.law, rng)


def draw_rigid(
    spec: RigidSpec, processors: int, memory_per_core: float, span: Span, streams: RandomStreams, name: str
) -> RigidJobs | None:
    """Read the log or generate the jobs.

    Parameters
    ----------
    spec
        The log, or the model's parameters.
    processors
        Cores that jobs may take at the site; no job is wider.
    memory_per_core
        Memory of a core, bytes.
    span
        The simulated time. Jobs of a log begin with it; generated jobs that arrive before or after it are left out.
    streams, name
        The random streams, and the load's name with its site, such as ``batch@iowa``, which names the random streams.

    Returns
    -------
    RigidJobs or None
        None if no job arrives within the simulated time.

    Raises
    ------
    InputError
        The log cannot be read.

    Examples
    --------
    >>> spec = RigidSpec.model_validate({"lublin": {"jobs": 50, "load": 0.5}})
    >>> drawn = draw_rigid(spec, 64, 4e9, Span(86_400.0), RandomStreams(1), "batch@iowa")
    >>> bool(drawn.jobs.jobs.submit.min() >= 0.0), bool(drawn.jobs.jobs.submit.max() < 86_400.0)
    (True, True)
    """
    found = jobs_of(spec, processors, streams.seed_of(name), spec.load)
    begin = span.first(found.jobs.submit, drawn=spec.lublin is not None)
    kept = span.within(found.jobs.submit, begin)
    if not kept.any():
        return None
    workload = found.take(kept)
    workload = replace(workload, jobs=replace(workload.jobs, submit=workload.jobs.submit - begin))
    last = float(found.jobs.submit[-1]) - begin
    notes = (*workload.notes, *early_notes(last, span.seconds, name))
    law, rng = spec.use.law(memory_per_core), streams.stream(f"use.{name}")
    calendar = None if workload.calendar is None else workload.calendar.later(begin)
    return RigidJobs(replace(workload, notes=notes, calendar=calendar), law, spec.use.classes, rng)
