"""Instances that start and stop and the jobs on them, instant by instant, in plain Python over lists.

Follows the description of :class:`windlass.sim.instances.part.InstancesPart`. Every instance and every job is checked
at each instant, without kinds of jobs, marks or trees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from windlass.scale import Demands, ScaleView
from windlass.scale.embedding import embed

INF, NAN = math.inf, math.nan
IDLE, FAILED, INTERRUPTED = 0, 1, 2


@dataclass
class Instance:
    """One launch; ``row`` is its slot among the instances of its type."""

    line: int
    kind: int
    row: int
    launched: float
    boots: bool
    turn: float
    stage: str = "starting"
    ready: float = NAN
    gone: float = NAN
    why: int = -1
    busy: float = 0.0
    since: float = NAN
    jobs: list[int] = field(default_factory=list)
    whole: bool = False


class Plain:
    """A run.

    Parameters
    ----------
    jobs, fleet, rng
        Same as for the simulator; ``idle`` of the fleet is the time that an empty instance is kept.
    policy
        Called with views that this class builds.
    """

    def __init__(
        self,
        jobs,
        fleet,
        policy,
        rng,
        *,
        period=20.0,
        look=None,
        begin=None,
        history=None,
        at_once=False,
        warm=-INF,
    ):
        self.jobs, self.fleet, self.policy, self.rng = jobs, fleet, policy, rng
        self.period, self.look, self.warm = period, look, INF if at_once else warm
        self.idle = 0.0 if at_once else fleet.idle
        longest = max(kind.launch for kind in fleet.types)
        self.begin = float(jobs.submit[0]) - (math.ceil(longest / period) + 1) * period
        self.begin = self.begin if begin is None else begin
        self.due, self.next_look, self.last_asked, self.asked = self.begin, INF, NAN, 0
        if at_once:
            self.due, self.look = INF, None
        self.capacity = [kind.vector() for kind in fleet.types]
        self.limit = [kind.most for kind in fleet.types]
        self.wanted = [0] * len(fleet.types)
        self.all, self.queue, self.places, self.attempts, self.views, self.decisions = [], [], {}, [], [], []
        self.coming = list(range(len(jobs)))
        self.cuts = list(
            zip(
                fleet.interruptions.time.tolist(),
                fleet.interruptions.kind.tolist(),
                fleet.interruptions.limit.tolist(),
                strict=True,
            )
        )
        self.start, self.end, self.ends = [NAN] * len(jobs), [NAN] * len(jobs), {}
        self.lost, self.newcomers, self.expired = 0, False, []
        # Of jobs that end or are killed at one instant, the job with the lower slot goes first.
        self.slots, self.free = {}, []
        self.rows = [np.array(row, np.float64) for row in ([] if history is None else history)]
        while self.coming or self.queue or self.ends:
            self._instant(self._next())

    # Time

    def _next(self):
        return min(
            self.jobs.submit[self.coming[0]] if self.coming else INF,
            *self.ends.values(),
            *[each.turn for each in self.all],
            self.cuts[0][0] if self.cuts else INF,
            self.due,
            self.next_look,
        )

    def _instant(self, now):
        assert now < INF, "jobs wait for ever"
        for job in sorted((job for job, at in self.ends.items() if at == now), key=self.slots.__getitem__):
            self._stop(job, now)
            self.end[job] = now
        self._process_arrivals(now)
        if self._is_decision_due(now):
            # Instances that expired because a job was killed at this instant are handled before the decision.
            if any(each.turn <= now for each in self.all):
                self._process_arrivals(now)
            self._decide(now)

    def _process_arrivals(self, now):
        self._advance_instances(now)
        while self.cuts and self.cuts[0][0] <= now:
            _, kind, limit = self.cuts.pop(0)
            self.limit[kind] = limit
            while len(there := self._of(kind, "starting", "up")) > limit:
                self._interrupt(max(there, key=lambda each: each.line), now)
        while self.coming and self.jobs.submit[self.coming[0]] <= now:
            self._wait(self.coming.pop(0))
        self._place(now)
        if self.queue and self.newcomers:
            self._schedule_poll(now)
        self._expire(now)

    def _is_decision_due(self, now):
        return min(self.due, self.next_look) <= now and bool(self.coming or self.queue or self.ends)

    def _advance_instances(self, now):
        while any(each.turn <= now for each in self.all):
            one = min(self.all, key=lambda each: (each.turn, each.kind, each.row))
            if one.stage == "starting" and one.boots:
                self._come_up(one, now)
            elif one.stage == "starting":
                self._leave(one, FAILED, now)
            elif one.stage == "leaving":
                self._kill(one, now)
            else:
                one.turn = INF
                self.expired.append(one)

    def _schedule_poll(self, now):
        """Schedule the first poll from now on at which the policy was not called yet."""
        if self.look is None or now < self.begin:
            return
        at = max(now, self.begin + math.ceil((now - self.begin) / self.look) * self.look)
        self.next_look = min(self.next_look, at + self.look if at == self.last_asked else at)

    # Instances

    def _of(self, kind, *stages):
        return [each for each in self.all if each.kind == kind and each.stage in stages]

    def _left(self, kind):
        there = len(self._of(kind, "starting", "up", "leaving"))
        return min(self.limit[kind], self.fleet.types[kind].most) - there

    def _launch(self, kind, delay, boots, now):
        taken = {each.row for each in self._of(kind, "starting", "up", "leaving")}
        row = next(row for row in range(len(taken) + 1) if row not in taken)
        self.all.append(Instance(len(self.all), kind, row, now, bool(boots), now + delay))
        return self.all[-1]

    def _come_up(self, one, now):
        one.stage, one.ready, one.since, one.turn = "up", now, now, now + self.idle

    def _leave(self, one, why, now):
        assert not one.jobs
        one.stage, one.gone, one.why, one.turn = "away", now, why, INF
        if why != IDLE:
            self._schedule_poll(now)

    def _kill(self, one, now):
        one.stage = "leaving" if one.stage == "up" else one.stage
        for job in sorted(one.jobs, key=self.slots.__getitem__):
            self._stop(job, now)
            self.start[job] = NAN
            self.lost += 1
            self._wait(job)
        self._leave(one, INTERRUPTED, now)

    def _interrupt(self, one, now):
        if one.stage == "starting":
            self._leave(one, INTERRUPTED, now)
        elif self.fleet.notice <= 0.0 or not one.jobs:
            self._kill(one, now)
        else:
            one.stage, one.turn = "leaving", now + self.fleet.notice

    def _too_many(self, kind):
        return len(self._of(kind, "starting", "up")) > self.wanted[kind]

    def _is_idle(self, one, now):
        return one.stage == "up" and not one.jobs and one.since + self.idle <= now

    def _expire(self, now):
        """Remove expired instances, the latest first, while there are too many, and instances whose jobs are gone."""
        for one in reversed(self.expired):
            if one.stage == "leaving" and not one.jobs:
                self._leave(one, INTERRUPTED, now)
            elif self._is_idle(one, now):
                if self._too_many(one.kind):
                    self._leave(one, IDLE, now)
                else:
                    self._schedule_poll(now)
        self.expired = []

    # Jobs

    def _wait(self, job):
        self.queue.append(job)
        self.newcomers = True

    def _stop(self, job, now):
        del self.ends[job]
        self.free.append(self.slots.pop(job))
        for one in self.places.pop(job):
            one.jobs.remove(job)
            one.whole = False
            self.attempts.append((job, one.line, self.start[job], now))
            if not one.jobs:
                one.busy += now - one.since
                one.since = now
                if one.stage == "leaving":
                    one.turn = INF
                    self.expired.append(one)
                else:
                    one.turn = now + self.idle

    def _free(self, one):
        if one.whole:
            return np.zeros(3)
        used = sum((self.jobs.resources[job] for job in one.jobs), np.zeros(3))
        return np.round(self.capacity[one.kind] - used, 6)

    def _fitting(self, job):
        """Types on which a job may run; types with GPUs only if it requests GPUs or fits on no other type."""
        request = self.jobs.resources[job]
        fits = [kind for kind, has in enumerate(self.capacity) if (request <= has).all()]
        plain = [kind for kind in fits if self.capacity[kind][0] == 0]
        return plain if plain and request[0] == 0 else fits

    def _gang(self, job):
        """Type and number of the whole instances for a job that fits on no single instance."""
        request = self.jobs.resources[job]
        able = [
            kind
            for kind, has in enumerate(self.capacity)
            if all(h > 0 for a, h in zip(request, has, strict=True) if a > 0)
        ]
        besides = {
            kind: sum(1 for a, h in zip(request, self.capacity[kind], strict=True) if h > 0 and a == 0)
            for kind in able
        }
        kind = max(kind for kind in able if besides[kind] == min(besides.values()))
        return kind, max(
            math.ceil(a / h - 1e-9) for a, h in zip(request, self.capacity[kind], strict=True) if a > 0
        )

    def _chosen(self, job):
        up = sorted((each for each in self.all if each.stage == "up"), key=lambda each: (each.kind, each.row))
        kinds = self._fitting(job)
        if not kinds:
            kind, count = self._gang(job)
            empty = [each for each in up if each.kind == kind and not each.jobs]
            return empty[:count] if len(empty) >= count else []
        request = self.jobs.resources[job]
        able = [
            each
            for each in up
            if each.kind in kinds and not each.whole and (request <= self._free(each)).all()
        ]
        if self.fleet.best_fit:
            able.sort(key=lambda each: (*self._free(each).tolist(), each.kind, each.row))
        return able[:1]

    def _at_once(self, job, now):
        """Start the missing instances immediately, if the limit of the type allows them."""
        kind, count = (self._fitting(job)[0], 1) if self._fitting(job) else self._gang(job)
        if not self._fitting(job):
            count -= sum(1 for each in self._of(kind, "up") if not each.jobs)
        if self._left(kind) >= count:
            for _ in range(count):
                self._come_up(self._launch(kind, 0.0, True, now), now)

    def _place(self, now):
        for job in list(self.queue):
            if not self._chosen(job) and now <= self.warm:
                self._at_once(job, now)
            chosen = self._chosen(job)
            if not chosen:
                continue
            self.queue.remove(job)
            self.places[job], self.start[job] = chosen, now
            self.ends[job] = now + float(self.jobs.run[job])
            self.slots[job] = self.free.pop() if self.free else len(self.slots)
            for one in chosen:
                if not one.jobs:
                    one.since, one.turn = now, INF
                one.jobs.append(job)
                one.whole = not self._fitting(job)

    # Decisions

    def _demands(self, jobs, since):
        rows = np.array(jobs, np.int64)
        return Demands(
            self.jobs.resources[rows],
            np.array([since[job] for job in jobs], np.float64),
            self.jobs.walltime[rows],
        )

    def _decide(self, now):
        kinds, due = range(len(self.fleet.types)), self.due <= now
        needed = embed(self.jobs.resources[[*self.queue, *self.ends]], self.capacity)
        if due:
            self.rows.append(needed)
        up = [self._of(kind, "up") for kind in kinds]
        starting = np.array([len(self._of(kind, "starting")) for kind in kinds], np.int64)
        view = ScaleView(
            float(now),
            self.period,
            self.fleet.types,
            np.array([len(each) for each in up], np.int64),
            starting,
            np.array([sum(1 for one in each if one.jobs) for each in up], np.int64),
            self._demands(sorted(self.ends, key=self.slots.__getitem__), self.start),
            self._demands(self.queue, self.jobs.submit.tolist()),
            np.array(self.rows).reshape(len(self.rows), len(kinds)),
            self.look,
            due,
        )
        self.views.append(view)
        answer = self.policy.decide(view)
        self.decisions.append((now, needed, answer.counts, (view.ready + starting).tolist(), answer.why))
        self.wanted = list(answer.counts)
        missing = [
            max(0, min(self.wanted[kind] - len(up[kind]) - int(starting[kind]), self._left(kind)))
            for kind in kinds
        ]
        launches = [kind for kind in kinds for _ in range(missing[kind])]
        delays = [self.fleet.types[kind].launch for kind in launches]
        if self.fleet.launch_spread > 0.0 and launches:
            delays = (
                np.array(delays) * np.exp(self.rng.normal(0.0, self.fleet.launch_spread, len(delays)))
            ).tolist()
        boots = [True] * len(launches)
        if self.fleet.boot_failure > 0.0 and launches:
            boots = (self.rng.random(len(launches)) >= self.fleet.boot_failure).tolist()
        for kind, delay, boot in zip(launches, delays, boots, strict=True):
            self._launch(kind, delay, boot, now)
        for kind in kinds:
            while self._too_many(kind):
                able = [each for each in self._of(kind, "up") if self._is_idle(each, now)]
                if not able:
                    break
                # The instance that is idle longest is removed first; ties by the highest row.
                self._leave(min(able, key=lambda each: (each.since, -each.row)), IDLE, now)
        self.asked += due
        self.due = self.begin + self.asked * self.period
        self.newcomers, self.next_look, self.last_asked = False, INF, now
