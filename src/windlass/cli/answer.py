"""Options of ``windlass run`` about the verdict and the table of metrics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How the results of ``windlass run`` are judged and printed.

    Parameters
    ----------
    by
        The metric that the verdict compares; None for the world's first.
    require
        Requirements on the winner (:func:`windlass.results.verdict.parse_requirements`).
    check
        If much work is cut off at requested times, repeat the run without cutting jobs off.
    csv, wide
        Print the metrics as CSV, or in one table of any width.
    per
        Also print waits and work of each user, for example (:data:`windlass.results.groups.DIVISIONS`).
    """

    by: str | None = None
    require: str | None = None
    check: bool = True
    csv: bool = False
    wide: bool = False
    per: str | None = None
