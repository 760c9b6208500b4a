"""Real workloads for the cost–wait curve: the jobs of a log, instances like its machines, and the test weeks.

All of this was fixed before the first run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.workloads.bins import jobs_of_bins
from windlass.experiment.worlds.elastic.simulation import ElasticCase
from windlass.io.traces.bins import read_bins
from windlass.io.traces.demands import read_demands
from windlass.io.traces.swf import read_swf
from windlass.io.traces.workload import to_workload
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.sim.instances.fleet import InstanceFleet
from windlass_reproductions.public import traces

DAY = 86_400.0
WEEK = 7.0 * DAY
#: Seconds from one decision to the next, as in the paper.
PERIOD = 300.0
#: Seconds between two polls of the queue for every policy, as in current autoscalers.
POLL = 10.0
#: Seed of the jobs of Helios, which are drawn because its log has only counts.
_DRAW = 2021


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """A log to be run on instances.

    Parameters
    ----------
    name
        Short name.
    case
        Jobs, instances, period, and how much of the log is only history.
    learned
        Begin and end of the training part, in which a knob may be chosen, s from the first job.
    judged
        Begin and end of the test part, which is not used for any choice, s from the first job.
    block
        Length of the blocks of the bootstrap, s: a week, or a day for logs of few weeks.
    """

    name: str
    case: ElasticCase
    learned: tuple[float, float]
    judged: tuple[float, float]
    block: float = WEEK


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a workload: its file in the folder of traces, and the function that reads it."""

    name: str
    file: str
    read: Callable[[Path], Workload]


def workloads(names: tuple[str, ...]) -> tuple[Workload, ...]:
    """Return the named workloads whose logs are available."""
    found = (each for each in SOURCES if each.name in names)
    return tuple(each.read(traces() / each.file) for each in found if (traces() / each.file).is_file())


def absent() -> tuple[str, ...]:
    """Return the names of all workloads whose logs are not available."""
    return tuple(each.name for each in SOURCES if not (traces() / each.file).is_file())


def shortened(workload: Workload, blocks: int) -> Workload:
    """Return a part of the workload: ``blocks`` training blocks, the first only history, and ``blocks`` test blocks."""
    jobs, size = workload.case.jobs, workload.block
    first = float(jobs.submit[0]) + workload.judged[0] - blocks * size
    kept = (jobs.submit >= first) & (jobs.submit < first + 2 * blocks * size)
    return replace(
        workload,
        case=replace(workload.case, jobs=jobs.take(kept), earlier=size),
        learned=(size, blocks * size),
        judged=(blocks * size, 2 * blocks * size),
    )


def kth(path: Path) -> Workload:
    """Return KTH's SP2, with nodes of one processor: a job of n processors occupies n nodes. Walltimes are known."""
    jobs = to_workload(read_swf(path)).jobs
    vectors = VectorJobs.of(jobs.submit, jobs.run, cores=jobs.procs, walltime=jobs.request)
    node = InstanceType("node", cores=1.0, price=1.0, launch=300.0, most=1000)
    return _workload("KTH", vectors, (node,), weeks=(2, 6, _judged_until(path, jobs.submit)))


def _judged_until(path: Path, submit: NDArray[np.float64]) -> int:
    """Return the week in which the test part ends: the 16th, or the last whole week of a shorter log."""
    whole = int((submit[-1] - submit[0]) // WEEK) if len(submit) else 0
    if whole <= 6:
        raise InputError(
            f"{path}: the log has {whole} whole weeks, expected at least 7: the test part begins after six"
        )
    return min(16, whole)


def swf(path: Path) -> Workload:
    """Return a log of a batch system as :func:`kth` does; the name is the file's.

    Parameters
    ----------
    path
        A log in Standard Workload Format. The first 16 weeks are used, or all whole weeks of a shorter log.

    Raises
    ------
    InputError
        The log has fewer than seven whole weeks.
    """
    return replace(kth(path), name=path.name.split(".")[0])


def lcg(path: Path) -> Workload:
    """Return the one-processor jobs of a grid on workers of two processors; blocks are days, as the log has eleven."""
    jobs = to_workload(read_swf(path)).jobs
    vectors = VectorJobs.of(jobs.submit, jobs.run, cores=jobs.procs)
    node = InstanceType("worker", cores=2.0, price=1.0, launch=300.0, most=6000)
    return _workload("LCG", vectors, (node,), weeks=(1, 4, 10), block=DAY)


def philly(path: Path) -> Workload:
    """Return all virtual clusters of Philly on machines of eight GPUs, without the nearly empty last weeks."""
    jobs = read_demands(path).jobs
    node = InstanceType("gpu-8", gpus=8.0, price=24.0, launch=600.0, most=600)
    return _workload("Philly", jobs, (node,), weeks=(2, 5, 11))


def helios(path: Path) -> Workload:
    """Return Helios' cluster Venus on machines of eight GPUs, with one draw of jobs from its counts."""
    jobs = jobs_of_bins(read_bins(path), np.random.default_rng(_DRAW))
    node = InstanceType("gpu-8", gpus=8.0, price=24.0, launch=600.0, most=600)
    return _workload("Helios", jobs, (node,), weeks=(2, 5, 11))


def openb(path: Path) -> Workload:
    """Return pods of openb on three of its most common node types; blocks are days, as most pods are of five weeks."""
    jobs = read_demands(path).jobs
    late = jobs.take(jobs.submit >= 112.0 * DAY)
    gib = float(1 << 30)
    nodes = (
        InstanceType("cpu-32", cores=32.0, memory=256 * gib, price=1.6, launch=300.0, most=400),
        InstanceType("gpu-2", gpus=2.0, cores=104.0, memory=512 * gib, price=7.0, launch=420.0, most=400),
        InstanceType("gpu-8", gpus=8.0, cores=96.0, memory=384 * gib, price=20.0, launch=600.0, most=200),
    )
    return _workload("openb", late, nodes, weeks=(7, 21, 35), block=DAY)


def _workload(
    name: str,
    jobs: VectorJobs,
    types: tuple[InstanceType, ...],
    weeks: tuple[int, int, int],
    block: float = WEEK,
) -> Workload:
    """Return a workload; ``weeks`` has the ends of history, training and test parts, in blocks."""
    history, learn, judge = (each * block for each in weeks)
    kept = jobs.take(jobs.submit < jobs.submit[0] + judge)
    case = ElasticCase(kept, InstanceFleet(types), PERIOD, history, POLL)
    return Workload(name, case, (history, learn), (learn, judge), block)


SOURCES = (
    Source("KTH", "swf/KTH-SP2-1996-2.1-cln.swf.gz", kth),
    Source("LCG", "swf/LCG-2005-1.swf.gz", lcg),
    Source("Philly", "gpu/philly_by_vc.csv", philly),
    Source("Helios", "elastic/helios_venus.csv", helios),
    Source("openb", "gpu/openb_pod_list_default.csv", openb),
)
