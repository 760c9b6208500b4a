"""The result of streaming queries on real nodes: each playing, and each decision."""

from __future__ import annotations

from dataclasses import dataclass

from windlass.engines.streams.scoring import Playing


@dataclass(frozen=True, slots=True)
class PlanDecision:
    """A plan that was made.

    Parameters
    ----------
    noticed, at
        When the first change was noticed, and when the resulting plan was carried out, s since the start.
    upon
        The changes.
    lines
        The decision about each query, with the reason.
    """

    noticed: float
    at: float
    upon: tuple[str, ...]
    lines: tuple[str, ...]

    def report(self) -> list[str]:
        """Return the decision as lines for a user."""
        return [f"new plan ({'; '.join(self.upon)})", *(f"  {line}" for line in self.lines)]


@dataclass(frozen=True, slots=True)
class StreamsRun:
    """The outcome of a run.

    Parameters
    ----------
    playings
        In the order in which they were scored.
    decisions
        All plans, in order.
    failures
        Number of failures of chains, without those due to a lost node.
    """

    playings: tuple[Playing, ...]
    decisions: tuple[PlanDecision, ...]
    failures: int
