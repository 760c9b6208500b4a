"""Compiled operations on the ledger: taking cores and giving them back, piece by piece.

A *holder* is a slot of a part, such as the slot of a running job. At a pooled site it has one piece, at others one
piece per row.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from windlass.jit import inlined
from windlass.jit.schema import allocate, column, numba_type

#: A word of rows, and a bit of it.
WORD = np.uint64(63)
BIT = np.uint64(1)


class Pieces(NamedTuple):
    """The cores of each holder of a part: one piece at a pooled site, else a chain of pieces; -1 ends a chain."""

    last_row: Annotated[
        NDArray[np.int32], column("holders", fill=-1)
    ]  # the piece taken last: row of the ledger
    last_cores: Annotated[NDArray[np.int32], column("holders", fill=-1)]  # and its cores
    chain: Annotated[NDArray[np.int32], column("holders", fill=-1)]  # the holder's first further piece
    row: Annotated[NDArray[np.int32], column("pieces")]  # further pieces
    cores: Annotated[NDArray[np.int32], column("pieces")]
    after: Annotated[NDArray[np.int32], column("pieces")]  # the next piece of the chain
    spare: Annotated[NDArray[np.int32], column(1)]  # the first free piece


PIECES = numba_type(Pieces)


def make_pieces(holders: int, further: int) -> Pieces:
    """Return the pieces of holders that have no cores yet, with room for some further pieces at a time.

    >>> make_pieces(2, 3).after.tolist()
    [1, 2, -1]
    """
    after = np.arange(1, further + 1, dtype=np.int32)
    after[-1:] = -1
    spare = np.full(1, 0 if further else -1, np.int32)
    return allocate(Pieces, {"holders": holders, "pieces": further}, after=after, spare=spare)


@intrinsic
def _lowest_bit(typing_context: Any, word: Any) -> Any:
    """Return the position of the lowest set bit of a uint64 other than 0."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), emit


@inlined
def _flag(nodes, row, site, some):
    """Set or clear the bit of a row with idle cores."""
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
    """Record that a watched row changed."""
    if nodes.watched[row] != 0 and nodes.marked[row] == 0:
        nodes.marked[row] = 1
        counts = nodes.counts[0]
        nodes.changed[counts.changed] = row
        counts.changed += 1


@inlined
def set_idle(nodes, row, site, idle):
    """Set the idle cores of a row, and everything derived from them."""
    before = nodes.idle[row]
    nodes.idle[row] = idle
    nodes.total[site] += max(idle, 0) - max(before, 0)
    nodes.owed[site] += max(-idle, 0) - max(-before, 0)
    _flag(nodes, row, site, idle > 0)
    _mark(nodes, row)


@inlined
def take_of(nodes, row, site, part, cores):
    """Take idle cores of a row for a part."""
    idle = nodes.idle[row] - cores
    nodes.idle[row] = idle
    nodes.total[site] -= cores
    nodes.held[row, part] += cores
    if idle == 0:
        _flag(nodes, row, site, False)
    _mark(nodes, row)


@inlined
def give_to(nodes, row, site, part, cores):
    """Give cores of a row back."""
    idle = nodes.idle[row]
    nodes.held[row, part] -= cores
    if idle > 0:
        nodes.idle[row] = idle + cores
        nodes.total[site] += cores
        _mark(nodes, row)
    else:
        set_idle(nodes, row, site, idle + cores)


@inlined
def _word_with_idle(nodes, word):
    """Return the first word from this one on that has a row with idle cores; there must be one."""
    while nodes.some[word] == np.uint64(0):
        word += 1
    return word


@inlined
def _first_row_in(nodes, site, word):
    """Return the first row with idle cores of a word of a site."""
    return nodes.first[site] + (word - nodes.word[site]) * 64 + np.int64(_lowest_bit(nodes.some[word]))


@inlined
def take(nodes, pieces, holder, site, part, cores):
    """Take idle cores of a site's first rows that have some; the site must have enough."""
    word = nodes.lowest[site]
    chain = np.int32(-1)
    while True:
        word = _word_with_idle(nodes, word)
        row = _first_row_in(nodes, site, word)
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
def take_one(nodes, site, part):
    """Take a core of a site's first row with idle cores, of which there must be one; return the row."""
    word = _word_with_idle(nodes, nodes.lowest[site])
    nodes.lowest[site] = word
    row = _first_row_in(nodes, site, word)
    take_of(nodes, row, site, part, 1)
    return row


@inlined
def give_back(nodes, pieces, holder, site, part):
    """Give back all cores of a holder."""
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
    """Return whether a holder has cores of a row."""
    if pieces.last_row[holder] == row and pieces.last_cores[holder] > 0:
        return True
    piece = pieces.chain[holder]
    while piece >= 0 and pieces.row[piece] != row:
        piece = pieces.after[piece]
    return piece >= 0


@inlined
def lend(pieces, giver, taker, cores):
    """Move cores from one holder, which has them, to another; rows keep their cores.

    Each further piece has at least one core, so that there are never more of them than the site has cores.
    """
    while True:
        row = pieces.last_row[giver]
        moved = min(cores, pieces.last_cores[giver])
        if moved > 0:
            if pieces.last_row[taker] != row and pieces.last_cores[taker] > 0:
                _push(pieces, taker)
            pieces.last_row[taker] = row
            pieces.last_cores[taker] += moved
            pieces.last_cores[giver] -= moved
            cores -= moved
        if pieces.last_cores[giver] == 0 and pieces.chain[giver] >= 0:
            _pop(pieces, giver)
        if cores == 0:
            break


@inlined
def _push(pieces, holder):
    """Move a holder's last piece to its chain, and leave a last piece without cores."""
    piece = pieces.spare[0]
    pieces.spare[0] = pieces.after[piece]
    pieces.row[piece], pieces.cores[piece] = pieces.last_row[holder], pieces.last_cores[holder]
    pieces.after[piece] = pieces.chain[holder]
    pieces.chain[holder] = piece
    pieces.last_cores[holder] = 0


@inlined
def _pop(pieces, holder):
    """Make the first piece of a holder's chain its last piece, which has no cores left."""
    piece = pieces.chain[holder]
    pieces.last_row[holder], pieces.last_cores[holder] = pieces.row[piece], pieces.cores[piece]
    pieces.chain[holder] = pieces.after[piece]
    pieces.after[piece] = pieces.spare[0]
    pieces.spare[0] = piece


@inlined
def hold_none(pieces, holder, like):
    """Give a holder a piece without cores, of the row of another holder."""
    pieces.last_row[holder], pieces.last_cores[holder], pieces.chain[holder] = pieces.last_row[like], 0, -1
