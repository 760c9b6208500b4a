"""What came of streaming queries on real nodes: each playing, and each decision."""

from __future__ import annotations

from dataclasses import dataclass

from windlass.engines.streams.scoring import Playing


@dataclass(frozen=True, slots=True)
class PlanDecision:
    """A plan that was made.

    Parameters
    ----------
    noticed, at
        When it was first known that something had changed, and when chains had been told to follow the plan, s since
        the start.
    upon
        What had changed.
    lines
        What was decided of each query, with the reason.
    """

    noticed: float
    at: float
    upon: tuple[str, ...]
    lines: tuple[str, ...]

    def told(self) -> list[str]:
        """The same, as lines for a user."""
        return [f"plan, as {'; '.join(self.upon)}", *(f"  {line}" for line in self.lines)]


@dataclass(frozen=True, slots=True)
class StreamsRun:
    """What happened.

    Parameters
    ----------
    playings
        In the order in which they were judged.
    decisions
        All plans, in order.
    failures
        How often a chain failed, other than with its node.
    """

    playings: tuple[Playing, ...]
    decisions: tuple[PlanDecision, ...]
    failures: int
