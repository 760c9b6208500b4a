"""A batch system in virtual time: jobs that start late, are cancelled, or fail to be released; drained processors."""

from __future__ import annotations

import heapq
import itertools
import math

from windlass.engines.batch.system import (
    NO_OWNER,
    Cancelled,
    Capacity,
    Ended,
    Holds,
    NoMore,
    Started,
    Submitted,
)

#: Events at one time happen in this order.
ENDS, STARTS, CANCELS, REQUEUES, CHANGES, HOLDS, COMES = range(7)


class FakeBatch:
    """A batch system that runs the jobs of a table, held until they are started.

    ``latency``: s from a release to the start. ``cancels``, ``requeues``: (time, job). ``capacity``: (time,
    processors). ``others``: (time, job, procs, run, request) of jobs that the system starts itself. ``fails``: how
    often the release of a job fails. ``ends``: true if no job is submitted after the last of the table. ``owners``: by
    job.

    Processors are the engine's to keep: starting a job that does not fit raises.
    """

    def __init__(
        self,
        jobs,
        processors,
        *,
        latency=0.0,
        kill=True,
        cancels=(),
        requeues=(),
        capacity=(),
        others=(),
        fails=None,
        ends=True,
        owners=None,
    ):
        self.processors = self.capacity = processors
        self.latency, self.kill, self.fails = latency, kill, dict(fails or {})
        self.owners = owners or {}
        self.sequence, self.queue, self.time = itertools.count(), [], -math.inf
        columns = (jobs.job, jobs.submit, jobs.run, jobs.procs, jobs.request)
        self.jobs = {row[0]: row[1:] for row in zip(*(column.tolist() for column in columns), strict=True)}
        for job, (submit, *_) in self.jobs.items():
            self.push(submit, COMES, job)
        for at, job in cancels:
            self.push(at, CANCELS, job)
        for at, job in requeues:
            self.push(at, REQUEUES, job)
        for at, processors_then in capacity:
            self.push(at, CHANGES, processors_then)
        for other in others:
            self.push(other[0], HOLDS, other[1:])
        self.left, self.ends = len(self.jobs), ends
        #: Jobs that wait, were released, or run; the last with what they hold, and by which try.
        self.held, self.released, self.running = set(), {}, {}
        #: When jobs that run, or ran last, had started, and when they ended by themselves, s.
        self.began, self.ended = {}, {}
        #: When jobs that run are to end, s, since when those that stand still do, and for how long others did.
        self.ends_at, self.still, self.stood_for = {}, {}, {}
        self.starts, self.closed = [], 0
        self.pending = [] if self.jobs or not ends else [NoMore()]
        self.time = min((at for at, *_ in self.queue), default=0.0)

    def push(self, at, kind, what):
        heapq.heappush(self.queue, (at, kind, next(self.sequence), what))

    def now(self):
        return self.time

    def poll(self, timeout):
        before, until = self.time, self.time + timeout
        while not self.pending and self.queue and self.queue[0][0] <= until:
            self.time = self.queue[0][0]
            while self.queue and self.queue[0][0] == self.time:
                _, kind, _, what = heapq.heappop(self.queue)
                self.pending += self.happens(kind, what)
        if not self.pending and timeout > 0 and math.isfinite(until):
            # However short the wait, a clock goes on.
            self.time = max(until, math.nextafter(before, math.inf))
        pending, self.pending = self.pending, []
        return pending

    def happens(self, kind, what):
        if kind == COMES:
            submit, _, procs, request = self.jobs[what]
            self.held.add(what)
            self.left -= 1
            last = [NoMore()] if self.left == 0 and self.ends else []
            return [Submitted(what, submit, procs, request, self.owner(what)), *last]
        if kind == CHANGES:
            self.capacity = what
            return [Capacity(what)]
        if kind == HOLDS:
            job, procs, run, request = what
            self.running[job] = procs, None
            self.push(self.time + run, ENDS, (job, None))
            return [Holds(job, self.time, procs, request, self.owner(job))]
        if kind == STARTS:
            return self.begin(*what)
        if kind == ENDS:
            return self.end(*what)
        return self.cancel(what) if kind == CANCELS else self.requeue(what)

    def begin(self, job, attempt):
        if self.released.get(job) != attempt:
            return []
        _, run, procs, request = self.jobs[job]
        del self.released[job]
        self.running[job], self.began[job] = (procs, attempt), self.time
        self.still.pop(job, None)
        self.stood_for[job] = 0.0
        self.ends_at[job] = self.time + (min(run, request) if self.kill else run)
        self.push(self.ends_at[job], ENDS, (job, attempt))
        return [Started(job, self.time)]

    def end(self, job, attempt):
        if self.running.get(job, (0, -1))[1] != attempt:
            return []
        del self.running[job]
        self.ended[job] = self.time
        return [Ended(job, self.time)]

    def stop(self, job):
        """Suspend a running job."""
        if job in self.running and job not in self.still:
            procs, _ = self.running[job]
            self.running[job], self.still[job] = (procs, next(self.sequence)), self.time

    def go_on(self, job):
        """Resume a suspended job."""
        if job in self.running and job in self.still:
            stood = self.time - self.still.pop(job)
            self.stood_for[job] += stood
            self.ends_at[job] += stood
            self.push(self.ends_at[job], ENDS, (job, self.running[job][1]))

    def stood(self, job):
        """Return how long a job has been suspended since it started (s)."""
        return self.stood_for[job] + (self.time - self.still[job] if job in self.still else 0.0)

    def leaves(self, job):
        """Remove a job; return true if it existed."""
        there = job in self.held or job in self.released or job in self.running
        self.held.discard(job)
        self.released.pop(job, None)
        self.running.pop(job, None)
        return there

    def cancel(self, job):
        return [Cancelled(job, self.time)] if self.leaves(job) else []

    def requeue(self, job):
        if job not in self.running or not self.leaves(job):
            return []
        self.held.add(job)
        _, _, procs, request = self.jobs[job]
        return [Submitted(job, self.time, procs, request, self.owner(job))]

    def owner(self, job):
        return self.owners.get(job, NO_OWNER)

    def used(self):
        going = sum(self.jobs[job][2] for job in self.released)
        return going + sum(procs for procs, _ in self.running.values())

    def start(self, jobs):
        failed = {}
        self.starts.append((self.time, tuple(jobs)))
        for job in jobs:
            if self.fails.get(job, 0) > 0:
                self.fails[job] -= 1
                failed[job] = "the controller does not answer"
            elif job not in self.held:
                failed[job] = "no such job is held"
            else:
                assert self.used() + self.jobs[job][2] <= self.capacity, (
                    f"job {job} does not fit at {self.time}"
                )
                self.held.remove(job)
                self.released[job] = attempt = next(self.sequence)
                self.push(self.time + self.latency, STARTS, (job, attempt))
        return failed

    def describe(self, jobs):
        return f"release {','.join(str(job) for job in jobs)}"

    def close(self):
        self.closed += 1
