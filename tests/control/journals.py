"""Rows for tests of the journal, and small helpers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from windlass.control.journal import (
    DecisionRecord,
    EventRecord,
    JobKey,
    JournalWriter,
    PredictionRecord,
    Retention,
)

SITES = ("iowa", "osaka", "")
DECISIONS = ("order", "share", "scale")


def decision(number: int, engine: str = "demo") -> DecisionRecord:
    """Return a decision that depends on a number only."""
    job = JobKey(engine, SITES[number % 3], f"batch/{number % 100}" if number % 5 else "")
    name = DECISIONS[number % 7 % 3]
    return DecisionRecord(float(number), job, name, f"policy-{name}", "start", f"reason {number}")


def event(number: int) -> EventRecord:
    """Return an event that depends on a number only."""
    kind = ("submitted", "started", "ended")[number % 3]
    return EventRecord(float(number), JobKey("demo", SITES[number % 3], f"batch/{number}"), kind, "")


def prediction(number: int, site: str = "iowa") -> PredictionRecord:
    """Return a prediction that depends on a number only."""
    now, job = 10.0 * number, JobKey("demo", site, f"batch/{number % 50}")
    return PredictionRecord(
        now, job, now + number % 7, now + number % 7 + 20.0, now + 90.0, now + 300.0, 0.9, number, number < 50
    )


def fill(path: Path, rows: int, retention: Retention | None = None) -> None:
    """Write a journal of `rows` decisions and as many events."""
    with JournalWriter(path, retention=retention, clock=ticking()) as journal:
        for first in range(0, rows, 1000):
            numbers = range(first, min(first + 1000, rows))
            journal.append(*map(decision, numbers), *map(event, numbers))


class ticking:  # noqa: N801 - reads as a word where it is used
    """A wall clock that advances by 1 s at each call."""

    def __init__(self) -> None:
        self._times: Iterator[int] = iter(range(1, 10**9))

    def __call__(self) -> float:
        return float(next(self._times))
