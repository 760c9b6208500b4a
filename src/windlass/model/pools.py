"""Resources of a site other than processors, and the jobs' requests for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Pools:
    """Resources that jobs hold from start to end in addition to processors, each one pool for the whole site.

    Amounts are whole numbers of a small unit. With fractions, rounding errors could leave a pool not exactly full after
    all jobs have released their amounts.

    Parameters
    ----------
    names
        The names of the k resources, such as ``GPUs``.
    amount
        (k,) int64, amounts that the site has.
    needs
        (k, n) int64, requests of the n jobs, 0 or more.

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
        """Return an empty set of pools for ``jobs`` jobs, which then wait only for processors."""
        return cls((), np.zeros(0, np.int64), np.zeros((0, jobs), np.int64))

    def __len__(self) -> int:
        """Return the number of pools."""
        return len(self.names)

    def lacking(self) -> NDArray[np.int64]:
        """Return the rows of jobs that request more of a resource than the site has."""
        return np.flatnonzero((self.needs > self.amount[:, None]).any(axis=0))
