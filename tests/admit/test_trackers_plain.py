"""Trackers other than FPCA-Edge, vector by vector, against their papers' steps written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.admit.cases import low_rank
from windlass.admit import AdmissionFleet, FPCAEdge, FrequentDirections, PowerMethod, Spirit
from windlass.admit.lib.subspace import orthonormal
from windlass.admit.lib.trackers import make_tracker
from windlass.model import InputError

DIM = 6
seeds = st.integers(0, 2**32 - 1)


def gram_schmidt(rows):
    """Return the rows made orthonormal in order, each with its own sign."""
    found = []
    for row in rows:
        for _ in range(2):
            for other in found:
                row = row - (row @ other) * other
        found.append(row / np.linalg.norm(row))
    return np.array(found)


class PlainSpirit:
    """Papadimitriou, Sun and Faloutsos, Algorithm 1, with directions that stay orthonormal."""

    def __init__(self, dim, rank, forget, energy):
        self.rows, self.energies = list(np.eye(dim)[:rank]), [1e-3] * rank
        self.held, self.total = [0.0] * rank, 0.0
        self.forget, self.energy, self.most = forget, energy, min(2 * rank, dim)

    def take(self, vector):
        left = vector.copy()
        for at, row in enumerate(self.rows):
            along = row @ left
            self.energies[at] = self.forget * self.energies[at] + along**2
            error = left - along * row
            self.rows[at] = row + along * error / self.energies[at]
            left = left - along * self.rows[at]
        self.rows = list(gram_schmidt(self.rows))
        self.total = self.forget * self.total + vector @ vector
        self.held = [
            self.forget * h + (row @ vector) ** 2 for h, row in zip(self.held, self.rows, strict=True)
        ]
        low, high = self.energy
        if sum(self.held) < low * self.total and len(self.rows) < self.most:
            new = vector - sum((row @ vector) * row for row in self.rows)
            if np.linalg.norm(new) > 1e-12 * np.linalg.norm(vector):
                self.rows.append(new / np.linalg.norm(new))
                self.energies.append(1e-3)
                self.held.append(0.0)
        elif sum(self.held) > high * self.total and len(self.rows) > 1:
            kept = sorted(range(len(self.rows)), key=lambda at: -self.energies[at])[:-1]
            if sum(self.held[at] for at in kept) >= low * self.total:
                self.rows = [self.rows[at] for at in kept]
                self.energies, self.held = ([each[at] for at in kept] for each in (self.energies, self.held))


@given(seeds, st.sampled_from([1.0, 0.9]), st.sampled_from([(0.95, 0.98), (0.5, 0.7), (0.8, 0.8)]))
@settings(max_examples=20, deadline=None)
def test_spirit_equals_a_plain_implementation(seed, forget, energy):
    # The number of true directions changes halfway.
    stream = np.concatenate([low_rank(DIM, 25, 1, 0.05, seed), low_rank(DIM, 25, 4, 0.05, seed)], axis=1)
    tracker, plain = Spirit(DIM, 2, forget, energy), PlainSpirit(DIM, 2, forget, energy)
    for vector in stream.T:
        tracker.update(vector[:, None])
        plain.take(vector)
        order = np.argsort(-np.array(plain.energies), kind="stable")
        assert tracker.basis == pytest.approx(np.array(plain.rows)[order].T, abs=1e-6)
        assert tracker.singular_values == pytest.approx(np.sqrt(np.array(plain.energies)[order]), rel=1e-6)
        assert tracker.share == pytest.approx(sum(plain.held) / plain.total)


def test_spirit_holds_95_to_98_percent_of_energy_by_default():
    tracker = Spirit(3, 1)
    assert (tracker.low, tracker.high, tracker.forget, tracker.most) == (0.95, 0.98, 1.0, 2)
    assert tracker.share == 1.0
    assert Spirit(3, 2).most == 3
    assert tracker.singular_values == pytest.approx([np.sqrt(1e-3)])


def test_spirit_starts_with_the_energy_of_the_shared_subspace():
    tracker = Spirit(5, 1)
    tracker.start(np.eye(5)[:, :3], np.array([3.0, 2.0, 1.0]))
    # At most twice the rank.
    assert tracker.basis == pytest.approx(np.eye(5)[:, :2])
    assert tracker.singular_values == pytest.approx([np.sqrt(9.001), np.sqrt(4.001)])
    assert (tracker.total, tracker.held.tolist()) == (13.0, [9.0, 4.0])


@given(seeds, st.integers(1, 4), st.integers(1, 60))
# A scalar's square rounded down here, and a row of zeros by all but rounding stayed in the sketch.
@example(1976, 1, 13)
@settings(max_examples=30, deadline=None)
def test_frequent_directions_equals_liberty_s_algorithm(seed, rank, count):
    rng = np.random.default_rng(seed)
    rows, size = rng.normal(size=(count, DIM)), rank + int(rng.integers(1, 4))
    tracker = FrequentDirections(DIM, rank, size)
    held = np.zeros((0, DIM))
    for row in rows:
        tracker.update(row[:, None])
        if len(held) == 2 * size:
            _, values, right = np.linalg.svd(held, full_matrices=False)
            last = values[size - 1] ** 2 if size <= len(values) else 0.0
            kept = values**2 > last * (1.0 + 1e-12)
            held = np.sqrt(values[kept] ** 2 - last)[:, None] * right[kept]
        held = np.vstack([held, row])
        assert tracker.sketch.T @ tracker.sketch == pytest.approx(held.T @ held, abs=1e-8)
    assert tracker.singular_values.tolist() == [1.0 / each for each in range(1, rank + 1)]
    values = np.linalg.svd(held, compute_uv=False)
    if len(values) > rank and values[rank - 1] - values[rank] > 1e-3:
        right = np.linalg.svd(held)[2][:rank]
        assert tracker.basis @ tracker.basis.T == pytest.approx(right.T @ right, abs=1e-6)


def test_a_sketch_has_twice_the_rank_and_starts_from_a_shared_subspace():
    tracker = FrequentDirections(9, 3)
    assert tracker.size == 6
    assert tracker.sketch.shape == (12, 9)
    basis, values = np.linalg.qr(np.random.default_rng(1).normal(size=(9, 8)))[0], np.arange(8.0, 0.0, -1.0)
    tracker.update(np.ones((9, 3)))
    tracker.start(basis, values)
    expected = (basis * values)[:, :6]
    assert tracker.sketch.T @ tracker.sketch == pytest.approx(expected @ expected.T)
    # The next rows are appended, and no row is lost.
    more = np.random.default_rng(2).normal(size=(9, 6))
    tracker.update(more)
    assert tracker.sketch.T @ tracker.sketch == pytest.approx(expected @ expected.T + more @ more.T)


@given(seeds, st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_the_power_method_multiplies_by_each_block(seed, rank):
    rng = np.random.default_rng(seed)
    tracker = PowerMethod(DIM, rank, np.random.default_rng(seed), block=7)
    basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(DIM, rank)))[0]
    # The initial directions are random, and not shown.
    assert (tracker.basis.shape, tracker.singular_values.shape) == ((DIM, 0), (0,))
    for scale in (1.0, 1e-180, 1e180):
        block = rng.normal(size=(DIM, 7)) * np.array([1e-9, 1.0, 1.0, 1.0, 1.0, 1e3, 1.0])
        # A block in two parts, of which the second has the largest value.
        tracker.update(scale * block[:, :4])
        tracker.update(scale * block[:, 4:])
        basis = gram_schmidt((block @ block.T @ basis).T).T
        # Each direction is compared, not only the span: the first direction is orthonormalised first.
        assert np.abs((tracker.basis * basis).sum(axis=0)) == pytest.approx(np.ones(rank), abs=1e-6)
    assert tracker.singular_values.tolist() == [1.0 / each for each in range(1, rank + 1)]
    # A block orthogonal to one direction, and a block of zeros.
    kept = tracker.basis
    tracker.update(np.zeros((DIM, 7)))
    if rank > 1:
        tracker.update(np.outer(np.ones(DIM), np.ones(7)))
    assert (tracker.basis == kept).all()
    shown = tracker.basis
    shown[:] = 0.0
    assert tracker.basis.any()


def test_the_power_method_starts_with_shared_directions_completed_by_its_own():
    tracker = PowerMethod(DIM, 3, np.random.default_rng(1))
    own, given_ = tracker._basis, np.eye(DIM)[:, [4]]
    # Vectors before the start belong to other directions.
    tracker.update(np.ones((DIM, DIM - 1)))
    tracker.start(given_, np.ones(1))
    assert np.abs(tracker.basis[:, 0]) == pytest.approx(given_[:, 0])
    # The rest of its own first two directions, without the part along the new one.
    left = own[:, :2] - given_ @ (given_.T @ own[:, :2])
    assert tracker.basis.T @ tracker.basis == pytest.approx(np.eye(3))
    assert tracker.basis @ (tracker.basis.T @ left) == pytest.approx(left)
    tracker.start(np.eye(DIM)[:, :5], np.ones(5))
    assert np.abs(tracker.basis) == pytest.approx(np.eye(DIM)[:, :3])
    tracker.update(np.zeros((DIM, 1)))
    assert tracker._vectors == 1


def test_the_power_method_takes_a_step_once_it_has_as_many_vectors_as_metrics():
    tracker = PowerMethod(4, 1, np.random.default_rng(1))
    tracker.update(np.ones((4, 3)))
    assert tracker.basis.shape == (4, 0)
    tracker.update(np.ones((4, 1)))
    assert np.abs(tracker.basis) == pytest.approx(np.full((4, 1), 0.5))
    assert make_tracker("power", 1, 4, 1, 9).trackers[0].block == 9
    assert make_tracker("power", 1, 4, 1, 2).trackers[0].block == 4


def test_directions_without_singular_values_have_a_decaying_or_a_flat_spectrum():
    for name in ("power", "directions"):
        for spectrum, expected in (("decay", [1.0, 0.5, 1.0 / 3.0]), ("flat", [1.0 / 3.0] * 3)):
            tracker = make_tracker(name, 1, DIM, 3, 8, spectrum=spectrum)
            tracker.update(np.random.default_rng(1).normal(size=(1, DIM, 3 * DIM)))
            assert tracker.singular[0].tolist() == expected
    with pytest.raises(InputError, match="spectrum is 'steep', expected one of decay, flat"):
        make_tracker("power", 1, DIM, 3, 8, spectrum="steep")


@pytest.mark.parametrize("name", ["fpca", "spirit", "directions"])
def test_trackers_forget_alike(name):
    # Of a block of ones along one metric, ten blocks of nothing leave 0.8 to the power of 10 of the singular value.
    tracker = make_tracker(name, 1, 3, 1, 8, 0.8)
    block = np.zeros((1, 3, 8))
    block[0, 1] = 2.0
    tracker.update(block)
    held = _energy(name, tracker)
    for _ in range(10):
        tracker.update(1e-12 * block)
    assert _energy(name, tracker) / held == pytest.approx(0.8**10, rel=1e-3)


def _energy(name, tracker):
    if name == "fpca":
        return tracker.singular[0, 0]
    (one,) = tracker.trackers
    return np.sqrt(one.total) if name == "spirit" else np.linalg.svd(one.sketch, compute_uv=False)[0]


def test_trackers_are_made_by_name_with_the_given_parameters():
    spirit = make_tracker("spirit", 2, DIM, 2, 8, 0.8, (0.5, 0.6))
    assert [(each.forget, each.low, each.high, each.most) for each in spirit.trackers] == [
        (0.8 ** (2 / 8), 0.5, 0.6, 4)
    ] * 2
    assert spirit.basis.shape == (2, DIM, 4)
    assert make_tracker("spirit", 1, 3, 2, 8).basis.shape == (1, 3, 3)
    plain = make_tracker("spirit", 1, DIM, 2, 8).trackers[0]
    assert (plain.forget, plain.low, plain.high) == (1.0, 0.95, 0.98)
    (sketch,) = make_tracker("directions", 1, DIM, 2, 8).trackers
    assert (sketch.rank, sketch.size) == (2, 4)
    fpca = make_tracker("fpca", 2, DIM, 2, 8, 0.8, (0.1, 0.2))
    assert (fpca.forget, fpca.energy, fpca.most) == (0.8, (0.1, 0.2), 4)
    fpca = make_tracker("fpca", 2, DIM, 2, 8)
    assert (fpca.forget, fpca.energy, fpca.most) == (1.0, None, 2)
    both = make_tracker("power", 2, DIM, 2, 8, rng=np.random.default_rng(3))
    rng = np.random.default_rng(3)
    for each in both.trackers:
        assert np.abs(each._basis.T @ np.linalg.qr(rng.normal(size=(DIM, 2)))[0]) == pytest.approx(np.eye(2))
    # Without a generator it always starts the same, so that a run is reproducible.
    one, other = (make_tracker("power", 1, DIM, 2, 8).trackers[0]._basis for _ in range(2))
    assert (one == other).all()


def test_directions_of_zero_energy_are_not_shown():
    tracker = make_tracker("spirit", 2, DIM, 2, 8)
    assert tracker.ranks.tolist() == [0, 0]
    tracker.start(1, np.eye(DIM)[:, :4], np.arange(4.0, 0.0, -1.0))
    tracker.start(1, np.eye(DIM)[:, :1], np.ones(1))
    assert tracker.ranks.tolist() == [0, 1]
    assert not tracker.basis[1, :, 1:].any()
    assert not tracker.singular[1, 1:].any()
    assert tracker.singular[1, 0] == pytest.approx(np.sqrt(1.001))


def test_a_growing_rank_starts_with_the_shared_directions_up_to_its_maximum():
    fixed, grows = FPCAEdge(DIM, 2, 8), FPCAEdge(DIM, 2, 8, energy=(0.01, 0.02))
    basis, values = np.linalg.qr(np.random.default_rng(1).normal(size=(DIM, 5)))[0], np.arange(5.0, 0.0, -1.0)
    for tracker, room in ((fixed, 2), (grows, 4)):
        tracker.start(basis, values)
        assert tracker.basis == pytest.approx(basis[:, :room])
        assert tracker.singular_values.tolist() == values[:room].tolist()
        tracker.start(basis[:, :1], values[:1])
        assert tracker.basis.shape == (DIM, 2 if tracker is fixed else 1)
        assert tracker.basis[:, 0] == pytest.approx(basis[:, 0])
        assert tracker.singular_values.tolist() == [5.0, 0.0][: tracker.basis.shape[1]]


def test_a_rank_grows_to_twice_or_to_the_given_maximum():
    stream = np.random.default_rng(1).normal(size=(DIM, 200))
    for most, expected in ((None, 4), (3, 3), (2, 2), (6, 6)):
        tracker = FPCAEdge(DIM, 2, 8, energy=(0.0, 0.01), max_rank=most)
        for at in range(0, 200, 8):
            tracker.update(stream[:, at : at + 8])
        assert tracker.basis.shape[1] == expected
        assert FPCAEdge.load(tracker.save())._many.most == expected


def test_a_slightly_askew_basis_is_orthonormalised_and_keeps_its_signs():
    rng = np.random.default_rng(1)
    bases = np.stack([np.linalg.qr(rng.normal(size=(DIM, 3)))[0] for _ in range(3)])
    askew = bases.copy()
    askew[1] += 1e-9 * rng.normal(size=(DIM, 3))
    found = orthonormal(askew.copy())
    assert (found[[0, 2]] == bases[[0, 2]]).all()
    assert found[1] == pytest.approx(askew[1], abs=1e-7)
    assert np.abs(found[1].T @ found[1] - np.eye(3)).max() < 1e-14


def test_blocks_narrower_or_wider_than_the_rank_are_merged():
    rng = np.random.default_rng(1)
    blocks = [rng.normal(size=(DIM, width)) for width in (2, 1, 9, 5)]
    tracker = FPCAEdge(DIM, 3, 4)
    held = np.zeros((DIM, 0))
    for block in blocks:
        tracker.update(block)
        left, values, _ = np.linalg.svd(block, full_matrices=False)
        both = np.concatenate([held, (left * values)[:, :3]], axis=1)
        left, values, _ = np.linalg.svd(both, full_matrices=False)
        held = (left * values)[:, :3]
        shown = tracker.basis * tracker.singular_values
        assert shown @ shown.T == pytest.approx(held @ held.T, abs=1e-9)


def test_a_fleet_larger_than_one_batch_equals_its_nodes_alone():
    # Nodes of two ranks, and more of each than one batch holds.
    rng = np.random.default_rng(2)
    rows = (
        rng.normal(size=(11, 300, 4)) * np.where(np.arange(300) % 3, 1.0, [[1.0], [0.01], [0.01], [0.01]]).T
    )
    fleet = AdmissionFleet(300, 4, rank=2, block=5, energy=(0.1, 0.4), signal="scores")
    alone = {
        node: AdmissionFleet(1, 4, rank=2, block=5, energy=(0.1, 0.4), signal="scores")
        for node in (0, 1, 127, 128, 299)
    }
    for step in rows:
        fleet.observe(step)
        for node, each in alone.items():
            each.observe(step[[node]])
            assert fleet.singular_values[node] == pytest.approx(each.singular_values[0])
            assert fleet.ranks[node] == each.ranks[0]
    assert len(set(fleet.ranks)) > 1
