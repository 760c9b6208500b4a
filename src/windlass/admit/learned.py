"""Protocols of learning admission policies: saving state, and sharing what was learned.

An engine tests whether a policy follows one of these protocols with :func:`windlass.policy.registry.capability`. A
policy that follows none of them only decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np

from windlass.admit.federation import Subspace
from windlass.admit.lib.subspace import Floats
from windlass.admit.shared_model import Lesson


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The knowledge of one node, for other nodes.

    Parameters
    ----------
    subspace
        The leading directions of its metrics.
    lesson
        What precedes CPU Ready spikes; None for a policy that does not learn it.
    """

    subspace: Subspace
    lesson: Lesson | None = None


@runtime_checkable
class Loadable(Protocol):
    """The class of a policy whose state can be loaded."""

    @classmethod
    def load(cls, data: bytes) -> Self:
        """Return a policy from what its :meth:`Restorable.save` returned.

        Raises
        ------
        InputError
            The data are anything else; one line.
        """
        ...


@runtime_checkable
class Restorable(Loadable, Protocol):
    """A policy whose state can be saved and loaded; a loaded policy decides as the saved one would have."""

    @property
    def dim(self) -> int:
        """Number of metrics."""
        ...

    def save(self) -> bytes:
        """Return the learned state."""
        ...


@runtime_checkable
class Mergeable(Protocol):
    """A policy that sends what it has learned to an aggregator, and can begin from what the aggregator has merged."""

    @property
    def is_new(self) -> bool:
        """True while there is nothing learned. An engine may read it from another thread."""
        ...

    def learned(self) -> Learned | None:
        """Return what was learned so far; None while it is new."""
        ...

    def join(self, learned: Learned) -> None:
        """Begin from what other nodes have learned. Called only while the policy is new."""
        ...


@runtime_checkable
class Interruptible(Protocol):
    """A policy that must be notified of lost steps."""

    def restart(self) -> None:
        """Discard state that depends on recent steps, because steps were lost since the last one."""
        ...


@runtime_checkable
class Projecting(Protocol):
    """A policy that tracks directions, which an engine exports as metrics."""

    @property
    def projections(self) -> Floats:
        """(r,) projections of the last step on the directions."""
        ...

    @property
    def singular_values(self) -> Floats:
        """(r,) singular values of the directions, descending."""
        ...


def as_one_block(subspace: Subspace, rank: int, block: int) -> Subspace:
    """Return at most ``rank`` directions of a subspace, with the weight of one block of steps.

    A node that joins sends its subspace up. If it sent the full weight of what other nodes have seen, the aggregator
    would count that again for each new node.

    Parameters
    ----------
    subspace
        (d, r) directions with (r,) singular values.
    rank
        Greatest number of directions.
    block
        Steps per block.
    """
    singular = subspace.singular[:rank]
    size = float(np.linalg.norm(singular))
    weight = np.sqrt(float(block * len(subspace.basis))) / size if size > 0.0 else 1.0
    return Subspace(subspace.basis[:, :rank], weight * singular)
