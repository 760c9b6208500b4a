"""Summary statistics of a log: jobs, sizes, times and load."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.experiment.workloads.load import offered_load
from windlass.io.traces import Trace, Workload
from windlass.model import JobTable


@dataclass(frozen=True, slots=True)
class LogDescription:
    """Summary statistics of the jobs of a log that can be scheduled.

    Times are in seconds. ``load`` is the work of all jobs over the processor-seconds that the site offers between the
    first and the last submission. ``over_request`` counts jobs that ran longer than they requested.
    ``first_submit`` and ``last_submit`` are dates in the ``zone`` of the log; empty if it does not state them.
    """

    name: str
    records: int
    bad_lines: int
    jobs: int
    processors: int
    first_submit_s: float
    last_submit_s: float
    load: float
    mean_interarrival_s: float
    serial_share: float
    mean_procs: float
    largest_procs: int
    mean_run_s: float
    median_run_s: float
    longest_run_s: float
    mean_request_over_run: float
    over_request: int
    first_submit: str = ""
    last_submit: str = ""
    zone: str = ""


def describe_log(trace: Trace, workload: Workload) -> LogDescription:
    """Return the summary statistics of a log.

    Parameters
    ----------
    trace
        The log as read.
    workload
        Its jobs that can be scheduled, and the processors of the site.
    """
    jobs: JobTable = workload.jobs
    span = float(jobs.submit[-1] - jobs.submit[0])
    some = jobs.run > 0
    ratio = float((jobs.request[some] / jobs.run[some]).mean()) if some.any() else 0.0
    calendar = workload.calendar
    dates = ["" if calendar is None else calendar.text(float(jobs.submit[at])) for at in (0, -1)]
    return LogDescription(
        name=trace.name,
        records=len(trace.records),
        bad_lines=len(trace.bad_lines),
        jobs=len(jobs),
        processors=workload.processors,
        first_submit_s=float(jobs.submit[0]),
        last_submit_s=float(jobs.submit[-1]),
        load=offered_load(jobs, workload.processors) if span > 0 else 0.0,
        mean_interarrival_s=span / max(len(jobs) - 1, 1),
        serial_share=float((jobs.procs == 1).mean()),
        mean_procs=float(jobs.procs.mean()),
        largest_procs=int(jobs.procs.max()),
        mean_run_s=float(jobs.run.mean()),
        median_run_s=float(np.median(jobs.run)),
        longest_run_s=float(jobs.run.max()),
        mean_request_over_run=ratio,
        over_request=int((jobs.run > jobs.request).sum()),
        first_submit=dates[0],
        last_submit=dates[1],
        zone="" if calendar is None else calendar.zone_text,
    )
