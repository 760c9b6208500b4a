"""FPCA-Edge: the leading directions of a stream, a block at a time, of one node or of many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from windlass.admit.lib.saved import Part, opened, pack, restore
from windlass.admit.lib.subspace import Floats, checked_block, checked_subspace, leading, merge_many
from windlass.model import InputError
from windlass.model.values import number, whole

#: How many nodes are updated together: more would not fit in the processor's cache, fewer would wait for Python.
_AT_ONCE = 128


class ManyFPCA:
    """FPCA-Edge of many nodes, which have a block each at the same time.

    Parameters
    ----------
    nodes, dim, rank
        Nodes, metrics and directions of each.
    forget
        What singular values are multiplied by at each block.
    energy
        Least and greatest share of the last singular value in their sum; None for a rank that stays.
    max_rank
        Where the rank ends to grow.
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
        """Take in a block of each node, (n, d, b) finite numbers."""
        before = self.ranks.copy()
        for rank in np.unique(before):
            rows = np.flatnonzero(before == rank)
            for first in range(0, len(rows), _AT_ONCE):
                self._update(rows[first : first + _AT_ONCE], blocks, int(rank))

    def start(self, node: int, basis: Floats, singular: Floats) -> None:
        """Begin a node from a subspace that others have, of which it keeps as much as it has room for."""
        known = min(basis.shape[1], self.most)
        # A rank that stays is filled up with directions of no weight, which the next blocks replace.
        rank = known if self.energy is not None else self.most
        filled = np.linalg.qr(np.concatenate([basis[:, :known], np.eye(len(basis))], axis=1))[0][:, :rank]
        filled[:, :known] = basis[:, :known]
        self.basis[node], self.singular[node] = 0.0, 0.0
        self.basis[node, :, :rank], self.singular[node, :known] = filled, singular[:known]
        self.ranks[node] = rank

    free: tuple[str, ...] = ()

    def parts(self) -> list[Part]:
        """What of it is saved."""
        return [("tracker", self, ("basis", "singular", "ranks"))]

    def check(self) -> None:
        """That what was loaded can be: each basis orthonormal, its values descending; or an error of one line."""
        if self.ranks.min() < 1 or self.ranks.max() > self.most:
            raise InputError(f"saved state: a rank is not 1 to {self.most}")
        for node, rank in enumerate(self.ranks):
            checked_subspace(
                f"saved state: node {node}", self.basis[node, :, :rank], self.singular[node, :rank]
            )
            if self.basis[node, :, rank:].any() or self.singular[node, rank:].any():
                raise InputError(f"saved state: node {node} has directions beyond its rank {rank}")

    def _update(self, rows: NDArray[np.int64], blocks: Floats, rank: int) -> None:
        # Nodes of one rank side by side need no copy.
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
        """The rank of each node after this block; a step up or down, and down before up."""
        ranks = np.full(len(singular), rank)
        if self.energy is None:
            return ranks
        low, high = self.energy
        total = singular[:, :rank].sum(axis=1)
        share = np.divide(singular[:, rank - 1], total, out=np.zeros(len(total)), where=total > 0.0)
        ranks[(share < low) & (rank > 1)] -= 1
        # It grows by the next pair of the merge, and only where there is one.
        grows = (share > high) & (singular.shape[1] > rank)
        if singular.shape[1] > rank:
            grows &= singular[:, rank] > 1e-12 * np.maximum(singular[:, 0], 1e-300)
        ranks[grows] += 1
        return ranks


class FPCAEdge:
    """The leading directions of a stream in O(dim · rank) memory: each block is reduced, and merged with what was.

    The block's truncated SVD is merged with the running estimate, whose singular values are first multiplied by
    ``forget``. Where ``energy`` is given, the rank goes up or down by one after a block, by the share of the last
    singular value in the sum of all. It goes up by the next singular pair of the merge, which is at hand;
    the canonical vector of Algorithm 5 is neither a direction of the data nor orthogonal to the others.

    Source: Grammenos et al., Federated PCA (2019); Pronto, Algorithms 4 and 5.

    Parameters
    ----------
    dim
        How many metrics a vector has.
    rank
        How many directions are tracked, at first.
    block
        How many vectors a block has; at least ``rank``. A block of another width is taken in as well.
    forget
        Above 0 and at most 1, which forgets nothing.
    energy
        ``(low, high)``: the rank falls where the share is below the first, and rises where it is above the second.
        The share is never above 1 / rank. None keeps the rank.
    max_rank
        Where it ends to rise; by default twice ``rank``.

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
        """All that was learned, as bytes."""
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
        """What :meth:`save` wrote; anything else is refused by an InputError of one line."""
        header, arrays = opened(data, cls.kind)
        # A basis as large as these bytes say is made only where they hold that much.
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
        """Take in a block.

        Parameters
        ----------
        block
            (dim, b), a column for each vector.

        Raises
        ------
        InputError
            Another shape, or a number that is not finite.
        """
        self._many.update(checked_block(block, self.dim)[None])

    def start(self, basis: Floats, singular: Floats) -> None:
        """Begin from a subspace that others have: (dim, r) orthonormal, and (r,)."""
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
    """Metrics, directions and the width of a block, as users give them; a block has no fewer vectors than directions.

    Raises
    ------
    InputError
        One line that names the one that is out of bounds.
    """
    whole("dim", dim, 1)
    whole("rank", rank, 1)
    if rank > dim:
        raise InputError(f"rank is {rank}, expected at most the {dim} metrics")
    if whole("block", block, 1) < rank:
        raise InputError(f"block is {block}, expected at least the rank, {rank}")
    return int(dim), int(rank), int(block)


def checked_start(basis: Floats, singular: Floats, dim: int) -> tuple[Floats, Floats]:
    """A subspace that somebody else has, of as many metrics; or an error."""
    found, values = checked_subspace("the subspace to start from", basis, singular)
    if len(found) != dim:
        raise InputError(f"the subspace to start from is of {len(found)} metrics, expected {dim}")
    return found, values


def _cells(settings: Mapping[str, object]) -> int:
    """How many numbers a basis of these settings has."""
    dim, most = (whole(f"saved state: {name}", settings.get(name), 1) for name in ("dim", "max_rank"))
    return dim * most


def _checked_energy(energy: Sequence[float]) -> tuple[float, float]:
    if len(energy) != 2:
        raise InputError(f"energy is {energy}, expected two shares")
    low, high = (number("energy", each, 0.0, 1.0) for each in energy)
    if low > high:
        raise InputError(f"energy is {energy}, expected the lower bound first")
    return low, high
