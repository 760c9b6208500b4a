"""Jobs drawn from the workload model of Lublin and Feitelson.

The model gives rigid parallel jobs as supercomputer centres saw them: many serial ones, many whose size is
a power of two, run times of a few seconds to two days that grow with size, and arrivals that follow the
hours of the day. It says nothing of the run times that users ask for; see ``overestimate`` below.

Where this departs from the authors' program of 1999: times keep their fractions of a second; the log begins
at a midnight; sizes are set for the system's size and never pass it, also where that is no power of two.

Source: U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers: modeling the
characteristics of rigid jobs", Journal of Parallel and Distributed Computing 63 (2003) 1105-1122.
"""

from __future__ import annotations

from math import floor, log2

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from windlass.experiment.workloads.lublin.day import Day, draw_points
from windlass.experiment.workloads.lublin.kinds import BATCH, COMBINED, INTERACTIVE, JobKind
from windlass.model import InputError, JobTable

_LONGEST_LOG_RUN = 12.0
_WIDEST = 30.0  # the logarithm of the largest factor on gaps that is tried to reach a load
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_ROUND_REQUESTS = np.array(
    [1 * _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 30 * _MINUTE]
    + [hours * _HOUR for hours in (1, 2, 4, 8, 12, 18, 24, 48, 72)]
)


def lublin(
    jobs: int,
    processors: int,
    rng: np.random.Generator,
    *,
    kinds: bool = False,
    load: float | None = None,
    overestimate: float = 5.0,
) -> JobTable:
    """Draw jobs.

    Parameters
    ----------
    jobs
        How many, n.
    processors
        Of the system; no job is larger. The model was fitted to systems of 64 to 512.
    rng
        Where randomness comes from; the same generator state gives the same jobs.
    kinds
        Whether to draw batch and interactive jobs, each with its own arrivals, merged by time; by default
        all jobs are of one kind.
    load
        The offered load to reach, Σ run · procs / (processors · (last submit - first submit)): all gaps are
        multiplied by one factor before they are laid through the day, so the daily cycle keeps its length.
        By default gaps are as the model draws them.
    overestimate
        Users ask for the run time times a factor drawn evenly from 1 to this, rounded up to one of 1, 5, 10
        or 30 minutes, 1, 2, 4, 8, 12, 18, 24, 48 or 72 hours, or else whole days. 1 means that they ask for
        exactly the run time.

    Returns
    -------
    JobTable
        The jobs by time of submission, in s after a midnight, numbered from 1.

    Raises
    ------
    InputError
        A parameter is out of its range: jobs and processors from 1, load above 0 (and with at least two
        jobs), overestimate from 1.

    Examples
    --------
    >>> jobs = lublin(1000, processors=128, rng=np.random.default_rng(1), load=0.7)
    >>> fleet = float(jobs.run @ jobs.procs)
    >>> round(fleet / (128 * float(jobs.submit[-1] - jobs.submit[0])), 6)
    0.7
    """
    _check(jobs, processors, load, overestimate)
    of_kind = [kind.sized(processors) for kind in ((BATCH, INTERACTIVE) if kinds else (COMBINED,))]
    points, kind_of = _draw_arrivals(of_kind, jobs, rng)
    procs = np.empty(jobs, np.int64)
    run = np.empty(jobs)
    for number, kind in enumerate(of_kind):
        rows = np.flatnonzero(kind_of == number)
        procs[rows] = draw_sizes(kind, len(rows), processors, rng)
        run[rows] = draw_runs(kind, procs[rows], rng)
    request = draw_requests(run, overestimate, rng)
    days = [Day.of(kind) for kind in of_kind]
    span = None if load is None else float(run @ procs) / (processors * load)
    submit = _submits(days, points, kind_of, span)
    order = np.argsort(submit, kind="stable")
    return JobTable.of(submit[order], run[order], procs[order], request[order])


def draw_sizes(kind: JobKind, jobs: int, processors: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How many processors each job holds.

    Parameters
    ----------
    kind
        Already set for the system's size by :meth:`JobKind.sized`.
    jobs
        How many, n.
    processors
        Of the system; a size that would be made a larger power of two is made the largest that fits.
    rng
        Where randomness comes from.

    Returns
    -------
    (n,) int64
        Between 1 and ``processors``.
    """
    which, stage, within = rng.random((3, jobs))
    first = stage <= kind.first_stage
    start = np.where(first, kind.low, kind.middle)
    width = np.where(first, kind.middle - kind.low, kind.high - kind.middle)
    log_size = start + within * width
    power = np.minimum(np.floor(log_size + 0.5), floor(log2(processors)))
    log_size = np.where(which <= kind.serial + kind.power_of_two, power, log_size)
    sizes = np.floor(2.0**log_size + 0.5).astype(np.int64)
    return np.where(which <= kind.serial, 1, np.minimum(sizes, processors))


def draw_runs(kind: JobKind, procs: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """How long each job runs: a hyper-gamma logarithm whose mixture depends on the job's size.

    Parameters
    ----------
    kind
        Whose run times.
    procs
        (n,) processors of each job.
    rng
        Where randomness comes from.

    Returns
    -------
    (n,) float64
        Run times, s; at most e¹², about 45 hours.
    """
    share = np.clip(kind.slope * procs + kind.intercept, 0.0, 1.0)
    logs = np.full(len(procs), np.inf)
    above = np.arange(len(procs))
    # A value too large is drawn again as a whole, the choice between the two distributions included.
    while len(above):
        first = rng.random(len(above)) <= share[above]
        shape = np.where(first, kind.shape_1, kind.shape_2)
        logs[above] = rng.gamma(shape, np.where(first, kind.scale_1, kind.scale_2))
        above = above[logs[above] > _LONGEST_LOG_RUN]
    return np.asarray(np.exp(logs))


def draw_requests(
    run: NDArray[np.float64], overestimate: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The run times that users ask for, s; :func:`lublin` says how.

    >>> draw_requests(np.array([61.0, 3600.0, 400_000.0]), 1.0001, np.random.default_rng(1)).tolist()
    [300.0, 7200.0, 432000.0]
    """
    if overestimate == 1.0:
        return run.copy()
    wanted = run * rng.uniform(1.0, overestimate, len(run))
    place = np.searchsorted(_ROUND_REQUESTS, wanted)
    listed = _ROUND_REQUESTS[np.minimum(place, len(_ROUND_REQUESTS) - 1)]
    return np.where(place < len(_ROUND_REQUESTS), listed, np.ceil(wanted / _DAY) * _DAY)


def _check(jobs: int, processors: int, load: float | None, overestimate: float) -> None:
    for name, count in (("jobs", jobs), ("processors", processors)):
        if count < 1:
            raise InputError(f"lublin: {name} is {count}, expected at least 1")
    if load is not None and not (0 < load < np.inf):
        raise InputError(f"lublin: load is {load}, expected a number above 0")
    if load is not None and jobs < 2:
        raise InputError("lublin: jobs is 1, expected at least 2 to reach a load")
    if not (1 <= overestimate < np.inf):
        raise InputError(f"lublin: overestimate is {overestimate}, expected a number of 1 or more")


def _draw_arrivals(
    of_kind: list[JobKind], jobs: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points and kind of the first jobs of all kinds together."""
    points = np.concatenate([draw_points(kind, jobs, rng) for kind in of_kind])
    kind_of = np.repeat(np.arange(len(of_kind)), jobs)
    days = [Day.of(kind) for kind in of_kind]
    first = np.argsort(_times(days, points, kind_of, 1.0), kind="stable")[:jobs]
    return points[first], kind_of[first]


def _times(
    days: list[Day], points: NDArray[np.float64], kind_of: NDArray[np.int64], factor: float
) -> NDArray[np.float64]:
    times = np.empty(len(points))
    for number, day in enumerate(days):
        rows = kind_of == number
        times[rows] = day.times(points[rows] * factor)
    return times


def _submits(
    days: list[Day], points: NDArray[np.float64], kind_of: NDArray[np.int64], span: float | None
) -> NDArray[np.float64]:
    """Times of submission, s, from first to last over ``span`` s where one is given."""
    if span is None:
        return _times(days, points, kind_of, 1.0)
    # Only the first and the last job of each kind can be first or last of all, whatever the factor.
    rows = [np.flatnonzero(kind_of == number) for number in range(len(days))]
    ends = np.concatenate([row[[0, -1]] for row in rows if len(row)])

    def excess(log_factor: float) -> float:
        return float(np.ptp(_times(days, points[ends], kind_of[ends], np.exp(log_factor)))) - span

    if excess(-_WIDEST) > 0 or excess(_WIDEST) < 0:
        raise InputError(f"lublin: the load asked for needs jobs over {span:g} s, too far from what is drawn")
    factor = float(np.exp(brentq(excess, -_WIDEST, _WIDEST, xtol=1e-13, rtol=1e-13)))
    return _times(days, points, kind_of, factor)
