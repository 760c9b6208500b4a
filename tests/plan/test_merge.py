"""Who follows whom, of all configurations at once, is what one after the other says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.plan.lib.merge import alike, followers
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


ACCURACIES = st.lists(st.sampled_from([0.2, 0.5, 0.9]), min_size=1, max_size=12)


@given(PIECES, ACCURACIES, st.integers(1, 3), PIECES, st.integers(1, 3))
def test_followers_are_those_that_are_most_alike(rows, accuracies, width, others, wide):
    options, wanted = query(rows, accuracies, width), query(others, accuracies, wide)
    found = followers(options, wanted)
    assert found.tolist() == [alike(options, wanted, choice) for choice in range(len(wanted))]


@pytest.mark.parametrize("lacks", [0, 1])
def test_without_pieces_nobody_follows(lacks):
    both = [query([[1, 2, 3]], [0.5], 3), QueryOptions(1, "p", np.array([0.5, 0.6]), np.ones((2, 1)))]
    options, wanted = both[lacks], both[1 - lacks]
    assert followers(options, wanted).tolist() == [-1] * len(wanted)
