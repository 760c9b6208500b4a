"""The offered load of jobs, and scaling of their arrivals to a load."""

from __future__ import annotations

import dataclasses

import numpy as np

from windlass.model import InputError, JobTable


def offered_load(jobs: JobTable, processors: int) -> float:
    """Return the submitted work over the site's capacity: Σ run · procs / (processors · (last submit − first submit)).

    Parameters
    ----------
    jobs
        The jobs, in order of submission.
    processors
        Size of the site.

    Returns
    -------
    float
        NaN if all jobs are submitted at one instant.

    Examples
    --------
    >>> offered_load(JobTable.of(submit=[0, 10], run=[5, 20], procs=[2, 1]), processors=4)
    0.75

    Source: Feitelson, "Workload Modeling for Computer Systems Performance Evaluation", Cambridge University Press 2015,
    chapter 6.
    """
    span = float(jobs.submit[-1] - jobs.submit[0]) if len(jobs) else 0.0
    return float((jobs.run * jobs.procs).sum()) / (processors * span) if span > 0 else float("nan")


def faster(jobs: JobTable, factor: float) -> JobTable:
    """Divide every gap between two submissions by a factor.

    The first submission, sizes and run times do not change, so the load is multiplied by the factor. Daily cycles get
    shorter or longer with the gaps, so a strongly scaled log has another daily cycle.

    Parameters
    ----------
    jobs
        The jobs, in order of submission.
    factor
        The factor, above 0.

    Examples
    --------
    >>> faster(JobTable.of(submit=[10, 14, 20], run=[1, 1, 1], procs=[1, 1, 1]), 2.0).submit.tolist()
    [10.0, 12.0, 15.0]

    Source: Frachtenberg and Feitelson, "Pitfalls in parallel job scheduling evaluation", JSSPP 2005, section 3, which
    describes this effect on the cycle.
    """
    if factor == 1.0 or not len(jobs):
        return jobs
    first = jobs.submit[0]
    # Rounding must not change the order of submissions.
    submit = np.maximum.accumulate(first + (jobs.submit - first) / factor)
    return dataclasses.replace(jobs, submit=submit)


def factor_to(load: float, jobs: JobTable, processors: int) -> float:
    """Return the factor on the arrival rate that gives an offered load.

    Parameters
    ----------
    load
        The target, above 0.
    jobs
        The jobs, in order of submission.
    processors
        Size of the site.

    Raises
    ------
    InputError
        All jobs are submitted at one instant, or have no work, so that no factor gives the load.

    Examples
    --------
    >>> factor_to(1.5, JobTable.of(submit=[0, 10], run=[5, 20], procs=[2, 1]), processors=4)
    2.0
    """
    found = offered_load(jobs, processors)
    if not found > 0:
        raise InputError(
            f"load is {load:g}, expected jobs with run times above 0 that are submitted at more than one instant"
        )
    return load / found
