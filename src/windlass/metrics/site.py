"""What is measured of rigid jobs on one site."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.results import HIGHER, LOWER

#: Shorter jobs count as this long, s, so that a job of a second does not rule the mean slowdown.
SLOWDOWN_THRESHOLD = 10.0


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """Metrics of rigid jobs on one site.

    Parameters
    ----------
    jobs
        How many ran.
    mean_wait_s, median_wait_s, p95_wait_s
        Start − submit, s.
    mean_response_s
        End − submit, s.
    mean_bounded_slowdown
        Mean of max(1, response / max(run time, 10 s)).
    utilisation
        Share of processor-seconds in use between the first submit and the last end.
    makespan_s
        From the first submit to the last end, s.
    """

    jobs: int
    mean_wait_s: float = field(metadata=LOWER)
    median_wait_s: float = field(metadata=LOWER)
    p95_wait_s: float = field(metadata=LOWER)
    mean_response_s: float = field(metadata=LOWER)
    mean_bounded_slowdown: float = field(metadata=LOWER)
    utilisation: float = field(metadata=HIGHER)
    makespan_s: float = field(metadata=LOWER)


def bounded_slowdown(
    submit: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Response time over run time, runs under 10 s counted as 10 s, and never below 1.

    Parameters
    ----------
    submit, start, end
        (n,) s.

    Returns
    -------
    (n,) at least 1.

    Examples
    --------
    >>> bounded_slowdown(np.array([0.0, 0.0]), np.array([90.0, 4.0]), np.array([120.0, 5.0])).tolist()
    [4.0, 1.0]

    Source: Feitelson, "Metrics for parallel job scheduling and their convergence", JSSPP 2001.
    """
    return np.maximum(1.0, (end - submit) / np.maximum(end - start, SLOWDOWN_THRESHOLD))


def batch_metrics(
    submit: NDArray[np.float64],
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    procs: NDArray[np.int64],
    processors: int,
) -> BatchMetrics:
    """Metrics of a finished replay.

    Parameters
    ----------
    submit, start, end
        (n,) s, n at least 1.
    procs
        (n,) processors held from start to end.
    processors
        Processors of the site.

    Examples
    --------
    >>> metrics = batch_metrics(np.array([0.0, 0.0]), np.array([0.0, 10.0]), np.array([10.0, 20.0]),
    ...     np.array([2, 1]), processors=2)
    >>> metrics.mean_wait_s, metrics.utilisation, metrics.makespan_s
    (5.0, 0.75, 20.0)
    """
    wait = start - submit
    makespan = float(end.max() - submit.min())
    work = float(((end - start) * procs).sum())
    return BatchMetrics(
        jobs=len(submit),
        mean_wait_s=float(wait.mean()),
        median_wait_s=float(np.median(wait)),
        p95_wait_s=float(np.percentile(wait, 95)),
        mean_response_s=float((end - submit).mean()),
        mean_bounded_slowdown=float(bounded_slowdown(submit, start, end).mean()),
        utilisation=work / (processors * makespan) if makespan > 0 else 0.0,
        makespan_s=makespan,
    )
