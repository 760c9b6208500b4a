"""SPIRIT: hidden variables of a stream, as many as hold a share of its energy, updated vector by vector."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from windlass.admit.lib.fpca import checked_start
from windlass.admit.lib.subspace import Floats, checked_block, checked_subspace
from windlass.model import InputError
from windlass.model.values import number, whole

#: Initial energy of a direction, which bounds its first step.
_FIRST = 1e-3


class Spirit:
    """Directions that each vector moves by Oja's rule, with a step of one over the energy seen.

    After a vector, a direction is added if all together hold less than the lower share of the stream's energy,
    and one is removed if they hold more than the upper. Here it is removed only if the others still hold the lower
    share: as printed, two directions of a stream without noise are removed and found again in turn. In the paper,
    directions are only nearly orthonormal; here they are made orthonormal after each vector.

    Source: Papadimitriou, Sun and Faloutsos, Streaming pattern discovery in multiple time-series (VLDB 2005).

    Parameters
    ----------
    dim
        Number of metrics of a vector.
    rank
        Number of directions at first, and half of the greatest number.
    forget
        Factor on energies at each vector.
    energy
        ``(low, high)`` bounds on the share of the energy that the directions hold.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> tracker = Spirit(dim=3, rank=1)
    >>> tracker.update(np.outer([0.6, 0.8, 0.0], np.ones(50)))
    >>> np.abs(tracker.basis[:, 0]).round(3).tolist()
    [0.6, 0.8, 0.0]
    """

    saved_fields: ClassVar[tuple[str, ...]] = ("_rows", "_energy", "held", "total")
    free: ClassVar[tuple[str, ...]] = ("_rows", "_energy", "held")

    def __init__(
        self, dim: int, rank: int, forget: float = 1.0, energy: tuple[float, float] = (0.95, 0.98)
    ) -> None:
        self.dim, self.most = whole("dim", dim, 1), min(2 * whole("rank", rank, 1), dim)
        if rank > dim:
            raise InputError(f"rank is {rank}, expected at most the {dim} metrics")
        self.forget = number("forget", forget, 0.0, 1.0, open_below=True)
        self.low, self.high = (number("energy", each, 0.0, 1.0) for each in energy)
        if self.low > self.high:
            raise InputError(f"energy is {energy}, expected the lower bound first")
        self._rows: Floats = np.eye(dim)[:rank]
        #: Energy along each direction since it was added; ``total`` is that of the whole stream.
        self._energy: Floats = np.full(rank, _FIRST)
        self.total, self.held = 0.0, np.zeros(rank)

    def update(self, block: Floats) -> None:
        """Update with (dim, b) numbers, a column for each vector; the error for an invalid one names it."""
        for vector in checked_block(block, self.dim).T:
            self._take(vector)

    def check(self) -> None:
        """Raise an InputError of one line unless the loaded state is consistent."""
        rank = len(self._rows)
        if not (
            1 <= rank <= self.most and self._rows.shape == (rank, self.dim) and self._energy.shape == (rank,)
        ):
            raise InputError("saved state: SPIRIT's directions are of another shape")
        if self.held.shape != (rank,) or min(self._energy.min(), self.held.min(), self.total) < 0.0:
            raise InputError("saved state: SPIRIT's energies are below 0, or of another number")
        checked_subspace("saved state: SPIRIT", self._rows.T, self.singular_values * 0.0, slack=0.5)

    def start(self, basis: Floats, singular: Floats) -> None:
        """Begin from a subspace of another node."""
        found, values = checked_start(basis, singular, self.dim)
        self._rows, self._energy = found.T[: self.most].copy(), values[: self.most] ** 2 + _FIRST
        self.held = values[: self.most] ** 2
        self.total = float(self.held.sum())

    @property
    def basis(self) -> Floats:
        """(dim, r) orthonormal, the direction with the most energy first."""
        return np.ascontiguousarray(self._rows[self._order()].T)

    @property
    def singular_values(self) -> Floats:
        """(r,) roots of the energies, descending; estimates, because energies are summed while directions move."""
        roots: Floats = np.sqrt(self._energy[self._order()])
        return roots

    @property
    def share(self) -> float:
        """The share of the stream's energy that the directions hold; 1 before the first vector."""
        return float(self.held.sum() / self.total) if self.total > 0.0 else 1.0

    def _order(self) -> np.ndarray:
        return np.argsort(-self._energy, kind="stable")

    def _take(self, vector: Floats) -> None:
        rest = vector.copy()
        for at, row in enumerate(self._rows):
            along = float(row @ rest)
            self._energy[at] = self.forget * self._energy[at] + along * along
            row += along / self._energy[at] * (rest - along * row)
            rest -= along * row
        columns, upper = np.linalg.qr(self._rows.T)
        self._rows = np.ascontiguousarray((columns * np.where(np.diagonal(upper) < 0.0, -1.0, 1.0)).T)
        self.total = self.forget * self.total + float(vector @ vector)
        self.held = self.forget * self.held + (self._rows @ vector) ** 2
        rank = len(self._rows)
        if self.share < self.low and rank < self.most:
            self._add(vector)
        elif self.share > self.high and rank > 1:
            kept = self._order()[:-1]
            if self.held[kept].sum() < self.low * self.total:
                return
            self._rows, self._energy, self.held = self._rows[kept], self._energy[kept], self.held[kept]

    def _add(self, vector: Floats) -> None:
        """Add the part of a vector orthogonal to the other directions as a direction."""
        new = vector - self._rows.T @ (self._rows @ vector)
        size = float(np.linalg.norm(new))
        if size <= 1e-12 * float(np.linalg.norm(vector) + 1e-300):
            return
        self._rows = np.vstack([self._rows, new / size])
        self._energy = np.append(self._energy, _FIRST)
        self.held = np.append(self.held, 0.0)
