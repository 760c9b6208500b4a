"""The offered load of jobs, and jobs that come faster or more slowly so that it is another."""

from __future__ import annotations

import dataclasses

import numpy as np

from windlass.model import InputError, JobTable


def offered_load(jobs: JobTable, processors: int) -> float:
    """The work that comes over what there is for it: Σ run · procs / (processors · (last submit − first submit)).

    Parameters
    ----------
    jobs
        In order of submission.
    processors
        Of the site.

    Returns
    -------
    float
        NaN where all come at one instant.

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
    """The same jobs, which come so many times as fast: every gap between two submissions is divided by the factor.

    The first stays where it is. Sizes and run times stay as they are, and so the load is the factor times what it was.
    Days and nights get shorter or longer with the gaps: a log that is scaled far has another daily cycle.

    Parameters
    ----------
    jobs
        In order of submission.
    factor
        Above 0.

    Examples
    --------
    >>> faster(JobTable.of(submit=[10, 14, 20], run=[1, 1, 1], procs=[1, 1, 1]), 2.0).submit.tolist()
    [10.0, 12.0, 15.0]

    Source: Frachtenberg and Feitelson, "Pitfalls in parallel job scheduling evaluation", JSSPP 2005, section 3, which
    also says what this does to the cycle.
    """
    if factor == 1.0 or not len(jobs):
        return jobs
    first = jobs.submit[0]
    # Rounding must not turn two submissions around.
    submit = np.maximum.accumulate(first + (jobs.submit - first) / factor)
    return dataclasses.replace(jobs, submit=submit)


def factor_to(load: float, jobs: JobTable, processors: int) -> float:
    """By how much faster jobs have to come for an offered load.

    Parameters
    ----------
    load
        Above 0.
    jobs
        In order of submission.
    processors
        Of the site.

    Raises
    ------
    InputError
        They come at one instant, or are no work: no factor makes this load of them.

    Examples
    --------
    >>> factor_to(1.5, JobTable.of(submit=[0, 10], run=[5, 20], procs=[2, 1]), processors=4)
    2.0
    """
    found = offered_load(jobs, processors)
    if not found > 0:
        raise InputError(
            f"load is {load:g}, which needs jobs with run times that come at more than one instant; these have none"
        )
    return load / found
