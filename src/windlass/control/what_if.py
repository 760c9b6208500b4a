"""What if a site had another policy or size from now on: replays of the state that the journal has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from windlass.control.journal import JournalReader
from windlass.control.site_status import SiteStatus, status_from_text
from windlass.experiment.start_times.alternatives import Alternative, WhatIf, compare_alternatives
from windlass.experiment.start_times.history import SiteHistory
from windlass.experiment.start_times.start_check import DRAWS
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import Workload
from windlass.model import InputError, JobTable

#: Names that an error lists, at most.
_NAMED = 8


@dataclass(frozen=True, slots=True, eq=False)
class SiteQueue:
    """The queue of a site as the journal has it.

    Parameters
    ----------
    engine, site
        Their names.
    now
        Time of the state, s of the engine's clock.
    policy
        The present policy.
    history
        Running and waiting jobs, and the last ones that ended.
    status
        The state of the site.
    """

    engine: str
    site: str
    now: float
    policy: PolicySpec
    history: SiteHistory
    status: SiteStatus

    @property
    def processors(self) -> int:
        """Cores that the jobs of the queue hold or may take."""
        return self.history.workload.processors

    def without(self, machines: Sequence[str]) -> int:
        """Return the processors that are left without some machines.

        Raises
        ------
        InputError
            The site has no such machine, or too few processors are left.
        """
        # The cores of a machine that is not up are not among the queue's.
        cores = {each.name: each.cores if each.state == "up" else 0 for each in self.status.machines}
        for name in machines:
            if name not in cores:
                where = f"site {self.site}" if self.site else f"engine {self.engine}"
                known = f"expected one of {_some(cores)}" if cores else "its machines have no names"
                raise InputError(f"{where} has no machine {name!r}, {known}")
        left = self.processors - sum(cores[name] for name in dict.fromkeys(machines))
        if left < 1:
            raise InputError(f"without {', '.join(machines)}, no processor is left")
        return left


def site_queues(reader: JournalReader, engine: str | None = None, site: str | None = None) -> list[SiteQueue]:
    """Return the queues that can be replayed, by engine and site.

    Parameters
    ----------
    reader
        The journal.
    engine, site
        Only this engine and this site; None for all.

    Raises
    ------
    InputError
        The journal cannot be read.
    """
    found = []
    for view in reader.views():
        if engine not in (None, view.engine) or site not in (None, view.site):
            continue
        status = status_from_text(view.content)
        history = _history(status, view.time)
        if history is not None and status.queue is not None:
            policy = PolicySpec(name=status.queue.policy, parameters=status.queue.parameters)
            found.append(SiteQueue(view.engine, view.site, view.time, policy, history, status))
    return found


def chosen_queue(reader: JournalReader, engine: str | None = None, site: str | None = None) -> SiteQueue:
    """Return the one queue that a question is about.

    Parameters
    ----------
    reader, engine, site
        As of :func:`site_queues`.

    Raises
    ------
    InputError
        There is none, or more than one.
    """
    found = site_queues(reader, engine, site)
    if len(found) == 1:
        return found[0]
    named = ", ".join(f"{each.engine}:{each.site}" for each in found)
    if found:
        raise InputError(
            f"{reader.path}: {len(found)} queues ({named}), expected an engine and a site that name one"
        )
    others = [f"{each.engine}:{each.site}" for each in site_queues(reader)]
    if others:
        raise InputError(
            f"{reader.path}: no queue of this engine and site, expected one of {_some(others)} (engine:site)"
        )
    raise InputError(
        f"{reader.path}: no queue with jobs that can be replayed, expected one of running or waiting jobs"
    )


def what_if(
    queue: SiteQueue,
    alternatives: Sequence[Alternative],
    *,
    draws: int = DRAWS,
    seed: int = 1,
    progress: Callable[[int], None] | None = None,
) -> WhatIf:
    """Replay a queue of the journal under alternatives; see :func:`compare_alternatives`.

    The journal has the last jobs that ended and not all jobs of earlier days, so no later arrivals are drawn.

    Parameters
    ----------
    queue
        From :func:`site_queues`.
    alternatives, draws, seed, progress
        As of :func:`compare_alternatives`.
    """
    return compare_alternatives(
        queue.history,
        queue.now,
        queue.policy,
        alternatives,
        draws=draws,
        seed=seed,
        arrivals=False,
        progress=progress,
    )


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _NAMED:,} more" if len(listed) > _NAMED else ""
    return f"{', '.join(listed[:_NAMED])}{more}"


def _history(status: SiteStatus, now: float) -> SiteHistory | None:
    """Return the jobs of a site's queue; None if no policy orders it, or if it has no job or no core."""
    queue = status.queue
    if queue is None:
        return None
    running = [job for job in status.running if job.request > 0]
    waiting = [job for job in status.waiting if job.request > 0]
    processors = queue.free + sum(job.cores for job in running)
    if processors < 1 or not (running or waiting):
        return None
    # A job that started at this very instant runs.
    before = float(np.nextafter(now, -np.inf))
    rows = [
        *(("", each.submit, each.start, each.end, each.cores, each.request) for each in queue.past),
        *(
            (job.id, min(job.since, before), min(job.since, before), np.inf, job.cores, job.request)
            for job in running
        ),
        *((job.id, min(job.since, now), np.inf, np.inf, job.cores, job.request) for job in waiting),
    ]
    rows.sort(key=lambda row: row[1])
    names, submit, start, end, cores, request = zip(*rows, strict=True)
    submits, starts = np.minimum(np.array(submit), now), np.array(start)
    # While fewer cores are there than a job needs, it waits for all of them.
    table = JobTable.of(
        submits,
        run=np.array(request),
        procs=np.minimum(np.array(cores), processors),
        request=np.array(request),
    )
    workload = Workload(table, processors, ids=pl.Series(names, dtype=pl.String))
    return SiteHistory(workload, np.maximum(starts, submits), np.maximum(np.array(end), starts))
