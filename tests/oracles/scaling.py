"""Computations of autoscalers on a view, in plain Python, one type and one job at a time."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from windlass.scale.lib.arrivals import LEVELS

CLOSE = 1e-9


def bucket_of(request, types):
    """Return the index of the smallest type on which a job fits, by GPUs, cores and memory, or None."""
    able = [
        (tuple(kind.vector()), place)
        for place, kind in enumerate(types)
        if all(a <= h for a, h in zip(request, kind.vector(), strict=True))
    ]
    return min(able)[1] if able else None


def gang_of(request, types):
    """Type and number of whole instances for a job that fits on no type: of types with the fewest other resources, the
    largest."""
    able = []
    for place, kind in enumerate(types):
        has = kind.vector()
        if all(h > 0 for a, h in zip(request, has, strict=True) if a > 0):
            able.append(
                (-sum(h > 0 and a == 0 for a, h in zip(request, has, strict=True)), tuple(has), place)
            )
    _, has, place = max(able)
    return place, math.ceil(max(a / h for a, h in zip(request, has, strict=True) if a > 0) * (1 - 1e-12))


def counts_of(rows, types):
    """Fractional number of instances of each type that jobs need, by their most requested resource."""
    sums, whole = np.zeros((len(types), 3)), np.zeros(len(types))
    for request in rows:
        place = bucket_of(request, types)
        if place is None:
            gang = gang_of(request, types)
            whole[gang[0]] += gang[1]
        else:
            sums[place] += request
    return np.array(
        [
            max(s / h for s, h in zip(of, kind.vector(), strict=True) if h > 0) + extra
            for of, kind, extra in zip(sums, types, whole, strict=True)
        ]
    )


def up(number):
    """Round up, with a tolerance for floating-point error."""
    return math.ceil(number - CLOSE)


def need_of(view):
    """Return the current need, that of waiting jobs, the minimum of instances, and the spread-out instances."""
    kinds = range(len(view.types))
    now = view.history[-1].tolist() if len(view.history) else [0.0 for _ in kinds]
    waiting = counts_of(view.waiting.resources, view.types)
    alone = [0 for _ in kinds]
    for request in view.waiting.resources:
        place = bucket_of(request, view.types)
        if place is None:
            kind, size = gang_of(request, view.types)
            alone[kind] += size
        elif any(2 * a > h for a, h in zip(request, view.types[place].vector(), strict=True)):
            alone[place] += 1
    least = [int(view.used[k]) + max(up(waiting[k]), alone[k]) for k in kinds]
    spread = [int(view.used[k]) - up(max(0.0, now[k] - waiting[k])) for k in kinds]
    return now, waiting.tolist(), least, spread


def totals_at_poll(view, plan):
    """Return the totals at a poll: instances that are in use or needed, and further ones up to the plan."""
    _, _, least, _ = need_of(view)
    there = (view.ready + view.coming).tolist()
    return tuple(
        min(max(have, min(is_there, planned)), kind.most)
        for have, is_there, planned, kind in zip(least, there, plan, view.types, strict=True)
    )


class PlainChange:
    """The growth of the need of one type: recursive least squares, and quantiles of their errors."""

    def __init__(self, ahead, longest, features, misses=2016):
        self.ahead, self.longest, self.kept = ahead, longest, misses
        self.line, self.spread = np.zeros(features), np.eye(features)
        self.usual, self.overall = [0.0] * 24, 0.0
        self.cases, self.needs, self.misses, self.learned, self.quantiles = [], [], [], 0, None

    def size(self, now):
        return 0.7 * self.usual[int(now // 3600) % 24] + 0.3 * self.overall + 1e-6

    def observe(self, now, need, seen):
        self.needs.append(need)
        if len(self.cases) >= self.longest:
            self.learn(len(self.cases) - self.longest)
        self.cases.append((now, need, seen, float(self.line @ seen)))

    def learn(self, place):
        now, need, seen, expected = self.cases[place]
        grown = max(self.needs[place + 1 : place + 1 + self.ahead]) - need
        miss = grown - expected
        scaled = miss / self.size(now)
        if self.learned:
            self.misses = [*self.misses, scaled][-self.kept :]
        self.overall += max(0.03, 1 / (self.learned + 1)) * (abs(miss) - self.overall)
        hour = int(now // 3600) % 24
        self.usual[hour] += 0.03 * (abs(miss) - self.usual[hour])
        self.learned += 1
        keep = 1 - 1 / 14_400
        gain = self.spread @ seen / (keep + seen @ self.spread @ seen)
        self.line = self.line + gain * (grown - self.line @ seen)
        self.spread = np.clip((self.spread - np.outer(gain, seen @ self.spread)) / keep, -1e6, 1e6)

    def quantile(self, now, seen, level):
        """Errors are sorted again after twelve rows, or for another level."""
        kept = self.quantiles
        if kept is None or self.learned - kept[0] >= 12 or kept[1] != level:
            if not self.misses:
                return float(self.line @ seen)
            rank = math.ceil((len(self.misses) + 1) * level) - 1
            ordered = sorted(self.misses)
            kept = self.quantiles = self.learned, level, ordered[min(max(rank, 0), len(ordered) - 1)]
        return float(self.line @ seen) + self.size(now) * kept[2]


class PlainOdds:
    """The probability of one level of one type: a logistic regression with one Newton step per row."""

    def __init__(self, period, keep=1 - 1 / 14_400):
        self.period, self.keep, self.rows = period, keep, 0
        self.weights, self.spread, self.seen = np.array([-3.0] + [0.0] * 7), np.eye(8), np.zeros(8)
        self.lately, self.hourly, self.daily = [0.0] * 3, [0.0] * 24, [0.0] * 7
        self.events, self.usual = [0.0] * 24, 0.0

    def chance(self):
        return 1 / (1 + math.exp(-min(30.0, max(-30.0, float(self.weights @ self.seen)))))

    def observe(self, now, jobs, came):
        if self.rows:
            learned = self.chance()
            weight = max(learned * (1 - learned), 1e-4)
            along = self.spread @ self.seen
            scale = 1 / (1 / weight + self.seen @ along)
            self.weights = self.weights + scale / weight * (came - learned) * along
            self.spread = self.spread - scale * np.outer(along, along)
            self.spread = self.spread * min(1 / self.keep, 100.0 / self.spread.diagonal().max())
        self.rows += 1
        for place, lasts in enumerate((3600.0, 6 * 3600.0, 24 * 3600.0)):
            stays = math.exp(-self.period / lasts)
            self.lately[place] = stays * self.lately[place] + (1 - stays) * jobs
        hour, day = self.of(now)
        of_hour, of_day = min(1.0, self.period / 30_000), min(1.0, self.period / 100_000)
        self.hourly[hour] += of_hour * (jobs - self.hourly[hour])
        self.daily[day] += of_day * (jobs - self.daily[day])
        self.events[hour] += of_hour * (came - self.events[hour])
        self.usual += of_day * (came - self.usual)
        hour, day = self.of(now + self.period)
        jobs_of = [*self.lately, self.hourly[hour], self.daily[day]]
        logs = [math.log1p(20 * each) for each in jobs_of]
        self.seen = np.array([1.0, *logs, math.log1p(100 * self.events[hour]), math.log1p(100 * self.usual)])

    @staticmethod
    def of(now):
        return int(now // 3600) % 24, int(now // 86_400) % 7


class PlainArrivals:
    """Arrivals since the previous row, and the number of them that each level of spare instances could run."""

    def __init__(self):
        self.since, self.least, self.waited = None, None, []

    def came(self, view, least):
        kinds = len(view.types)
        if self.since is None:
            self.since, self.least = view.now, view.used.tolist()
        started = [
            tuple(request)
            for request, at in zip(view.running.resources.tolist(), view.running.since.tolist(), strict=True)
            if at > self.since
        ]
        waiting = [tuple(request) for request in view.waiting.resources.tolist()]
        new = Counter(started) + Counter(waiting) - Counter(self.waited)
        grown = [now - before for now, before in zip(least, self.least, strict=True)]
        self.since, self.least, self.waited = view.now, list(least), waiting
        sizes = [[] for _ in range(kinds)]
        for request in new.elements():
            place = bucket_of(request, view.types)
            if place is None:
                place, size = gang_of(request, view.types)
            else:
                has = view.types[place].vector()
                size = max(a / h for a, h in zip(request, has, strict=True) if h > 0)
            sizes[place].append(float(size))
        served = [self.served(of, more) for of, more in zip(sizes, grown, strict=True)]
        return [float(len(of)) for of in sizes], served

    @staticmethod
    def served(sizes, grown):
        large = [size for size in sizes if size >= 1 - CLOSE]
        shared = grown - sum(math.ceil(size) for size in large) if len(large) < len(sizes) else 0
        line, run = sorted([1.0] * max(0, shared) + large), []
        for level in LEVELS.tolist():
            count, filled = 0, 0.0
            for size in line:
                filled += size
                count += filled <= level + CLOSE
            run.append(count)
        return [float(b - a) for a, b in zip([0, *run], run, strict=False)]
