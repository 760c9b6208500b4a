"""Partitions: each job is bound to one, and each has its own processors and queue."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.worlds.batch.spec import PartitionSpec
from windlass.io.traces import Workload
from windlass.model import InputError
from windlass.sim.site.result import Replay


def bound(workload: Workload, partitions: Sequence[PartitionSpec]) -> Workload:
    """Select the jobs of these partitions that fit them; notes count the omitted jobs.

    Parameters
    ----------
    workload
        The jobs of all partitions.
    partitions
        The configured partitions.

    Raises
    ------
    InputError
        Jobs have no partitions, or no job can run.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> from windlass.io.traces.groups import Belongings, Members
    >>> of = Belongings(partition=Members(np.array([0, 1, 0]), ("a", "b")))
    >>> jobs = JobTable.of(submit=[0, 1, 2], run=[5, 5, 5], procs=[1, 1, 9])
    >>> found = bound(Workload(jobs, 12, of=of), [PartitionSpec(name="a", processors=8)])
    >>> found.jobs.job.tolist(), found.processors, found.notes[1]
    ([1], 8, '1 job is wider than its partition and is left out: job 3 (9)')
    """
    of = workload.of.partition
    if of is None:
        raise InputError("cluster.partitions: jobs name no partition, expected a log that does")
    room = np.array([_room(name, partitions) for name in of.names] + [-1])[of.number]
    procs = workload.jobs.procs
    stray, wide = room < 0, (room >= 0) & (procs > room)
    notes = list(workload.notes)
    if stray.any():
        count, first = int(stray.sum()), int(np.argmax(stray))
        name = repr(of.names[of.number[first]]) if of.number[first] >= 0 else "none"
        which = (
            "is of no configured partition and is" if count == 1 else "are of no configured partition and are"
        )
        notes.append(
            f"{_jobs(count)} {which} left out{_first(count)}: job {workload.name_of(first)} ({name})"
        )
    if wide.any():
        count, first = int(wide.sum()), int(np.argmax(wide))
        which = (
            "is wider than its partition and is" if count == 1 else "are wider than their partitions and are"
        )
        notes.append(
            f"{_jobs(count)} {which} left out{_first(count)}: job {workload.name_of(first)} ({procs[first]})"
        )
    rows = ~stray & ~wide
    if not rows.any():
        raise InputError("cluster.partitions: no jobs are left: " + "; ".join(notes))
    return dataclasses.replace(
        workload.take(rows), processors=sum(each.processors for each in partitions), notes=tuple(notes)
    )


def _room(name: str, partitions: Sequence[PartitionSpec]) -> int:
    return next((each.processors for each in partitions if each.name == name), -1)


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count:,} jobs"


def _first(count: int) -> str:
    return "" if count == 1 else ", the first"


def parts_of(
    workload: Workload, partitions: Sequence[PartitionSpec]
) -> Iterator[tuple[int, NDArray[np.int64], Workload]]:
    """Yield each partition that has jobs: its number, (n,) the rows of its jobs in the workload, and its own workload.

    Parameters
    ----------
    workload
        From :func:`bound`.
    partitions
        The configured partitions.
    """
    of = workload.of.partition
    for number, partition in enumerate(partitions):
        assert of is not None  # Checked by `bound`.
        rows = np.flatnonzero(
            of.number == (of.names.index(partition.name) if partition.name in of.names else -2)
        )
        if len(rows):
            yield number, rows, dataclasses.replace(workload.take(rows), processors=partition.processors)


def replayed_apart(
    workload: Workload,
    partitions: Sequence[PartitionSpec],
    replay_one: Callable[[Workload, int], Replay],
) -> Replay:
    """Replay each partition separately, and return all jobs in the order of the workload.

    Parameters
    ----------
    workload, partitions
        See :func:`parts_of`.
    replay_one
        Replays one partition, given its workload and number.
    """
    start, end = np.full((2, len(workload.jobs)), np.nan)
    why, reasons = np.zeros(len(workload.jobs), np.int64), dict[str, int]()
    for number, rows, part in parts_of(workload, partitions):
        done = replay_one(part, number)
        codes = np.array([reasons.setdefault(reason, len(reasons)) for reason in done.reasons])
        start[rows], end[rows], why[rows] = done.start, done.end, codes[done.why]
    return Replay(workload.jobs, workload.processors, start, end, why, tuple(reasons))
