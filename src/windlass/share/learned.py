"""What a co-scheduler that learns offers beyond deciding: to take in measurements, and to be saved.

An engine looks with :func:`windlass.policy.registry.capability` whether a policy follows one of these protocols. A
policy that follows neither of them decides and nothing else.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from windlass.share.view import Checkpoint


@runtime_checkable
class Observing(Protocol):
    """A policy that learns from what was measured of pairs."""

    def observed(self, checkpoint: Checkpoint) -> None:
        """Take in what was measured of one pair.

        Engines call it, by :func:`windlass.share.observe`, for each pair at each checkpoint and when a pair ends,
        before they ask for the next decision.

        Parameters
        ----------
        checkpoint
            What was measured since the pair's quota was decided.
        """
        ...


@runtime_checkable
class Persistent(Protocol):
    """A policy that goes on with what it learned in an earlier run."""

    def saved(self) -> str:
        """Return all that was learned, as text. A live engine keeps it, whenever its pairs change."""
        ...

    def restore(self, text: str) -> None:
        """Take over what a policy of the same name and parameters has :meth:`saved`.

        A live engine calls it once, before the first decision.

        Parameters
        ----------
        text
            As :meth:`saved` returned it.

        Raises
        ------
        InputError
            It is something else; what was known before stays.
        """
        ...
