"""The requests of jobs as numbers of instances: the embedding, updated as jobs are submitted and end."""

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

#: Units in one GPU, one core and one byte.
UNITS = np.array([1000.0, 1000.0, 1.0])
assert len(UNITS) == len(RESOURCES)


def demanded(resources: _Floats) -> _Ints:
    """Return the requests of jobs in whole units, rounded up: (n, 3) GPUs, cores, memory.

    >>> demanded(np.array([[0.5, 0.1, 2.5]])).tolist()
    [[500, 100, 3]]
    """
    # 0.1 cores are 100 units although the nearest float is above 0.1.
    units: _Ints = np.ceil(np.round(resources * UNITS, 6)).astype(np.int64)
    return units


def offered(types: Sequence[InstanceType]) -> _Ints:
    """Return the resources of an instance of each type in whole units, rounded down: (k, 3)."""
    vectors = np.array([kind.vector() for kind in types])
    units: _Ints = np.floor(np.round(vectors * UNITS, 6)).astype(np.int64)
    return units


class Needs:
    """Jobs grouped by kind, and the instances that each kind needs; jobs with equal requests are of one kind.

    Parameters
    ----------
    jobs
        All jobs.
    types
        Instance types from the smallest to the largest.

    Attributes
    ----------
    kind
        (n,) kind of each job.
    vector
        (c, 3) request of each kind, in whole units.
    bucket
        (c,) type that counts for each kind: the smallest that it fits on; for a gang, the gang's type.
    welcome
        (c, k) whether a kind may run on a type.
    gang
        (c,) whole instances that a kind needs if it is larger than any type, otherwise 0.

    Raises
    ------
    InputError
        No instance type has all that a job requests, or a job needs more instances than its type's maximum.

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
        requests = self.vector.astype(np.float64)
        for row, possible in zip(rows, embedding.hosts(requests) if len(rows) else (), strict=True):
            if not possible:
                raise InputError(
                    f"job {jobs.job[row]} requests {_amounts(jobs.resources[row])}: no type has all of these"
                )
        self.bucket: _Ints = embedding.assign(requests) if len(rows) else np.empty(0, np.int64)
        self.welcome = welcome(requests, self.capacity.astype(np.float64))
        self.gang = np.zeros(len(rows), np.int64)
        for virtual in embedding.virtual(requests) if len(rows) else ():
            self.bucket[virtual.vector], self.gang[virtual.vector] = virtual.bucket, virtual.size
            of = types[virtual.bucket]
            if virtual.size > of.most:
                raise InputError(
                    f"job {jobs.job[rows[virtual.vector]]} needs {virtual.size} instances of type {of.name}, "
                    f"expected at most {of.most}"
                )
        # The share of an instance that a job of each kind needs, by type and resource; gangs need whole instances.
        inside = (self.bucket[None, :] == np.arange(len(types))[:, None]).astype(np.float64)
        per = np.divide(1.0, self.capacity, out=np.zeros(self.capacity.shape), where=self.capacity > 0)
        alone = (self.gang == 0).astype(np.float64)
        self._parts = inside[:, None, :] * per[:, :, None] * requests.T[None] * alone
        self._whole = inside * self.gang

    def counts(self, alive: _Ints) -> _Floats:
        """Return the instances of each type that jobs need, as fractions: (k,), for (c,) jobs of each kind."""
        jobs = alive.astype(np.float64)
        needed: _Floats = (self._parts @ jobs).max(axis=1) + self._whole @ jobs
        return needed

    def shares(self) -> _Floats:
        """Return the share of an instance that a job of each kind needs, by its dominant resource; a gang needs k."""
        return np.asarray(self._parts.sum(axis=0).max(axis=0) + self.gang)


def _kinds(units: _Ints) -> tuple[_Ints, _Ints]:
    """Return the kind of each job, (n,), and the first row of each kind, (c,)."""
    code = np.zeros(len(units), np.int64)
    for column in units.T:
        values, place = np.unique(column, return_inverse=True)
        _, code = np.unique(code * max(1, len(values)) + place, return_inverse=True)
    _, rows = np.unique(code, return_index=True)
    return code.astype(np.int64), rows.astype(np.int64)


def _amounts(resources: _Floats) -> str:
    amounts = zip(resources.tolist(), RESOURCES, strict=True)
    return ", ".join(f"{amount:g} {name}" for amount, name in amounts if amount > 0)
