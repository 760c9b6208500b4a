"""Protocols of co-scheduling policies that learn: they receive measurements, and save and restore their state.

Engines check with :func:`windlass.policy.registry.capability` whether a policy implements them. A policy that
implements neither only decides.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from windlass.share.view import Checkpoint


@runtime_checkable
class Observing(Protocol):
    """A policy that learns from measured pairs."""

    def observed(self, checkpoint: Checkpoint) -> None:
        """Learn from the measurement of one pair.

        Engines call it, through :func:`windlass.share.observe`, for each pair at each checkpoint and when a
        pair ends, before they request the next decision.

        Parameters
        ----------
        checkpoint
            The measurement since the pair's quota was set.
        """
        ...


@runtime_checkable
class Persistent(Protocol):
    """A policy whose learned state can be saved and restored in a later run."""

    def saved(self) -> str:
        """Return all learned state as text. A live engine stores it whenever its pairs change."""
        ...

    def restore(self, text: str) -> None:
        """Restore the state that a policy of the same name and parameters has :meth:`saved`.

        A live engine calls it once, before the first decision.

        Parameters
        ----------
        text
            The text that :meth:`saved` returned.

        Raises
        ------
        InputError
            The text is not such a state; the current state is kept.
        """
        ...
