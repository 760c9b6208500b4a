"""The ledger: sites whose cores parts take and give back.

Capacity may fall below the held cores. The difference is *owed*: owed cores are not idle again when they are given
back. If a row is to be *vacated*, holders must give up their cores at once, in
:meth:`~windlass.sim.part.Part.settle`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from windlass.jit.schema import allocate
from windlass.model import InputError
from windlass.sim.cores import BIT, WORD
from windlass.sim.handle import Handle
from windlass.sim.nodes import HOLD, NODES, SET_CAPACITY, TAKE_CHANGED, LedgerCounts, Nodes


class Ledger:
    """The rows of some sites, from which parts take cores.

    Parameters
    ----------
    sites
        For each site, the cores of each of its rows; one number for a pooled site.
    parts
        Number of parts that may hold cores.

    Raises
    ------
    InputError
        A site without rows, or a row with a negative number of cores.

    Examples
    --------
    >>> ledger = Ledger([[100], [4, 4, 4]], parts=2)
    >>> ledger.nodes.total.tolist(), ledger.pooled(0), ledger.pooled(1)
    ([100, 12], True, False)
    """

    def __init__(self, sites: Sequence[Sequence[int]], parts: int) -> None:
        cores = [np.asarray(site, np.int64) for site in sites]
        for number, site in enumerate(cores):
            if not len(site) or site.min() < 0:
                raise InputError(
                    f"site {number} has rows of {site.tolist()} cores, expected some of at least 0"
                )
        self.nodes = _idle_nodes(cores, parts)
        self._handle = Handle(self.nodes, NODES)
        self._set, self._take = SET_CAPACITY.entry(), TAKE_CHANGED.entry()
        self._counts = LedgerCounts.of(self.nodes.counts)
        self._numbers: set[int] = set()
        #: By site and part: cores that the part always holds.
        self._reserved: dict[tuple[int, int], int] = {}
        #: By site: the part that holds a share of each row.
        self._keepers: dict[int, int] = {}
        # By row: the part that sets its capacity, and the part whose tasks use its idle cores.
        self._owners: dict[int, str] = {}
        self._idle_users: dict[int, str] = {}

    @property
    def address(self) -> int:
        """Address of :attr:`nodes`, for compiled functions."""
        return self._handle.address

    def join(self, site: int, part: int | None = None) -> int:
        """Register a part that will take cores of a site, and return its number.

        Parameters
        ----------
        site
            The site's number.
        part
            The part's number; None for the lowest number that no part has.

        Returns
        -------
        int
            The part's number, which no other part of the ledger has.

        Raises
        ------
        InputError
            The site or the number does not exist, another part has the number, or all numbers are taken.
        """
        if not 0 <= site < len(self.nodes.total):
            raise InputError(f"site is {site}, expected 0 to {len(self.nodes.total) - 1}")
        room = self.nodes.held.shape[1]
        if part is None:
            part = next((number for number in range(room) if number not in self._numbers), room)
            if part == room:
                raise InputError(
                    f"part {part} cannot join: the ledger has room for {room}; make it with more `parts`"
                )
        self._check(self.rows(site).start, part)
        if part in self._numbers:
            raise InputError(
                f"part {part} has joined the ledger already; give each part a number of its own, or none"
            )
        self._numbers.add(part)
        return part

    @property
    def joined(self) -> frozenset[int]:
        """Numbers of the parts that have joined so far."""
        return frozenset(self._numbers)

    def limit(self, site: int, part: int, most: int) -> None:
        """Bound the cores that a part may hold at a site.

        Jobs of other parts are then promised a start that holds whatever the part takes. Without a bound, a promise to
        a job that is wider than what the part leaves means nothing, and other jobs overtake it for ever. Set limits
        before the parts of jobs join.

        Parameters
        ----------
        site
            The site's number.
        part
            The part's number.
        most
            Most cores.

        Raises
        ------
        InputError
            The site or the part does not exist, or the number is below 0.
        """
        if not 0 <= site < len(self.nodes.total):
            raise InputError(f"site is {site}, expected 0 to {len(self.nodes.total) - 1}")
        self._check(self.rows(site).start, part)
        if most < 0:
            raise InputError(f"most is {most}, expected at least 0")
        self.nodes.most[site, part] = most
        self._counts.limited = 1

    def reserve(self, site: int, part: int, cores: int, *, of_each_row: bool = False) -> None:
        """Note that a part always holds some cores of a site, so that no job that needs them can ever start.

        Parameters
        ----------
        site, part, cores
            The site, the part, and its cores.
        of_each_row
            Whether the part holds a share of each row as long as the row has cores. An instance of which only these
            are held is empty.
        """
        self._reserved[site, part] = self._reserved.get((site, part), 0) + cores
        if of_each_row:
            self._keepers[site] = part

    def keeper(self, site: int) -> int:
        """Return the part that holds a share of each row of a site; -1 for none."""
        return self._keepers.get(site, -1)

    def left_by_others(self, site: int, part: int) -> int:
        """Return the cores of a site that a part can count on: those that are neither reserved nor in others' limits.

        Of parts without a limit, only reserved cores are counted. A part holds its reserved cores within its limit.
        """
        left = self.whole(site)
        for other, most in enumerate(self.nodes.most[site].tolist()):
            if other != part:
                left -= max(most, self._reserved.get((site, other), 0))
        return max(left, 0)

    def own(self, rows: Iterable[int], owner: str) -> None:
        """Make a part the only one that sets the capacity of some rows.

        Parameters
        ----------
        rows
            The rows, whose capacity no other part sets.
        owner
            The part's name in the error.

        Raises
        ------
        InputError
            Another part owns the capacity of one of the rows; names both, and no row changes its owner.
        """
        _claim(self._owners, rows, owner, "the capacity is set by {}, {} cannot set it as well")

    def use_idle(self, rows: Iterable[int], user: str) -> None:
        """Make a part the only one whose tasks run on the idle cores of some rows without holding them.

        Two such parts would use each idle core twice. The parameters are those of :meth:`own`.

        Raises
        ------
        InputError
            Another part uses the idle cores of one of the rows; names both, and no row changes its user.
        """
        _claim(self._idle_users, rows, user, "the idle cores are used by {}, {} would use them a second time")

    def check_vacated(self) -> None:
        """Check that all rows to be vacated are, once every part has settled.

        Raises
        ------
        InputError
            A part still holds cores of such a row; names both.
        """
        if not self._counts.vacating:
            return
        self._counts.vacating, nodes = 0, self.nodes
        late = np.flatnonzero((nodes.vacate > 0) & (nodes.idle < 0))
        if len(late):
            part = int(np.argmax(nodes.held[late[0]]))
            raise InputError(
                f"part {part} holds {nodes.held[late[0], part]} cores of row {late[0]}, which was to be vacated"
            )

    def _check(self, row: int, part: int | None = None) -> None:
        rows, parts = self.nodes.held.shape
        if not 0 <= row < rows:
            raise InputError(f"row is {row}, expected 0 to {rows - 1}")
        if part is not None and not 0 <= part < parts:
            raise InputError(f"part is {part}, expected one of the {parts} that the ledger has room for")

    def rows(self, site: int) -> range:
        """Return the rows of a site."""
        return range(int(self.nodes.first[site]), int(self.nodes.first[site + 1]))

    def whole(self, site: int) -> int:
        """Return the cores of a site at full capacity."""
        first, end = self.nodes.first[site], self.nodes.first[site + 1]
        return int(self.nodes.whole[first:end].sum())

    def pooled(self, site: int) -> bool:
        """Return whether a site is one row."""
        return len(self.rows(site)) == 1

    def watch(self, site: int) -> None:
        """Record changes of a site's rows from now on, for a part that changes them or has to see each change."""
        rows = self.rows(site)
        self.nodes.watched[rows] = np.minimum(self.nodes.watched[rows] + 1, 2)

    def set_capacity(self, row: int, cores: int, *, vacate: bool = False) -> None:
        """Set the cores of a row; with ``vacate``, holders must give up cores beyond it at once.

        Raises
        ------
        InputError
            The row does not exist, or the number is above its full capacity.
        """
        self._check(row)
        if not 0 <= cores <= self.nodes.whole[row]:
            raise InputError(f"row {row}: cores is {cores}, expected 0 to {self.nodes.whole[row]}")
        self._set(self._handle.address, row, cores, vacate)

    def hold(self, row: int, part: int, cores: int) -> int:
        """Take up to ``cores`` idle cores of a row for a part; give back cores if the number is negative.

        Returns
        -------
        int
            The cores that the part holds there now.

        Raises
        ------
        InputError
            The row or the part does not exist.
        """
        self._check(row, part)
        return int(HOLD.entry()(self._handle.address, row, row + 1, part, cores))

    def hold_among(self, rows: range, part: int, cores: int) -> int:
        """Take up to ``cores`` idle cores of some rows of a site, the first rows first; see :meth:`hold`.

        A negative number gives cores back, those of the last rows first.

        Returns
        -------
        int
            The cores that the part holds in these rows now.

        Raises
        ------
        InputError
            A row or the part does not exist, or the rows are of several sites.

        Examples
        --------
        >>> ledger = Ledger([[4, 4, 4]], parts=1)
        >>> ledger.hold_among(range(3), 0, 9), ledger.hold_among(range(3), 0, -3)
        (9, 6)
        >>> ledger.nodes.idle.tolist()
        [0, 2, 4]
        """
        if not len(rows):
            return 0
        self._check(rows[0], part)
        self._check(rows[-1], part)
        sites = self.nodes.site[rows[0]], self.nodes.site[rows[-1]]
        if sites[0] != sites[1]:
            raise InputError(
                f"rows {rows[0]} to {rows[-1]} are of sites {sites[0]} to {sites[1]}, expected one site"
            )
        return int(HOLD.entry()(self._handle.address, rows[0], rows[-1] + 1, part, cores))

    def take_changed(self) -> bool:
        """Move changed rows to ``nodes.to_settle``; return whether there are any. Settling them may change others."""
        return self._counts.changed > 0 and self._take(self._handle.address) > 0


@functools.cache
def ledger_without_cores() -> Ledger:
    """Return the ledger of parts that share no rows: it has one row without cores, which never changes."""
    return Ledger([[0]], parts=0)


def _claim(claims: dict[int, str], rows: Iterable[int], name: str, problem: str) -> None:
    """Enter a part's name for some rows; raise InputError if one has a name already."""
    listed = [int(row) for row in rows]
    for row in listed:
        if row in claims:
            raise InputError(
                f"row {row}: {problem.format(claims[row], name)}; give the two parts different rows"
            )
    claims.update(dict.fromkeys(listed, name))


def _idle_nodes(cores: list[NDArray[np.int64]], parts: int) -> Nodes:
    lengths = [len(site) for site in cores]
    first, word = (
        np.array([*accumulate(counts, initial=0)])
        for counts in (lengths, [-(-length // 64) for length in lengths])
    )
    n, capacity = int(first[-1]), np.concatenate(cores)
    site = np.repeat(np.arange(len(cores)), lengths)
    place = (np.arange(n) - first[site]).astype(np.uint64) & WORD
    bits = np.where(capacity > 0, BIT << place, np.uint64(0))
    some = np.bitwise_or.reduceat(bits, np.flatnonzero(place == 0)) if n else bits
    return allocate(
        Nodes,
        {"rows": n, "sites": len(cores), "ends": len(cores) + 1, "words": len(some), "parts": parts},
        whole=capacity.copy(),
        capacity=capacity,
        idle=capacity.copy(),
        site=site,
        first=first,
        word=word,
        total=[rows.sum() for rows in cores],
        lowest=word[:-1].copy(),
        some=some,
    )
