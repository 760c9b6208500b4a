"""Sharing on five stretches of two logs: waits of jobs, and the slowdown of their hosts.

``python -m windlass_reproductions.asax.stretches`` chooses the settings of each policy on the first 1,000 jobs of each
log: those with the least mean wait among those whose hosts are slower by no more than the budget in the mean, or the
gentlest if none is within it. It judges them on five other stretches of 1,000 jobs with several seeds, which draw the
jobs' resource use and the cost of sharing. The site of each stretch has the processors of a load of 0.9, but at least
those of its widest job. A host is a job that had a guest in its completed attempt and did not start it as a guest.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.engines.worker_pool import processes
from windlass.experiment.worlds.sharing.spec import SharingSetting
from windlass.experiment.worlds.sharing.world import SharingWorld, simulated
from windlass.model import InputError
from windlass.model.statistics import student_half_width
from windlass.results.metrics.sharing import hosts_of, sharing_metrics
from windlass.sim.shares.result import Shared
from windlass.sim.site.result import Replay
from windlass_reproductions.public import VARIABLE, traces

#: Slowdown of hosts that is accepted, as a share.
BUDGET = 0.05
#: Share of the wait by which a policy must differ from another to be ahead or behind; the interval must agree.
MARGIN = 0.05
LOAD = 0.9
_CHECKPOINT = 300.0
_SETTINGS: dict[str, tuple[Any, ...]] = {
    "static": ("static",),
    "pairs": tuple({"pairs": {"budget": each}} for each in (0.02, 0.05, 0.1)),
    "asax": tuple({"asax": {"loss": each}} for each in ("walltime", "progress", "wait")),
    "asax, frozen": tuple(
        {"asax": {"loss": each, "learn": False}} for each in ("walltime", "progress", "wait")
    ),
}


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive jobs of a log.

    Parameters
    ----------
    name
        Its name in the table.
    log
        The log's file in the folder of traces.
    where
        The filter of its jobs.
    """

    name: str
    log: str
    where: str

    @classmethod
    def kth(cls, first: int) -> Stretch:
        """Return 1,000 jobs of KTH-SP2."""
        where = f"job >= {first} and job <= {first + 999}"
        return cls(f"KTH-SP2 from {first:,}", "swf/KTH-SP2-1996-2.1-cln.swf.gz", where)

    @classmethod
    def lcg(cls, first: int, last: int, number: int) -> Stretch:
        """Return the jobs of partition 12 of LCG between two job numbers; ``number`` is the first's place there."""
        where = f"partition == 12 and job >= {first} and job <= {last}"
        return cls(f"LCG, partition 12, from {number:,}", "swf/LCG-2005-1.swf.gz", where)


#: By log: where settings are chosen, and where they are judged.
DESIGN = {"KTH": Stretch.kth(1), "LCG": Stretch.lcg(1, 24977, 1)}
JUDGED = {
    "KTH": (Stretch.kth(5001), Stretch.kth(13001), Stretch.kth(21001)),
    "LCG": (Stretch.lcg(55915, 76483, 2001), Stretch.lcg(155943, 170319, 6001)),
}


@dataclass(frozen=True, slots=True)
class Found:
    """The outcome of one run: times in s, and slowdowns of hosts as shares."""

    wait: float
    p95_wait: float
    response: float
    makespan: float
    slower: float
    p95_slower: float
    within: float


def run(stretch: Stretch, share: Any, seed: int) -> Found:
    """Simulate a stretch under EASY and a policy of sharing.

    Parameters
    ----------
    stretch
        The jobs.
    share
        The policy, as in a scenario.
    seed
        The random seed of resource use and of the cost of sharing.
    """
    setting = _setting(stretch, share, processors=_processors(stretch))
    case, done = simulated(setting, seed, SharingWorld().workload(setting, seed))
    metrics = sharing_metrics(done.jobs, done.shared, case.use, done.left, kill=case.kill)
    slower = _slowdowns(done.jobs, done.shared)
    return Found(
        metrics.mean_wait_s,
        metrics.p95_wait_s,
        metrics.mean_response_s,
        metrics.makespan_s,
        float(slower.mean()) if len(slower) else 0.0,
        float(np.percentile(slower, 95)) if len(slower) else 0.0,
        float((slower <= BUDGET + 1e-9).mean()) if len(slower) else 1.0,
    )


def _setting(stretch: Stretch, share: Any, processors: int) -> SharingSetting:
    return SharingSetting.model_validate(
        {
            "cluster": {"processors": processors},
            "workload": {"trace": str(traces() / stretch.log), "where": stretch.where},
            "policies": {"order": "easy", "share": share},
            "checkpoint": _CHECKPOINT,
        }
    )


def _processors(stretch: Stretch) -> int:
    """Return the processors at which the jobs' load is 0.9, or the widest job's if it has more."""
    setting = _setting(stretch, "none", processors=100_000)
    jobs = SharingWorld().workload(setting, 0).jobs.jobs
    busy = (jobs.procs * np.minimum(jobs.run, jobs.request)).sum() / (jobs.submit.max() - jobs.submit.min())
    return max(int(np.ceil(busy / LOAD)), int(jobs.procs.max()))


def _slowdowns(done: Replay, shared: Shared) -> NDArray[np.float64]:
    """Return the slowdown of each host, as a share of its run time alone."""
    alone, rows = np.minimum(done.jobs.run, done.jobs.request), hosts_of(done, shared)
    rows = rows[alone[rows] > 0.0]
    found: NDArray[np.float64] = (done.end - done.start)[rows] / alone[rows] - 1.0
    return found


def chosen(found: Sequence[Sequence[Found]]) -> int:
    """Return the index of the setting to judge.

    Parameters
    ----------
    found
        For each setting, its runs on the jobs to choose on.

    Examples
    --------
    >>> fast, gentle = Found(5.0, 9.0, 8.0, 99.0, 0.2, 0.3, 0.5), Found(7.0, 9.0, 8.0, 99.0, 0.04, 0.1, 0.9)
    >>> chosen([[fast], [gentle]]), chosen([[fast], [fast]])
    (1, 0)
    """
    waits = [float(np.mean([each.wait for each in runs])) for runs in found]
    slower = [float(np.mean([each.slower for each in runs])) for runs in found]
    able = [at for at, each in enumerate(slower) if each <= BUDGET]
    return min(able, key=waits.__getitem__) if able else int(np.argmin(slower))


def verdict(ours: NDArray[np.float64], other: NDArray[np.float64]) -> str:
    """Return whether waits ``ours`` (s,) are ahead of those of the ``other`` policy (s,) under the same seeds.

    Examples
    --------
    >>> verdict(np.array([80.0, 82.0, 78.0]), np.array([100.0, 101.0, 99.0]))
    'ahead'
    >>> verdict(np.array([100.0, 101.0, 99.0]), np.array([80.0, 82.0, 78.0]))
    'behind'
    >>> verdict(np.array([99.0, 60.0, 140.0]), np.array([100.0, 100.0, 100.0]))
    'open'
    """
    saved = 1.0 - ours.mean() / other.mean()
    half = student_half_width(other - ours) / other.mean()
    if saved >= MARGIN and saved - half > 0.0:
        return "ahead"
    return "behind" if -saved >= MARGIN and -saved - half > 0.0 else "open"


def main(words: list[str] | None = None) -> None:
    """Choose, judge, and print a row per stretch and policy."""
    parser = argparse.ArgumentParser(prog="python -m windlass_reproductions.asax.stretches")
    parser.add_argument("--seeds", type=int, default=5, help="seeds on the judged stretches [default: 5]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes [default: cores]")
    options = parser.parse_args(words)
    logs = {each.log for each in DESIGN.values()}
    absent = [log for log in logs if not (traces() / log).is_file()]
    if absent:
        raise InputError(f"{', '.join(absent)}: absent; set {VARIABLE} to the folder of the logs")
    print(
        "| stretch | policy | wait, h | 95 %, h | response, h | makespan, h | hosts slower by | 95 % | within 5 % ",
        end="",
    )
    print("| compared with none | with pairs |")
    print("|---" * 11 + "|", flush=True)
    with processes(options.jobs) as crew:

        def runs_of(stretch: Stretch, share: Any, seeds: range) -> list[Any]:
            return [crew.submit(run, stretch, share, seed) for seed in seeds]

        for log, judged in JUDGED.items():
            tried = {
                name: [runs_of(DESIGN[log], each, range(101, 103)) for each in settings]
                for name, settings in _SETTINGS.items()
            }
            policies = {"none": "none"} | {
                name: _SETTINGS[name][chosen([[each.result() for each in runs] for runs in tries])]
                for name, tries in tried.items()
            }
            print(f"{log}: {policies}", file=sys.stderr, flush=True)
            for stretch in judged:
                pending = {
                    name: runs_of(stretch, each, range(1, options.seeds + 1))
                    for name, each in policies.items()
                }
                found = {name: [each.result() for each in runs] for name, runs in pending.items()}
                for name in policies:
                    print(_row(stretch, name, found), flush=True)


def _row(stretch: Stretch, name: str, found: dict[str, list[Found]]) -> str:
    def column(of: str, get: Callable[[Found], float]) -> NDArray[np.float64]:
        return np.array([get(each) for each in found[of]])

    wait = column(name, lambda each: each.wait)
    hours = [wait.mean(), *(np.mean([get(each) for each in found[name]]) for get in _TIMES)]
    shares = [np.mean([get(each) for each in found[name]]) for get in _SHARES]
    verdicts = [
        verdict(wait, column(other, lambda each: each.wait)) if other != name else ""
        for other in ("none", "pairs")
    ]
    cells = [*(f"{each / 3600.0:.2f}" for each in hours), *(f"{each:.1%}" for each in shares), *verdicts]
    return f"| {stretch.name} | {name} | {' | '.join(cells)} |"


_TIMES: tuple[Callable[[Found], float], ...] = (
    lambda each: each.p95_wait,
    lambda each: each.response,
    lambda each: each.makespan,
)
_SHARES: tuple[Callable[[Found], float], ...] = (
    lambda each: each.slower,
    lambda each: each.p95_slower,
    lambda each: each.within,
)


if __name__ == "__main__":
    main()
