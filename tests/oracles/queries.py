"""The expected result of streaming queries under the decisions of a planner, in plain Python, query by query.

:func:`follow` receives the external events and the planner's decisions, and none of the simulator's results.
:func:`frames` then counts single frames in a queue, where the simulator uses a fluid model.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from windlass.model.queries import Hierarchy
from windlass.model.timetable import SiteTimetable
from windlass.plan.view import QueryOptions
from windlass.sim.queries.result import PlannerAnswer, Streamed
from windlass.sim.queries.setup import Stays, Terms

_CLOSE = 1e-9


@dataclass(frozen=True)
class Stretch:
    """An interval with the pace of a query, None if its components did not work, and whether it was to catch up."""

    begin: float
    end: float
    rate: float | None
    behind: bool


@dataclass
class Followed:
    """The state and counters of one query."""

    there: bool = False
    choice: int = -1
    up: float = math.inf
    works: bool = False
    waiting: float = 0.0
    rate: float = 0.0
    behind: bool = False
    accurate: float = 0.0
    served: float = 0.0
    late: float = 0.0
    lost: float = 0.0
    silent: float = 0.0
    switches: int = 0
    stretches: list[Stretch] = field(default_factory=list)

    def flow(self, begin: float, end: float, accuracy: float, terms: Terms) -> None:
        """Advance by an interval of constant pace, split where the queue becomes full or starts or stops being late."""
        if not self.there:
            return
        self.stretches.append(Stretch(begin, end, self.rate if self.works else None, self.behind))
        if not self.works:
            self.lost += end - begin
            self.silent += end - begin
            return
        growth, now = 1.0 - self.rate, begin
        while now < end - 1e-12:
            cuts = [end]
            for level in (terms.deadline, terms.buffer):
                if abs(growth) > 1e-12 and (level - self.waiting) / growth > 1e-12:
                    cuts.append(now + (level - self.waiting) / growth)
            until = min(cuts)
            full = growth > 0 and self.waiting >= terms.buffer - 1e-12
            middle = self.waiting if full else self.waiting + growth * (until - now) / 2
            done = self.rate * (until - now)
            self.served += done
            self.accurate += accuracy * done
            self.late += done if middle > terms.deadline + 1e-12 and terms.buffer > terms.deadline else 0.0
            if full:
                self.lost += growth * (until - now)
            else:
                self.waiting += growth * (until - now)
            now = until
        if self.waiting < _CLOSE:
            self.waiting = 0.0

    def stop(self) -> None:
        """Stop the query; waiting frames are lost."""
        self.lost += self.waiting
        self.waiting = self.rate = 0.0
        self.works, self.up = False, math.inf


def pieces_of(
    queries: Sequence[Followed], options: Sequence[QueryOptions], merged: bool
) -> dict[object, tuple[list[float], set[int]]]:
    """Return the demand and the queries of each piece of work."""
    found: dict[object, tuple[list[float], set[int]]] = {}
    for row, query in enumerate(queries):
        if query.choice < 0:
            continue
        of, j = options[row], query.choice
        if merged and of.piece is not None and of.piece_demand is not None:
            named = [
                (int(number), of.piece_demand[j, at].tolist())
                for at, number in enumerate(of.piece[j])
                if number >= 0
            ]
        else:
            named = [((row,), of.demand[j].tolist())]
        for name, demand in named:
            before, users = found.get(name, (demand, set()))
            found[name] = [max(pair) for pair in zip(before, demand, strict=True)], users | {row}
    return found


def paces(
    queries: Sequence[Followed],
    pieces: dict[object, tuple[list[float], set[int]]],
    capacity: Sequence[float],
    catch_up: float,
) -> None:
    """Set the pace of each working query: proportional shares first, then the remainder for late queries."""
    wide = range(len(capacity))

    def granted(want: dict[object, float], there: Sequence[float], rows: set[int]) -> dict[int, float]:
        requested = [sum(want[name] * pieces[name][0][at] for name in pieces) for at in wide]
        part = [1.0 if requested[at] <= there[at] else there[at] / requested[at] for at in wide]
        return {
            row: min(
                (part[at] for demand, users in pieces.values() if row in users for at in wide if demand[at]),
                default=1.0,
            )
            for row in rows
        }

    running = {row for row, query in enumerate(queries) if query.choice >= 0}
    base = granted(dict.fromkeys(pieces, 1.0), capacity, running)
    late = {row for row in running if queries[row].works and queries[row].waiting > 0}
    used = [
        sum(max(base[row] for row in users) * demand[at] for demand, users in pieces.values()) for at in wide
    ]
    left = [max(0.0, capacity[at] - used[at]) for at in wide]
    want = {name: catch_up if users & late else 0.0 for name, (_, users) in pieces.items()}
    more = granted(want, left, late)
    for row, query in enumerate(queries):
        query.behind = row in late
    for row in running:
        if queries[row].works:
            queries[row].rate = base[row] + (catch_up * more[row] if row in late else 0.0)
    for at in wide:
        flows = sum(max(queries[row].rate for row in users) * demand[at] for demand, users in pieces.values())
        assert flows <= capacity[at] * (1 + 1e-9) + 1e-9, "more flows than there is"


def follow(
    hierarchy: Hierarchy,
    options: Sequence[QueryOptions],
    stays: Stays,
    terms: Terms,
    timetable: SiteTimetable,
    answers: Sequence[PlannerAnswer],
    units: int = 1000,
) -> list[Followed]:
    """Simulate the whole run; assert that each decision came in time and fitted the capacity."""
    queries = [Followed() for _ in options]
    capacity = hierarchy.capacity().tolist()
    left, ask, merged, now = deque(answers), math.inf, False, 0.0
    changes = list(
        zip(
            *(getattr(timetable, name).tolist() for name in ("time", "site", "slots", "up", "down")),
            strict=True,
        )
    )
    end = max(stays.leave.tolist(), default=0.0)
    to_come = set(range(len(options)))

    def accuracy(row: int) -> float:
        return float(options[row].accuracy[queries[row].choice]) if queries[row].choice >= 0 else 0.0

    while True:
        times = [stays.arrive[row] for row in to_come] + [change[0] for change in changes] + [ask]
        for row, query in enumerate(queries):
            if query.there:
                times += [stays.leave[row], query.up]
                if query.works and query.waiting > 0 and query.rate > 1:
                    times.append(now + query.waiting / (query.rate - 1))
        until = min(times)
        if until > end:
            break
        for row, query in enumerate(queries):
            query.flow(now, until, accuracy(row), terms)
        now = until
        for row, query in enumerate(queries):
            if query.there and stays.leave[row] <= now:
                query.stop()
                query.there, query.choice = False, -1
                ask = min(ask, now + terms.notice)
            if query.up <= now:
                query.works, query.up = True, math.inf
        before = list(capacity)
        while changes and changes[0][0] <= now:
            _, site, cores, up, down = changes.pop(0)
            capacity[3 * site : 3 * site + 3] = [cores / units, up, down]
        if capacity != before:
            ask = min(ask, now + terms.notice)
        for row in sorted(to_come):
            if stays.arrive[row] <= now:
                to_come.discard(row)
                if stays.leave[row] > now:
                    queries[row].there = True
                ask = min(ask, now + terms.notice)
        if not any(query.there for query in queries):
            ask = math.inf
        if ask <= now:
            assert left, f"no decision at {now}"
            answer = left.popleft()
            assert answer.time == now, f"decision at {answer.time}, expected {now}"
            ask, merged = math.inf, answer.merged
            _carry_out(answer, queries, now, terms)
            pieces = pieces_of(queries, options, merged)
            for at, there in enumerate(capacity):
                requested = sum(demand[at] for demand, _ in pieces.values())
                assert requested <= there * (1 + 1e-8), (
                    f"{hierarchy.resources[at]} is over capacity after an answer"
                )
        paces(queries, pieces_of(queries, options, merged), capacity, terms.catch_up)
    assert not left, f"decision at {left[0].time}, expected none"
    return queries


def _carry_out(answer: PlannerAnswer, queries: Sequence[Followed], now: float, terms: Terms) -> None:
    assert sorted(answer.query.tolist()) == [row for row, query in enumerate(queries) if query.there]
    for row, choice, before in zip(
        answer.query.tolist(), answer.choice.tolist(), answer.before.tolist(), strict=True
    ):
        query = queries[row]
        assert query.choice == before
        if choice != before:
            query.switches += before >= 0
            query.stop()
            query.choice = choice
            if choice >= 0:
                query.up = now + terms.restart
                if terms.restart == 0:
                    query.works, query.up = True, math.inf


def check(done: Streamed, followed: Sequence[Followed]) -> None:
    """Assert that the simulator's counts equal the follower's, and that no part of a stream is missing."""
    for name in ("accurate", "served", "late", "lost", "silent", "switches"):
        expected = [getattr(query, name) for query in followed]
        assert getattr(done, name).tolist() == pytest.approx(expected, abs=1e-5), name
    length = done.stays.leave - done.stays.arrive
    assert (done.served + done.lost).tolist() == pytest.approx(length.tolist(), abs=1e-6)
    course = done.course
    assert (course.results * course.seconds).sum() == pytest.approx(done.accurate.sum(), abs=1e-5)
    assert (course.there * course.seconds).sum() == pytest.approx(length.sum(), abs=1e-6)


def frames(
    stretches: Sequence[Stretch], terms: Terms, per_second: int, deadline: float
) -> tuple[int, int, int]:
    """Count the served, late and lost frames of one query, frame by frame, in a queue that drops its oldest frame."""
    served = late = lost = 0
    queue: deque[float] = deque()
    room, each = round(terms.buffer * per_second), 1.0 / per_second
    work = each
    if not stretches:
        return 0, 0, 0
    coming = stretches[0].begin + each / 2
    for stretch in stretches:
        now = stretch.begin
        if stretch.rate is None:
            lost += len(queue)
            queue.clear()
            work = each
        while True:
            ready = now + work / stretch.rate if queue and stretch.rate else math.inf
            until = min(ready, coming, stretch.end)
            if queue and stretch.rate:
                work -= (until - now) * stretch.rate
            now = until
            if now >= stretch.end:
                break
            if now == ready:
                served += 1
                late += now - queue.popleft() > deadline
                work = each
            else:
                coming += each
                if stretch.rate is None:
                    lost += 1
                    continue
                queue.append(now)
                if len(queue) > max(room, 1):
                    queue.popleft()
                    lost += 1
    return served, late, lost + len(queue)
