"""The ledger: how many cores each row has, which part holds how many, and which rows changed.

A *row* is a node, or a whole site whose cores are alike (*pooled*): one code for both, and a pooled site costs what a
counter would. Rows of a site follow each other. A part takes cores that are idle and gives back what it took; who
decides later sees what is left, so that parts never race. Capacity may fall below what is held: then the rest is
*owed*, goes to nobody when it is given back, and no core of that row is idle; where the row is to be *vacated*, who
holds cores there must give them up at once, in :meth:`~windlass.sim.part.Part.settle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from windlass.compiled import Kernel, inlined
from windlass.model import InputError
from windlass.sim.handle import Handle, opening, storing

#: Places in ``Nodes.numbers``: rows that changed since they were last taken, and rows taken then.
CHANGED, TAKEN = range(2)
_WORD = np.uint64(63)
_BIT = np.uint64(1)


class Nodes(NamedTuple):
    """The ledger as arrays; n rows, s sites, p parts, w words of 64 rows, each site from a fresh word.

    ``capacity``, ``idle`` (n,): cores; idle ones are capacity less all that is held, and may be less than none.
    ``held`` (n, p): by each part. ``site``, ``vacate``, ``watched`` (n,): whose row it is, whether it is to be given
    up, whether somebody wants to know of its changes. ``first``, ``word`` (s + 1,): a site's first row and word.
    ``total``, ``owed``, ``lowest`` (s,): idle cores, cores held beyond capacity, first word worth a look. ``some``
    (w,): a bit for each row that has idle cores. ``changed``, ``taken`` (n,): rows in the order of their first change,
    since and before they were last taken; ``marked`` (n,): whether a row is among the changed. ``numbers``: how many.
    """

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


class Pieces(NamedTuple):
    """What the holders of one part hold where: at a pooled site one piece each, else further ones, in a chain.

    ``last_row``, ``last_cores``, ``chain`` (h,): the piece that each holder took last, and its first further one.
    ``row``, ``cores``, ``after`` (q,): further pieces. ``spare`` (1,): first of those that nobody uses. -1 ends a
    chain.
    """

    last_row: NDArray[np.int32]
    last_cores: NDArray[np.int32]
    chain: NDArray[np.int32]
    row: NDArray[np.int32]
    cores: NDArray[np.int32]
    after: NDArray[np.int32]
    spare: NDArray[np.int32]


_I, _U8, _I32 = types.int64[::1], types.uint8[::1], types.int32[::1]
_KINDS = {
    "held": types.int64[:, ::1],
    "some": types.uint64[::1],
    "vacate": _U8,
    "watched": _U8,
    "marked": _U8,
}
NODES = types.NamedTuple([_KINDS.get(field, _I) for field in Nodes._fields], Nodes)
PIECES = types.NamedTuple([_I32] * len(Pieces._fields), Pieces)


@intrinsic
def _lowest_bit(typing_context: Any, word: Any) -> Any:
    """The place of the lowest bit that is set in a uint64 other than 0."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), emit


@inlined
def _flag(nodes, row, site, some):
    """Set or clear the bit that says whether a row has idle cores."""
    place = np.uint64(row - nodes.first[site])
    word = nodes.word[site] + np.int64(place >> np.uint64(6))
    bit = _BIT << (place & _WORD)
    if some:
        nodes.some[word] |= bit
        nodes.lowest[site] = min(nodes.lowest[site], word)
    else:
        nodes.some[word] &= ~bit


@inlined
def _mark(nodes, row):
    """Note that a row changed, where somebody wants to know."""
    if nodes.watched[row] != 0 and nodes.marked[row] == 0:
        nodes.marked[row] = 1
        nodes.changed[nodes.numbers[CHANGED]] = row
        nodes.numbers[CHANGED] += 1


@inlined
def _set_idle(nodes, row, site, idle):
    """Write down how many cores of a row are idle now, in all places that follow from it."""
    before = nodes.idle[row]
    nodes.idle[row] = idle
    nodes.total[site] += max(idle, 0) - max(before, 0)
    nodes.owed[site] += max(-idle, 0) - max(-before, 0)
    _flag(nodes, row, site, idle > 0)
    _mark(nodes, row)


@inlined
def _take_of(nodes, row, site, part, cores):
    """A part takes so many idle cores of a row."""
    idle = nodes.idle[row] - cores
    nodes.idle[row] = idle
    nodes.total[site] -= cores
    nodes.held[row, part] += cores
    if idle == 0:
        _flag(nodes, row, site, False)
    _mark(nodes, row)


@inlined
def _give_to(nodes, row, site, part, cores):
    """A part gives so many cores of a row back."""
    idle = nodes.idle[row]
    nodes.held[row, part] -= cores
    if idle > 0:
        nodes.idle[row] = idle + cores
        nodes.total[site] += cores
        _mark(nodes, row)
    else:
        _set_idle(nodes, row, site, idle + cores)


@inlined
def take(nodes, pieces, holder, site, part, cores):
    """Take idle cores of a site, of which there must be enough: of its first rows that have some."""
    word = nodes.lowest[site]
    chain = np.int32(-1)
    while True:
        while nodes.some[word] == np.uint64(0):
            word += 1
        row = nodes.first[site] + (word - nodes.word[site]) * 64 + np.int64(_lowest_bit(nodes.some[word]))
        some = min(cores, nodes.idle[row])
        cores -= some
        _take_of(nodes, row, site, part, some)
        if cores == 0:
            break
        piece = pieces.spare[0]
        pieces.spare[0] = pieces.after[piece]
        pieces.row[piece], pieces.cores[piece], pieces.after[piece] = row, some, chain
        chain = piece
    nodes.lowest[site] = word
    pieces.last_row[holder], pieces.last_cores[holder], pieces.chain[holder] = row, some, chain


@inlined
def give_back(nodes, pieces, holder, site, part):
    """Give back all that a holder has."""
    _give_to(nodes, pieces.last_row[holder], site, part, pieces.last_cores[holder])
    piece = pieces.chain[holder]
    while piece >= 0:
        _give_to(nodes, pieces.row[piece], site, part, pieces.cores[piece])
        following = pieces.after[piece]
        pieces.after[piece] = pieces.spare[0]
        pieces.spare[0] = piece
        piece = following


@inlined
def holds_on(pieces, holder, row):
    """Whether a holder has cores of a row."""
    if pieces.last_row[holder] == row:
        return True
    piece = pieces.chain[holder]
    while piece >= 0 and pieces.row[piece] != row:
        piece = pieces.after[piece]
    return piece >= 0


_opened = opening(NODES)
_store = storing(NODES)


def _set_capacity(address, row, cores, vacate):
    nodes = _opened(address)
    nodes.vacate[row] = vacate
    idle = nodes.idle[row] + cores - nodes.capacity[row]
    nodes.capacity[row] = cores
    _set_idle(nodes, row, nodes.site[row], idle)
    return 0


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
TAKE_CHANGED = Kernel(_take_changed, types.int64(types.int64), allocates=False)
KERNELS = (_store, SET_CAPACITY, TAKE_CHANGED)


def make_pieces(holders: int, further: int) -> Pieces:
    """Pieces of so many holders, with room for so many further ones at a time; nobody holds any.

    >>> make_pieces(2, 3).after.tolist()
    [1, 2, -1]
    """
    after = np.arange(1, further + 1, dtype=np.int32)
    after[-1:] = -1
    row, cores = np.zeros((2, further), np.int32)
    last_row, last_cores, chain = np.full((3, holders), -1, np.int32)
    return Pieces(last_row, last_cores, chain, row, cores, after, np.full(1, 0 if further else -1, np.int32))


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
        self._numbers = self.nodes.numbers

    def rows(self, site: int) -> range:
        """The rows of a site."""
        return range(int(self.nodes.first[site]), int(self.nodes.first[site + 1]))

    def pooled(self, site: int) -> bool:
        """Whether a site is one row."""
        return len(self.rows(site)) == 1

    def watch(self, site: int) -> None:
        """Keep track of changes to a site's rows from now on."""
        self.nodes.watched[self.rows(site)] = 1

    def watched(self, site: int) -> bool:
        """Whether somebody wants to know of changes to a site's rows."""
        return bool(self.nodes.watched[self.rows(site)].any())

    def set_capacity(self, row: int, cores: int, *, vacate: bool = False) -> None:
        """Change how many cores a row has; with ``vacate``, who holds what is then too much must give it up at once."""
        self._set(self._handle.address, row, cores, vacate)

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
    bits = np.where(capacity > 0, _BIT << (place & _WORD), np.uint64(0))
    np.bitwise_or.at(some, word[site] + (place >> np.uint64(6)).astype(np.int64), bits)
    return Nodes(
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
