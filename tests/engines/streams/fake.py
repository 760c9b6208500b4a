"""An executor of chains in virtual time: nodes die and join at given times; chains fail, hang or stop sending."""

from __future__ import annotations

import heapq
import itertools
import math

from windlass.engines.streams.executor import (
    ChainBroken,
    ChainReady,
    Frame,
    FramesPassed,
    NodeCame,
    NodeGone,
    StreamNode,
)


class FakeStreams:
    """An executor whose chains start after ``start_s`` and deliver each frame ``late_s`` after its birth.

    A cluster has ``per`` nodes. ``mishaps`` lists (time, what, which): ``dies`` and ``comes`` of a cluster's node;
    ``fails`` and ``silences`` of a chain; ``hangs``: chains that are launched in the next 20 s are never ready. A death
    is reported after ``notice`` s; chains sent there before never report.
    """

    def __init__(self, hierarchy, mishaps=(), per=1, start_s=1.0, late_s=0.1, notice=1.0):
        self.time, self.start_s, self.late_s, self.notice = 0.0, start_s, late_s, notice
        self.numbers, self.sequence = itertools.count(), itertools.count()
        self.clusters = hierarchy.clusters
        self.nodes = [self._node(at) for at in range(len(self.clusters)) for _ in range(per)]
        self.per = per
        self.living = {node.number: node for node in self.nodes}
        self.queue = []
        for time, what, which in mishaps:
            self._at(time, what, which)
        self.chains, self.playing, self.ended, self.sent = {}, {}, {}, {}
        self.hung_until = -math.inf
        self.silent = set()
        self.launched, self.closed = [], 0
        self.told_gone = set()

    def _node(self, cluster):
        return StreamNode(
            next(self.numbers), cluster, self._cores(cluster), f"{self.clusters[cluster].name}-node"
        )

    def _cores(self, cluster):
        return self.clusters[cluster].cores / getattr(self, "per", 1)

    def _at(self, time, what, subject):
        heapq.heappush(self.queue, (time, next(self.sequence), what, subject))

    def now(self):
        return self.time

    def launch(self, order):
        assert order.key not in self.chains
        self.launched.append((self.time, order))
        for segment in order.segments:
            assert segment.node not in self.told_gone, "a chain is sent to a node that is known to be gone"
        self.chains[order.key] = order
        if self.time >= self.hung_until:
            self._at(self.time + self.start_s, "ready", order.key)

    def play(self, key, first):
        self.playing[key] = self.sent[key] = first

    def end(self, key, last):
        self.ended[key] = last

    def stop(self, key):
        self.chains.pop(key, None)
        self.playing.pop(key, None)

    def sound(self, key):
        return all(segment.node in self.living for segment in self.chains[key].segments)

    def _frames(self):
        found = []
        for key in list(self.playing):
            order = self.chains[key]
            if key in self.silent or not self.sound(key):
                continue
            last = (self.time - order.zero - self.late_s) * order.feed.rate
            upto = min(math.floor(last + 1e-9) + 1, self.ended.get(key, math.inf))
            frames = tuple(
                Frame(number, order.zero + number / order.feed.rate + self.late_s, key)
                for number in range(self.sent[key], int(upto))
            )
            if frames:
                self.sent[key] = frames[-1].number + 1
                found.append(FramesPassed(key, frames))
        return found

    def _step(self):
        time, _, what, subject = heapq.heappop(self.queue)
        self.time = max(self.time, time)
        if what == "ready":
            return [ChainReady(subject)] if subject in self.chains and self.sound(subject) else []
        if what == "dies":
            own = [node for node in self.living.values() if node.cluster == subject]
            if own:
                del self.living[own[0].number]
                self._at(self.time + self.notice, "noticed", own[0].number)
            return []
        if what == "noticed":
            self.told_gone.add(subject)
            for key in [key for key, order in self.chains.items() if not self.sound(key)]:
                if any(segment.node == subject for segment in self.chains[key].segments):
                    self.stop(key)
            return [NodeGone(subject)]
        if what == "comes":
            node = self._node(subject)
            self.living[node.number] = node
            return [NodeCame(node)]
        if what == "hangs":
            self.hung_until = self.time + 20.0
            return []
        keys = sorted(self.chains)
        if not keys:
            return []
        key = keys[subject % len(keys)]
        if what == "silences":
            self.silent.add(key)
            return []
        self.stop(key)
        return [ChainBroken(key, "it fails")]

    def poll(self, timeout):
        until = self.time + timeout
        while True:
            found = self._frames()
            if found:
                return found
            due = self._next_frame()
            if self.queue and self.queue[0][0] <= min(until, due):
                if events := self._step():
                    return events
            elif due <= until:
                self.time = max(due, self.time)
            else:
                self.time = max(self.time, until)
                return []

    def _next_frame(self):
        times = [
            self.chains[key].zero + self.sent[key] / self.chains[key].feed.rate + self.late_s
            for key in self.playing
            if key not in self.silent and self.sound(key) and self.sent[key] < self.ended.get(key, math.inf)
        ]
        return min(times, default=math.inf) + 1e-6

    def close(self):
        self.closed += 1
