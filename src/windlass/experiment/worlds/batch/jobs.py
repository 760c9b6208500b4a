"""Rigid jobs: read from a log or generated for a scenario, and as a table after a run."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.experiment.workloads import lublin
from windlass.experiment.workloads.load import factor_to, faster, offered_load
from windlass.experiment.workloads.shake import shaken
from windlass.experiment.worlds.batch.spec import BatchWorkloadSpec, factor_of
from windlass.io.traces import Workload, read_trace, to_workload
from windlass.io.traces.groups import Belongings
from windlass.results.metrics.site import BatchMetrics, batch_metrics
from windlass.sim.site.result import Replay

_DEFAULT_PROCESSORS = 128


def jobs_of(
    spec: BatchWorkloadSpec,
    processors: int | None,
    seed: int,
    load: float | str | None = None,
    choose: Callable[[Workload], Workload] | None = None,
) -> Workload:
    """Read the log or generate the jobs.

    Parameters
    ----------
    spec
        The log, or the model's parameters.
    processors
        Size of the site; None for the size in the log, or 128 for generated jobs.
    seed
        Seed of generated jobs, and of submissions that are shaken; otherwise a log does not depend on it.
    load
        The target offered load, or a factor on the arrival rate such as ``x1.2``.
    choose
        Selects the jobs to run, before the load is scaled.

    Raises
    ------
    InputError
        The log cannot be read, none of its jobs can run, or no scaling of arrivals reaches the load.

    Examples
    --------
    >>> found = jobs_of(BatchWorkloadSpec.model_validate({"lublin": {"jobs": 3}}), None, seed=1)
    >>> len(found.jobs), found.processors
    (3, 128)
    """
    found = _given(spec, processors, seed)
    if choose is not None:
        found = choose(found)
    if load is not None:
        found = _loaded(found, load)
    return _shaken(found, spec.shake, np.random.default_rng([seed, 0])) if spec.shake > 0 else found


def _given(spec: BatchWorkloadSpec, processors: int | None, seed: int) -> Workload:
    if spec.trace is not None:
        trace = read_trace(spec.trace, spec.format, spec.skip_bad_lines, dict(spec.columns))
        return to_workload(trace, processors, spec.where, spec.widest)
    assert spec.lublin is not None  # Validated: exactly one of the two is given.
    model, known = spec.lublin, processors or _DEFAULT_PROCESSORS
    rng = np.random.default_rng([seed, 0])
    jobs = lublin(model.jobs, known, rng, kinds=model.kinds, load=model.load, overestimate=model.overestimate)
    return Workload(jobs, known)


def _loaded(found: Workload, load: float | str) -> Workload:
    """Scale the arrivals, and add a note with the factor."""
    given = factor_of(load)
    if given == 1:
        return found
    factor = factor_to(float(load), found.jobs, found.processors) if given is None else given
    jobs = faster(found.jobs, factor)
    before, after = (offered_load(each, found.processors) for each in (found.jobs, jobs))
    if math.isnan(before):
        note = f"load {load} changes nothing, because all jobs are submitted at one instant"
    else:
        note = f"arrivals are {factor:.4g} times as fast: offered load {after:.4g} instead of {before:.4g}"
    return dataclasses.replace(found, jobs=jobs, notes=(*found.notes, note), calendar=None)


def _shaken(found: Workload, most: float, rng: np.random.Generator) -> Workload:
    """Move each submission by a random time, and add a note."""
    note = f"each seed moves the submissions by up to {most:g} s"
    return dataclasses.replace(found, jobs=shaken(found.jobs, most, rng), notes=(*found.notes, note))


def jobs_table(done: Replay, of: Belongings | None = None, ids: pl.Series | None = None) -> pl.DataFrame:
    """Return a row per job: job, submit_s, start_s, end_s, procs, request_s, why.

    If known, also user, group, queue and partition, and ``job_id`` if the log identifies jobs by more than numbers.

    Parameters
    ----------
    done
        The completed run.
    of
        User, group, queue and partition of each job, in the same order.
    ids
        (n,) identifier of each job in the log, in the same order.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> from windlass.sim import replay
    >>> jobs_table(replay(JobTable.of(submit=[3], run=[2], procs=[1]), 1, Fcfs())).row(0)
    (1, 3.0, 3.0, 5.0, 1, 2.0, 'head of the queue')
    """
    jobs = done.jobs
    table = pl.DataFrame(
        {
            "job": jobs.job,
            "submit_s": jobs.submit,
            "start_s": done.start,
            "end_s": done.end,
            "procs": jobs.procs,
            "request_s": jobs.request,
            "why": pl.Series(done.why).replace_strict(dict(enumerate(done.reasons)), return_dtype=pl.String),
        }
    )
    if ids is not None:
        table.insert_column(1, ids.alias("job_id"))
    known = () if of is None else ((kind, members) for kind, members in of.kinds() if members is not None)
    return table.with_columns(members.labels().alias(kind) for kind, members in known)


def site_metrics(
    workload: Workload, start: NDArray[np.float64], end: NDArray[np.float64], starved_after: float
) -> BatchMetrics:
    """Return the metrics of a workload's jobs, given their start and end times.

    Parameters
    ----------
    workload
        The n jobs.
    start, end
        (n,) times, s.
    starved_after
        Wait above which a job counts as starved, s.
    """
    jobs, of = workload.jobs, workload.of
    return batch_metrics(
        jobs.submit,
        start,
        end,
        jobs.procs,
        workload.processors,
        workload.users,
        groups=None if of.group is None else of.group.number,
        queues=None if (queue := of.queue or of.partition) is None else queue.number,
        starved_after=starved_after,
    )


def walltime_notes(workload: Workload, kill: bool) -> tuple[str, ...]:
    """Return a note on jobs that run longer than requested, if any.

    Parameters
    ----------
    workload
        The jobs.
    kill
        Whether such jobs are killed at their requested time.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> walltime_notes(Workload(JobTable.of(submit=[0], run=[9], procs=[1], request=[5]), 4), kill=True)
    ('1 job is stopped at its requested time',)
    """
    over = int((workload.jobs.run > workload.jobs.request).sum())
    if not over:
        return ()
    one, many = (
        ("is stopped at its", "are stopped at their") if kill else ("runs on past its", "run on past their")
    )
    return (f"{over:,} {f'job {one}' if over == 1 else f'jobs {many}'} requested time",)


def cut_share(workload: Workload) -> float:
    """Return the share of the work, in processor-seconds, lost if jobs are killed at their requested time.

    Parameters
    ----------
    workload
        The jobs.

    Returns
    -------
    float
        0 to 1.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> cut_share(Workload(JobTable.of(submit=[0, 0], run=[9, 1], procs=[1, 1], request=[5, 3]), 4))
    0.4
    """
    jobs = workload.jobs
    whole = float((jobs.run * jobs.procs).sum())
    over = float((np.maximum(jobs.run - jobs.request, 0.0) * jobs.procs).sum())
    return over / whole if whole > 0 else 0.0
