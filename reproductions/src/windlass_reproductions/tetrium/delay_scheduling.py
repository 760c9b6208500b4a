"""``gather`` and Tetrium compared with delay scheduling in many settings, and a bound on the gain of any policy."""

from __future__ import annotations

import dataclasses
import heapq
from typing import Any

import numpy as np

from windlass.experiment.workloads.sites import SiteModel
from windlass.model.fleet import FleetJobs
from windlass_reproductions.reproduction import Row
from windlass_reproductions.tetrium.rows import DELAY, FigureRows
from windlass_reproductions.tetrium.runs import JOBS, SITES, Bench, values_text
from windlass_reproductions.tetrium.verdicts import rises
from windlass_reproductions.verdicts import Floats

_CHANGED = dataclasses.replace
#: Variants of delay scheduling: several waits, and one that waits only once per stage.
WAYS: dict[str, dict[str, Any]] = {
    "0 s": {"wait": 0.0},
    "3 s": {"wait": 3.0},
    "5 s": {"wait": 5.0},
    "3 s once": {"wait": 3.0, "restarts": False},
}


def _small(sites: int, stages: tuple[int, int]) -> dict[str, Any]:
    jobs = _CHANGED(JOBS, tasks=30.0, tasks_spread=0.6, task_bytes=30e6, stages=stages)
    return {"sites": SiteModel(sites=sites, slots=(4, 16), mbit=(100.0, 1000.0)), "jobs": jobs}


#: The base setting and variants of it, and Figure 4.7's four settings; the first ones run in the quick mode.
SETTINGS: dict[str, dict[str, Any]] = {
    "base: 2 MB a task, load 3": {},
    "10 MB a task": {"jobs": _CHANGED(JOBS, task_bytes=10e6)},
    "links by Zipf, e = 1.6": {"sites": _CHANGED(SITES, link_zipf=1.6)},
    "TPC-DS at 8 sites": _small(8, (6, 16)),
    "load 1": {"jobs": _CHANGED(JOBS, load=1.0)},
    "load 0.3": {"jobs": _CHANGED(JOBS, load=0.3)},
    "0.5 MB a task": {"jobs": _CHANGED(JOBS, task_bytes=0.5e6)},
    "30 MB a task, load 1": {"jobs": _CHANGED(JOBS, task_bytes=30e6, load=1.0)},
    "slots alike": {"sites": _CHANGED(SITES, slot_zipf=0.0)},
    "links alike": {"sites": _CHANGED(SITES, link_zipf=0.0)},
    "slots and links alike": {"sites": _CHANGED(SITES, slot_zipf=0.0, link_zipf=0.0)},
    "slots by Zipf, e = 1.6": {"sites": _CHANGED(SITES, slot_zipf=1.6)},
    "a tenth of the slots, 0.2 MB, load 20": {
        "sites": _CHANGED(SITES, slots=(25, 500)),
        "jobs": _CHANGED(JOBS, load=20.0, task_bytes=0.2e6),
    },
    "Big-Data at 8 sites": _small(8, (2, 5)),
    "TPC-DS at 30 sites": _small(30, (6, 16)),
    "Big-Data at 30 sites": _small(30, (2, 5)),
}
_QUICK = 4


def least_response(jobs: FleetJobs, slots: int) -> float:
    """Return a lower bound on the mean response time of any policy, s.

    It is the larger of two bounds: the longest chain of each job, where a stage takes as long as its longest task; and
    shortest remaining work first on one preemptive machine that is as fast as all slots together.

    >>> from windlass.model.fleet import StageSpec
    >>> stages = [[StageSpec(2.0, (4,))], [StageSpec(2.0, (1,)), StageSpec(1.0, tasks=1, parents=(0,))]]
    >>> jobs = FleetJobs.of([0.0, 0.0], stages)
    >>> least_response(jobs, 100), least_response(jobs, 1)
    (2.5, 7.0)
    """
    longest = np.maximum.reduceat(jobs.duration, jobs.first[:-1])
    begins, chain = np.zeros(len(longest)), np.zeros(len(jobs))
    for stage, job in enumerate(jobs.job.tolist()):
        ends = begins[stage] + longest[stage]
        chain[job] = max(chain[job], ends)
        for child in jobs.children[jobs.child_at[stage] : jobs.child_at[stage + 1]].tolist():
            begins[child] = max(begins[child], ends)
    work = np.bincount(jobs.job[jobs.stage], jobs.duration, len(jobs)) / slots
    return max(float(chain.mean()), float((_least_first(jobs.submit, work) - jobs.submit).mean()))


def _least_first(submit: Floats, work: Floats) -> Floats:
    """Return the (J,) end times on one machine that always serves the job with the least remaining work, s."""
    ends, now = np.zeros(len(work)), 0.0
    left: list[tuple[float, int]] = []
    for job in range(len(work) + 1):
        until = submit[job] if job < len(work) else np.inf
        while left and now < until:
            rest, first = heapq.heappop(left)
            done = min(rest, until - now)
            now += done
            if done < rest:
                heapq.heappush(left, (rest - done, first))
            else:
                ends[first] = now
        now = max(now, until)
        if job < len(work):
            heapq.heappush(left, (float(work[job]), job))
    return ends


def ahead(values: list[Floats]) -> bool | None:
    """Whether gains (s,) against each variant of delay scheduling are significantly above 0.

    >>> some = np.array([1.0, 2.0, 1.5])
    >>> ahead([some, some + 1.0]), ahead([some, -some]), ahead([some, some - 1.5])
    (True, False, None)
    """
    return rises(*((np.zeros(len(own)), own) for own in values)).holds


def delay_scheduling_rows(bench: Bench, quick: bool) -> FigureRows:
    """Return a row per setting: the gains of ``gather`` and Tetrium over delay scheduling, and the largest possible."""
    rows = []
    for label in list(SETTINGS)[: _QUICK if quick else None]:
        setting = SETTINGS[label]
        found = {
            policy: [bench.values(policy, DELAY, other=way, **setting) for way in WAYS.values()]
            for policy in ("gather", "tetrium")
        }
        means = [
            [bench.run(DELAY, seed, **setting, **way).response.mean() for seed in bench.seeds]
            for way in WAYS.values()
        ]
        best = int(np.argmin(np.mean(means, axis=1)))
        least = []
        for seed in bench.seeds:
            fleet, jobs = bench.workload(seed, setting.get("sites", SITES), setting.get("jobs", JOBS))
            least.append(least_response(jobs, int(fleet.slots.sum())))
        possible = 100.0 * (1.0 - np.array(least) / np.array(means[best]))
        ways = ", ".join(WAYS)
        ours = "; ".join(f"{policy} {', '.join(map(values_text, own))}" for policy, own in found.items())
        side = {True: "ahead of each", False: "behind one", None: "not significantly ahead of each"}
        note = (
            f"against waits of {ways}; gather is {side[ahead(found['gather'])]}; best is {list(WAYS)[best]},"
            f" against which no policy gains more than {values_text(possible)}"
        )
        rows.append(Row(f"Gather and Tetrium against delay scheduling, {label}, %", None, ours, None, note))
    return rows, []
