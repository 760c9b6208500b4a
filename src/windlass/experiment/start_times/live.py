"""The history of a live Slurm: its finished jobs, and those that run and wait now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from windlass.engines.slurm.log import EndedJob
from windlass.engines.slurm.models import JobRow, Phase
from windlass.experiment.start_times.history import SiteHistory
from windlass.io.traces import Workload
from windlass.io.traces.groups import belongings_of
from windlass.model import InputError, JobTable

#: The request of a job without a time limit, s: a year.
_UNLIMITED_S = 365 * 86_400.0


@dataclass(frozen=True, slots=True, eq=False)
class LiveHistory:
    """What is known of a Slurm at an instant.

    Parameters
    ----------
    history
        Finished, running and waiting jobs; times are Unix times.
    now
        The instant.
    notes
        A sentence for each kind of jobs that is left out.
    """

    history: SiteHistory
    now: float
    notes: tuple[str, ...]


def requested(limit: float | None) -> float:
    """Return the run time (s) that a job with a time limit (s) requests; a year without a limit.

    >>> requested(60.0), requested(None)
    (60.0, 31536000.0)
    """
    return _UNLIMITED_S if limit is None else min(float(limit), _UNLIMITED_S)


def live_history(
    ended: Sequence[EndedJob], rows: Sequence[JobRow], processors: int, now: float
) -> LiveHistory:
    """Return the history of a Slurm from its accounting and its queue.

    Left out are jobs that are held and that Windlass may not release, jobs that wait for other jobs, and jobs wider
    than the site, because none of them starts when processors become idle.

    Parameters
    ----------
    ended
        Its finished jobs.
    rows
        Its live jobs.
    processors
        Its processors.
    now
        Unix time of the reading.

    Raises
    ------
    InputError
        No job is left.

    Examples
    --------
    >>> done = EndedJob(1, 0, 0, 60, 2, 120, "ann", "main", "COMPLETED", "a")
    >>> found = live_history([done], [], processors=4, now=100.0)
    >>> found.history.workload.name_of(0), found.history.end.tolist()
    ('1', [60.0])
    """
    running = [row for row in rows if row.phase is Phase.RUNS and 0 < row.start < now]
    waiting = [row for row in rows if row.phase is Phase.WAITS]
    held = [row for row in waiting if row.held and not row.opted_in]
    free = [row for row in waiting if not row.held or row.opted_in]
    bound = [row for row in free if row.dependency]
    wide = [row for row in free if not row.dependency and row.procs > processors]
    waits = [row for row in free if not row.dependency and row.procs <= processors]
    live = {row.job for row in (*running, *waits)}
    finished = [
        each for each in ended if each.end <= now and each.procs <= processors and each.job not in live
    ]
    jobs = [
        *(
            (str(each.job), each.submit, each.start, each.end, each.procs, each.request, each.user)
            for each in finished
        ),
        *((str(row.job), row.submit, row.start, np.inf, row.procs, row.limit, row.user) for row in running),
        *((str(row.job), row.submit, np.inf, np.inf, row.procs, row.limit, row.user) for row in waits),
    ]
    if not jobs:
        raise InputError("Slurm has no finished, running or waiting job, expected at least one")
    jobs.sort(key=lambda job: job[1])
    names, submit, start, end, procs, request, user = zip(*jobs, strict=True)
    submits = np.minimum(np.array(submit, float), now)
    starts = np.maximum(np.array(start, float), submits)
    ends = np.maximum(np.array(end, float), starts)
    limits = np.array([requested(each) for each in request])
    order = np.argsort(submits, kind="stable")
    held_for = np.where(np.isfinite(ends), ends - np.where(np.isfinite(starts), starts, 0), limits)
    table = JobTable.of(submits[order], held_for[order], np.array(procs)[order], limits[order])
    ids, owners = pl.Series(names)[order], belongings_of(pl.DataFrame({"user": pl.Series(user)[order]}))
    history = SiteHistory(Workload(table, processors, of=owners, ids=ids), starts[order], ends[order])
    left_out = (
        (held, "are held"),
        (bound, "wait for other jobs"),
        (wide, "need more processors than the site has"),
    )
    notes = tuple(f"{len(those):,} waiting jobs are left out: they {why}" for those, why in left_out if those)
    return LiveHistory(history, now, notes)
