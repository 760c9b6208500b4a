"""A second decision about a batch system's jobs, in addition to the order in which they start."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np


class SideDecision(Protocol):
    """Another decision about the same jobs; it reads the same book, and the engine calls it."""

    def due(self, now: float) -> str | None:
        """Update the state; return the decision that is due at ``now`` (s), or None."""
        ...

    def wakes(self) -> float:
        """Return when to call :meth:`due` again at the latest, s; infinity if only events of the system matter."""
        ...

    def view(self, now: float) -> Any:
        """Return the view of that decision's policy."""
        ...

    def act(self, answer: Any, now: float) -> None:
        """Carry out its answer. If that is impossible, PolicyError is raised and nothing is carried out."""
        ...

    def close(self) -> None:
        """Undo its changes to running jobs."""
        ...


class NoSideDecision:
    """No second decision."""

    def due(self, now: float) -> str | None:
        """Return None."""
        return None

    def wakes(self) -> float:
        """Return infinity."""
        return np.inf

    def view(self, now: float) -> Any:
        """Raise NotImplementedError: no decision is ever due."""
        raise NotImplementedError

    def act(self, answer: Any, now: float) -> None:
        """Raise NotImplementedError: no decision is ever due."""
        raise NotImplementedError

    def close(self) -> None:
        """Do nothing."""
