"""What jobs need, as numbers of instances: the embedding, kept up to date while jobs come and go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.instances import RESOURCES, InstanceType
from windlass.model.vectors import VectorJobs
from windlass.scale.bin_packing import welcome
from windlass.scale.embedding import Embedding

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: What stands for one GPU, one core and one byte.
UNITS = np.array([1000.0, 1000.0, 1.0])
assert len(UNITS) == len(RESOURCES)


def demanded(resources: _Floats) -> _Ints:
    """(n, 3) what jobs ask for in whole units, rounded up.

    >>> demanded(np.array([[0.5, 0.1, 2.5]])).tolist()
    [[500, 100, 3]]
    """
    # A tenth of a core is a hundred thousandths, whatever its nearest float is.
    units: _Ints = np.ceil(np.round(resources * UNITS, 6)).astype(np.int64)
    return units


def offered(types: Sequence[InstanceType]) -> _Ints:
    """(k, 3) what one of each type has in whole units, rounded down."""
    vectors = np.array([kind.vector() for kind in types])
    units: _Ints = np.floor(np.round(vectors * UNITS, 6)).astype(np.int64)
    return units


class Needs:
    """Jobs by kind: those of one kind ask for the same.

    Parameters
    ----------
    jobs
        All of them.
    types
        From the smallest to the largest.

    Attributes
    ----------
    kind
        (n,) of each job.
    vector
        (c, 3) what a kind asks for, in whole units.
    bucket
        (c,) the type in which it counts: the smallest that has it.
    welcome
        (c, k) on which types it may run.
    gang
        (c,) how many whole instances it needs, where no type has it; else 0.

    Raises
    ------
    InputError
        A job asks for what no type has, or for more instances than there may be.

    Examples
    --------
    >>> jobs = VectorJobs.of(submit=[0, 0, 0], run=[1, 1, 1], cores=[2, 2, 20])
    >>> needs = Needs(jobs, [InstanceType("small", cores=4), InstanceType("large", cores=8)])
    >>> needs.bucket.tolist(), needs.gang.tolist(), needs.counts(np.array([2, 1])).tolist()
    ([0, 1], [0, 3], [1.0, 3.0])
    """

    def __init__(self, jobs: VectorJobs, types: Sequence[InstanceType]) -> None:
        units = demanded(jobs.resources)
        self.kind, rows = _kinds(units)
        self.vector = units[rows]
        self.capacity = offered(types)
        embedding = Embedding(self.capacity.astype(np.float64))
        asked = self.vector.astype(np.float64)
        for row, possible in zip(rows, embedding.hosts(asked) if len(rows) else (), strict=True):
            if not possible:
                raise InputError(
                    f"job {jobs.job[row]} asks for {_said(jobs.resources[row])}: no type has all of these"
                )
        self.bucket: _Ints = embedding.assign(asked) if len(rows) else np.empty(0, np.int64)
        self.welcome = welcome(asked, self.capacity.astype(np.float64))
        self.gang = np.zeros(len(rows), np.int64)
        for virtual in embedding.virtual(asked) if len(rows) else ():
            self.bucket[virtual.vector], self.gang[virtual.vector] = virtual.bucket, virtual.size
            of = types[virtual.bucket]
            if virtual.size > of.most:
                raise InputError(
                    f"job {jobs.job[rows[virtual.vector]]} needs {virtual.size} instances {of.name}, "
                    f"there may be {of.most}"
                )
        # Of each type, what the kinds that count there ask for; gangs by whole instances.
        inside = (self.bucket[None, :] == np.arange(len(types))[:, None]).astype(np.float64)
        per = np.divide(1.0, self.capacity, out=np.zeros(self.capacity.shape), where=self.capacity > 0)
        alone = (self.gang == 0).astype(np.float64)
        self._parts = inside[:, None, :] * per[:, :, None] * asked.T[None] * alone
        self._whole = inside * self.gang

    def counts(self, alive: _Ints) -> _Floats:
        """(k,) how many instances of each type so many jobs of each kind need, as fractions."""
        jobs = alive.astype(np.float64)
        found: _Floats = (self._parts @ jobs).max(axis=1) + self._whole @ jobs
        return found

    def shares(self) -> _Floats:
        """(c,) the part of an instance that one job of a kind needs: of its dominant resource; k for a gang of k."""
        return np.asarray(self._parts.sum(axis=0).max(axis=0) + self.gang)


def _kinds(units: _Ints) -> tuple[_Ints, _Ints]:
    """(n,) whose vectors are equal, and (c,) a row of each kind."""
    code = np.zeros(len(units), np.int64)
    for column in units.T:
        values, place = np.unique(column, return_inverse=True)
        _, code = np.unique(code * max(1, len(values)) + place, return_inverse=True)
    _, rows = np.unique(code, return_index=True)
    return code.astype(np.int64), rows.astype(np.int64)


def _said(resources: _Floats) -> str:
    asked = zip(resources.tolist(), RESOURCES, strict=True)
    return ", ".join(f"{amount:g} {name}" for amount, name in asked if amount > 0)
