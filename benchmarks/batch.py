"""Replays of batch logs: jobs per second and memory, beside plain Python and SimPy."""

from __future__ import annotations

import dataclasses
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.measure import Row, compare_rates
from benchmarks.peers_order import ListedConservative
from windlass.compiled import prepare
from windlass.model import JobTable
from windlass.order.site import POLICIES
from windlass.sim.site.part import kernels
from windlass.sim.site.replay import replay
from windlass.traces import read_trace, to_workload
from windlass.workloads import lublin

_KTH = Path(__file__).parents[2] / "shared" / "traces" / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz"
_MEMORY_JOBS = 200_000


@dataclass(frozen=True, slots=True)
class Case:
    """A workload to replay."""

    name: str
    jobs: JobTable
    processors: int


def rows(repeats: int) -> list[Row]:
    """All comparisons of the suite."""
    found: list[Row] = []
    for case in _cases():
        for policy, decide in (("fcfs", peers.fcfs), ("easy", peers.easy)):
            found += _replays(case, policy, decide, repeats)
    large = Case("Lublin, 450,000 jobs, 8,192 processors", _large_workload(), 8192)
    found += _replays(large, "easy", peers.easy, 1, with_simpy=False)
    return [*found, *_conservative(), _memory()]


def _cases() -> list[Case]:
    cases = [Case("Lublin, 30,000 jobs", lublin(30_000, 128, np.random.default_rng(1), load=0.75), 128)]
    if _KTH.exists():
        workload = to_workload(read_trace(_KTH))
        cases.append(Case("KTH-SP2", workload.jobs, workload.processors))
    return cases


def _conservative() -> list[Row]:
    """Long queues under conservative backfilling, beside a profile that is a list of steps."""
    jobs = lublin(200_000, 256, np.random.default_rng(1), load=0.9)
    policy: Any = POLICIES.make("conservative", np.random.default_rng(0))
    listed = ListedConservative()
    prepare((*kernels(policy), *kernels(listed)))
    if not np.array_equal(replay(jobs, 256, policy).start, replay(jobs, 256, listed).start):
        raise AssertionError("conservative: the schedule over a list of steps is another one")
    return [
        compare_rates(
            "replay conservative, Lublin, 200,000 jobs, load 0.9, 256 processors",
            lambda: replay(jobs, 256, policy),
            lambda: replay(jobs, 256, listed),
            "compiled, over a list of steps",
            amount=len(jobs),
            unit="jobs/s",
            repeats=1,
        )
    ]


def _large_workload() -> JobTable:
    return lublin(450_000, 8192, np.random.default_rng(1), load=0.8)


def plain_jobs(jobs: JobTable) -> list[peers.PlainJob]:
    """The jobs as the plain loop wants them, stopped at their request."""
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
    expected = replay(case.jobs, case.processors, policy).start.tolist()
    loops = {"plain Python loop with heapq": peers.replay_plain, "SimPy": peers.replay_simpy}
    found = []
    for peer_name, loop in loops.items():
        if peer_name == "SimPy" and not with_simpy:
            continue
        if loop(plain, case.processors, decide) != expected:
            raise AssertionError(
                f"{peer_name}, {policy_name}, {case.name}: the peer's schedule is another one"
            )
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


def _memory() -> Row:
    """Peak of what a replay allocates, its jobs included."""
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
