"""Subspaces up a tree, against the SVD of all data at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.admit.cases import low_rank, subspace_error, svd, weighted
from windlass.admit import FPCAEdge
from windlass.admit.federation import Aggregator, AggregatorTree, Subspace
from windlass.model import InputError

DIM, RANK, BLOCK = 40, 4, 20
seeds = st.integers(0, 2**32 - 1)


def tracked(stream: np.ndarray, rank: int = RANK) -> Subspace:
    tracker = FPCAEdge(len(stream), rank, BLOCK)
    for at in range(0, stream.shape[1], BLOCK):
        tracker.update(stream[:, at : at + BLOCK])
    return Subspace(tracker.basis, tracker.singular_values)


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("fan_out", [2, 4, 64])
def test_a_tree_of_64_nodes_approximates_the_svd_of_all_data(fan_out):
    stream = low_rank(DIM, 64 * 10 * BLOCK, RANK, noise=0.05)
    tree = AggregatorTree.of(64, fan_out, DIM, RANK)
    for node, part in enumerate(np.split(stream, 64, axis=1)):
        tree.send(str(node), tracked(part))
    basis, singular = svd(stream, RANK)
    assert subspace_error(tree.whole.basis, basis) < 0.05
    assert np.abs(tree.whole.singular / singular - 1.0).max() < 0.05


@given(seeds, st.integers(2, 9), st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_without_noise_any_tree_in_any_order_equals_the_svd(seed, nodes, fan_out):
    # Would catch an update that is merged on top of the same node's last one.
    rng = np.random.default_rng(seed)
    stream = low_rank(DIM, nodes * BLOCK, 2, seed=seed)
    parts = np.split(stream, nodes, axis=1)
    tree = AggregatorTree.of(nodes, fan_out, DIM, RANK)
    for node in (*rng.permutation(nodes), *rng.integers(0, nodes, 5)):
        tree.send(str(node), tracked(parts[node], 2))
    true = weighted(*svd(stream, 2))
    assert np.abs(weighted(tree.whole.basis, tree.whole.singular) - true).max() < 1e-9 * true.max() * DIM


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_a_node_that_leaves_is_removed_and_a_new_one_gets_the_whole(seed):
    rng = np.random.default_rng(seed)
    parts = [low_rank(DIM, BLOCK, 1, seed=seed + node) for node in range(4)]
    tree = AggregatorTree.of(4, 2, DIM, RANK)
    for node, part in enumerate(parts):
        tree.send(str(node), tracked(part, 1))
    gone = int(rng.integers(4))
    tree.leave(str(gone))
    left = np.concatenate([part for node, part in enumerate(parts) if node != gone], axis=1)
    whole = tree.join("new", "1.0")
    true = weighted(*svd(left, 3))
    assert np.abs(weighted(whole.basis, whole.singular) - true).max() < 1e-9 * DIM
    with pytest.raises(InputError, match=f"{gone} is not a node of the tree"):
        tree.send(str(gone), whole)


def test_after_the_last_node_leaves_the_tree_is_empty():
    tree = AggregatorTree.of(1, 2, 3, 1)
    tree.send("0", Subspace(np.eye(3)[:, :1], np.ones(1)))
    tree.leave("0")
    assert tree.whole is None


def test_only_changed_subspaces_are_sent():
    # Would catch a comparison of entries: the same subspace with other signs is unchanged.
    tree = AggregatorTree({"n": "rack", "rack": "row", "row": "root"}, 3, 2, epsilon=0.1)
    one = Subspace(np.eye(3)[:, :2], np.array([2.0, 1.0]))
    tree.send("n", one)
    assert tree.sent == 3 * one.bytes
    tree.send("n", Subspace(-one.basis, 5.0 * one.singular))
    assert tree.sent == 4 * one.bytes
    tree.send("n", Subspace(np.eye(3)[:, 1:], one.singular))
    assert tree.sent == 7 * one.bytes


def test_changed_shares_count_as_a_move():
    one, other = (Subspace(np.eye(3)[:, :2], np.array(values)) for values in ([2.0, 1.0], [9.0, 1.0]))
    assert other.moved(one) == pytest.approx(0.9 - 2 / 3)
    assert one.moved(None) == 1.0
    assert one.moved(Subspace(np.eye(3)[:, :1], np.ones(1))) == 1.0


def test_an_old_subspace_weighs_less():
    top = Aggregator(3, 2, forget=0.5)
    top.take("old", Subspace(np.eye(3)[:, :1], np.array([4.0])))
    for _ in range(3):
        top.round()
        top.take("new", Subspace(np.eye(3)[:, 1:2], np.array([1.0])))
    assert top.merged.singular.tolist() == [1.0, 0.5]
    assert top.merged.basis[:, 0] == pytest.approx([0.0, 1.0, 0.0], abs=1e-12)


ONE = Subspace(np.eye(3)[:, :1], np.ones(1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AggregatorTree({}, 3, 1), "the roots are none, expected exactly one"),
        (lambda: AggregatorTree({"a": "x", "b": "y"}, 3, 1), "the roots are x, y"),
        (lambda: AggregatorTree({"a": "b", "b": "a", "c": "root"}, 3, 1), "is its own ancestor"),
        (lambda: AggregatorTree.of(2, 1, 3, 1), "fan_out is 1"),
        (lambda: AggregatorTree.of(2, 2, 3, 1).send("1.0", ONE), "1.0 is not a node of the tree"),
        (lambda: AggregatorTree.of(2, 2, 4, 1).send("0", ONE), "0: a subspace of 3 metrics, expected 4"),
        (lambda: AggregatorTree.of(2, 2, 3, 1).join("0", "1.0"), "0 is in the tree already"),
        (
            lambda: AggregatorTree.of(2, 2, 3, 1).join("new", "0"),
            "0 is not an aggregator, expected one of 1.0",
        ),
        (lambda: AggregatorTree.of(2, 2, 3, 1).leave("9"), "9 is not a node"),
        (lambda: Aggregator(3, 1, forget=0.0), "forget is 0.0"),
        (lambda: Aggregator(3, 1, epsilon=2.0), "epsilon is 2.0"),
        (lambda: Subspace(np.full((3, 1), np.nan), np.ones(1)), "not finite"),
        (lambda: Subspace(np.ones((3, 1)), np.ones(1)), "orthonormal"),
    ],
)
def test_invalid_input_is_named_in_the_error(make, message):
    with pytest.raises(InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)
