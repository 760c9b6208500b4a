"""Real workloads for the cost–wait curve: the jobs of a log, machines as the log's were, and which weeks judge.

All of it was fixed before anything was run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from windlass.experiment.workloads.bins import jobs_of_bins
from windlass.experiment.worlds.elastic.simulation import ElasticCase
from windlass.io.traces.bins import read_bins
from windlass.io.traces.demands import read_demands
from windlass.io.traces.swf import read_swf
from windlass.io.traces.workload import to_workload
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.sim.instances.fleet import InstanceFleet
from windlass_reproductions.public import traces

DAY = 86_400.0
WEEK = 7.0 * DAY
#: Seconds from one decision to the next, as in the paper.
PERIOD = 300.0
#: Seconds from one look at who waits to the next, as the autoscalers of today have it, for every policy.
LOOK = 10.0
#: Of which run of chance the jobs of Helios are made, whose log has counts alone.
_DRAW = 2021


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """A log on instances.

    Parameters
    ----------
    name
        Short.
    case
        Jobs, instances, period, and how much of the log is history only.
    learned
        From when to when a knob may be chosen, s from the first job.
    judged
        From when to when it is judged, s from the first job; nothing was chosen by it.
    block
        Intervals are of blocks of so many seconds: a week, or a day where the log has no weeks.
    """

    name: str
    case: ElasticCase
    learned: tuple[float, float]
    judged: tuple[float, float]
    block: float = WEEK


@dataclass(frozen=True, slots=True)
class Source:
    """Where a workload comes from: its file below the folder of traces, and how it is made of it."""

    name: str
    file: str
    read: Callable[[Path], Workload]


def workloads(names: tuple[str, ...]) -> tuple[Workload, ...]:
    """Those of these names whose logs are at hand."""
    found = (each for each in SOURCES if each.name in names)
    return tuple(each.read(traces() / each.file) for each in found if (traces() / each.file).is_file())


def absent() -> tuple[str, ...]:
    """Names of those whose logs are not."""
    return tuple(each.name for each in SOURCES if not (traces() / each.file).is_file())


def shortened(workload: Workload, blocks: int) -> Workload:
    """The same with so many blocks to learn from, one of them history only, and so many to judge by."""
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
    """KTH's SP2: nodes of one processor, and a job of n takes n of them at once. Walltimes are known."""
    jobs = to_workload(read_swf(path)).jobs
    vectors = VectorJobs.of(jobs.submit, jobs.run, cores=jobs.procs, walltime=jobs.request)
    node = InstanceType("node", cores=1.0, price=1.0, launch=300.0, most=1000)
    return _workload("KTH", vectors, (node,), weeks=(2, 6, 16))


def lcg(path: Path) -> Workload:
    """A grid's jobs of one processor each, on workers of two; eleven days, so blocks are days."""
    jobs = to_workload(read_swf(path)).jobs
    vectors = VectorJobs.of(jobs.submit, jobs.run, cores=jobs.procs)
    node = InstanceType("worker", cores=2.0, price=1.0, launch=300.0, most=6000)
    return _workload("LCG", vectors, (node,), weeks=(1, 4, 10), block=DAY)


def philly(path: Path) -> Workload:
    """All virtual clusters of Philly on machines of eight GPUs. The last weeks of the log are nearly empty."""
    jobs = read_demands(path).jobs
    node = InstanceType("gpu-8", gpus=8.0, price=24.0, launch=600.0, most=600)
    return _workload("Philly", jobs, (node,), weeks=(2, 5, 11))


def helios(path: Path) -> Workload:
    """Venus of Helios on machines of eight GPUs, jobs made of its counts (one draw)."""
    jobs = jobs_of_bins(read_bins(path), np.random.default_rng(_DRAW))
    node = InstanceType("gpu-8", gpus=8.0, price=24.0, launch=600.0, most=600)
    return _workload("Helios", jobs, (node,), weeks=(2, 5, 11))


def openb(path: Path) -> Workload:
    """Pods of openb on three of its commonest nodes. Most came in its last five weeks, so blocks are days."""
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
    """So many blocks are history only; then it is learned on, up to the second; judged up to the third."""
    history, learn, judge = (each * block for each in weeks)
    kept = jobs.take(jobs.submit < jobs.submit[0] + judge)
    case = ElasticCase(kept, InstanceFleet(types), PERIOD, history, LOOK)
    return Workload(name, case, (history, learn), (learn, judge), block)


SOURCES = (
    Source("KTH", "swf/KTH-SP2-1996-2.1-cln.swf.gz", kth),
    Source("LCG", "swf/LCG-2005-1.swf.gz", lcg),
    Source("Philly", "gpu/philly_by_vc.csv", philly),
    Source("Helios", "elastic/helios_venus.csv", helios),
    Source("openb", "gpu/openb_pod_list_default.csv", openb),
)
