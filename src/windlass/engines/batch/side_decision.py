"""What decides about the jobs of a batch system besides the order in which they start."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np


class Beside(Protocol):
    """Another decision about the same jobs; it reads the same book, and the engine asks and acts through it."""

    def due(self, now: float) -> str | None:
        """Take in what has happened; the decision that is due now, s, or None."""
        ...

    def wakes(self) -> float:
        """When to look again at the latest, s; infinity where only news of the system matters."""
        ...

    def view(self, now: float) -> Any:
        """What the policy of that decision may know."""
        ...

    def act(self, answer: Any, now: float) -> None:
        """Carry out its answer; PolicyError where it cannot be, and nothing of it is carried out then."""
        ...

    def close(self) -> None:
        """Undo what it did to running jobs."""
        ...


class Nothing:
    """Nothing else is decided."""

    def due(self, now: float) -> str | None:
        """Never."""
        return None

    def wakes(self) -> float:
        """Never."""
        return np.inf

    def view(self, now: float) -> Any:
        """Nothing is asked."""
        raise NotImplementedError

    def act(self, answer: Any, now: float) -> None:
        """Nothing is asked."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing was done."""
