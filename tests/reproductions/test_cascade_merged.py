"""The table of planners that count equal work once."""

import numpy as np
import pytest

from windlass_reproductions.cascade.drawn import CLASSIFIER, COUNTER, READER
from windlass_reproductions.cascade.merged import FIFTH, PLANNERS, compare_merged, print_table
from windlass_reproductions.cascade.setting import drawn_case


@pytest.mark.matrix(0)
def test_refined_with_merging_is_near_the_optimum(capsys):
    kinds = (CLASSIFIER, COUNTER, READER)
    cases = [drawn_case(4, np.random.default_rng([seed, 7]), kinds, FIFTH) for seed in range(2)]
    found = compare_merged(cases)
    assert list(found) == list(PLANNERS)
    assert all(own.least <= own.mean and own.part_least <= own.part <= 1.0 + 1e-6 for own in found.values())
    assert found["refined, merge"].mean > 0.99 * found["optimal, merge"].mean
    assert found["optimal, merge"].part > 0.95
    assert found["refined, merge"].mean > max(found[name].mean for name in ("refined", "optimal", "merged"))
    print_table("a title", found)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "a title"
    assert lines[-1].split()[:2] == ["optimal,", "merge"]
    assert len(lines) == 3 + len(PLANNERS)
