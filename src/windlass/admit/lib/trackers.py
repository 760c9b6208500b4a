"""Trackers by name, their protocol, and a combination of single-node trackers for many nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.admit.lib.directions import FrequentDirections
from windlass.admit.lib.fpca import ManyFPCA, checked_sizes
from windlass.admit.lib.power import PowerMethod
from windlass.admit.lib.saved import Part
from windlass.admit.lib.spectrum import DECAY
from windlass.admit.lib.spirit import Spirit
from windlass.admit.lib.subspace import Floats
from windlass.model import InputError
from windlass.model.values import number


class Tracker(Protocol):
    """A tracker of the leading directions of one node's vectors."""

    #: Attributes that are saved, and those of them whose shape varies.
    saved_fields: ClassVar[tuple[str, ...]]
    free: ClassVar[tuple[str, ...]]

    def check(self) -> None:
        """Raise an InputError of one line unless the loaded state is consistent."""
        ...

    def update(self, block: Floats) -> None:
        """Update with (dim, b) numbers, a column for each vector."""
        ...

    def start(self, basis: Floats, singular: Floats) -> None:
        """Begin from a subspace of another node."""
        ...

    @property
    def basis(self) -> Floats:
        """(dim, r) orthonormal."""
        ...

    @property
    def singular_values(self) -> Floats:
        """(r,) descending."""
        ...


class ManyTracker(Protocol):
    """A tracker of many nodes that complete their blocks together; columns beyond a node's rank are 0."""

    basis: Floats
    singular: Floats
    ranks: NDArray[np.int64]

    @property
    def free(self) -> tuple[str, ...]:
        """Names of saved arrays whose shape varies."""
        ...

    def parts(self) -> list[Part]:
        """Return the attributes that are saved."""
        ...

    def check(self) -> None:
        """Raise an InputError of one line unless the loaded state is consistent."""
        ...

    def update(self, blocks: Floats) -> None:
        """Update with (n, dim, b) numbers."""
        ...

    def start(self, node: int, basis: Floats, singular: Floats) -> None:
        """Let a node begin from a subspace of another node."""
        ...


class Each:
    """Single-node trackers combined into one of many nodes."""

    def __init__(self, trackers: Sequence[Tracker], dim: int, most: int) -> None:
        self.trackers, self.most = trackers, most
        self.basis: Floats = np.zeros((len(trackers), dim, most))
        self.singular: Floats = np.zeros((len(trackers), most))
        self.ranks: NDArray[np.int64] = np.zeros(len(trackers), np.int64)

    def update(self, blocks: Floats) -> None:
        """Update with a block of each node."""
        for node, tracker in enumerate(self.trackers):
            tracker.update(blocks[node])
            self._show(node)

    def start(self, node: int, basis: Floats, singular: Floats) -> None:
        """Let a node begin from a subspace of another node."""
        self.trackers[node].start(basis, singular)
        self._show(node)

    @property
    def free(self) -> tuple[str, ...]:
        """Names of saved arrays whose shape varies."""
        return tuple(
            f"tracker {node}.{name}" for node, each in enumerate(self.trackers) for name in each.free
        )

    def parts(self) -> list[Part]:
        """Return the attributes that are saved."""
        own: list[Part] = [
            (f"tracker {node}", each, each.saved_fields) for node, each in enumerate(self.trackers)
        ]
        return [("trackers", self, ("basis", "singular", "ranks")), *own]

    def check(self) -> None:
        """Raise an InputError of one line unless the loaded state is consistent."""
        if self.ranks.min() < 0 or self.ranks.max() > self.most:
            raise InputError("saved state: a tracker's rank is out of bounds")
        for tracker in self.trackers:
            tracker.check()

    def _show(self, node: int) -> None:
        basis, singular = self.trackers[node].basis, self.trackers[node].singular_values
        rank = min(basis.shape[1], self.most)
        self.basis[node], self.singular[node] = 0.0, 0.0
        self.basis[node, :, :rank], self.singular[node, :rank] = basis[:, :rank], singular[:rank]
        self.ranks[node] = rank


#: Names of trackers in parameters.
TRACKERS = ("fpca", "spirit", "directions", "power")


def make_tracker(
    name: str,
    nodes: int,
    dim: int,
    rank: int,
    block: int,
    forget: float = 1.0,
    energy: tuple[float, float] | None = None,
    rng: np.random.Generator | None = None,
    spectrum: str = DECAY,
) -> ManyTracker:
    """Return a tracker of many nodes by its name.

    Parameters
    ----------
    name
        One of :data:`TRACKERS`.
    nodes, dim, rank, block
        Number of nodes, metrics, directions, and vectors of a block.
    forget
        Factor on older singular values at each block. The power method keeps only directions and has none to forget.
    energy
        Bounds by which the rank is adapted, if the tracker supports it.
    rng
        For the power method, which starts from random directions.
    spectrum
        Weights of directions of trackers that estimate no singular values, ``decay`` or ``flat``.

    Raises
    ------
    InputError
        The tracker does not exist, or a parameter is out of bounds.

    Examples
    --------
    >>> make_tracker("fpca", nodes=2, dim=5, rank=3, block=10).basis.shape
    (2, 5, 3)
    """
    checked_sizes(dim, rank, block)
    if name == "fpca":
        return ManyFPCA(nodes, dim, rank, forget, energy)
    draw = np.random.default_rng(0) if rng is None else rng
    # SPIRIT multiplies energies, which are squares, at each vector.
    forget_vector = number("forget", forget, 0.0, 1.0, open_below=True) ** (2.0 / block)
    makers: dict[str, Callable[[], Tracker]] = {
        "spirit": lambda: Spirit(dim, rank, forget_vector, *([] if energy is None else [energy])),
        "directions": lambda: FrequentDirections(dim, rank, forget=forget, spectrum=spectrum),
        "power": lambda: PowerMethod(dim, rank, draw, max(block, dim), spectrum),
    }
    if name not in makers:
        raise InputError(f"tracker is {name!r}, expected one of {', '.join(TRACKERS)}")
    return Each([makers[name]() for _ in range(nodes)], dim, min(2 * rank, dim) if name == "spirit" else rank)
