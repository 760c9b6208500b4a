"""Merging subspaces up a tree, compared with the SVD of all data at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from windlass.admit import AggregatorTree, Subspace
from windlass.model import InputError
from windlass_reproductions.pronto import merging
from windlass_reproductions.pronto.merging import LIMIT, SETTINGS, Merging, rows_of, run_merging

SEEDS = range(1, 6)


@pytest.mark.matrix
@pytest.mark.parametrize("seeds", [[1], pytest.param(SEEDS, marks=pytest.mark.slow)], ids=["one", "all"])
@pytest.mark.parametrize("sees", [4, 2])
@pytest.mark.parametrize("forget", [1.0, 0.9])
def test_a_tree_of_64_nodes_is_within_5_percent_of_the_svd_of_all_data(forget, sees, seeds):
    # The noise is two fifths of the variance.
    setting = Merging(noise=0.1, forget=forget, sees=sees)
    assert setting.nodes == 64
    found = [run_merging(setting, np.random.default_rng(seed)).distance for seed in seeds]
    print(f"forget {forget}, {sees} of 4 directions: " + ", ".join(f"{each:.4f}" for each in found))
    assert max(found) < LIMIT == 0.05


@pytest.mark.slow
@pytest.mark.parametrize("fan_out", [2, 5, 64])
@pytest.mark.parametrize("forget", [1.0, 0.5])
def test_without_noise_the_tree_matches_the_svd(forget, fan_out):
    # Detects a round that ages no subspace, and one that ages subspaces that were just sent. In both cases singular
    # values would be off by the weight of a block, in racks that are silent as a whole or in part.
    setting = Merging(nodes=20, fan_out=fan_out, blocks=6, noise=0.0, forget=forget, sees=2)
    for seed in SEEDS:
        found = run_merging(setting, np.random.default_rng(seed))
        assert found.distance < 1e-6
        assert found.singular < 1e-9


def test_more_noise_increases_the_distance_to_the_svd():
    # Detects a comparison of the tree with itself.
    quiet, loud = (
        run_merging(Merging(nodes=8, noise=noise), np.random.default_rng(1)).distance for noise in (0.01, 0.3)
    )
    assert 0.0 < quiet < 0.02 < loud


@pytest.mark.slow
def test_rows_report_mean_and_largest_distance_and_the_noise():
    settings = (SETTINGS[0], replace(SETTINGS[0], noise=1.0))
    quiet, loud, sent = rows_of(4, [1, 2], settings)
    assert quiet.holds is True
    assert loud.holds is False
    for row, setting, share in zip((quiet, loud), settings, ("3%", "99%"), strict=True):
        found = [run_merging(replace(setting, nodes=4), np.random.default_rng([seed, 7])) for seed in (1, 2)]
        far, off = [each.distance for each in found], max(each.singular for each in found)
        assert row.ours == f"{np.mean(far):.4f} ({max(far):.4f})"
        assert row.note.startswith(f"2 seeds; noise is {share} of the variance")
        assert f"singular values are off by {off:.1%} at most" in row.note
    # A basis of 134 metrics and 4 directions, and the 4 singular values.
    assert sent.ours == 8 * (134 * 4 + 4)


def test_invalid_settings_are_refused():
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match="sees is 5, expected 1 to 4 directions"):
        run_merging(Merging(sees=5), rng)
    with pytest.raises(InputError, match="blocks is 1"):
        run_merging(Merging(blocks=1), rng)


def watch_tree(monkeypatch):
    """Record the rounds and sends of the tree in order, and the subspace that each node sends."""
    log: list[int | str] = []
    sent: dict[int, Subspace] = {}

    class Watched(AggregatorTree):
        def send(self, node, subspace):
            log.append(int(node))
            sent[int(node)] = subspace
            super().send(node, subspace)

        def round(self):
            log.append("round")
            super().round()

    monkeypatch.setattr(merging, "AggregatorTree", Watched)
    return log, sent


def test_a_quarter_of_the_nodes_falls_silent_halfway(monkeypatch):
    log, _ = watch_tree(monkeypatch)
    run_merging(Merging(nodes=8, fan_out=2, blocks=5), np.random.default_rng(1))
    assert log == ["round", 0, 1, "round", "round", "round", *range(2, 8)]


@pytest.mark.slow
@pytest.mark.parametrize("sees", [4, 2])
def test_a_node_s_data_vary_in_the_directions_it_sees(monkeypatch, sees):
    _, sent = watch_tree(monkeypatch)
    run_merging(Merging(nodes=12, fan_out=4, blocks=30, noise=0.0, sees=sees), np.random.default_rng(1))
    kinds = set()
    for node, subspace in sent.items():
        own = subspace.singular[subspace.singular > 1e-6 * subspace.singular[0]]
        variances = own**2 / (20 * (15 if node < 3 else 30))
        # The variances of the four directions are 1, 0.49, 0.24 and 0.12; the power of 0.49 identifies the nearest.
        kinds.add(tuple(int(each) for each in np.round(np.log(variances) / np.log(0.49))))
    assert all(len(each) == sees and set(each) <= {0, 1, 2, 3} for each in kinds)
    # The directions that a node sees are drawn for each node.
    assert kinds == {(0, 1, 2, 3)} if sees == 4 else len(kinds) > 2


def test_data_have_the_reported_share_of_noise(monkeypatch):
    whole, svd = [], np.linalg.svd

    def seen(matrix, *words, **more):
        whole.append(matrix)
        return svd(matrix, *words, **more)

    monkeypatch.setattr(np.linalg, "svd", seen)
    setting = Merging(nodes=4, fan_out=4, blocks=30, noise=0.1)
    run_merging(setting, np.random.default_rng(1))
    every = max(whole, key=lambda matrix: matrix.shape[1])
    assert every.shape == (134, 20 * (15 + 3 * 30))
    energy = (every**2).sum() / every.shape[1]
    assert setting.noisy == 0.42
    assert energy * (1.0 - setting.noisy) == pytest.approx(sum(0.49**k for k in range(4)), rel=0.1)


def test_errors_are_the_largest_of_directions_and_singular_values(monkeypatch):
    class Off(AggregatorTree):
        """A tree with an error in one direction and in one singular value."""

        @property
        def whole(self):
            found = super().whole
            basis, singular = found.basis.copy(), found.singular.copy()
            away = np.eye(len(basis))[0] - basis @ basis[0]
            basis[:, 3] = 0.8 * basis[:, 3] + 0.6 * away / np.linalg.norm(away)
            singular[0] *= 1.5
            return Subspace(basis, singular)

    monkeypatch.setattr(merging, "AggregatorTree", Off)
    found = run_merging(Merging(nodes=4, fan_out=4, blocks=4, noise=0.0), np.random.default_rng(1))
    assert found.distance == pytest.approx(0.6, abs=1e-6)
    assert found.singular == pytest.approx(0.5, abs=1e-6)


def test_settings_are_the_documented_ones():
    assert {each.noisy for each in SETTINGS} == {0.03, 0.15, 0.42}
    assert {(each.forget, each.sees) for each in SETTINGS} == {(1.0, 4), (1.0, 2), (0.9, 4), (0.9, 2)}
    assert len(set(SETTINGS)) == len(SETTINGS) == 12
    assert {(each.nodes, each.fan_out, each.blocks) for each in SETTINGS} == {(64, 8, 10)}
