"""What compiled code does with the ledger: cores are taken and given back, piece by piece.

A *holder* is a slot of a part, such as a running job's. At a pooled site it has one piece, at others as many as it
takes rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from windlass.jit import inlined

#: Places in ``Nodes.numbers``: rows that changed since they were last taken, and rows taken then.
CHANGED, TAKEN = range(2)
#: A word of rows, and a bit of it.
WORD = np.uint64(63)
BIT = np.uint64(1)


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


PIECES = types.NamedTuple([types.int32[::1]] * len(Pieces._fields), Pieces)


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
    bit = BIT << (place & WORD)
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
def set_idle(nodes, row, site, idle):
    """Write down how many cores of a row are idle now, in all places that follow from it."""
    before = nodes.idle[row]
    nodes.idle[row] = idle
    nodes.total[site] += max(idle, 0) - max(before, 0)
    nodes.owed[site] += max(-idle, 0) - max(-before, 0)
    _flag(nodes, row, site, idle > 0)
    _mark(nodes, row)


@inlined
def take_of(nodes, row, site, part, cores):
    """A part takes so many idle cores of a row."""
    idle = nodes.idle[row] - cores
    nodes.idle[row] = idle
    nodes.total[site] -= cores
    nodes.held[row, part] += cores
    if idle == 0:
        _flag(nodes, row, site, False)
    _mark(nodes, row)


@inlined
def give_to(nodes, row, site, part, cores):
    """A part gives so many cores of a row back."""
    idle = nodes.idle[row]
    nodes.held[row, part] -= cores
    if idle > 0:
        nodes.idle[row] = idle + cores
        nodes.total[site] += cores
        _mark(nodes, row)
    else:
        set_idle(nodes, row, site, idle + cores)


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
        take_of(nodes, row, site, part, some)
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
    give_to(nodes, pieces.last_row[holder], site, part, pieces.last_cores[holder])
    piece = pieces.chain[holder]
    while piece >= 0:
        give_to(nodes, pieces.row[piece], site, part, pieces.cores[piece])
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


@inlined
def lend(pieces, giver, taker, cores):
    """Of a pooled site, where each has one piece: what one holder has of the ledger becomes another's."""
    pieces.last_cores[giver] -= cores
    pieces.last_cores[taker] += cores


@inlined
def hold_none(pieces, holder, like):
    """A holder begins with no cores of the row of which another has some."""
    pieces.last_row[holder], pieces.last_cores[holder], pieces.chain[holder] = pieces.last_row[like], 0, -1
