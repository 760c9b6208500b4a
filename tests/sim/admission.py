"""A plain version of the admission world: the oracle for gate, pressure, metrics and part.

Tasks, neighbours and nodes are in lists; every event is a step of a loop; pressure is summed interval by interval as
time goes on. It calls the same policies, through their methods.
"""

from __future__ import annotations

import copy
from collections import deque
from typing import Any

import numpy as np

from windlass.admit import AdmitView, TaskLoad
from windlass.dispatch.state import MEMBERS_AT, PRESENT, RNG

INF = float("inf")


class Node:
    def __init__(self) -> None:
        self.queue: deque[int] = deque()
        self.running: int | None = None
        self.left = self.since = self.begun = 0.0
        self.end, self.held, self.speed = INF, 0, 0.0
        self.waits = self.runs = self.holds = 0.0
        self.news = 0

    @property
    def length(self) -> int:
        return len(self.queue) + (self.running is not None)


class Oracle:
    """Run tasks to their end; afterwards ``end``, ``worker``, ``channels``, ``rejects`` and counts of tasks."""

    def __init__(
        self,
        policy: Any,
        admit: list[Any],
        model: Any,
        noise: np.random.Generator,
        submit: Any,
        work: Any,
        bursts: Any,
        *,
        cores: int,
        speed: float,
        floor: float,
        every: float,
        telemetry: bool = True,
        full: str = "force",
    ) -> None:
        self.policy, self.admit, self.model, self.noise = copy.deepcopy(policy), admit, model, noise
        self.submit, self.work = list(submit), list(work)
        self.bursts = list(zip(bursts.time, bursts.node, bursts.cores, strict=True))
        self.cores, self.full, self.floor, self.every = cores, speed, floor, every
        self.nodes = [Node() for _ in admit]
        for node in self.nodes:
            node.speed = speed
        self.next_step = every if telemetry else INF
        self.steps = 0
        self.limits = [INF] * len(admit)
        self.came: list[float] = [np.nan] * len(self.submit)
        self.started: list[float] = [np.nan] * len(self.submit)
        self.end, self.worker = [np.nan] * len(self.submit), [-1] * len(self.submit)
        self.channels: list[Any] = []
        self.rejects: list[Any] = []
        self.past: list[Any] = []
        self.smooth = np.zeros((len(admit), model.dim))
        self.fading = np.zeros((len(admit), model.dim))
        self.accepted = self.diverted = self.forced = 0
        self.when_full, self.refused = full, list[int]()
        self.now = 0.0

    def pass_time(self, now: float) -> None:
        for node in self.nodes:
            gone = now - self.now
            node.waits += len(node.queue) * gone
            node.runs += (node.running is not None) * gone
            node.holds += node.held / self.cores * gone
        self.now = now

    def begin(self, index: int, task: int) -> None:
        node = self.nodes[index]
        node.running, node.left, node.since = task, self.work[task], self.now
        node.begun = self.now
        node.end = self.now + self.work[task] / node.speed
        self.worker[task] = index
        self.started[task] = self.now

    def complete(self, index: int) -> None:
        node = self.nodes[index]
        task, node.running, node.end = node.running, None, INF
        assert task is not None
        self.end[task] = self.now
        if node.queue:
            self.begin(index, node.queue.popleft())

    def hold(self, index: int, cores: int) -> None:
        node = self.nodes[index]
        node.held += cores
        speed = self.full * max(self.floor, (self.cores - node.held) / self.cores)
        if node.running is not None:
            node.left = max(0.0, node.left - (self.now - node.since) * node.speed)
            node.since = self.now
            node.end = self.now + node.left / speed
        node.speed = speed
        if getattr(self.policy, "follows", False):
            self.policy.set_rate(index, speed)

    def metrics(self, channels: np.ndarray) -> np.ndarray:
        """Return each metric of each node, as the model defines it."""
        model = self.model
        unit = (channels - model.channel_mean) / model.channel_scale
        self.past.append(unit)
        common = self.noise.normal(size=(len(channels), model.factors.shape[1]))
        alone = self.noise.normal(size=(len(channels), model.dim))
        found = np.zeros((len(channels), model.dim))
        for metric in range(model.dim):
            place = len(self.past) - 1 - model.delay[metric]
            for node in range(len(channels)):
                driven = self.past[place][node] @ model.along[metric] if place >= 0 else 0.0
                pole, fade = model.pole[metric], model.fade[metric]
                self.smooth[node, metric] = pole * self.smooth[node, metric] + (1 - pole) * driven
                fresh = common[node] @ model.factors[metric] + model.own[metric] * alone[node, metric]
                self.fading[node, metric] = fade * self.fading[node, metric] + fresh
                total = self.smooth[node, metric] + self.fading[node, metric]
                found[node, metric] = model.mean[metric] + model.scale[metric] * total
        return found

    def step(self) -> None:
        rows = []
        for node in self.nodes:
            waits, runs, holds = (each / self.every for each in (node.waits, node.runs, node.holds))
            rows.append(
                [
                    min(1.0, holds + (1 - holds) * runs),
                    (waits + runs) / self.cores,
                    (waits + runs * holds) / self.cores,
                    min(1.0, (waits + runs) / 32 + holds / 2),
                    node.news / (self.every * self.full),
                ]
            )
            node.waits = node.runs = node.holds = 0.0
            node.news = 0
        channels = np.array(rows)
        for index, (policy, metrics) in enumerate(zip(self.admit, self.metrics(channels), strict=True)):
            view = AdmitView(
                self.now,
                metrics,
                float(channels[index, 0]),
                float(channels[index, 2]),
                self.tasks(index, rows[index]),
            )
            found = policy.decide(view)
            self.limits[index] = 0 if found.reject else INF if found.limit is None else found.limit
        self.channels.append(channels)
        self.rejects.append([limit == 0 for limit in self.limits])
        self.steps += 1
        self.next_step = (self.steps + 1) * self.every

    def tasks(self, index: int, row: list[float]) -> TaskLoad:
        """Return the tasks of a node in the step that ends now, from all tasks that it ever had."""
        begin = self.now - self.every
        mine = [task for task, worker in enumerate(self.worker) if worker == index]
        waits = [
            self.started[task] - self.came[task] for task in mine if begin < self.started[task] <= self.now
        ]
        lasts = [self.end[task] - self.came[task] for task in mine if begin < self.end[task] <= self.now]
        queue = self.nodes[index].queue
        return TaskLoad(
            row[1] * self.cores,
            len(queue),
            len(lasts),
            sum(lasts) / len(lasts) if lasts else np.nan,
            min(lasts, default=np.nan),
            sum(waits) / len(waits) if waits else np.nan,
            min(waits, default=np.nan),
            max((self.now - self.came[task] for task in queue), default=0.0),
        )

    def chosen(self) -> int | None:
        policy, lengths = self.policy, np.array([node.length for node in self.nodes])
        self.stands = [length >= limit for length, limit in zip(lengths, self.limits, strict=True)]
        if self.when_full == "refuse" and all(self.stands):
            return None
        before = policy.ints.copy()
        first = policy.choose(lengths)
        if not self.stands[first]:
            self.accepted += 1
            return int(first)
        if all(self.stands):
            self.forced += 1
            return int(first)
        self.diverted += 1
        drawn = policy.ints[RNG]
        policy.ints[:] = before
        policy.ints[RNG] = drawn
        for index, stands in enumerate(self.stands):
            if stands:
                # Only the members: a notified policy would forget what it has learned about them.
                leave(policy.ints, index)
        policy.ints[9] = 1
        other = policy.choose(lengths)
        policy.ints[PRESENT] = before[PRESENT]
        count = len(self.nodes)
        policy.ints[MEMBERS_AT : MEMBERS_AT + 2 * count] = before[MEMBERS_AT : MEMBERS_AT + 2 * count]
        policy.ints[9] = 1
        return int(other)

    def arrive(self, task: int) -> None:
        self.policy.arrived(self.now)
        self.came[task] = self.now
        index = self.chosen()
        if index is None:
            self.refused.append(task)
            return
        node = self.nodes[index]
        node.news += 1
        if node.running is None:
            self.begin(index, task)
        else:
            node.queue.append(task)

    def run(self) -> None:
        arrived = done = 0
        while done + len(self.refused) < len(self.submit):
            ends = [node.end for node in self.nodes]
            index = int(np.argmin(ends))
            burst = self.bursts[0][0] if self.bursts else INF
            arrival = self.submit[arrived] if arrived < len(self.submit) else INF
            now = min(ends[index], burst, arrival, self.next_step)
            self.pass_time(now)
            if ends[index] == now:
                task, begun = self.nodes[index].running, self.nodes[index].begun
                self.complete(index)
                self.policy.completed(index, self.work[task], now - begun)
                done += 1
            elif burst == now:
                _, node, cores = self.bursts.pop(0)
                self.hold(int(node), int(cores))
            elif self.next_step == now:
                self.step()
            else:
                self.arrive(arrived)
                arrived += 1


def leave(ints: np.ndarray, worker: int) -> None:
    """Remove a worker from the list of members; the last member takes its place."""
    count, present = int(ints[1]), int(ints[PRESENT])
    members, places = ints[MEMBERS_AT:], ints[MEMBERS_AT + count :]
    last = members[present - 1]
    members[places[worker]] = last
    places[last] = places[worker]
    places[worker] = -1
    ints[PRESENT] = present - 1
