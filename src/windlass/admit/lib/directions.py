"""Frequent Directions: a sketch of a stream with bounded error."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from windlass.admit.lib.fpca import checked_start
from windlass.admit.lib.spectrum import DECAY, spectrum_of
from windlass.admit.lib.subspace import Floats, checked_block
from windlass.model import InputError
from windlass.model.values import number, whole


class FrequentDirections:
    """A sketch of ``size`` rows; when it is full, all squared singular values lose that of the last row kept.

    For a matrix A of all vectors as rows, and its sketch B, AᵀA − BᵀB has no negative eigenvalue, and none above
    ‖A‖²/size, where ‖A‖² is the sum of all squares.

    The sketch's own singular values are shrunk, so that ``singular_values`` are weights:
    see :func:`~windlass.admit.lib.spectrum.spectrum_of`.

    Source: Liberty, Simple and deterministic matrix sketching (KDD 2013).

    Parameters
    ----------
    dim
        Number of metrics of a vector.
    rank
        Number of the sketch's directions in use.
    size
        Rows of the sketch, more than ``rank``; twice as many by default.
    forget
        Factor on older rows at each update.
    spectrum
        Weights of the directions, ``decay`` or ``flat``.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> tracker = FrequentDirections(dim=3, rank=1)
    >>> tracker.update(np.outer([0.6, 0.8, 0.0], np.ones(50)))
    >>> np.abs(tracker.basis[:, 0]).round(3).tolist(), tracker.singular_values.tolist()
    ([0.6, 0.8, 0.0], [1.0])
    """

    saved_fields: ClassVar[tuple[str, ...]] = ("_rows", "_used")
    free: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, dim: int, rank: int, size: int | None = None, forget: float = 1.0, spectrum: str = DECAY
    ) -> None:
        self.dim, self.rank = whole("dim", dim, 1), whole("rank", rank, 1)
        if rank > dim:
            raise InputError(f"rank is {rank}, expected at most the {dim} metrics")
        self.size = 2 * self.rank if size is None else whole("size", size, self.rank + 1)
        self.forget, self._weights = (
            number("forget", forget, 0.0, 1.0, open_below=True),
            spectrum_of(spectrum, rank),
        )
        # Twice as many rows as are kept, so that one SVD serves `size` vectors.
        self._rows: Floats = np.zeros((2 * self.size, self.dim))
        self._used = 0

    def update(self, block: Floats) -> None:
        """Add (dim, b) numbers, a column for each vector; the error for an invalid one names it."""
        found = checked_block(block, self.dim)
        self._rows *= self.forget
        for vector in found.T:
            if self._used == len(self._rows):
                self._shrink()
            self._rows[self._used] = vector
            self._used += 1

    def check(self) -> None:
        """Raise an InputError of one line unless the loaded state is consistent."""
        if not 0 <= self._used <= len(self._rows):
            raise InputError(f"saved state: {self._used} rows are used, expected 0 to {len(self._rows)}")

    def start(self, basis: Floats, singular: Floats) -> None:
        """Begin from the subspace of another node."""
        found, values = checked_start(basis, singular, self.dim)
        kept = min(len(values), self.size)
        self._rows[:] = 0.0
        self._rows[:kept] = (found * values).T[:kept]
        self._used = kept

    @property
    def sketch(self) -> Floats:
        """(2 size, dim): the rows of the sketch; a copy."""
        return self._rows.copy()

    @property
    def basis(self) -> Floats:
        """(dim, rank) orthonormal, the sketch's leading directions."""
        _, _, right = np.linalg.svd(self._rows, full_matrices=True)
        return np.ascontiguousarray(right[: self.rank].T)

    @property
    def singular_values(self) -> Floats:
        """(rank,) weights."""
        return self._weights.copy()

    def _shrink(self) -> None:
        _, singular, right = np.linalg.svd(self._rows, full_matrices=False)
        # One array of squares: squaring a scalar may round differently, and the last row would stay.
        squares = singular**2
        last = squares[self.size - 1] if len(squares) >= self.size else 0.0
        kept = np.sqrt(np.maximum(squares - last, 0.0))
        self._rows[:] = 0.0
        self._rows[: len(kept)] = kept[:, None] * right
        self._used = int(np.count_nonzero(kept))
