"""Resources of a site other than processors, and the jobs' requests for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Pools:
    """Resources that jobs hold from start to end in addition to processors, each one pool for the whole site.

    Amounts are whole numbers of a small unit, so that a pool is exactly full again when all jobs have released their
    amounts: sums of fractions would not be.

    Parameters
    ----------
    names
        What each of the k is called, such as ``GPUs``.
    amount
        (k,) int64, amount of the site.
    needs
        (k, n) int64, request of each of n jobs, 0 or more.

    Examples
    --------
    >>> pools = Pools.of(("GPUs", "memory"), [8, 512], [[2, 0, 9], [64, 64, 0]])
    >>> pools.lacking().tolist()
    [2]
    """

    names: tuple[str, ...]
    amount: NDArray[np.int64]
    needs: NDArray[np.int64]

    @classmethod
    def of(cls, names: tuple[str, ...], amount: object, needs: object) -> Pools:
        """Build from anything array-like."""
        return cls(names, np.ascontiguousarray(amount, np.int64), np.ascontiguousarray(needs, np.int64))

    @classmethod
    def none(cls, jobs: int) -> Pools:
        """Return no pools for ``jobs`` jobs, which then wait for processors alone."""
        return cls((), np.zeros(0, np.int64), np.zeros((0, jobs), np.int64))

    def __len__(self) -> int:
        """How many there are."""
        return len(self.names)

    def lacking(self) -> NDArray[np.int64]:
        """Return the rows of jobs that request more of a resource than the site has."""
        return np.flatnonzero((self.needs > self.amount[:, None]).any(axis=0))
