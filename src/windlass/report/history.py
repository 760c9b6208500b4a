"""The history of one job as text, a line for each step."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from windlass.report.units import duration
from windlass.results.history import HistoryStep, JobHistory


@dataclass(frozen=True, slots=True)
class ExplainedHistory:
    """A job's history for ``windlass explain``; see :class:`~windlass.results.explanation.Explanation`.

    Parameters
    ----------
    history
        The history.

    Examples
    --------
    >>> step = HistoryStep(125.0, "starts", "head of the queue", "order", "easy")
    >>> found = ExplainedHistory(JobHistory("batch@iowa/1", "job", 60.0, ("It requested 1 core.",), (step,), {}))
    >>> print(found.sentences(), found.moments(everything=False))
    ('It requested 1 core.',) ('after 1 min 5 s, order (easy): starts; head of the queue.',)
    """

    history: JobHistory

    def sentences(self) -> tuple[str, ...]:
        """Return the sentences on the whole history."""
        return self.history.about

    def moments(self, everything: bool) -> tuple[str, ...]:
        """Return a line for each step, the minor ones too if everything is wanted."""
        return tuple(
            _line(step, self.history.submit) for step in self.history.steps if everything or not step.minor
        )

    def tree(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {"sentences": self.sentences(), **asdict(self.history)}

    def check(self, where: str, row: dict[str, Any]) -> str:
        """Return how the repeated run differs from the job's row of the table; empty if it does not."""
        column = self.history.differs(row)
        if not column:
            return ""
        again = self.history.outcome[column]
        return f"{where} has {column} {again!r} in the replay and {row.get(column)!r} in the tables"


def _line(step: HistoryStep, submit: float) -> str:
    by = f", {step.decision}" + (f" ({step.policy})" if step.policy else "") if step.decision else ""
    why = f"; {step.why}" if step.why else ""
    return f"after {duration(step.at - submit)}{by}: {step.what}{why}."
