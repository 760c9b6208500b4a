"""Queries of predicted starts: those of waiting jobs, those of one job, and how good scored ones were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from windlass.control.journal.records import JobKey, PredictionRecord
from windlass.control.journal.schema import PREDICTIONS

#: A score is of this many predictions at most, the latest ones of each site.
MOST_SCORED = 1000
#: The most predictions of waiting jobs of a site, or of one job, that are returned.
_MOST_ROWS = 500
#: Starts are differences of times, so that they are compared to a microsecond.
_EXACT = 1e-6
_COLUMNS = "time, job, low, median, high, planned, level, scored, first, started"


@dataclass(frozen=True, slots=True)
class StartScore:
    """How good predictions of starts were, over the first prediction of each job that has started.

    Parameters
    ----------
    scored
        Their number.
    contained
        Those whose interval contained the start.
    median_width
        Median width of their intervals, s.
    mean_error
        Mean absolute difference between the predicted median and the start, s.
    planned_error
        The same of Slurm's rule, s.

    Examples
    --------
    >>> job = JobKey("demo", "iowa", "batch/1")
    >>> row = PredictionRecord(0.0, job, 10.0, 20.0, 50.0, 90.0, 0.9, 0, first=True, started=40.0)
    >>> score = StartScore.of([row])
    >>> score.contained, score.median_width, score.mean_error, score.planned_error
    (1, 40.0, 20.0, 50.0)
    """

    scored: int
    contained: int
    median_width: float
    mean_error: float
    planned_error: float

    @classmethod
    def of(cls, rows: Sequence[PredictionRecord]) -> StartScore:
        """Return the score of predictions whose jobs have started; zeros without any."""
        return cls.of_times(
            [
                (row.low, row.median, row.high, row.planned, row.started)
                for row in rows
                if row.started is not None
            ]
        )

    @classmethod
    def of_times(cls, rows: Sequence[tuple[float, float, float, float, float]]) -> StartScore:
        """Return the score of predictions: low, median, high, planned and actual start of each, s."""
        if not rows:
            return cls(0, 0, 0.0, 0.0, 0.0)
        low, middle, high, planned, start = np.array(rows).T
        return cls(
            len(rows),
            int(np.count_nonzero((low - _EXACT <= start) & (start <= high + _EXACT))),
            float(np.median(high - low)),
            float(np.abs(middle - start).mean()),
            float(np.abs(planned - start).mean()),
        )


class PredictionQueries:
    """Reads the predictions of a journal.

    Parameters
    ----------
    rows
        Returns the rows of a query with its values.
    """

    def __init__(self, rows: Callable[[str, Sequence[object]], list[tuple[Any, ...]]]) -> None:
        self._rows = rows

    def waiting(self, engine: str, site: str | None = None) -> tuple[PredictionRecord, ...]:
        """Return the latest prediction of each job that has not started, by their medians.

        Parameters
        ----------
        engine, site
            The engine, and one of its sites; None for all. Of each site, at most 500 jobs are returned.
        """
        found = []
        for scope, name in self._scopes(engine, site):
            some = self._rows(
                f"select {_COLUMNS} from predictions where id in (select max(id) from predictions "
                f"where scope = ? and open = 1 group by job) order by median, id limit {_MOST_ROWS}",
                (scope,),
            )
            found += [_record(engine, name, row) for row in some]
        return tuple(sorted(found, key=lambda each: each.median))

    def of_job(self, engine: str, job: str, site: str | None = None) -> tuple[PredictionRecord, ...]:
        """Return the predictions of one job, the latest first, at most 500 of each site."""
        found = []
        for scope, name in self._scopes(engine, site):
            some = self._rows(
                f"select {_COLUMNS} from predictions where job = ? and scope = ? order by id desc limit {_MOST_ROWS}",
                (job, scope),
            )
            found += [_record(engine, name, row) for row in some]
        return tuple(found)

    def score(self, engine: str, site: str | None = None, *, least: int = 0) -> StartScore:
        """Return how good the predictions of an engine were, over the latest 1,000 scored ones of each site.

        Parameters
        ----------
        engine, site
            The engine, and one of its sites; None for all.
        least
            Only predictions that were made after this many had been scored.
        """
        found: list[tuple[Any, ...]] = []
        for scope, _ in self._scopes(engine, site):
            found += self._rows(
                "select low, median, high, planned, started, scored from predictions "
                f"where scope = ? and first = 1 and started is not null order by id desc limit {MOST_SCORED}",
                (scope,),
            )
        return StartScore.of_times([row[:5] for row in found if row[5] >= least])

    def _scopes(self, engine: str, site: str | None) -> list[tuple[int, str]]:
        rows = self._rows(
            "select scope, site from scopes where engine = ? and topic = ? order by site",
            (engine, PREDICTIONS),
        )
        return [(scope, name) for scope, name in rows if site in (None, name)]


def _record(engine: str, site: str, row: tuple[Any, ...]) -> PredictionRecord:
    time, job, low, middle, high, planned, level, scored, first, started = row
    key = JobKey(engine, site, job)
    return PredictionRecord(time, key, low, middle, high, planned, level, scored, bool(first), started)
