"""Copies of a log with slightly different arrivals, to find out how much of a difference is chance."""

from __future__ import annotations

import dataclasses

import numpy as np

from windlass.model import JobTable


def shaken(jobs: JobTable, most: float, rng: np.random.Generator) -> JobTable:
    """Move each submission earlier or later by a random time, and let the jobs keep their order.

    No submission is before the first one of the log.

    Parameters
    ----------
    jobs
        The jobs, in order of submission.
    most
        The most that a submission moves before the order is restored, s, at least 0; uniformly distributed.
    rng
        Random generator.

    Examples
    --------
    >>> jobs = JobTable.of(submit=[0, 5, 1000], run=[1, 1, 1], procs=[1, 1, 1])
    >>> shaken(jobs, 60.0, np.random.default_rng(1)).submit.round().tolist()
    [1.0, 59.0, 957.0]

    Source: Tsafrir, Ouaknine and Feitelson, "Reducing performance evaluation sensitivity and variability by input
    shaking", MASCOTS 2007. There, jobs may change their order.
    """
    if not len(jobs):
        return jobs
    moved = np.sort(jobs.submit + rng.uniform(-most, most, len(jobs)))
    return dataclasses.replace(jobs, submit=np.maximum(moved, jobs.submit[0]))
