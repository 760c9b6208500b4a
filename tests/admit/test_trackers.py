"""Trackers against the guarantees of their papers: the SVD of all data, an error bound, shares of energy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.admit.cases import low_rank, subspace_error, svd, weighted
from windlass.admit import FPCAEdge, FrequentDirections, PowerMethod, Spirit
from windlass.admit.lib.fpca import ManyFPCA
from windlass.admit.lib.trackers import TRACKERS, make_tracker
from windlass.model import InputError

DIM, RANK, BLOCK = 15, 3, 8
seeds = st.integers(0, 2**32 - 1)


def blocks_of(stream):
    return [stream[:, at : at + BLOCK] for at in range(0, stream.shape[1] - BLOCK + 1, BLOCK)]


def naive(blocks, rank, forget=1.0, energy=None, most=None):
    """A naive FPCA-Edge: truncate each block by SVD, concatenate it with the current subspace, truncate again."""
    basis, singular = np.zeros((DIM, 0)), np.zeros(0)
    for block in blocks:
        own, values = svd(block, rank)
        both = np.concatenate([forget * basis * singular, own * values], axis=1)
        full, all_values = svd(both, len(both))
        share = all_values[rank - 1] / all_values[:rank].sum()
        more = len(all_values) > rank and all_values[rank] > 1e-12 * all_values[0]
        if energy is not None and share > energy[1] and rank < most and more:
            rank += 1
        elif energy is not None and share < energy[0] and rank > 1:
            rank -= 1
        basis, singular = full[:, :rank], all_values[:rank]
    return basis, singular


@given(seeds, st.sampled_from([1.0, 0.9, 0.5]), st.sampled_from([0.0, 0.1, 1.0]))
@settings(max_examples=60, deadline=None)
def test_fpca_edge_equals_a_naive_computation(seed, forget, noise):
    stream = low_rank(DIM, 10 * BLOCK, RANK, noise, seed)
    tracker = FPCAEdge(DIM, RANK, BLOCK, forget)
    for block in blocks_of(stream):
        tracker.update(block)
    basis, singular = naive(blocks_of(stream), RANK, forget)
    assert np.abs(tracker.singular_values - singular).max() <= 1e-9 * singular[0]
    assert np.abs(tracker.basis.T @ tracker.basis - np.eye(RANK)).max() <= 1e-9
    if singular[-1] > 1e-3 * singular[0]:
        assert np.abs(weighted(tracker.basis, tracker.singular_values) - weighted(basis, singular)).max() <= (
            1e-6 * singular[0] ** 2
        )


@given(seeds, st.floats(0.02, 0.2), st.floats(0.0, 0.2))
@settings(max_examples=60, deadline=None)
def test_the_rank_equals_that_of_a_naive_computation(seed, low, width):
    # Would catch bounds mixed up, a step of more than one, or growth by a vector that is no direction of the data.
    stream = low_rank(DIM, 20 * BLOCK, 5, 0.05, seed, decay=0.6)
    tracker = FPCAEdge(DIM, RANK, BLOCK, energy=(low, low + width))
    for at, block in enumerate(blocks_of(stream)):
        tracker.update(block)
        basis, singular = naive(blocks_of(stream)[: at + 1], RANK, energy=(low, low + width), most=2 * RANK)
        assert tracker.basis.shape == basis.shape
        assert np.abs(tracker.singular_values - singular).max() <= 1e-8 * singular[0]
        assert np.abs(tracker.basis.T @ tracker.basis - np.eye(len(singular))).max() <= 1e-9


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_without_forgetting_the_order_of_blocks_does_not_matter(seed):
    blocks = blocks_of(low_rank(DIM, 12 * BLOCK, RANK, 0.0, seed))
    found = []
    for order in (range(len(blocks)), np.random.default_rng(seed).permutation(len(blocks))):
        tracker = FPCAEdge(DIM, RANK, BLOCK)
        for at in order:
            tracker.update(blocks[at])
        found.append(weighted(tracker.basis, tracker.singular_values))
    assert np.abs(found[0] - found[1]).max() <= 1e-9 * np.abs(found[0]).max()


def test_forgetting_replaces_old_directions():
    # Would catch a forgetting factor that multiplies the new block.
    old, new = low_rank(DIM, 40 * BLOCK, 1, seed=1), low_rank(DIM, 40 * BLOCK, 1, seed=2)
    found = {}
    for forget in (1.0, 0.8):
        tracker = FPCAEdge(DIM, 1, BLOCK, forget)
        for block in blocks_of(2.0 * old) + blocks_of(new):
            tracker.update(block)
        found[forget] = subspace_error(tracker.basis, svd(new, 1)[0])
    assert found[0.8] < 1e-3 < 0.5 < found[1.0]


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_many_trackers_equal_each_alone(seed):
    # Ranks diverge, so that nodes of one rank are not adjacent.
    rng = np.random.default_rng(seed)
    nodes, energy = 7, (0.1, 0.2)
    many = ManyFPCA(nodes, DIM, RANK, 0.9, energy)
    each = [FPCAEdge(DIM, RANK, BLOCK, 0.9, energy) for _ in range(nodes)]
    streams = [low_rank(DIM, 6 * BLOCK, int(rng.integers(1, 6)), 0.05, seed + node) for node in range(nodes)]
    for at in range(6):
        blocks = np.stack([blocks_of(stream)[at] for stream in streams])
        many.update(blocks)
        for node, tracker in enumerate(each):
            tracker.update(blocks[node])
            rank = many.ranks[node]
            assert rank == len(tracker.singular_values)
            assert np.abs(many.singular[node, :rank] - tracker.singular_values).max() < 1e-10
            both = many.basis[node, :, :rank], tracker.basis
            assert np.abs(np.abs((both[0] * both[1]).sum(axis=0)) - 1.0).max() < 1e-6
            assert not many.basis[node, :, rank:].any()


@given(seeds, st.integers(1, 6), st.integers(1, 200))
@settings(max_examples=80, deadline=None)
def test_frequent_directions_keeps_its_bound(seed, rank, count):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, DIM)) * rng.choice([0.1, 1.0, 5.0], (count, 1))
    tracker = FrequentDirections(DIM, rank, size=rank + 2)
    tracker.update(rows.T)
    off = np.linalg.eigvalsh(rows.T @ rows - tracker.sketch.T @ tracker.sketch)
    most = (rows**2).sum()
    assert off.min() >= -1e-9 * most
    assert off.max() <= most / tracker.size * (1.0 + 1e-9)
    assert np.abs(tracker.basis.T @ tracker.basis - np.eye(rank)).max() < 1e-12


def test_frequent_directions_shrinks_by_the_smallest_necessary_value():
    # Would catch a shrink by another singular value: three rows of 2 and one of 1 in a sketch that may keep two.
    tracker = FrequentDirections(5, 1, size=2)
    tracker.update(np.diag([3.0, 2.0, 1.0, 1.0, 1.0])[:, [0, 1, 2, 3, 4]])
    held = np.sort(np.linalg.svd(tracker.sketch, compute_uv=False))[::-1]
    assert held[:2] == pytest.approx([np.sqrt(9.0 - 4.0), 1.0])


@pytest.mark.slow
@given(seeds, st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_spirit_holds_its_share_of_energy(seed, true_rank):
    stream = low_rank(DIM, 1500, true_rank, 0.02, seed, decay=0.9)
    tracker = Spirit(DIM, RANK, energy=(0.9, 0.99))
    for block in blocks_of(stream):
        tracker.update(block)
    assert 0.88 <= tracker.share <= 1.0
    assert np.abs(tracker.basis.T @ tracker.basis - np.eye(tracker.basis.shape[1])).max() < 1e-9
    assert (np.diff(tracker.singular_values) <= 0.0).all()
    # Fewer directions than the oracle's could not hold this share.
    full = np.cumsum(np.linalg.svd(stream, compute_uv=False) ** 2)
    assert tracker.basis.shape[1] >= int(np.searchsorted(full / full[-1], 0.88)) + 1


def test_spirit_drops_unneeded_directions():
    # Would catch upper and lower share mixed up.
    tracker = Spirit(DIM, 4, energy=(0.9, 0.95))
    tracker.update(low_rank(DIM, 600, 1))
    assert tracker.basis.shape[1] == 1


@pytest.mark.parametrize("name", TRACKERS)
def test_each_tracker_finds_the_true_directions(name):
    stream = low_rank(DIM, 200 * BLOCK, 2, 0.02, decay=0.6)
    tracker = make_tracker(name, 1, DIM, 2, BLOCK, rng=np.random.default_rng(1))
    true = svd(stream, 2)[0]
    for block in blocks_of(stream):
        tracker.update(block[None])
    found = tracker.basis[0, :, : tracker.ranks[0]]
    # SPIRIT may keep more directions than it starts with; the power method uses only its last block.
    left_out = np.linalg.norm(true - found @ (found.T @ true), 2)
    assert left_out < {"fpca": 0.01, "directions": 0.02, "spirit": 0.05, "power": 0.2}[name]
    assert tracker.ranks[0] == 2 or name == "spirit"


@pytest.mark.parametrize("name", TRACKERS)
def test_each_tracker_survives_zeros_and_starts_from_a_shared_subspace(name):
    tracker = make_tracker(name, 2, DIM, 2, BLOCK, rng=np.random.default_rng(1))
    basis, singular = svd(low_rank(DIM, 100, 2), 2)
    tracker.start(1, basis, singular)
    assert subspace_error(tracker.basis[1, :, : tracker.ranks[1]], basis) < 1e-9
    tracker.update(np.zeros((2, DIM, BLOCK)))
    tracker.update(np.stack([low_rank(DIM, BLOCK, 2)] * 2))
    for node in range(2):
        held = tracker.basis[node, :, : tracker.ranks[node]]
        assert np.abs(held.T @ held - np.eye(tracker.ranks[node])).max() < 1e-9


def test_a_tracker_started_with_fewer_directions_still_finds_all():
    # Would catch a rank that stays the sender's.
    stream = low_rank(DIM, 30 * BLOCK, 3)
    tracker = FPCAEdge(DIM, 3, BLOCK)
    tracker.start(svd(stream, 1)[0], np.ones(1))
    assert np.abs(tracker.basis.T @ tracker.basis - np.eye(3)).max() < 1e-12
    assert tracker.singular_values.tolist() == [1.0, 0.0, 0.0]
    for block in blocks_of(stream):
        tracker.update(block)
    assert subspace_error(tracker.basis, svd(stream, 3)[0]) < 0.01


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FPCAEdge(0, 1, 1), "dim is 0"),
        (lambda: FPCAEdge(3, 4, 9), "rank is 4, expected at most the 3 metrics"),
        (lambda: FPCAEdge(9, 4, 3), "block is 3, expected at least the rank, 4"),
        (lambda: FPCAEdge(9, 4, 8, forget=0), "forget is 0"),
        (lambda: FPCAEdge(9, 4, 8, energy=(0.2, 0.1)), "expected the lower bound first"),
        (lambda: FPCAEdge(9, 4, 8, energy=(0.1, 2.0)), "energy is 2.0"),
        (lambda: FPCAEdge(9, 4, 8, max_rank=10), "max_rank is 10, expected at most the 9 metrics"),
        (lambda: FPCAEdge(9, 4, 8).update(np.zeros((8, 9))), r"block has shape \(8, 9\), expected \(9, b\)"),
        (lambda: FPCAEdge(2, 1, 8).update(np.array([[1.0], [np.nan]])), "metric 1 of vector 0 is nan"),
        (lambda: FPCAEdge(3, 1, 8).start(np.eye(2)[:, :1], np.ones(1)), "is of 2 metrics, expected 3"),
        (lambda: Spirit(3, 4), "rank is 4"),
        (lambda: Spirit(3, 2, energy=(0.9, 0.8)), "lower bound first"),
        (lambda: FrequentDirections(3, 2, size=2), "size is 2, expected a whole number of at least 3"),
        (lambda: PowerMethod(3, 4, np.random.default_rng(1)), "rank is 4"),
        (lambda: make_tracker("pca", 1, 3, 1, 3), "tracker is 'pca', expected one of fpca, spirit"),
    ],
)
def test_invalid_input_is_named_in_the_error(make, message):
    with pytest.raises(InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)
