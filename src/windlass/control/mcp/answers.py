"""What the tools return. Times are in words, in the time zone of the machine; durations are in seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueuedJobAnswer:
    """A job that runs or waits, and why."""

    job: str
    site: str
    state: str
    kind: str
    for_s: float
    cores: int
    why: str


@dataclass(frozen=True, slots=True)
class SiteAnswer:
    """A site: its cores, and the policy of its queue, which is empty if none is known."""

    site: str
    running: int
    waiting: int
    cores: int
    idle: int
    policy: str


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """An engine with its sites, and the jobs that wait the longest and that started the latest."""

    engine: str
    state: str
    about: str
    error: str
    now: str
    sites: tuple[SiteAnswer, ...]
    waiting: tuple[QueuedJobAnswer, ...]
    running: tuple[QueuedJobAnswer, ...]


@dataclass(frozen=True, slots=True)
class ListAnswer:
    """The engines, and the policies by which a queue can be replayed."""

    engines: tuple[EngineAnswer, ...]
    policies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StartAnswerRow:
    """A predicted start: the median and the interval, from now on, s; ``started`` is empty for a waiting job."""

    job: str
    site: str
    predicted: str
    median: str
    median_s: float
    low_s: float
    high_s: float
    level: float
    slurm_rule_s: float
    calibrated: bool
    started: str


@dataclass(frozen=True, slots=True)
class EngineStarts:
    """The predicted starts of an engine, and how many intervals of earlier ones contained the start."""

    engine: str
    scored: int
    contained: int
    median_width_s: float
    mean_error_s: float
    starts: tuple[StartAnswerRow, ...]


@dataclass(frozen=True, slots=True)
class WhenAnswer:
    """Predicted starts by engine."""

    engines: tuple[EngineStarts, ...]


@dataclass(frozen=True, slots=True)
class DecisionAnswer:
    """A decision about a job."""

    time: str
    decision: str
    policy: str
    answer: str
    reason: str


@dataclass(frozen=True, slots=True)
class EventAnswer:
    """Something that happened to a job."""

    time: str
    event: str
    details: str


@dataclass(frozen=True, slots=True)
class ExplainAnswer:
    """Why a job waits or runs: its state now, and its decisions and events, the latest first."""

    now: tuple[QueuedJobAnswer, ...]
    decisions: tuple[DecisionAnswer, ...]
    events: tuple[EventAnswer, ...]


@dataclass(frozen=True, slots=True)
class WhatIfAnswer:
    """The answer in sentences; mean waits and their change, s; and the time until each job starts, s, in the means."""

    sentences: tuple[str, ...]
    present_wait_s: float | None
    wait_s: float | None
    change_s: float | None
    change_low_s: float | None
    change_high_s: float | None
    sooner: int
    later: int
    never: int


@dataclass(frozen=True, slots=True)
class ValidateAnswer:
    """A scenario that is valid: its world, its variants and its runs."""

    name: str
    world: str
    variants: tuple[str, ...]
    seeds: tuple[int, ...]
    runs: int
