"""Replays of batch logs: jobs per second, memory and mean waits, compared with plain Python, SimPy and AccaSim.

If a peer starts a job at another time, standard error has the first such job, and the rule in which the two differ.
"""

from __future__ import annotations

import dataclasses
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import peers, peers_accasim
from benchmarks.measure import Row, compare_rates
from benchmarks.peers_differ import first_difference
from benchmarks.peers_order import ListedConservative, Scanning
from windlass.experiment.workloads import lublin
from windlass.io.traces import read_trace, to_workload
from windlass.jit import prepare
from windlass.model import JobTable
from windlass.order.site import POLICIES
from windlass.order.site.compiled import CompiledPolicy
from windlass.order.site.policies.conservative import Conservative
from windlass.order.site.reservation import after
from windlass.order.site.view import Running, SiteView, Waiting
from windlass.sim.site.part import kernels
from windlass.sim.site.replay import replay

_KTH = Path(__file__).parents[2] / "shared" / "traces" / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz"
_MEMORY_JOBS = 200_000
#: Number of jobs of each log for AccaSim, which takes about a second for a thousand.
_OTHERS_JOBS = 5_000


@dataclass(frozen=True, slots=True)
class Case:
    """A workload to replay."""

    name: str
    jobs: JobTable
    processors: int


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite."""
    found: list[Row] = []
    for case in _cases():
        for policy, decide in (("fcfs", peers.fcfs), ("easy", peers.easy)):
            found += _replays(case, policy, decide, repeats)
    large = Case("Lublin, 450,000 jobs, 8,192 processors", _large_workload(), 8192)
    found += _replays(large, "easy", peers.easy, 1, with_simpy=False)
    return [*found, _long_queue(), _conservative(), *_deep_queues(), _memory(), *_others()]


def _cases() -> list[Case]:
    cases = [Case("Lublin, 30,000 jobs", lublin(30_000, 128, np.random.default_rng(1), load=0.75), 128)]
    if _KTH.exists():
        workload = to_workload(read_trace(_KTH))
        cases.append(Case("KTH-SP2", workload.jobs, workload.processors))
    return cases


def _long_queue() -> Row:
    """Compare EASY with up to 38,000 waiting jobs with the same rules without an index."""
    name = "easy, Lublin, 450,000 jobs, load 1.4, 8,192 processors"
    case = Case(name, lublin(450_000, 8192, np.random.default_rng(1), load=1.4), 8192)
    return _same_schedule(case, "easy", Scanning(), "compiled, without an index of the queue")


def _conservative() -> Row:
    """Compare conservative backfilling with long queues with a profile that is a list of steps."""
    name = "conservative, Lublin, 200,000 jobs, load 0.9, 256 processors"
    case = Case(name, lublin(200_000, 256, np.random.default_rng(1), load=0.9), 256)
    return _same_schedule(case, "conservative", ListedConservative(), "compiled, over a list of steps")


def _deep_queues() -> list[Row]:
    return [_deep_queue(10_000, 256), _deep_queue(140_000, 8192)]


def _deep_queue(count: int, processors: int) -> Row:
    """Compare one decision of conservative backfilling, after a job ended early, with one over a list of steps."""
    jobs = lublin(count, processors, np.random.default_rng(1), load=50.0)
    waiting = Waiting.of(jobs.job, jobs.submit, jobs.procs, jobs.request)
    ours, listed = Conservative(), ListedConservative()
    first = SiteView(float(jobs.submit[-1]), processors, processors, waiting, Running.of())
    full = after(first, ours.decide(first))
    ended, running = int(full.running.procs[-1]), full.running
    left = Running.of(running.job[:-1], running.procs[:-1], running.expected_end[:-1])
    view = dataclasses.replace(full, free=full.free + ended, running=left, refused=0)
    if not np.array_equal(ours.decide(view).notes, listed.decide(view).notes):  # type: ignore[arg-type]
        raise AssertionError("conservative: the reservations of the peer differ")
    return compare_rates(
        f"conservative, one decision with {count:,} waiting jobs",
        lambda: ours.decide(view),
        lambda: listed.decide(view),
        "compiled, over a list of steps",
        amount=1,
        unit="decisions/s",
        repeats=1,
    )


def _same_schedule(case: Case, policy_name: str, peer: CompiledPolicy, peer_name: str) -> Row:
    """Compare a policy with another compiled one, which must start all jobs at the same times."""
    policy: Any = POLICIES.make(policy_name, np.random.default_rng(0))
    prepare((*kernels(policy), *kernels(peer)))
    ours, theirs = (replay(case.jobs, case.processors, each).start for each in (policy, peer))
    if not np.array_equal(ours, theirs):
        raise AssertionError(f"{policy_name}: the schedule of the peer ({peer_name}) differs")
    return compare_rates(
        f"replay {case.name}",
        lambda: replay(case.jobs, case.processors, policy),
        lambda: replay(case.jobs, case.processors, peer),
        peer_name,
        amount=len(case.jobs),
        unit="jobs/s",
        repeats=1,
    )


def _large_workload() -> JobTable:
    return lublin(450_000, 8192, np.random.default_rng(1), load=0.8)


def plain_jobs(jobs: JobTable) -> list[peers.PlainJob]:
    """Return the jobs in the form of the plain loop, stopped at their requests."""
    held = np.minimum(jobs.run, jobs.request)
    return list(
        zip(jobs.submit.tolist(), held.tolist(), jobs.procs.tolist(), jobs.request.tolist(), strict=True)
    )


def _replays(
    case: Case, policy_name: str, decide: peers.Decide, repeats: int, *, with_simpy: bool = True
) -> list[Row]:
    policy: Any = POLICIES.make(policy_name, np.random.default_rng(0))
    prepare(kernels(policy))
    plain = plain_jobs(case.jobs)
    expected = replay(case.jobs, case.processors, policy).start
    loops = {"plain Python loop with heapq": peers.replay_plain, "SimPy": peers.replay_simpy}
    found = []
    for peer_name, loop in loops.items():
        if peer_name == "SimPy" and not with_simpy:
            continue
        theirs = np.array(loop(plain, case.processors, decide))
        differs = first_difference(case.jobs, case.processors, expected, theirs, peer_name)
        if differs is not None:
            raise AssertionError(f"{policy_name}, {case.name}: {differs.line(peer_name)}")
        found.append(mean_waits(case, policy_name, expected, theirs, peer_name))
        found.append(
            compare_rates(
                f"replay {policy_name}, {case.name}",
                lambda: replay(case.jobs, case.processors, policy),
                lambda loop=loop: loop(plain, case.processors, decide),  # type: ignore[misc]
                peer_name,
                amount=len(case.jobs),
                unit="jobs/s",
                repeats=repeats,
            )
        )
    return found


def mean_waits(
    case: Case, policy_name: str, ours: NDArray[np.float64], theirs: NDArray[np.float64], peer_name: str
) -> Row:
    """Compare the mean waits of two schedules of the same jobs, without jobs that the peer never starts."""
    known = ~np.isnan(theirs)
    own, other = (float((each - case.jobs.submit)[known].mean()) for each in (ours, theirs))
    ratio = other / own if own > 0 else 1.0 if own == other else float("inf")
    name = f"mean wait {policy_name}, {case.name}"
    return Row(name, own, other, peer_name, "s", ratio, ratio, ratio)


def _others() -> list[Row]:
    """Compare with AccaSim under its own policies of the same names."""
    peer_name = "AccaSim"
    if message := peers_accasim.missing():
        print(message, file=sys.stderr)
        return []
    found = []
    for whole in _cases():
        some = whole.jobs.take(np.arange(min(_OTHERS_JOBS, len(whole.jobs))))
        jobs = peers_accasim.whole_seconds(some)
        case = Case(f"{whole.name}, the first {len(jobs):,}, whole seconds", jobs, whole.processors)
        for policy_name in ("fcfs", "easy"):
            policy: Any = POLICIES.make(policy_name, np.random.default_rng(0))
            ours = replay(jobs, case.processors, policy).start
            try:
                theirs = peers_accasim.starts(jobs, case.processors, policy_name)
            except peers_accasim.PeerError as error:
                print(f"{policy_name}, {case.name}: {peer_name} failed: {error}", file=sys.stderr)
                continue
            found.append(mean_waits(case, policy_name, ours, theirs, peer_name))
            differs = first_difference(jobs, case.processors, ours, theirs, peer_name)
            result = "the same schedule" if differs is None else differs.line(peer_name)
            print(f"{policy_name}, {case.name}: {result}", file=sys.stderr)
    return found


def _memory() -> Row:
    """Measure the peak memory that a replay allocates, including its jobs."""
    jobs = lublin(_MEMORY_JOBS, 128, np.random.default_rng(1), load=0.7)
    policy: Any = POLICIES.make("fcfs", np.random.default_rng(0))
    prepare(kernels(policy))
    table = sum(getattr(jobs, field.name).nbytes for field in dataclasses.fields(jobs))
    ours = (table + _peak_bytes(lambda: replay(jobs, 128, policy))) / _MEMORY_JOBS
    peer = _peak_bytes(lambda: peers.replay_plain(plain_jobs(jobs), 128, peers.fcfs)) / _MEMORY_JOBS
    return Row(
        name="memory per million jobs, fcfs",
        ours=ours,
        peer=peer,
        peer_name="plain Python loop with heapq",
        unit="MB",
        ratio=peer / ours,
        ratio_low=peer / ours,
        ratio_high=peer / ours,
    )


def _peak_bytes(what: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        what()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
