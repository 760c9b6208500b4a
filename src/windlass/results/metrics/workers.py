"""Metrics of small tasks on many workers."""

from __future__ import annotations

from dataclasses import dataclass, field

from windlass.results import LOWER
from windlass.sim.workers.result import Dispatched


@dataclass(frozen=True, slots=True)
class DispatchMetrics:
    """Metrics of small tasks on many workers.

    Parameters
    ----------
    tasks
        Number of tasks.
    mean_response_s, median_response_s, p95_response_s, p99_response_s
        Response of jobs: time from arrival to the end of the last task, s.
    mean_wait_s
        Wait of tasks: time from arrival to start, s.
    longest_queue
        Maximum number of tasks at one worker.
    benchmark_tasks
        Tasks that ran only to measure the workers' speeds.
    """

    tasks: int
    mean_response_s: float = field(metadata=LOWER)
    median_response_s: float = field(metadata=LOWER)
    p95_response_s: float = field(metadata=LOWER)
    p99_response_s: float = field(metadata=LOWER)
    mean_wait_s: float = field(metadata=LOWER)
    longest_queue: float
    benchmark_tasks: float


def dispatch_metrics(done: Dispatched) -> DispatchMetrics:
    """Return the metrics of a finished simulation.

    Parameters
    ----------
    done
        The tasks, with the worker, start and end of each (``record=True``).

    Examples
    --------
    >>> from windlass.dispatch import simulate
    >>> done = simulate("jsq", [1.0, 1.0], load=0.5, tasks=100, seed=1, record=True)
    >>> dispatch_metrics(done).tasks
    100
    """
    return DispatchMetrics(
        tasks=len(done.response),
        mean_response_s=done.mean,
        median_response_s=done.percentile(50),
        p95_response_s=done.percentile(95),
        p99_response_s=done.percentile(99),
        mean_wait_s=float((done.start - done.submit).mean()),
        longest_queue=float(done.longest_queue),
        benchmark_tasks=float(done.benchmarks),
    )
