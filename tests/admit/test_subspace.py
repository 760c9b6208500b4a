"""Merging subspaces, and the leading directions of a block, against the SVD."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.admit.cases import low_rank, subspace_error, svd, weighted
from windlass.admit import distance, merge
from windlass.admit.lib.subspace import leading
from windlass.model import InputError

seeds = st.integers(0, 2**32 - 1)


@st.composite
def subspaces(draw):
    """Two of the same metrics; sometimes one within the other, and singular values over ten orders of magnitude."""
    dim = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(seeds))
    first, second = (draw(st.integers(1, dim)) for _ in range(2))
    one = np.linalg.qr(rng.normal(size=(dim, first)))[0]
    two = np.linalg.qr(rng.normal(size=(dim, second)))[0]
    if draw(st.booleans()):
        shared = min(first, second)
        two = np.linalg.qr(np.concatenate([one[:, :shared], two], axis=1))[0][:, :second]
    values = [
        np.sort(10.0 ** rng.uniform(-draw(st.sampled_from([0, 3, 10])), 0, k))[::-1] for k in (first, second)
    ]
    if draw(st.booleans()):
        values[1] = np.zeros(second)
    return one, values[0], two, values[1]


@given(subspaces(), st.integers(1, 30), st.sampled_from([1.0, 0.9, 0.1]))
@settings(max_examples=300, deadline=None)
def test_merge_equals_the_svd_of_the_concatenation(pair, rank, forget):
    # Would catch the forgetting factor on the wrong side, or Z and R mixed up.
    one, first, two, second = pair
    basis, singular = merge(one, first, two, second, rank, forget)
    kept = min(rank, len(one), len(first) + len(second))
    true_basis, true = svd(np.concatenate([forget * one * first, two * second], axis=1), kept)
    true = np.concatenate([true, np.zeros(kept - len(true))])
    assert basis.shape == (len(one), kept)
    assert np.abs(singular - true).max() <= 1e-9
    assert np.abs(basis.T @ basis - np.eye(kept)).max() <= 1e-9
    assert (np.diff(singular) <= 1e-15).all()
    # Where the last kept and the first dropped value are equal, either subspace is correct.
    everything = np.linalg.svd(np.concatenate([forget * one * first, two * second], axis=1), compute_uv=False)
    gap = true[-1] - (everything[kept] if kept < len(everything) else 0.0)
    if gap > 1e-3:
        assert (
            np.abs(weighted(basis, singular) - weighted(true_basis, true[: true_basis.shape[1]])).max()
            <= 1e-9
        )


@given(seeds, st.integers(2, 15), st.integers(1, 20), st.sampled_from([1e-250, 1e-3, 1.0, 1e200]))
@settings(max_examples=200, deadline=None)
def test_leading_directions_of_a_block_equal_its_svd(seed, dim, width, scale):
    # Would catch squares that overflow or vanish, and ascending eigenvalues taken for descending.
    block = scale * low_rank(dim, width, min(3, dim), 0.1, seed)
    rank = min(2, width)
    basis, singular = leading(block[None], rank)
    true_basis, true = svd(block, rank)
    assert np.abs(singular[0] / scale - true / scale).max() <= 1e-9 * true[0] / scale
    assert np.abs(basis[0].T @ basis[0] - np.eye(rank)).max() <= 1e-12
    everything = np.linalg.svd(block / scale, compute_uv=False)
    if rank == len(everything) or everything[rank - 1] - everything[rank] > 1e-2:
        assert subspace_error(basis[0], true_basis) <= 1e-6


def test_small_singular_values_stay_accurate():
    # Would catch square roots of the Gram matrix's eigenvalues, which are off by a part in ten here.
    block = np.diag([1.0, 1e-7, 1e-9]) @ np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    _, singular = leading(block[None], 2)
    assert singular[0, 1] == pytest.approx(1e-7, rel=1e-6)


def test_a_block_of_zeros_has_directions_of_weight_zero():
    basis, singular = leading(np.zeros((2, 5, 4)), 3)
    assert not singular.any()
    assert np.abs(basis.swapaxes(1, 2) @ basis - np.eye(3)).max() < 1e-12


@given(seeds, st.integers(1, 3))
@settings(deadline=None)
def test_distance_ignores_signs_and_rotations(seed, rank):
    # Would catch the paper's absolute difference of entries.
    rng = np.random.default_rng(seed)
    one, two = (np.linalg.qr(rng.normal(size=(6, rank)))[0] for _ in range(2))
    turned = one @ np.linalg.qr(rng.normal(size=(rank, rank)))[0]
    assert distance(one, turned) < 1e-12
    assert distance(one, two) == pytest.approx(subspace_error(one, two), abs=1e-12)
    assert distance(one, two) == pytest.approx(distance(turned, two), abs=1e-12)


GOOD = (np.eye(3)[:, :2], np.array([2.0, 1.0]))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"basis": np.ones((3, 2))}, "the first subspace: basis is off by 3 from orthonormal"),
        (
            {"singular": np.array([1.0, 2.0])},
            r"the first subspace: singular values are \[1.0, 2.0\].*descending",
        ),
        ({"singular": np.array([1.0, -2.0])}, "expected at least 0"),
        ({"singular": np.array([1.0])}, r"basis has shape \(3, 2\) and singular values \(1,\)"),
        ({"other": np.full((3, 2), np.nan)}, "the second subspace: holds a number that is not finite"),
        ({"other": np.eye(4)[:, :2]}, "subspaces are of 3 and 4 metrics"),
        ({"rank": 0}, "rank is 0, expected a whole number of at least 1"),
        ({"forget": 0.0}, "forget is 0.0, expected a finite number above 0, at most 1"),
        ({"forget": 1.1}, "forget is 1.1"),
    ],
)
def test_invalid_subspaces_are_not_merged(changed, message):
    arguments = {
        "basis": GOOD[0],
        "singular": GOOD[1],
        "other": GOOD[0],
        "other_singular": GOOD[1],
        "rank": 2,
    }
    with pytest.raises(InputError, match=message):
        merge(**{**arguments, **changed})
