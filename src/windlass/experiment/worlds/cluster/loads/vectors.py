"""Jobs that request cores of elastic instances of one site, and wait until an instance has room."""

from __future__ import annotations

from dataclasses import replace

from windlass.experiment.workloads.streams import RandomStreams
from windlass.experiment.worlds.cluster.loads.cut import Span
from windlass.experiment.worlds.elastic.jobs import vector_jobs
from windlass.experiment.worlds.elastic.spec import ElasticWorkloadSpec
from windlass.io.traces.demands import DemandLog


class VectorsSpec(ElasticWorkloadSpec):
    """Jobs for instances, as in the elastic world; ``earlier`` needs all jobs to run, not those of some seconds."""


def draw_vectors(spec: VectorsSpec, span: Span, streams: RandomStreams, name: str) -> DemandLog | None:
    """Read the log or generate the jobs.

    Parameters
    ----------
    spec
        The jobs.
    span
        The simulated time. Jobs of a log begin with it; generated jobs that arrive before or after it are left out.
    streams, name
        The random streams, and the load's name with its site.

    Returns
    -------
    DemandLog or None
        None if no job arrives within the simulated time.

    Raises
    ------
    InputError
        The log cannot be read.

    Examples
    --------
    >>> spec = VectorsSpec.model_validate({"drawn": {"per_hour": 30, "shapes": [{"cores": 2}]}})
    >>> bool(draw_vectors(spec, Span(7200.0), RandomStreams(1), "ml@iowa").jobs.submit.max() < 7200.0)
    True
    """
    found = vector_jobs(spec, streams.seed_of(name))
    begin = span.first(found.jobs.submit, drawn=spec.drawn is not None)
    jobs = found.jobs.take(span.within(found.jobs.submit, begin))
    if not len(jobs):
        return None
    calendar = None if found.calendar is None else found.calendar.later(begin)
    return DemandLog(replace(jobs, submit=jobs.submit - begin), found.notes, calendar=calendar)
