"""The configuration that shares most work with another query, against a plain version."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.plan.lib.merge import alike, firsts
from windlass.plan.view import QueryOptions

#: Few pieces and few accuracies, so that many are equal; none is negative.
PIECES = st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=1, max_size=12)


def query(rows, accuracies, width):
    piece = np.array(rows)[:, :width]
    accuracy = np.array((accuracies * len(rows))[: len(rows)])
    return QueryOptions(
        0,
        "q",
        accuracy,
        np.ones((len(rows), 1)),
        piece=piece,
        piece_demand=np.ones((*piece.shape, 1)),
    )


def plain_match(options, wanted, choice):
    """The most accurate configuration of one query that shares most pieces with one of another; −1 for none."""
    width = min(options.piece.shape[1], wanted.piece.shape[1])
    same = (options.piece[:, :width] == wanted.piece[choice, :width]) & (options.piece[:, :width] >= 0)
    shared = same.cumprod(axis=1).sum(axis=1)
    if shared.max() == 0:
        return -1
    best = np.flatnonzero(shared == shared.max())
    return int(best[options.accuracy[best].argmax()])


ACCURACIES = st.lists(st.sampled_from([0.2, 0.5, 0.9]), min_size=1, max_size=12)


@given(PIECES, ACCURACIES, st.integers(1, 3), PIECES, st.integers(1, 3))
def test_the_matching_configuration_shares_most_pieces(rows, accuracies, width, others, wide):
    options, wanted = query(rows, accuracies, width), query(others, accuracies, wide)
    known = firsts(options)
    for choice in range(len(wanted)):
        assert alike(known, wanted, choice) == plain_match(options, wanted, choice)


@pytest.mark.parametrize("lacks", [0, 1])
def test_without_pieces_no_configuration_matches(lacks):
    both = [query([[1, 2, 3]], [0.5], 3), QueryOptions(1, "p", np.array([0.5, 0.6]), np.ones((2, 1)))]
    options, wanted = both[lacks], both[1 - lacks]
    assert [alike(firsts(options), wanted, choice) for choice in range(len(wanted))] == [-1] * len(wanted)
