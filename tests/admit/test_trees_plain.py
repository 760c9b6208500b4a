"""Aggregator trees against plain sums of matrices, and which changes are sent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.admit.cases import DIM, drawn, weighed
from windlass.admit import AdmissionFleet, Aggregator, AggregatorTree, Pronto, Subspace, distance
from windlass.admit.lib.subspace import merge_many
from windlass.admit.saving import load_aggregator, save_aggregator
from windlass.model import InputError


class PlainTree:
    """Each aggregator keeps a matrix, its rank and its age of each child; the merged matrix is their sum."""

    def __init__(self, parents, root, forget):
        self.parents, self.root, self.forget = dict(parents), root, forget
        self.kept = {name: {} for name in {*parents.values()}}
        self.sent = 0

    def merged(self, name):
        below = self.kept[name]
        if not below:
            return None
        whole = sum(self.forget ** (2 * age) * matrix for matrix, _, age in below.values())
        return whole, min(DIM, sum(rank for _, rank, _ in below.values()))

    def put(self, name, matrix, rank):
        self.kept[self.parents[name]][name] = (matrix, rank, 0)
        self.sent += 8 * (DIM * rank + rank)

    def send(self, node, subspace):
        name, found = node, (weighed(subspace), len(subspace.singular))
        while name != self.root:
            self.put(name, *found)
            name = self.parents[name]
            found = self.merged(name)

    def leave(self, node):
        parent = self.parents.pop(node)
        self.kept[parent].pop(node, None)
        while parent != self.root:
            found, above = self.merged(parent), self.parents[parent]
            if found is None:
                self.kept[above].pop(parent, None)
            else:
                self.put(parent, *found)
            parent = above

    def round(self):
        for below in self.kept.values():
            for name, (matrix, rank, age) in below.items():
                below[name] = (matrix, rank, age + 1)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.5]))
@settings(max_examples=12, deadline=None)
def test_a_tree_equals_plain_sums_of_matrices(seed, forget):
    # Three levels with leaves at each level, and names that are not in the order of the tree.
    parents = {"n1": "b", "n2": "b", "n3": "a", "b": "c", "n4": "c", "c": "root", "a": "root", "n5": "root"}
    rng = np.random.default_rng(seed)
    tree, plain = AggregatorTree(parents, DIM, DIM, forget), PlainTree(parents, "root", forget)
    nodes, joined = ["n1", "n2", "n3", "n4", "n5"], 0
    for _ in range(14):
        kind = rng.choice(["send", "send", "send", "round", "leave", "join"])
        if kind == "send" and nodes:
            node, subspace = rng.choice(nodes), drawn(rng)
            tree.send(node, subspace)
            plain.send(node, subspace)
        elif kind == "round":
            tree.round()
            plain.round()
        elif kind == "leave" and nodes:
            node = nodes.pop(int(rng.integers(len(nodes))))
            tree.leave(node)
            plain.leave(node)
        elif kind == "join":
            joined, parent = joined + 1, rng.choice(["a", "b", "c", "root"])
            whole = tree.join(f"x{joined}", parent)
            assert (whole is None) == (plain.merged("root") is None)
            plain.parents[f"x{joined}"] = parent
            nodes.append(f"x{joined}")
        assert tree.sent == plain.sent
        for name, aggregator in tree.aggregators.items():
            expected = plain.merged(name)
            if expected is None:
                assert aggregator.merged is None
            else:
                assert weighed(aggregator.merged) == pytest.approx(expected[0], abs=1e-9)
                assert len(aggregator.merged.singular) == expected[1]


def test_a_merged_subspace_has_the_given_rank_from_the_start():
    top = Aggregator(DIM, 1)
    rng = np.random.default_rng(1)
    one = drawn(rng, 3)
    top.take("b", one)
    assert top.merged.basis == pytest.approx(one.basis[:, :1])
    assert top.merged.singular == pytest.approx(one.singular[:1])
    top.take("a", drawn(rng, 2))
    assert top.merged.singular.shape == (1,)
    assert top.children == ("a", "b")


def test_only_moves_beyond_epsilon_are_news():
    top = Aggregator(3, 2, epsilon=0.5)
    assert top.news() is None

    def of(*values):
        return Subspace(np.eye(3)[:, :2], np.array(values))

    top.take("a", of(3.0, 1.0))
    assert top.news() is not None
    # Shares go from 3/4 to 1, by a quarter, and then by a half in total, which is not above epsilon.
    top.take("a", of(1.0, 0.0))
    assert top.news() is None
    top.take("a", of(2.0, 2.0))
    assert top.news() is None
    tilted = Subspace(np.array([[0.8, 0.0], [0.0, 1.0], [0.6, 0.0]]), np.array([3.0, 1.0]))
    top.take("a", tilted)
    assert top.news().moved(of(3.0, 1.0)) == pytest.approx(0.6)
    # It is compared with the last news, not with the first.
    assert top.news() is None
    top.take("a", of(3.0, 1.0))
    assert top.news() is not None


def test_subspaces_of_zero_weight_have_not_moved():
    nothing = Subspace(np.eye(3)[:, :1], np.zeros(1))
    assert nothing.moved(nothing) == 0.0
    assert Subspace(np.eye(3)[:, :1], np.ones(1)).moved(nothing) == 1.0
    assert distance(np.eye(3)[:, :1], np.eye(3)[:, :2]) == 1.0


def test_no_aggregator_has_more_children_than_the_fan_out():
    for nodes, fan_out in ((1, 2), (2, 2), (9, 2), (10, 3), (64, 4)):
        tree = AggregatorTree.of(nodes, fan_out, DIM, 2, 0.5, 0.25)
        below = {}
        for child, parent in tree.parents.items():
            below.setdefault(parent, []).append(child)
        assert max(map(len, below.values())) <= fan_out
        assert {name for name in tree.parents if name not in tree.aggregators} == {
            str(n) for n in range(nodes)
        }
        assert tree.root not in tree.parents
        assert {(each.dim, each.rank, each.forget, each.epsilon) for each in tree.aggregators.values()} == {
            (DIM, 2, 0.5, 0.25)
        }
        # The tree is as flat as possible.
        depth, name = 0, "0"
        while name != tree.root:
            depth, name = depth + 1, tree.parents[name]
        assert fan_out ** (depth - 1) < max(nodes, 2) <= max(fan_out**depth, 2)


def test_an_invalid_tree_is_named_in_the_error():
    for bad in ({"a": "b", "b": "c", "c": "b", "x": "root"}, {"a": "a", "x": "root"}):
        with pytest.raises(InputError, match="is its own ancestor"):
            AggregatorTree(bad, DIM, 1)
    with pytest.raises(InputError, match="nodes is 0"):
        AggregatorTree.of(0, 2, DIM, 1)
    for given_, message in (((0, 1), "dim is 0"), ((1, 0), "rank is 0")):
        with pytest.raises(InputError, match=message):
            Aggregator(*given_)
    with pytest.raises(InputError, match="age is -1"):
        Aggregator(DIM, 1).put("a", drawn(np.random.default_rng(1)), -1)


def test_a_restored_aggregator_has_its_ages_and_settings():
    rng, top = np.random.default_rng(1), Aggregator(DIM, 3, 0.5, 0.1)
    for child in ("b", "a", "c"):
        top.round()
        top.take(child, drawn(rng))
    top.leave("a")
    top.leave("never there")
    assert [(child, age) for child, _, age in top.subspaces] == [("b", 2), ("c", 0)]
    back = load_aggregator(save_aggregator(top))
    assert (back.dim, back.rank, back.forget, back.epsilon) == (DIM, 3, 0.5, 0.1)
    assert [(child, age) for child, _, age in back.subspaces] == [("b", 2), ("c", 0)]
    assert back.merged.singular.tolist() == top.merged.singular.tolist()
    assert (back.merged.basis == top.merged.basis).all()
    # Its first merge is news, although the same subspace was news before.
    top.news()
    assert top.news() is None
    assert back.news() is not None


def test_merging_many_pairs_equals_merging_each():
    rng = np.random.default_rng(3)
    pairs = [(drawn(rng, 2), drawn(rng, 2)) for _ in range(4)]
    stacked = [
        np.stack([getattr(p[k], name) for p in pairs]) for k in (0, 1) for name in ("basis", "singular")
    ]
    basis, singular = merge_many(*stacked, 3)
    for at, (one, other) in enumerate(pairs):
        values, vectors = np.linalg.eigh(weighed(one) + weighed(other))
        assert singular[at] ** 2 == pytest.approx(values[::-1][:3])
        assert basis[at] @ basis[at].T == pytest.approx(vectors[:, -3:] @ vectors[:, -3:].T)


def test_start_affects_one_node_and_refills_its_filter():
    rng = np.random.default_rng(1)
    fleet = AdmissionFleet(3, DIM, rank=2, block=4, lag=3, weights="unit")
    rows = rng.normal(size=(9, 3, DIM))
    for row in rows:
        fleet.observe(row)
    before = fleet.basis
    given_ = drawn(rng, 2)
    fleet.start(1, given_.basis, given_.singular)
    assert (fleet.basis[[0, 2]] == before[[0, 2]]).all()
    found = fleet.basis[1]
    assert found @ found.T == pytest.approx(given_.basis @ given_.basis.T)
    assert (found.sum(axis=0) >= 0.0).all()
    assert fleet.singular_values[1] == pytest.approx(given_.singular)
    assert fleet.spikes.filled[1].tolist() == [0, 0]
    assert fleet.spikes.filled[0].min() > 0
    assert fleet._weights[1] == pytest.approx(given_.singular / given_.singular.sum())
    for node in (-1, 3):
        with pytest.raises(InputError, match="expected 0 to 2"):
            fleet.start(node, given_.basis, given_.singular)
    for name in ("basis", "singular_values", "scores", "projections", "ranks"):
        shown = getattr(fleet, name)
        shown[:] = 7
        assert not (getattr(fleet, name) == 7).all()
    fleet.restart()
    assert not fleet.spikes.filled.any()
    assert (fleet.nodes, fleet.dim) == (3, DIM)


def test_projections_are_of_the_scaled_vector_on_the_directions():
    node = Pronto(DIM, rank=2, block=4)
    for row in np.random.default_rng(1).normal(size=(11, DIM)):
        basis, at = node.fleet.basis[0], node.fleet.stream.at
        node.observe(row)
        scaled = node.fleet.stream.blocks[0, at]
        assert node.fleet.projections[0] == pytest.approx(basis.T @ scaled)
