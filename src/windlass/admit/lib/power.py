"""The block power method: a step of orthogonal iteration with each block."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from windlass.admit.lib.fpca import checked_start
from windlass.admit.lib.subspace import Floats, checked_block, checked_subspace
from windlass.model import InputError
from windlass.model.values import whole


class PowerMethod:
    """Directions updated by one step of orthogonal iteration per block: Q becomes the orthonormal factor of Y Yᵀ Q.

    Q is the only state, so that large blocks are needed. The method estimates no singular values: the Pronto
    paper gives each direction the weight 1 / rank, and so does ``singular_values``. A block in which a direction
    vanishes, such as one of zeros, leaves the basis unchanged.

    Source: Mitliagkas, Caramanis and Jain, Memory limited, streaming PCA (NeurIPS 2013).

    Parameters
    ----------
    dim
        Number of metrics of a vector.
    rank
        Number of directions.
    rng
        Draws the initial directions.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> tracker = PowerMethod(dim=3, rank=1, rng=np.random.default_rng(1))
    >>> tracker.update(np.outer([0.6, 0.8, 0.0], np.ones(50)))
    >>> np.abs(tracker.basis[:, 0]).round(3).tolist()
    [0.6, 0.8, 0.0]
    """

    saved_fields: ClassVar[tuple[str, ...]] = ("_basis",)
    free: ClassVar[tuple[str, ...]] = ()

    def __init__(self, dim: int, rank: int, rng: np.random.Generator) -> None:
        self.dim, self.rank = whole("dim", dim, 1), whole("rank", rank, 1)
        if rank > dim:
            raise InputError(f"rank is {rank}, expected at most the {dim} metrics")
        self._basis: Floats = np.linalg.qr(rng.normal(size=(dim, rank)))[0]

    def update(self, block: Floats) -> None:
        """Update with (dim, b) numbers, a column for each vector; the error for an invalid one names it."""
        found = checked_block(block, self.dim)
        size = float(np.abs(found).max())
        if size == 0.0:
            return
        found = found / size
        turned, upper = np.linalg.qr(found @ (found.T @ self._basis))
        if (np.abs(np.diagonal(upper)) > 1e-14 * np.abs(upper).max()).all():
            self._basis = turned

    def check(self) -> None:
        """Raise an InputError of one line unless the loaded state is consistent."""
        checked_subspace("saved state: power method", self._basis, np.zeros(self.rank))

    def start(self, basis: Floats, singular: Floats) -> None:
        """Begin from a subspace of another node; own directions fill it up if it has fewer."""
        found, _ = checked_start(basis, singular, self.dim)
        both = np.concatenate([found[:, : self.rank], self._basis], axis=1)
        self._basis = np.linalg.qr(both)[0][:, : self.rank]

    @property
    def basis(self) -> Floats:
        """(dim, rank) orthonormal, a copy; in no order."""
        return self._basis.copy()

    @property
    def singular_values(self) -> Floats:
        """(rank,) weights, 1 / rank each, as in the Pronto paper."""
        return np.full(self.rank, 1.0 / self.rank)
