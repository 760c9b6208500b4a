"""A straightforward simulation of jobs and tasks on shared nodes in plain Python, with heapq."""

from __future__ import annotations

import heapq
import random
from collections import deque
from dataclasses import dataclass, field
from itertools import accumulate

from benchmarks import peers


@dataclass
class PlainNodes:
    """Nodes with cores and one task queue each; a running task slows down when a job takes cores of its node."""

    cores: int
    speed: float
    floor: float
    idle: list[int]
    speeds: list[float]
    queues: list[deque[tuple[float, float]]]
    #: Remaining work of the running task, the time of that value, and how often its end was computed.
    left: list[float]
    since: list[float]
    version: list[int]
    ends: list[tuple[float, int, int]] = field(default_factory=list)
    cumulative: list[float] = field(default_factory=list)
    total: float = 0.0

    @classmethod
    def idle_nodes(cls, nodes: int, cores: int, speed: float, floor: float) -> PlainNodes:
        """Return nodes that are idle."""
        made = cls(
            cores, speed, floor, [cores] * nodes, [speed] * nodes, [deque() for _ in range(nodes)],
            [0.0] * nodes, [0.0] * nodes, [0] * nodes,
        )  # fmt: skip
        made.cumulative = list(accumulate(made.speeds))
        return made

    def use(self, node: int, cores: int, now: float) -> None:
        """Take cores of a node for a job; negative ``cores`` return them."""
        self.idle[node] -= cores
        before = self.speeds[node]
        self.speeds[node] = self.speed * max(self.floor, self.idle[node] / self.cores)
        if self.queues[node]:
            self.left[node] -= (now - self.since[node]) * before
            self._expect(node, now)

    def arrive(self, now: float, work: float, rng: random.Random) -> None:
        """Queue a task at the shorter queue of two nodes, drawn in proportion to their speeds."""
        first, second = rng.choices(range(len(self.speeds)), cum_weights=self.cumulative, k=2)
        node = second if len(self.queues[second]) < len(self.queues[first]) else first
        self.queues[node].append((now, work))
        if len(self.queues[node]) == 1:
            self._begin(node, now)

    def finish(self) -> None:
        """Process the next end of a task, unless the end has been recomputed since."""
        at, version, node = heapq.heappop(self.ends)
        if version != self.version[node]:
            return
        self.total += at - self.queues[node].popleft()[0]
        if self.queues[node]:
            self._begin(node, at)

    def _begin(self, node: int, now: float) -> None:
        self.left[node] = self.queues[node][0][1]
        self._expect(node, now)

    def _expect(self, node: int, now: float) -> None:
        self.since[node] = now
        self.version[node] += 1
        heapq.heappush(self.ends, (now + self.left[node] / self.speeds[node], self.version[node], node))


@dataclass
class PlainSite:
    """A batch site whose jobs hold the first idle cores of nodes."""

    queue: peers.PlainSite
    nodes: PlainNodes
    ends: list[tuple[float, int, int]] = field(default_factory=list)
    held: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    sequence: int = 0

    def end(self, now: float) -> None:
        """End the next job, and return its cores."""
        job = heapq.heappop(self.ends)[2]
        self.queue.finish(job)
        for node, cores in self.held.pop(job):
            self.nodes.use(node, -cores, now)

    def decide(self, now: float) -> None:
        """Start jobs by EASY."""
        for job in peers.easy(self.queue, now):
            _, run, procs, _ = self.queue.jobs[job]
            self.held[job] = self._take(procs, now)
            heapq.heappush(self.ends, (now + run, self.sequence, job))
            self.sequence += 1
        self.nodes.cumulative = list(accumulate(self.nodes.speeds))

    def _take(self, procs: int, now: float) -> list[tuple[int, int]]:
        taken = []
        for node, idle in enumerate(self.nodes.idle):
            if procs and idle:
                some = min(procs, idle)
                taken.append((node, some))
                procs -= some
        for node, some in taken:
            self.nodes.use(node, some, now)
        return taken


def plain_together(
    jobs: list[peers.PlainJob], submit: list[float], work: list[float], nodes: PlainNodes, seed: int
) -> list[float]:
    """Simulate with a loop over arrivals and two heaps of ends; return the start of each job, s."""
    rng, never = random.Random(seed), float("inf")
    site = PlainSite(peers.PlainSite(jobs, len(nodes.idle) * nodes.cores), nodes)
    job = task = 0
    while True:
        arrival = jobs[job][0] if job < len(jobs) else never
        job_event = min(arrival, site.ends[0][0] if site.ends else never)
        came = submit[task] if task < len(submit) else never
        ended = nodes.ends[0][0] if nodes.ends else never
        now = min(job_event, came, ended)
        if now == never:
            return site.queue.started
        if ended == now:
            nodes.finish()
        elif job_event == now:
            while site.ends and site.ends[0][0] == now:
                site.end(now)
            while job < len(jobs) and jobs[job][0] == now:
                site.queue.queue.append(job)
                job += 1
            site.decide(now)
        else:
            nodes.arrive(now, work[task], rng)
            task += 1
