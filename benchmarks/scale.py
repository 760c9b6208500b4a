"""Scaling: a year of jobs of a large GPU cluster on instances that come and go.

The peer is a plain simulation in Python: one event at a time from a heap, first fit over a list, and a reactive rule
once per period. It does less (one resource, no kinds of jobs, no polls, no log), and is timed on a part of the year.

Two years are timed: one of drawn jobs, and one of Helios' cluster Venus from its published counts, if these are
available. ``python -m benchmarks.scale`` prints only the second, with the mean wait.
"""

from __future__ import annotations

import gc
import heapq
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.measure import Row
from windlass.experiment.workloads.bins import jobs_of_bins
from windlass.experiment.workloads.seasons import Season, Shape, seasonal
from windlass.experiment.worlds.elastic.simulation import ElasticCase, run_elastic, scale_policy
from windlass.io.traces.bins import read_bins
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.result import Scaled
from windlass_reproductions.public import traces

_Found = TypeVar("_Found")

_DAYS, _JOBS_A_YEAR, _PERIOD, _LOOK = 365.0, 600_000, 600.0, 10.0
#: Number of days that the peer runs.
_PEER_DAYS = 14.0
_POLICIES = ("static", "reactive", "consolidate", "predictive", "newsvendor", "hazard", "clairvoyant")
#: GPUs per job as on large clusters: most jobs request one, few request several instances.
_SHAPES = tuple(
    Shape(gpus, 6.0 * gpus, 32e9 * gpus, weight)
    for gpus, weight in ((1.0, 60.0), (2.0, 12.0), (4.0, 12.0), (8.0, 12.0), (16.0, 3.0), (32.0, 1.0))
)
#: Counts of Venus, 153 days, in the folder of traces; sizes and ends that the counts leave open are drawn.
_HELIOS, _DAY, _DRAW = "elastic/helios_venus.csv", 86_400.0, 2021
#: Policies for Helios' year: that of today's autoscalers, and ``hazard``.
_TODAY_AND_OURS = ("reactive", "hazard")
_TYPE = InstanceType("gpu-8", gpus=8, cores=48, memory=256e9, price=24.0, launch=600.0, most=600)


def year(days: float) -> VectorJobs:
    """Draw ``days`` days of 600,000 jobs a year."""
    season = Season(days, _JOBS_A_YEAR / _DAYS / 24.0, batch=2.0, run=1500.0, spread=1.7)
    return seasonal(season, _SHAPES, np.random.default_rng(1))


def helios_year(path: Path) -> VectorJobs:
    """Return a year of jobs with GPUs of Helios' cluster Venus: its log, repeated until the year is full."""
    jobs = jobs_of_bins(read_bins(path), np.random.default_rng(_DRAW))
    # Rounded up to midnight, so that the hours of the day stay aligned.
    length = np.ceil((float(jobs.submit[-1]) + 1.0) / _DAY) * _DAY
    turns = int(np.ceil(_DAYS * _DAY / length))
    # Jobs that ran before the log began are not repeated.
    later = jobs.submit > 0.0
    rows = np.concatenate([np.arange(len(jobs)), *(np.flatnonzero(later),) * (turns - 1)])
    at = np.concatenate([jobs.submit, *(jobs.submit[later] + turn * length for turn in range(1, turns))])
    kept = at < _DAYS * _DAY
    rows, at = rows[kept], at[kept]
    return VectorJobs.of(at, jobs.run[rows], *jobs.resources[rows].T)


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite."""
    found = list(_rows_of(year(_DAYS), "a year", _POLICIES, repeats))
    log = traces() / _HELIOS
    if log.is_file():
        found += _rows_of(helios_year(log), "a year of Helios' Venus", _TODAY_AND_OURS, repeats)
    else:
        print(f"{log}: missing, so its year is omitted", file=sys.stderr)
    return found


def _rows_of(jobs: VectorJobs, what: str, policies: Sequence[str], repeats: int) -> Iterator[Row]:
    few = _first(jobs)
    peer = [_cpu_seconds(lambda: _plain(few))[0] * len(jobs) / len(few) for _ in range(max(1, repeats))]
    for name in policies:
        ours = [seconds for seconds, _ in _timed(name, jobs, max(1, repeats))]
        ratios = [theirs / own for own, theirs in zip(ours, peer, strict=True)]
        print(f"{name}: {statistics.median(ours):.1f} CPU s", file=sys.stderr, flush=True)
        yield Row(
            f"{name}: {what}, {len(jobs):,} jobs, decisions every 10 min, polls every 10 s",
            statistics.median(ours),
            statistics.median(peer),
            f"plain Python, reactive without polls, {len(few):,} jobs",
            "CPU s a year",
            statistics.median(ratios),
            min(ratios),
            max(ratios),
        )


def _timed(name: str, jobs: VectorJobs, repeats: int) -> Iterator[tuple[float, Scaled]]:
    """Yield CPU seconds and outcome of each run."""
    # Compile and import before timing.
    _run(name, _first(jobs))
    for _ in range(repeats):
        yield _cpu_seconds(lambda: _run(name, jobs))


def _first(jobs: VectorJobs) -> VectorJobs:
    """Return the jobs that the peer runs."""
    return jobs.take(jobs.submit < jobs.submit[0] + _PEER_DAYS * _DAY)


def _run(name: str, jobs: VectorJobs) -> Scaled:
    case = ElasticCase(jobs, InstanceFleet((_TYPE,)), _PERIOD, look=_LOOK)
    policy = scale_policy(name, {}, case, np.random.default_rng(1))
    return run_elastic(case, policy, np.random.default_rng(2))


def main() -> None:
    """Run Helios' year under both policies, and print CPU seconds, mean wait and hours."""
    jobs = helios_year(traces() / _HELIOS)
    for name in _TODAY_AND_OURS:
        [(seconds, done)] = _timed(name, jobs, 1)
        waits, hours = done.start - done.jobs.submit, done.paid().sum() / 3600.0
        print(
            f"{name}: {len(jobs):,} jobs in {seconds:.1f} CPU s; {waits.mean():.1f} s mean wait, "
            f"{hours:,.0f} instance-hours",
            flush=True,
        )


def _cpu_seconds(what: Callable[[], _Found]) -> tuple[float, _Found]:
    """Return the CPU seconds and the result of a call."""
    gc.collect()
    begun = time.process_time()
    found = what()
    return time.process_time() - begun, found


def _plain(jobs: VectorJobs) -> float:
    """Return the mean wait, s, of jobs that are cut to the size of one instance, by events from a heap."""
    gpus = np.minimum(jobs.resources[:, 0], _TYPE.gpus).tolist()
    submit, run = jobs.submit.tolist(), jobs.run.tolist()
    events = [(at, 1, job) for job, at in enumerate(submit)]
    events.append((0.0, 2, 0))
    heapq.heapify(events)
    free: list[float] = []
    on: dict[int, int] = {}
    queue: list[int] = []
    coming, waited, ended = 0, 0.0, 0
    while ended < len(submit):
        now, kind, job = heapq.heappop(events)
        if kind == 0:
            free[on.pop(job)] += gpus[job]
            ended += 1
        elif kind == 1:
            queue.append(job)
        elif kind == 3:
            coming -= 1
            free.append(_TYPE.gpus)
        else:
            missing = -(-sum(gpus[each] for each in queue) // _TYPE.gpus) - coming
            for _ in range(int(max(0.0, missing))):
                coming += 1
                heapq.heappush(events, (now + _TYPE.launch, 3, 0))
            heapq.heappush(events, (now + _PERIOD, 2, 0))
        left = []
        for each in queue:
            place = next((row for row, some in enumerate(free) if some >= gpus[each]), -1)
            if place < 0:
                left.append(each)
                continue
            free[place] -= gpus[each]
            on[each] = place
            waited += now - submit[each]
            heapq.heappush(events, (now + run[each], 0, each))
        queue = left
    return waited / len(submit)


if __name__ == "__main__":
    main()
