"""The expected streams of queries on sites that other loads use, from answers of the planner and snapshots.

Pace and bytes follow from the cores that the ledger leaves to queries, by :mod:`tests.oracles.queries`; not from the
simulator's timeline.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any

from tests.oracles.cluster import Snapshot
from tests.oracles.cluster_world import WorldLog
from tests.oracles.queries import Followed, paces, pieces_of

#: Relative tolerance of sums of bytes and of seconds of stream.
CLOSE = 1e-9
#: Cores, uplink and downlink of a cluster.
_STEP = 3


@dataclass
class Streams:
    """Queries at the end of a run; ``sent``: bytes from each cluster to its parent; ``wrong``: violations."""

    queries: list[Followed]
    sent: list[float]
    wrong: list[str]


def violations(log: WorldLog) -> list[str]:
    """Return the differences between the streams in the result and the expected ones, one sentence each."""
    found = []
    for each, number in log.of("queries", ""):
        done = each.result
        expected = followed(log, done, number)
        found += expected.wrong
        for name in ("accurate", "served", "lost", "silent"):
            for query, value in enumerate(getattr(done, name).tolist()):
                other = getattr(expected.queries[query], name)
                if abs(value - other) > 1e-6 * (1.0 + other):
                    found.append(f"query {query}: {value:g} s of stream are {name}, expected {other:g}")
        sent = (done.course.seconds @ done.course.sent).tolist()
        for cluster, (value, other) in enumerate(zip(sent, expected.sent, strict=True)):
            if abs(value - other) > CLOSE * (1.0 + other):
                found.append(f"cluster {cluster} sent {value!r} bytes to its parent, expected {other!r}")
    return found


def followed(log: WorldLog, done: Any, part: int | None) -> Streams:
    """Return the expected streams, under the planner's answers and the cores that the ledger leaves."""
    made, stays = log.queries, done.stays
    terms, options = made["terms"], made["options"]
    queries, wrong = [Followed() for _ in options], list[str]()
    capacity = made["hierarchy"].capacity().tolist()
    states = deque({each.time: each for each in log.snapshots}.values())
    answers, coming = deque(done.answers), set(range(len(options)))
    sent, now, merged = [0.0] * len(made["at"]), 0.0, False
    end = max(stays.leave.tolist(), default=0.0)
    # By arrival or departure: the instant until which the planner has to answer.
    due = math.inf
    while True:
        pieces = pieces_of(queries, options, merged)
        try:
            paces(queries, pieces, capacity, terms.catch_up)
        except AssertionError as error:
            wrong.append(f"at {now:g} s, {error}")
        for query in queries:
            query.rate = query.rate if query.works else 0.0
        times = [float(stays.arrive[row]) for row in coming]
        times += [states[0].time] if states else []
        times += [answers[0].time] if answers else []
        for row, query in enumerate(queries):
            if query.there:
                times += [float(stays.leave[row]), query.up]
                if query.works and query.waiting > 0 and query.rate > 1:
                    times.append(now + query.waiting / (query.rate - 1))
        until = min(times, default=math.inf)
        if until > end:
            return Streams(queries, sent, wrong)
        if until > due:
            wrong.append(f"the planner has not answered by {due:g} s")
            due = math.inf
        step = max(until - now, 0.0)
        for demand, users in pieces.values():
            pace = max(queries[row].rate for row in users)
            for cluster in range(len(sent)):
                sent[cluster] += step * pace * demand[_STEP * cluster + 1]
        for row, query in enumerate(queries):
            accuracy = float(options[row].accuracy[query.choice]) if query.choice >= 0 else 0.0
            query.flow(now, max(until, now), accuracy, terms)
        now = max(until, now)
        for row, query in enumerate(queries):
            if query.there and stays.leave[row] <= now:
                query.stop()
                query.there, query.choice = False, -1
                due = min(due, now + terms.notice)
            if query.up <= now:
                query.works, query.up = True, math.inf
        while states and states[0].time <= now:
            _set_cores(capacity, log, states.popleft(), part)
        for row in sorted(coming):
            if stays.arrive[row] <= now:
                coming.discard(row)
                queries[row].there = bool(stays.leave[row] > now)
                due = min(due, now + terms.notice)
        if not any(query.there for query in queries):
            due = math.inf
        while answers and answers[0].time <= now:
            answer, due = answers.popleft(), math.inf
            merged = answer.merged
            wrong += _carry_out(answer, queries, now, terms)


def _set_cores(capacity: list[float], log: WorldLog, state: Snapshot, part: int | None) -> None:
    """Set the cores of each cluster: those that queries hold and the idle ones."""
    for cluster, site in enumerate(log.queries["at"]):
        capacity[_STEP * cluster] = float(
            sum(max(0, state.idle[row] + state.held[row][part]) for row in log.rows[site])
        )


def _carry_out(answer: Any, queries: list[Followed], now: float, terms: Any) -> list[str]:
    """Switch the queries as an answer requires; return its violations."""
    there = [row for row, query in enumerate(queries) if query.there]
    if sorted(answer.query.tolist()) != there:
        return [f"at {now:g} s, the answer is for queries {sorted(answer.query.tolist())}, there are {there}"]
    for row, choice, before in zip(
        answer.query.tolist(), answer.choice.tolist(), answer.before.tolist(), strict=True
    ):
        query = queries[row]
        if query.choice != before:
            return [f"at {now:g} s, query {row} has configuration {query.choice}, not {before}"]
        if choice != before:
            query.switches += before >= 0
            query.stop()
            query.choice = choice
            if choice >= 0:
                query.up = now + terms.restart
                if terms.restart == 0:
                    query.works, query.up = True, math.inf
    return []
