"""The ledger: how many cores each row has, which part holds how many, and which rows changed.

A *row* is a node, or a whole site whose cores are alike (*pooled*): one code for both, and a pooled site costs what a
counter would. Rows of a site follow each other. A part takes cores that are idle and gives back what it took; who
decides later sees what is left, so that parts never race. Capacity may fall below what is held: then the rest is
*owed*, goes to nobody when it is given back, and no core of that row is idle; where the row is to be *vacated*, who
holds cores there must give them up at once, in :meth:`~windlass.sim.part.Part.settle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model import InputError
from windlass.sim.cores import BIT, CHANGED, TAKEN, WORD, give_to, set_idle, take_of
from windlass.sim.handle import Handle, opening, storing


class Nodes(NamedTuple):
    """The ledger as arrays; n rows, s sites, p parts, w words of 64 rows, each site from a fresh word.

    ``whole``, ``capacity``, ``idle`` (n,): cores at the beginning, and now; idle ones are capacity less all that is
    held, and may be less than none.
    ``held`` (n, p): by each part. ``site``, ``vacate``, ``watched`` (n,): whose row it is, whether it is to be given
    up, whether somebody wants to know of its changes. ``first``, ``word`` (s + 1,): a site's first row and word.
    ``total``, ``owed``, ``lowest`` (s,): idle cores, cores held beyond capacity, first word worth a look. ``some``
    (w,): a bit for each row that has idle cores. ``changed``, ``taken`` (n,): rows in the order of their first change,
    since and before they were last taken; ``marked`` (n,): whether a row is among the changed. ``numbers``: how many.
    """

    whole: NDArray[np.int64]
    capacity: NDArray[np.int64]
    idle: NDArray[np.int64]
    held: NDArray[np.int64]
    site: NDArray[np.int64]
    vacate: NDArray[np.uint8]
    watched: NDArray[np.uint8]
    first: NDArray[np.int64]
    word: NDArray[np.int64]
    total: NDArray[np.int64]
    owed: NDArray[np.int64]
    lowest: NDArray[np.int64]
    some: NDArray[np.uint64]
    changed: NDArray[np.int64]
    taken: NDArray[np.int64]
    marked: NDArray[np.uint8]
    numbers: NDArray[np.int64]


_I, _U8 = types.int64[::1], types.uint8[::1]
_KINDS = {
    "held": types.int64[:, ::1],
    "some": types.uint64[::1],
    "vacate": _U8,
    "watched": _U8,
    "marked": _U8,
}
NODES = types.NamedTuple([_KINDS.get(field, _I) for field in Nodes._fields], Nodes)


_opened = opening(NODES)
_store = storing(NODES)


def _set_capacity(address, row, cores, vacate):
    nodes = _opened(address)
    nodes.vacate[row] = vacate
    idle = nodes.idle[row] + cores - nodes.capacity[row]
    nodes.capacity[row] = cores
    if idle != nodes.idle[row] or vacate != 0:
        set_idle(nodes, row, nodes.site[row], idle)
    return 0


def _hold(address, row, part, cores):
    nodes = _opened(address)
    site = nodes.site[row]
    # Where nothing changes nothing is marked: a part may ask time and again while others settle.
    taken, given = min(cores, max(nodes.idle[row], 0)), min(-cores, nodes.held[row, part])
    if taken > 0:
        take_of(nodes, row, site, part, taken)
    if given > 0:
        give_to(nodes, row, site, part, given)
    return nodes.held[row, part]


def _take_changed(address):
    nodes = _opened(address)
    count = nodes.numbers[CHANGED]
    for place in range(count):
        nodes.taken[place] = nodes.changed[place]
        nodes.marked[nodes.changed[place]] = 0
    nodes.numbers[CHANGED] = 0
    nodes.numbers[TAKEN] = count
    return count


SET_CAPACITY = Kernel(
    _set_capacity, types.int64(types.int64, types.int64, types.int64, types.uint8), allocates=False
)
HOLD = Kernel(_hold, types.int64(*(types.int64,) * 4), allocates=False)
TAKE_CHANGED = Kernel(_take_changed, types.int64(types.int64), allocates=False)
KERNELS = (_store, SET_CAPACITY, HOLD, TAKE_CHANGED)


class Ledger:
    """Rows of some sites, idle, for parts to take cores of.

    Parameters
    ----------
    sites
        For each site, the cores of each of its rows: one number for a pooled site.
    parts
        How many parts may hold cores.

    Raises
    ------
    InputError
        A site without rows, or a row that has less than no cores.

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
        self._handle = Handle(self.nodes, _store)
        self._set, self._take = SET_CAPACITY.entry(), TAKE_CHANGED.entry()
        self._numbers, self._vacating = self.nodes.numbers, False

    def join(self, site: int, part: int) -> None:
        """Check that there is such a site and such a part, for one that is about to take cores there.

        Raises
        ------
        InputError
            There is not.
        """
        if not 0 <= site < len(self.nodes.total):
            raise InputError(f"site is {site}, expected 0 to {len(self.nodes.total) - 1}")
        self._check(self.rows(site).start, part)

    def check_vacated(self) -> None:
        """See that all who had to give up cores have, once everybody has settled.

        Raises
        ------
        InputError
            A part still holds cores of a row that is to be vacated; names both.
        """
        if not self._vacating:
            return
        self._vacating, nodes = False, self.nodes
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
        """The rows of a site."""
        return range(int(self.nodes.first[site]), int(self.nodes.first[site + 1]))

    def pooled(self, site: int) -> bool:
        """Whether a site is one row."""
        return len(self.rows(site)) == 1

    def watch(self, site: int) -> None:
        """Keep track of changes to a site's rows from now on."""
        self.nodes.watched[self.rows(site)] = 1

    def set_capacity(self, row: int, cores: int, *, vacate: bool = False) -> None:
        """Change how many cores a row has; with ``vacate``, who holds what is then too much must give it up at once.

        Raises
        ------
        InputError
            There is no such row, or it never had so many cores.
        """
        self._check(row)
        if not 0 <= cores <= self.nodes.whole[row]:
            raise InputError(f"row {row}: cores is {cores}, expected 0 to {self.nodes.whole[row]}")
        self._set(self._handle.address, row, cores, vacate)
        self._vacating |= vacate

    def hold(self, row: int, part: int, cores: int) -> int:
        """A part takes so many more cores of a row, or what is idle of them; a negative number gives so many back.

        Returns
        -------
        int
            How many it holds there now.

        Raises
        ------
        InputError
            There is no such row, or no such part.
        """
        self._check(row, part)
        return int(HOLD.entry()(self._handle.address, row, part, cores))

    def take_changed(self) -> bool:
        """Move the rows that changed to ``nodes.taken``; whether there are any. Settling them may change more."""
        return bool(self._numbers[CHANGED]) and self._take(self._handle.address) > 0


def _idle_nodes(cores: list[NDArray[np.int64]], parts: int) -> Nodes:
    lengths = np.array([len(site) for site in cores])
    first, word = (np.concatenate(([0], np.cumsum(count))) for count in (lengths, -(-lengths // 64)))
    n, capacity = int(first[-1]), np.concatenate(cores)
    site = np.repeat(np.arange(len(cores)), lengths)
    some = np.zeros(int(word[-1]), np.uint64)
    place = (np.arange(n) - first[site]).astype(np.uint64)
    bits = np.where(capacity > 0, BIT << (place & WORD), np.uint64(0))
    np.bitwise_or.at(some, word[site] + (place >> np.uint64(6)).astype(np.int64), bits)
    return Nodes(
        whole=capacity.copy(),
        capacity=capacity,
        idle=capacity.copy(),
        held=np.zeros((n, parts), np.int64),
        site=site,
        vacate=np.zeros(n, np.uint8),
        watched=np.zeros(n, np.uint8),
        first=first,
        word=word,
        total=np.array([rows.sum() for rows in cores], np.int64),
        owed=np.zeros(len(cores), np.int64),
        lowest=word[:-1].copy(),
        some=some,
        changed=np.zeros(n, np.int64),
        taken=np.zeros(n, np.int64),
        marked=np.zeros(n, np.uint8),
        numbers=np.zeros(2, np.int64),
    )
