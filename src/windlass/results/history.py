"""The history of one job: what happened to it, step by step, and which decision each step follows from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """One event in the history of a job.

    Parameters
    ----------
    at
        Time, s.
    what
        What happened or was decided.
    why
        The policy's reason, or the state at that time; empty if ``what`` needs none.
    decision, policy
        The decision from which it follows, such as ``order``, and the name of its policy; empty for other events.
    figures
        The numbers in the text, and further ones.
    minor
        Whether it concerns the job only indirectly: it is printed on request.
    """

    at: float
    what: str
    why: str = ""
    decision: str = ""
    policy: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    minor: bool = False


@dataclass(frozen=True, slots=True)
class JobHistory:
    """The history of one job.

    Parameters
    ----------
    job
        The job's name, such as ``batch@iowa/17``.
    kind
        Its kind, such as ``staged job``.
    submit
        Time of its arrival, s.
    about
        Sentences on its request and on the whole of its history.
    steps
        The steps, in order of time.
    outcome
        Numbers of its row in the table of jobs, such as ``start_s``, with which a repeated run is compared.

    Examples
    --------
    >>> step = HistoryStep(5.0, "starts", "head of the queue", "order", "easy")
    >>> found = JobHistory("batch@iowa/1", "job", 2.0, (), (step,), {"start_s": 5.0})
    >>> found.differs({"start_s": 5.0}), found.differs({"start_s": 9.0})
    ('', 'start_s')
    """

    job: str
    kind: str
    submit: float
    about: tuple[str, ...]
    steps: tuple[HistoryStep, ...]
    outcome: Mapping[str, float]

    def differs(self, row: Mapping[str, Any]) -> str:
        """Return the first column in which a row of the table of jobs differs from the outcome; empty if none does."""
        return next((name for name, value in self.outcome.items() if not _same(value, row.get(name))), "")


def _same(value: float, other: float | None) -> bool:
    """Return whether two numbers are equal; None and NaN are."""
    missing = other is None or math.isnan(other)
    return missing if math.isnan(value) else not missing and value == other
