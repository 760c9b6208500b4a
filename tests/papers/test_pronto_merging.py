"""Merging up a tree, against the SVD of all data at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from windlass.model import InputError
from windlass.papers.pronto.merging import ASKED, SETTINGS, Merging, merged, rows_of

SEEDS = range(1, 6)


@pytest.mark.parametrize("sees", [4, 2])
@pytest.mark.parametrize("forget", [1.0, 0.9])
def test_a_tree_of_64_nodes_is_within_5_percent_of_the_svd_of_all_data(forget, sees):
    # The noise is two fifths of what varies.
    setting = Merging(noise=0.1, forget=forget, sees=sees)
    assert setting.nodes == 64
    found = [merged(setting, np.random.default_rng(seed)).distance for seed in SEEDS]
    print(f"forget {forget}, {sees} of 4 directions: " + ", ".join(f"{each:.4f}" for each in found))
    assert max(found) < ASKED == 0.05


@pytest.mark.parametrize("fan_out", [2, 5, 64])
@pytest.mark.parametrize("forget", [1.0, 0.5])
def test_without_noise_the_tree_has_all_that_the_svd_has(forget, fan_out):
    # Would catch a round that makes nobody older, or one that makes those older who have just sent: singular values
    # would be off by the weight of a block, in the racks that are silent as a whole and in those of which a part is.
    setting = Merging(nodes=20, fan_out=fan_out, blocks=6, noise=0.0, forget=forget, sees=2)
    for seed in SEEDS:
        found = merged(setting, np.random.default_rng(seed))
        assert found.distance < 1e-6
        assert found.singular < 1e-9


def test_more_noise_leaves_more_out():
    # Would catch a comparison of the tree with itself.
    quiet, loud = (
        merged(Merging(nodes=8, noise=noise), np.random.default_rng(1)).distance for noise in (0.01, 0.3)
    )
    assert 0.0 < quiet < 0.02 < loud


def test_rows_say_the_greatest_and_what_it_is_judged_by():
    quiet, loud, sent = rows_of(4, [1, 2], (SETTINGS[0], replace(SETTINGS[0], noise=1.0)))
    assert quiet.holds is True
    assert loud.holds is False
    assert "99%" in loud.note
    far = [
        merged(replace(SETTINGS[0], nodes=4), np.random.default_rng([seed, 7])).distance for seed in (1, 2)
    ]
    assert quiet.ours == f"{np.mean(far):.4f} ({max(far):.4f})"
    # A basis of 134 metrics and 4 directions, and their values.
    assert sent.ours == 8 * (134 * 4 + 4)


def test_what_cannot_be_is_named():
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match="sees is 5, expected 1 to 4 directions"):
        merged(Merging(sees=5), rng)
    with pytest.raises(InputError, match="blocks is 1"):
        merged(Merging(blocks=1), rng)
