"""Random jobs whose tasks are fixed to sites, as in the thesis's experiments on the order of jobs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.workloads.estimates import guess
from windlass.experiment.workloads.seconds import LONGEST_TASK_S, draw_seconds
from windlass.experiment.workloads.sizes import draw_sizes
from windlass.experiment.workloads.spread import spread
from windlass.model.fleet import Fleet, FleetCase, fixed_table


def draw_arrivals(
    jobs: int, work: float, slots: int, utilisation: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return Poisson arrivals, scaled so that the work over the time to the last arrival gives the utilisation.

    Parameters
    ----------
    jobs
        Number of jobs.
    work
        Work of all jobs, slot-seconds.
    slots
        Slots of all sites.
    utilisation
        Work over slots and the time from 0 to the last arrival. It is fixed because a few large jobs carry most of the
        work: with a fixed rate, the utilisation of a run would vary widely.
    rng
        The random generator.

    Examples
    --------
    >>> bool(np.isclose(draw_arrivals(10, 80.0, 4, 0.5, np.random.default_rng(1))[-1], 40.0))
    True
    """
    times = np.cumsum(rng.exponential(size=jobs))
    return np.asarray(times * (work / (slots * utilisation) / times[-1]))


def draw_fixed(
    rng: np.random.Generator,
    *,
    law: str = "facebook",
    jobs: int = 2000,
    fleet: Fleet | None = None,
    utilisation: float = 0.78,
    skew: float | str = 2.0,
    longest: float = LONGEST_TASK_S,
    accuracy: float = 1.0,
) -> FleetCase:
    """Generate jobs whose tasks are fixed to sites; by default as in the thesis, 30 sites of 300 slots at 78 %.

    Parameters
    ----------
    rng
        The random generator. Sizes, sites, times and gaps have separate streams, so that a change of one setting does
        not change the others.
    law
        ``facebook``, ``google`` or ``exponential``.
    jobs
        Number of jobs.
    fleet
        Sites and slots.
    utilisation, skew, longest
        See :func:`draw_arrivals`, :func:`spread`, :func:`draw_seconds`.
    accuracy
        Accuracy of the known task times and of a job's mean, from 1 (exact) to 0.

    Examples
    --------
    >>> len(draw_fixed(np.random.default_rng(1), jobs=10).jobs)
    10
    """
    sites = fleet or Fleet.of(np.full(30, 300))
    capacity = sites.slots
    for_sizes, for_sites, for_seconds, for_gaps, for_guesses, for_errors = rng.spawn(6)
    sizes = draw_sizes(law, jobs, for_sizes)
    seconds = draw_seconds(int(sizes.sum()), for_seconds, longest=longest)
    found = fixed_table(
        draw_arrivals(jobs, float(seconds.sum()), int(capacity.sum()), utilisation, for_gaps),
        spread(sizes, len(capacity), skew, for_sites),
        seconds,
        expected=guess(seconds, accuracy, for_guesses),
        error=guess(np.ones(jobs), accuracy, for_errors),
    )
    return FleetCase(sites, found)
