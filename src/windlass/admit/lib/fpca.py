"""FPCA-Edge: the leading directions of a stream, updated block by block, for one node or many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from windlass.admit.lib.saved import Part, opened, pack, restore
from windlass.admit.lib.subspace import Floats, checked_block, checked_subspace, leading, merge_many
from windlass.model import InputError
from windlass.model.values import number, whole

#: Nodes updated together: more exceed the processor's cache, fewer are dominated by Python's overhead.
_AT_ONCE = 128


class ManyFPCA:
    """FPCA-Edge of many nodes that complete their blocks at the same time.

    Parameters
    ----------
    nodes, dim, rank
        Number of nodes, and metrics and directions of each.
    forget
        Factor on singular values at each block.
    energy
        Smallest and greatest share of the last singular value in their sum; None for a fixed rank.
    max_rank
        Greatest rank.
    """

    def __init__(
        self,
        nodes: int,
        dim: int,
        rank: int,
        forget: float = 1.0,
        energy: tuple[float, float] | None = None,
        max_rank: int | None = None,
    ) -> None:
        self.forget = number("forget", forget, 0.0, 1.0, open_below=True)
        self.energy = None if energy is None else _checked_energy(energy)
        most = rank if self.energy is None else min(2 * rank, dim)
        self.most = most if max_rank is None else whole("max_rank", max_rank, rank)
        if self.most > dim:
            raise InputError(f"max_rank is {self.most}, expected at most the {dim} metrics")
        self.basis: Floats = np.zeros((nodes, dim, self.most))
        self.basis[:, np.arange(rank), np.arange(rank)] = 1.0
        self.singular: Floats = np.zeros((nodes, self.most))
        self.ranks: NDArray[np.int64] = np.full(nodes, rank)

    def update(self, blocks: Floats) -> None:
        """Update with a block of each node, (n, d, b) finite numbers."""
        before = self.ranks.copy()
        for rank in np.unique(before):
            rows = np.flatnonzero(before == rank)
            for first in range(0, len(rows), _AT_ONCE):
                self._update(rows[first : first + _AT_ONCE], blocks, int(rank))

    def start(self, node: int, basis: Floats, singular: Floats) -> None:
        """Let a node begin from a subspace of another node, as many of its directions as fit."""
        known = min(basis.shape[1], self.most)
        # A fixed rank is filled up with directions of weight 0, which the next blocks replace.
        rank = known if self.energy is not None else self.most
        filled = np.linalg.qr(np.concatenate([basis[:, :known], np.eye(len(basis))], axis=1))[0][:, :rank]
        filled[:, :known] = basis[:, :known]
        self.basis[node], self.singular[node] = 0.0, 0.0
        self.basis[node, :, :rank], self.singular[node, :known] = filled, singular[:known]
        self.ranks[node] = rank

    free: tuple[str, ...] = ()

    def parts(self) -> list[Part]:
        """Return the attributes that are saved."""
        return [("tracker", self, ("basis", "singular", "ranks"))]

    def check(self) -> None:
        """Raise an InputError of one line unless each basis is orthonormal with descending singular values."""
        if self.ranks.min() < 1 or self.ranks.max() > self.most:
            raise InputError(f"saved state: a rank is not 1 to {self.most}")
        for node, rank in enumerate(self.ranks):
            checked_subspace(
                f"saved state: node {node}", self.basis[node, :, :rank], self.singular[node, :rank]
            )
            if self.basis[node, :, rank:].any() or self.singular[node, rank:].any():
                raise InputError(f"saved state: node {node} has directions beyond its rank {rank}")

    def _update(self, rows: NDArray[np.int64], blocks: Floats, rank: int) -> None:
        # Adjacent nodes of one rank are a slice, which needs no copy.
        part = slice(rows[0], rows[-1] + 1) if rows[-1] - rows[0] + 1 == len(rows) else rows
        found, values = leading(blocks[part], min(rank, *blocks.shape[1:]))
        kept = min(rank + 1, self.most, rank + values.shape[1])
        basis, singular = merge_many(
            self.basis[part][:, :, :rank], self.forget * self.singular[part][:, :rank], found, values, kept
        )
        ranks = self._adapted(singular, rank)
        # Columns beyond a node's rank stay 0: nothing is projected on them.
        held = np.arange(kept) < ranks[:, None]
        self.basis[part, :, :kept] = basis * held[:, None, :]
        self.singular[part, :kept] = singular * held
        self.ranks[part] = ranks

    def _adapted(self, singular: Floats, rank: int) -> NDArray[np.int64]:
        """Return the rank of each node after this block, changed by at most 1; a decrease takes precedence."""
        ranks = np.full(len(singular), rank)
        if self.energy is None:
            return ranks
        low, high = self.energy
        total = singular[:, :rank].sum(axis=1)
        share = np.divide(singular[:, rank - 1], total, out=np.zeros(len(total)), where=total > 0.0)
        ranks[(share < low) & (rank > 1)] -= 1
        # The rank grows by the next singular pair of the merge, if there is one.
        grows = (share > high) & (singular.shape[1] > rank)
        if singular.shape[1] > rank:
            grows &= singular[:, rank] > 1e-12 * np.maximum(singular[:, 0], 1e-300)
        ranks[grows] += 1
        return ranks


class FPCAEdge:
    """The leading directions of a stream in O(dim · rank) memory: each block is reduced and merged with the estimate.

    The block's truncated SVD is merged with the running estimate, whose singular values are first multiplied by
    ``forget``. If ``energy`` is given, the rank changes by at most one after a block, according to the share of the
    last singular value in the sum of all. It grows by the next singular pair of the merge, which is available;
    the canonical vector of Algorithm 5 is neither a direction of the data nor orthogonal to the others.

    Source: Grammenos et al., Federated PCA (2019); Pronto, Algorithms 4 and 5.

    Parameters
    ----------
    dim
        Number of metrics of a vector.
    rank
        Number of directions at first.
    block
        Number of vectors of a block; at least ``rank``. Blocks of another width are accepted as well.
    forget
        Factor on older singular values, above 0 and at most 1, which forgets nothing.
    energy
        ``(low, high)``: the rank falls if the share is below the first, and rises if it is above the second.
        The share is never above 1 / rank. None keeps the rank.
    max_rank
        Greatest rank; by default twice ``rank``.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> tracker = FPCAEdge(dim=6, rank=2, block=10)
    >>> for _ in range(5):
    ...     tracker.update(np.outer([1, 1, 0, 0, 0, 0], rng.normal(size=10)))
    >>> tracker.basis.shape, np.abs(tracker.basis[:, 0]).round(4).tolist()
    ((6, 2), [0.7071, 0.7071, 0.0, 0.0, 0.0, 0.0])
    """

    kind = "windlass.admit.fpca"

    def __init__(
        self,
        dim: int,
        rank: int,
        block: int,
        forget: float = 1.0,
        energy: tuple[float, float] | None = None,
        max_rank: int | None = None,
    ) -> None:
        self.dim, self.rank, self.block = checked_sizes(dim, rank, block)
        self._many = ManyFPCA(1, dim, rank, forget, energy, max_rank)

    def save(self) -> bytes:
        """Return the learned state as bytes."""
        many = self._many
        made = {
            "dim": self.dim,
            "rank": self.rank,
            "block": self.block,
            "forget": many.forget,
            "energy": many.energy,
            "max_rank": many.most,
        }
        return pack(self.kind, made, many.parts())

    @classmethod
    def load(cls, data: bytes) -> Self:
        """Return a tracker from the bytes of :meth:`save`; raise an InputError of one line for anything else."""
        header, arrays = opened(data, cls.kind)
        # Check the size first, so that corrupt settings cannot make this allocate more than the data hold.
        if sum(each.size for each in arrays) * 8 < _cells(header.settings):
            raise InputError(f"saved state: has {len(data)} bytes, too few for its settings")
        try:
            found = cls(**header.settings)
        except TypeError as error:
            raise InputError(f"saved state: settings: {error}") from error
        restore(header, arrays, found._many.parts())
        found._many.check()
        return found

    def update(self, block: Floats) -> None:
        """Update with a block.

        Parameters
        ----------
        block
            (dim, b), a column for each vector.

        Raises
        ------
        InputError
            The shape is wrong, or a number is not finite.
        """
        self._many.update(checked_block(block, self.dim)[None])

    def start(self, basis: Floats, singular: Floats) -> None:
        """Begin from a subspace of another node: (dim, r) orthonormal, and (r,)."""
        self._many.start(0, *checked_start(basis, singular, self.dim))

    @property
    def basis(self) -> Floats:
        """(dim, r) orthonormal, a copy."""
        return self._many.basis[0, :, : self._many.ranks[0]].copy()

    @property
    def singular_values(self) -> Floats:
        """(r,) descending, a copy."""
        return self._many.singular[0, : self._many.ranks[0]].copy()


def checked_sizes(dim: int, rank: int, block: int) -> tuple[int, int, int]:
    """Validate number of metrics, number of directions and block width; a block has at least ``rank`` vectors.

    Raises
    ------
    InputError
        A number is out of bounds; one line names it.
    """
    whole("dim", dim, 1)
    whole("rank", rank, 1)
    if rank > dim:
        raise InputError(f"rank is {rank}, expected at most the {dim} metrics")
    if whole("block", block, 1) < rank:
        raise InputError(f"block is {block}, expected at least the rank, {rank}")
    return int(dim), int(rank), int(block)


def checked_start(basis: Floats, singular: Floats, dim: int) -> tuple[Floats, Floats]:
    """Validate the subspace of another node, which must have ``dim`` metrics."""
    found, values = checked_subspace("the subspace to start from", basis, singular)
    if len(found) != dim:
        raise InputError(f"the subspace to start from is of {len(found)} metrics, expected {dim}")
    return found, values


def _cells(settings: Mapping[str, object]) -> int:
    """Return how many numbers a basis with these settings has."""
    dim, most = (whole(f"saved state: {name}", settings.get(name), 1) for name in ("dim", "max_rank"))
    return dim * most


def _checked_energy(energy: Sequence[float]) -> tuple[float, float]:
    if len(energy) != 2:
        raise InputError(f"energy is {energy}, expected two shares")
    low, high = (number("energy", each, 0.0, 1.0) for each in energy)
    if low > high:
        raise InputError(f"energy is {energy}, expected the lower bound first")
    return low, high
