"""The block power method: a step of orthogonal iteration with each block."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from windlass.admit.lib.fpca import checked_start
from windlass.admit.lib.spectrum import DECAY, spectrum_of
from windlass.admit.lib.subspace import Floats, checked_block, checked_subspace
from windlass.model import InputError
from windlass.model.values import whole


class PowerMethod:
    """Directions updated by one step of orthogonal iteration per block: Q becomes the orthonormal factor of Y Yᵀ Q.

    Q is the only state, so that a block needs at least as many vectors as metrics. Vectors may come in smaller parts:
    Y Yᵀ Q is summed until there are enough. A block in which a direction vanishes, such as one of zeros, leaves
    the basis unchanged. The method estimates no singular values; see :func:`~windlass.admit.lib.spectrum.spectrum_of`.

    Source: Mitliagkas, Caramanis and Jain, Memory limited, streaming PCA (NeurIPS 2013).

    Parameters
    ----------
    dim
        Number of metrics of a vector.
    rank
        Number of directions.
    rng
        Draws the initial directions.
    block
        Smallest number of vectors of a step; ``dim`` by default.
    spectrum
        Weights of the directions, ``decay`` or ``flat``.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> tracker = PowerMethod(dim=3, rank=1, rng=np.random.default_rng(1))
    >>> tracker.update(np.outer([0.6, 0.8, 0.0], np.ones(2)))
    >>> tracker.basis.shape
    (3, 0)
    >>> tracker.update(np.outer([0.6, 0.8, 0.0], np.ones(48)))
    >>> np.abs(tracker.basis[:, 0]).round(3).tolist()
    [0.6, 0.8, 0.0]
    """

    saved_fields: ClassVar[tuple[str, ...]] = ("_basis", "_sum", "_size", "_vectors", "_steps")
    free: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, dim: int, rank: int, rng: np.random.Generator, block: int | None = None, spectrum: str = DECAY
    ) -> None:
        self.dim, self.rank = whole("dim", dim, 1), whole("rank", rank, 1)
        if rank > dim:
            raise InputError(f"rank is {rank}, expected at most the {dim} metrics")
        self.block = dim if block is None else whole("block", block, 1)
        self._weights = spectrum_of(spectrum, rank)
        self._basis: Floats = np.linalg.qr(rng.normal(size=(dim, rank)))[0]
        #: Y Yᵀ Q of the vectors so far, in units of the square of the largest value among them, and their number.
        self._sum: Floats = np.zeros((dim, rank))
        self._size, self._vectors = 0.0, 0
        #: Number of steps; before the first, the directions are random.
        self._steps = 0

    def update(self, block: Floats) -> None:
        """Update with (dim, b) numbers, a column for each vector; the error for an invalid one names it."""
        found = checked_block(block, self.dim)
        self._vectors += found.shape[1]
        size = float(np.abs(found).max())
        if size > self._size:
            self._sum *= (self._size / size) ** 2
            self._size = size
        if size > 0.0:
            found = found / self._size
            self._sum += found @ (found.T @ self._basis)
        if self._vectors >= self.block:
            self._iterate()

    def check(self) -> None:
        """Raise an InputError of one line unless the loaded state is consistent."""
        checked_subspace("saved state: power method", self._basis, np.zeros(self.rank))
        if min(self._size, self._vectors, self._steps) < 0:
            raise InputError("saved state: counts of the power method are below 0")

    def start(self, basis: Floats, singular: Floats) -> None:
        """Begin from a subspace of another node; own directions fill it up if it has fewer."""
        found, _ = checked_start(basis, singular, self.dim)
        both = np.concatenate([found[:, : self.rank], self._basis], axis=1)
        self._basis = np.linalg.qr(both)[0][:, : self.rank]
        self._begin_block()

    @property
    def basis(self) -> Floats:
        """(dim, r) orthonormal, a copy; in no order. r is 0 before the first full block."""
        return self._basis[:, : self.rank if self._steps else 0].copy()

    @property
    def singular_values(self) -> Floats:
        """(r,) weights."""
        return self._weights[: self.rank if self._steps else 0].copy()

    def _iterate(self) -> None:
        turned, upper = np.linalg.qr(self._sum)
        if (np.abs(np.diagonal(upper)) > 1e-14 * np.abs(upper).max()).all():
            self._basis = turned
        self._begin_block()

    def _begin_block(self) -> None:
        self._sum = np.zeros((self.dim, self.rank))
        self._size, self._vectors = 0.0, 0
        self._steps += 1
