"""An executor in virtual time: workers die at given times, and tasks really run."""

from __future__ import annotations

import heapq
import itertools

import numpy as np

from windlass.engines.live.executor import Failed, Gone, Piece, TaskEnded, Worker


class FakeExecutor:
    """Carries out launches at once in virtual time; ``deaths`` lists (time, worker).

    The engine respects slots: a worker with too many tasks raises. ``load_s`` is the duration of a load (s); with
    ``fails``, a task sent to a dead worker before its death is noticed fails at once, else it never reports.
    """

    def __init__(self, fleet, nodes=1, deaths=(), overhead=0.0, notice=0.0, load_s=0.0, fails=False):
        self.fleet, self.overhead, self.notice = fleet, overhead, notice
        self.workers = []
        for site, slots in enumerate(fleet.slots.tolist()):
            for at in range(nodes):
                share = slots // nodes + (1 if at < slots % nodes else 0)
                if share:
                    self.workers.append(Worker(len(self.workers), site, share, f"node-{len(self.workers)}"))
        self.load_s, self.fails = load_s, fails
        self.time, self.sequence = 0.0, itertools.count()
        self.queue = [(time, next(self.sequence), "dies", worker) for time, worker in deaths]
        heapq.heapify(self.queue)
        self.dead, self.held = set(), np.zeros(len(self.workers), int)
        self.launched, self.closed = [], 0

    def now(self):
        return self.time

    def launch(self, order):
        self.launched.append((self.time, order))
        worker = self.workers[order.worker]
        if order.worker in self.dead:
            if self.fails:
                heapq.heappush(self.queue, (self.time, next(self.sequence), "fails", order))
            return  # The engine has not been notified yet.
        if order.slot:
            self.held[order.worker] += 1
            assert self.held[order.worker] <= worker.slots, f"{worker} has more than it can hold"
        slowest = 0.0
        for read in order.reads:
            if read.site != worker.site:
                rate = min(self.fleet.up[read.site], self.fleet.down[worker.site])
                slowest = max(slowest, read.size / rate)
        begun = self.time + self.overhead
        seconds = getattr(order.work, "seconds", 0.0) if order.slot or order.reads else self.load_s
        times = begun, begun + slowest, begun + slowest + seconds
        # What is lost while it reads, it misses; a piece of a dead worker cannot be read at all.
        heapq.heappush(self.queue, (times[1], next(self.sequence), "reads", (order, times)))

    def _step(self):
        self.time, _, what, subject = heapq.heappop(self.queue)
        if what == "dies":
            self.dead.add(subject)
            heapq.heappush(self.queue, (self.time + self.notice, next(self.sequence), "noticed", subject))
            return []
        if what == "noticed":
            return [Gone(subject)]
        if what == "fails":
            return [Failed(subject.key, True, "the worker is dead")]
        order, times = subject
        if order.worker in self.dead:
            return []
        if what == "reads":
            if any(piece.worker in self.dead for read in order.reads for piece in read.pieces):
                self._release(order)
                return [Failed(order.key, True, "an input is lost")]
            heapq.heappush(self.queue, (times[2], next(self.sequence), "ends", subject))
            return []
        self._release(order)
        work = order.work
        try:
            inputs = [piece.handle for read in order.reads for piece in read.pieces]
            parts = [bytes(n) for n in work.sizes] if hasattr(work, "sizes") else work.run(inputs)
        except Exception as error:
            return [Failed(order.key, False, f"{type(error).__name__}: {error}")]
        return [TaskEnded(order.key, *times, tuple(Piece(order.worker, len(part), part) for part in parts))]

    def _release(self, order):
        if order.slot:
            self.held[order.worker] -= 1

    def poll(self, timeout):
        until = self.time + timeout
        while self.queue and self.queue[0][0] <= until:
            events = self._step()
            if events:
                return events
        if np.isfinite(until):
            # However short the wait, the clock advances.
            self.time = max(until, np.nextafter(self.time, np.inf) + 1e-9 if timeout > 0 else self.time)
        return []

    def in_use(self):
        return np.zeros(len(self.fleet)), np.zeros(len(self.fleet))

    def close(self):
        self.closed += 1
