"""Batch jobs of one site, which hold processors until they end, and may share them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from pydantic import model_validator

from windlass.experiment.workloads.streams import RandomStreams
from windlass.experiment.workloads.use import draw_use
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


@dataclass(frozen=True, slots=True, eq=False)
class RigidJobs:
    """The batch jobs of one site, and their resource use."""

    jobs: Workload
    use: JobUse


def draw_rigid(
    spec: RigidSpec, processors: int, memory_per_core: float, span: Span, streams: RandomStreams, name: str
) -> RigidJobs | None:
    """Read the log or generate the jobs, and draw their resource use.

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
    rng = streams.stream(f"use.{name}")
    classes = workload.users
    if classes is None:
        classes = rng.integers(0, spec.use.classes, int(kept.sum()))
    use = draw_use(workload.jobs, classes, spec.use.law(memory_per_core), rng)
    return RigidJobs(replace(workload, notes=notes), use)
