"""Random jobs over many sites, as in the thesis' experiments: sizes, skew over sites, task times, arrivals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from windlass.model import InputError
from windlass.model.orders import GeoWorkload, workload_of

#: The tail of task times in a Facebook cluster, and their mean, s (thesis, section 3.5.1).
PARETO_SHAPE, MEAN_TASK_S = 1.259, 2.0
#: Where task times are cut off, s. The thesis does not say that they are, but with this shape their variance is
#: infinite, and without an end no mean over a run would settle.
LONGEST_TASK_S = 20.0
#: Bounds of the thesis' classes of job sizes: small up to 150 tasks, medium up to 500, large above.
SMALL, MEDIUM = 150, 500


@dataclass(frozen=True, slots=True)
class SizeLaw:
    """A mix of small, medium and large jobs; in each class sizes are log-uniform.

    Parameters
    ----------
    mean
        Mean number of tasks.
    small, medium
        Shares of jobs of 1–150 and 151–500 tasks; the rest has from 501 up to ``largest``, which the mean fixes.
    """

    mean: float
    small: float
    medium: float

    @property
    def largest(self) -> float:
        """The size of the largest job that gives the mean."""
        rest = (
            self.mean - self.small * _log_mean(1, SMALL + 1) - self.medium * _log_mean(SMALL + 1, MEDIUM + 1)
        )
        wanted = rest / (1.0 - self.small - self.medium)
        return float(brentq(lambda top: _log_mean(MEDIUM + 1, top) - wanted, MEDIUM + 2, 1e9))

    def draw(self, jobs: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """(jobs,) numbers of tasks."""
        classes = rng.random(jobs)
        low = np.select(
            [classes < self.small, classes < self.small + self.medium], [1, SMALL + 1], MEDIUM + 1
        )
        high = np.select(
            [classes < self.small, classes < self.small + self.medium], [SMALL + 1, MEDIUM + 1], self.largest
        )
        sizes: NDArray[np.int64] = np.floor(low * (high / low) ** rng.random(jobs)).astype(np.int64)
        return sizes


def _log_mean(low: float, high: float) -> float:
    # Of the whole part of a log-uniform number, nearly: half a task is lost to rounding down.
    return (high - low) / math.log(high / low) - 0.5


#: Table 3.2 of the thesis. It gives classes and means, not the laws within a class.
LAWS = {"facebook": SizeLaw(364.6, 0.89, 0.08), "google": SizeLaw(86.9, 0.96, 0.02)}
EXPONENTIAL_MEAN = 800.0


def draw_sizes(law: str, jobs: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Numbers of tasks of so many jobs.

    Parameters
    ----------
    law
        ``facebook``, ``google`` or ``exponential``.
    jobs
        How many.
    rng
        Where randomness comes from.

    Examples
    --------
    >>> sizes = draw_sizes("google", 100_000, np.random.default_rng(1))
    >>> round(float((sizes <= 150).mean()), 2), bool(80 < sizes.mean() < 95)
    (0.96, True)
    """
    if law == "exponential":
        return np.ceil(rng.exponential(EXPONENTIAL_MEAN, jobs)).astype(np.int64).clip(1)
    if law not in LAWS:
        raise InputError(f"sizes: unknown law {law!r}, expected one of {', '.join([*LAWS, 'exponential'])}")
    return LAWS[law].draw(jobs, rng)


def spread(
    sizes: NDArray[np.int64], sites: int, skew: float | str, rng: np.random.Generator
) -> NDArray[np.int64]:
    """(J, m) tasks of each job at each site.

    Parameters
    ----------
    sizes
        (J,) tasks of each job.
    sites
        m.
    skew
        Of Zipf's law: a task is at the job's k-th site with probability ∝ 1/k^skew; which site is its first,
        second, … is drawn anew for each job. ``uniform`` is 0, ``one-site`` puts all tasks on one.
    rng
        Where randomness comes from.

    Examples
    --------
    >>> spread(np.array([5, 3]), 4, "one-site", np.random.default_rng(1)).max(axis=1)
    array([5, 3])
    """
    rank = np.arange(1, sites + 1, dtype=np.float64)
    if skew == "one-site":
        share = (rank == 1).astype(np.float64)
    else:
        share = rank ** -(0.0 if skew == "uniform" else float(skew))
    counts = rng.multinomial(sizes, share / share.sum())
    return rng.permuted(counts, axis=1)


def draw_seconds(
    tasks: int, rng: np.random.Generator, mean: float = MEAN_TASK_S, longest: float = LONGEST_TASK_S
) -> NDArray[np.float64]:
    """Task times: Pareto with shape 1.259, cut off at ``longest``, with this mean, s.

    Parameters
    ----------
    tasks
        How many.
    rng
        Where randomness comes from.
    mean, longest
        s. The shortest follows from them.

    Examples
    --------
    >>> seconds = draw_seconds(200_000, np.random.default_rng(1))
    >>> bool(1.95 < seconds.mean() < 2.05 and seconds.max() <= 20.0)
    True
    """
    if not longest > mean > 0:
        raise InputError(f"longest task is {longest:g} s, expected more than the mean of {mean:g} s")
    shape = PARETO_SHAPE

    def mean_from(shortest: float) -> float:
        kept = 1.0 - (shortest / longest) ** shape
        body = shape / (shape - 1.0) * (shortest - shortest**shape * longest ** (1.0 - shape))
        return float(body / kept)

    shortest = brentq(lambda low: mean_from(low) - mean, 1e-9 * mean, mean)
    kept = 1.0 - (shortest / longest) ** shape
    return np.asarray(shortest * (1.0 - kept * rng.random(tasks)) ** (-1.0 / shape))


def draw_arrivals(
    jobs: int, work: float, slots: int, utilisation: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Poisson arrivals, scaled so that just this work over just this time is the wanted utilisation.

    Parameters
    ----------
    jobs
        How many.
    work
        Slot-seconds of all of them.
    slots
        Of all sites.
    utilisation
        Work over slots and the time from 0 to the last arrival. A few large jobs carry most of the work: drawn
        freely, the utilisation of a run would be anything.
    rng
        Where randomness comes from.

    Examples
    --------
    >>> bool(np.isclose(draw_arrivals(10, 80.0, 4, 0.5, np.random.default_rng(1))[-1], 40.0))
    True
    """
    times = np.cumsum(rng.exponential(size=jobs))
    return np.asarray(times * (work / (slots * utilisation) / times[-1]))


def guess(truth: NDArray[np.float64], accuracy: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """What is expected: the truth times a factor drawn uniformly from accuracy … 2 − accuracy (section 3.5.4)."""
    return np.asarray(truth * rng.uniform(accuracy, 2.0 - accuracy, len(truth)))


def draw_workload(
    rng: np.random.Generator,
    *,
    law: str = "facebook",
    jobs: int = 2000,
    slots: NDArray[np.int64] | None = None,
    utilisation: float = 0.78,
    skew: float | str = 2.0,
    longest: float = LONGEST_TASK_S,
    accuracy: float = 1.0,
) -> GeoWorkload:
    """Random jobs over many sites; by default as in the thesis, 30 sites of 300 slots at 78%.

    Parameters
    ----------
    rng
        Where randomness comes from. Sizes, sites, times and gaps have streams of their own, so that a change of one
        setting leaves the rest as it was.
    law
        ``facebook``, ``google`` or ``exponential``.
    jobs
        How many.
    slots
        (m,) slots of each site.
    utilisation, skew, longest
        As in :func:`draw_arrivals`, :func:`spread`, :func:`draw_seconds`.
    accuracy
        From 1, exact, to 0: how well the times of tasks, and the mean of a job's, are known.

    Examples
    --------
    >>> draw_workload(np.random.default_rng(1), jobs=10).jobs
    10
    """
    capacity = np.full(30, 300) if slots is None else np.asarray(slots)
    for_sizes, for_sites, for_seconds, for_gaps, for_guesses, for_errors = rng.spawn(6)
    sizes = draw_sizes(law, jobs, for_sizes)
    seconds = draw_seconds(int(sizes.sum()), for_seconds, longest=longest)
    return workload_of(
        draw_arrivals(jobs, float(seconds.sum()), int(capacity.sum()), utilisation, for_gaps),
        spread(sizes, len(capacity), skew, for_sites),
        seconds,
        capacity,
        expected=guess(seconds, accuracy, for_guesses),
        error=guess(np.ones(jobs), accuracy, for_errors),
    )
