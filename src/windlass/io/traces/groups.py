"""Owners of jobs: users, groups, queues and partitions, as numbers with their names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.model import Owners

#: The columns of a log that name owners.
KINDS = ("user", "group", "queue", "partition")


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The users, groups, queues or partitions of n jobs.

    Parameters
    ----------
    number
        (n,) int64, index in ``names``; -1 if the log has no value.
    names
        The names in the log, sorted; numbers as text.

    Examples
    --------
    >>> found = members_of(pl.Series(["bob", None, "ann", "bob"]))
    >>> found.number.tolist(), found.names
    ([1, -1, 0, 1], ('ann', 'bob'))
    """

    number: NDArray[np.int64]
    names: tuple[str, ...]

    def labels(self) -> pl.Series:
        """Return (n,) the name for each job; null if the log has no value."""
        known = pl.Series(self.names, dtype=pl.String)
        places = pl.Series(np.where(self.number < 0, len(self.names), self.number))
        return pl.concat([known, pl.Series([None], dtype=pl.String)])[places]

    def logged(self) -> NDArray[np.int64]:
        """Return (n,) the log's own numbers or, for names, numbers from 1 in sorted order; -1 for jobs without one.

        >>> [members_of(pl.Series(users)).logged().tolist() for users in ([17, -1, 9], ["bob", "ann"])]
        [[17, -1, 9], [2, 1]]
        """
        numbers = pl.Series(self.names, dtype=pl.String).cast(pl.Int64, strict=False)
        if numbers.null_count():
            numbers = pl.int_range(1, len(self.names) + 1, dtype=pl.Int64, eager=True)
        # The appended entry is for index -1.
        return np.append(numbers.to_numpy(), -1)[self.number]

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Members:
        """Return the members of the selected jobs, with the same numbers."""
        return Members(np.ascontiguousarray(self.number[rows]), self.names)


@dataclass(frozen=True, slots=True, eq=False)
class Belongings:
    """Users, groups, queues and partitions of jobs; None for a kind that the log does not have."""

    user: Members | None = None
    group: Members | None = None
    queue: Members | None = None
    partition: Members | None = None

    def kinds(self) -> Iterator[tuple[str, Members | None]]:
        """Yield the name and the members of each kind."""
        return zip(KINDS, (self.user, self.group, self.queue, self.partition), strict=True)

    def owners(self, jobs: int) -> Owners:
        """Return the owners as policies read them, for ``jobs`` jobs."""
        kinds = (self.user, self.group, self.queue or self.partition)
        return Owners.of(jobs, *(None if members is None else members.number for members in kinds))

    @property
    def queues(self) -> tuple[str, ...]:
        """Names of the queues that policies see, by number."""
        members = self.queue or self.partition
        return () if members is None else members.names

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Belongings:
        """Return the entries of the selected jobs."""
        return Belongings(*(None if members is None else members.take(rows) for _, members in self.kinds()))


def members_of(column: pl.Series) -> Members | None:
    """Return the members that a column of a log names; None if it names none.

    Parameters
    ----------
    column
        Numbers or texts; null, empty texts and numbers below 0 count as missing.

    Examples
    --------
    >>> members_of(pl.Series([10, 9, -1])).names, members_of(pl.Series([None, None]))
    (('9', '10'), None)
    """
    if column.dtype.is_numeric():
        numbers = column.cast(pl.Int64, strict=False)
        known = numbers.set(numbers < 0, None)
        names = known.drop_nulls().unique().sort()
    else:
        texts = column.cast(pl.String, strict=False)
        known = texts.set(texts.str.strip_chars() == "", None)
        names = known.drop_nulls().unique().sort()
    if names.is_empty():
        return None
    places = known.replace_strict(names, pl.int_range(len(names), dtype=pl.Int64, eager=True), default=-1)
    return Members(places.fill_null(-1).to_numpy(writable=True), tuple(str(name) for name in names))


def belongings_of(records: pl.DataFrame) -> Belongings:
    """Return the users, groups, queues and partitions of the jobs of a log.

    Parameters
    ----------
    records
        Records with any of the columns ``KINDS``.

    Examples
    --------
    >>> found = belongings_of(pl.DataFrame({"user": ["ann"], "queue": [3]}))
    >>> found.user.names, found.group, found.queue.names
    (('ann',), None, ('3',))
    """
    return Belongings(**{kind: members_of(records[kind]) for kind in KINDS if kind in records.columns})
