"""Dispatch of small tasks: tasks per second compared with plain Python and SimPy, and the time of one decision."""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import simpy
from numpy.typing import NDArray

from benchmarks.measure import Row, compare_rates
from windlass.experiment.dispatching import make_policy, simulate
from windlass.jit import prepare
from windlass.sim.workers.part import kernels

_MIXED = np.array([1.0] * 900 + [6.0] * 100)
_LOAD = 0.9


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite."""
    rng = np.random.default_rng(1)
    for name in ("ppot", "rosella", "pot", "sparrow"):
        prepare(kernels(make_policy(name, _MIXED, rng)))
    return [
        _throughput("ppot", 2_000_000, repeats),
        _given_workload("ppot", 2_000_000, repeats),
        _throughput("rosella", 2_000_000, repeats),
        _two_choices_simpy(repeats),
        _central_queue_simpy(repeats),
        *(_one_choice(name, repeats) for name in ("ppot", "rosella")),
    ]


def plain_ppot(speeds: NDArray[np.float64], load: float, tasks: int, seed: int) -> float:
    """Return the mean response, s, of proportional sampling of two and the shorter queue, with heapq."""
    rng = random.Random(seed)
    workers = list(range(len(speeds)))
    rates = speeds.tolist()
    cumulative = np.cumsum(speeds).tolist()
    gap = load * float(speeds.sum())
    queues: list[deque[float]] = [deque() for _ in workers]
    ends: list[tuple[float, int, int]] = []
    now = total = 0.0
    for sequence in range(tasks):
        now += rng.expovariate(gap)
        while ends and ends[0][0] <= now:
            at, _, worker = heapq.heappop(ends)
            total += at - queues[worker].popleft()
            if queues[worker]:
                heapq.heappush(ends, (at + rng.expovariate(1.0) / rates[worker], sequence, worker))
        first, second = rng.choices(workers, cum_weights=cumulative, k=2)
        chosen = second if len(queues[second]) < len(queues[first]) else first
        queues[chosen].append(now)
        if len(queues[chosen]) == 1:
            heapq.heappush(ends, (now + rng.expovariate(1.0) / rates[chosen], sequence, chosen))
    return total / tasks


def _throughput(policy: str, tasks: int, repeats: int) -> Row:
    share = 20
    return _scaled(
        f"{policy}, 900 workers of rate 1 and 100 of 6, load {_LOAD}",
        lambda: simulate(policy, _MIXED, _LOAD, tasks, seed=1, samples=0, sizes_known=True),
        lambda: plain_ppot(_MIXED, _LOAD, tasks // share, seed=1),
        "plain Python loop with heapq, ppot with known rates",
        tasks=tasks,
        share=share,
        repeats=repeats,
    )


def _given_workload(policy: str, tasks: int, repeats: int) -> Row:
    """Compare the simulation without the drawing of times and sizes with a peer that draws them."""
    rng, share = np.random.default_rng(1), 20
    times = np.cumsum(rng.standard_exponential(tasks)) / (_LOAD * float(_MIXED.sum()))
    sizes = rng.standard_exponential(tasks)
    return _scaled(
        f"{policy}, the same, arrivals and sizes given as arrays",
        lambda: simulate(
            policy, _MIXED, None, tasks, seed=1, arrivals=times, service=sizes, samples=0, sizes_known=True
        ),
        lambda: plain_ppot(_MIXED, _LOAD, tasks // share, seed=1),
        "plain Python loop with heapq, ppot with known rates",
        tasks=tasks,
        share=share,
        repeats=repeats,
    )


def _scaled(
    name: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    peer_name: str,
    *,
    tasks: int,
    share: int,
    repeats: int,
) -> Row:
    """Compare tasks per second; the peer is timed on a share of the tasks."""
    row = compare_rates(name, ours, peer, peer_name, amount=tasks, unit="tasks/s", repeats=repeats)
    return row.with_peer_of_part(share)


def simpy_two_choices(workers: int, load: float, tasks: int, seed: int) -> float:
    """Return the mean response, s, of power of two choices under SimPy, with a resource per worker."""
    rng = random.Random(seed)
    environment = simpy.Environment()
    lines = [simpy.Resource(environment) for _ in range(workers)]
    total = [0.0]

    def length(line: simpy.Resource) -> int:
        return int(line.count) + len(line.queue)

    def task() -> Iterator[Any]:
        arrived = environment.now
        first, second = rng.choice(lines), rng.choice(lines)
        line = second if length(second) < length(first) else first
        with line.request() as turn:
            yield turn
            yield environment.timeout(rng.expovariate(1.0))
        total[0] += environment.now - arrived

    def source() -> Iterator[Any]:
        for _ in range(tasks):
            yield environment.timeout(rng.expovariate(load * workers))
            environment.process(task())

    environment.process(source())
    environment.run()
    return total[0] / tasks


def simpy_central_queue(workers: int, load: float, tasks: int, seed: int) -> float:
    """Return the mean response, s, of M/M/n under SimPy, with one resource of n."""
    rng = random.Random(seed)
    environment = simpy.Environment()
    servers = simpy.Resource(environment, capacity=workers)
    total = [0.0]

    def task() -> Iterator[Any]:
        arrived = environment.now
        with servers.request() as turn:
            yield turn
            yield environment.timeout(rng.expovariate(1.0))
        total[0] += environment.now - arrived

    def source() -> Iterator[Any]:
        for _ in range(tasks):
            yield environment.timeout(rng.expovariate(load * workers))
            environment.process(task())

    environment.process(source())
    environment.run()
    return total[0] / tasks


def _two_choices_simpy(repeats: int) -> Row:
    tasks, share = 1_000_000, 40
    return _scaled(
        f"two choices, 100 workers, load {_LOAD}",
        lambda: simulate("pot", np.ones(100), _LOAD, tasks, seed=1, samples=0),
        lambda: simpy_two_choices(100, _LOAD, tasks // share, seed=1),
        "SimPy, a resource per worker",
        tasks=tasks,
        share=share,
        repeats=repeats,
    )


def _central_queue_simpy(repeats: int) -> Row:
    """Compare late binding with a reservation on every worker, which is one central queue, with M/M/n."""
    tasks, share, workers = 1_000_000, 40, 4
    policy = make_policy("sparrow", np.ones(workers), np.random.default_rng(1), probes=workers)
    return _scaled(
        f"M/M/{workers}, load {_LOAD}",
        lambda: simulate(policy, np.ones(workers), _LOAD, tasks, seed=1, samples=0),
        lambda: simpy_central_queue(workers, _LOAD, tasks // share, seed=1),
        f"SimPy, a resource of {workers}",
        tasks=tasks,
        share=share,
        repeats=repeats,
    )


def _one_choice(name: str, repeats: int) -> Row:
    """Compare ``choose`` from Python, one task after another, with the same draw in NumPy."""
    calls = 200_000
    policy = make_policy(name, _MIXED, np.random.default_rng(1))
    lengths = np.zeros(len(_MIXED), np.int64)
    shares = np.cumsum(_MIXED) / _MIXED.sum()
    rng = np.random.default_rng(1)

    def ours() -> None:
        for _ in range(calls):
            policy.choose(lengths)

    def peer() -> None:
        for _ in range(calls):
            first, second = np.searchsorted(shares, rng.random(2))
            if lengths[second] < lengths[first]:
                first = second

    return compare_rates(
        f"{name}.choose() from Python, n = {len(_MIXED):,}",
        ours,
        peer,
        "searchsorted over cumulative rates, NumPy",
        amount=calls,
        unit="calls/s",
        repeats=repeats,
    )
