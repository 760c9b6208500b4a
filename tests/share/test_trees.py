"""The file of experts: the built-in file, and files that are rejected."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.share.cases import host
from windlass.model import InputError
from windlass.share import ACTIONS
from windlass.share.lib.trees import read_experts

GOOD = """
actions: [0, 50]
happiness: [1.0]
experts:
  - metric: cpu
    bands: [50]
    leaves:
      - - [90, 10]
        - [20, 80]
      - - [100, 0]
        - [70, 30]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text)
    return path


def test_a_band_includes_its_lower_limit(tmp_path):
    # Would catch bands that end at their limit: a host at 50 % is in the upper one, one at happiness 1.0 is happy.
    experts = read_experts(written(tmp_path, GOOD))
    happy = {"walltime": 100.0, "elapsed": 0.0, "tasks_left": 10.0}
    assert experts.advice(host(cpu=49.9, rate=0.1, **happy))[0].tolist() == [0.2, 0.8]
    assert experts.advice(host(cpu=50.0, rate=0.1, **happy))[0].tolist() == [0.7, 0.3]
    assert experts.advice(host(cpu=50.0, rate=0.099, **happy))[0].tolist() == [1.0, 0.0]
    # A host with unknown happiness counts as one that barely makes its walltime.
    assert experts.advice(host(cpu=50.0, rate=math.nan))[0].tolist() == [0.7, 0.3]


def test_each_tree_reads_its_own_metric():
    # Would catch a part for a percent of the walltime, and an unknown stage taken for a sequential one.
    experts = read_experts()
    column = 2  # all are happy
    happy = {"walltime": 1000.0, "tasks_left": 1.0, "rate": 1.0}
    for row, cpu in enumerate((20.0, 60.0, 80.0)):
        advice = experts.advice(host(cpu=cpu, **happy))
        assert advice[0].tolist() == experts.trees[0].leaves[row, column].tolist()
    for row, used in enumerate((10.0, 50.0, 90.0)):
        advice = experts.advice(host(memory_used=used, **happy))
        assert advice[1].tolist() == experts.trees[1].leaves[row, column].tolist()
    for row, parallel in enumerate((False, None, True)):
        advice = experts.advice(host(parallel=parallel, **happy))
        assert advice[2].tolist() == experts.trees[2].leaves[row, column].tolist()
    for row, elapsed in enumerate((100.0, 500.0, 900.0)):
        advice = experts.advice(host(elapsed=elapsed, **happy))
        assert advice[3].tolist() == experts.trees[3].leaves[row, column].tolist()


def test_each_of_the_three_stage_values_has_its_own_band(tmp_path):
    leaves = "".join(f"      - - [{100 - at}, {at}]\n        - [{at}, {100 - at}]\n" for at in (10, 20, 30))
    text = GOOD.split("  - metric")[0] + "  - metric: stage\n    bands: [sequential, unknown, parallel]\n"
    experts = read_experts(written(tmp_path, text + "    leaves:\n" + leaves))
    for parallel, first in ((False, 0.1), (None, 0.2), (True, 0.3)):
        happy = host(parallel=parallel, walltime=100.0, elapsed=0.0, tasks_left=10.0, rate=0.1)
        assert experts.advice(happy)[0].tolist() == [first, 1.0 - first]


def test_the_built_in_experts_are_four_trees_of_nine_leaves():
    experts = read_experts()
    assert experts.actions == ACTIONS
    assert [tree.metric for tree in experts.trees] == ["cpu", "memory", "stage", "interval"]
    assert all(tree.leaves.shape == (3, 3, 10) for tree in experts.trees)


def test_the_built_in_experts_give_more_of_idle_and_happy_hosts():
    # The paper's rule: the quota on average falls with the metric, and rises with happiness.
    experts = read_experts()
    for tree in experts.trees:
        mean = tree.leaves @ np.array(ACTIONS)
        assert np.all(np.diff(mean, axis=1) >= 0)
        if tree.metric in ("cpu", "memory", "stage"):
            assert np.all(np.diff(mean, axis=0) <= 0)


@given(st.floats(0, 100), st.floats(0, 100), st.sampled_from([None, False, True]), st.floats(0, 1e5))
def test_advice_is_a_distribution(cpu, memory, parallel, elapsed):
    advice = read_experts().advice(host(cpu=cpu, memory_used=memory, parallel=parallel, elapsed=elapsed))
    assert advice.shape == (4, 10)
    assert np.all(advice >= 0)
    assert advice.sum(axis=1) == pytest.approx(np.ones(4))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[0, 50]", "[10, 50]", r"actions is \[10, 50\], expected rising whole percents from 0"),
        ("[0, 50]", "[0, 50.5]", "actions.1: expected a whole number, found 50.5"),
        ("[1.0]", "[1.1, 1.0]", r"happiness is \[1.1, 1.0\], expected rising numbers"),
        ("[1.0]", "[.nan]", "happiness.0: expected a finite number, found nan"),
        ("cpu", "mood", "experts.0.metric: expected .* or 'interval', found 'mood'"),
        ("[50]", "[sequential]", r"experts.0.bands is \['sequential'\], expected rising numbers"),
        ("[50]", "[50, 75]", "experts.0.leaves has 2 bands, expected 3"),
        (
            "- - [90, 10]\n",
            "- - [90, 20]\n",
            "experts.0.leaves.0.0 has 2 numbers that sum to 110, expected 2 percentages",
        ),
        ("- - [90, 10]\n", "- - [90, 5, 5]\n", "experts.0.leaves.0.0 has 3 numbers"),
        ("- - [90, 10]\n", "- - [110, -10]\n", "experts.0.leaves.0.0.0: expected at most 100, found 110"),
        ("- - [90, 10]\n", "- - [.nan, 10]\n", "experts.0.leaves.0.0.0: expected a finite number, found nan"),
        ("        - [20, 80]\n", "", "experts.0.leaves.0 has 1 bands of happiness, expected 2"),
        (
            "metric: cpu",
            "metric: stage",
            r"experts.0.bands is \[50.0\], expected \[sequential, unknown, parallel\]",
        ),
        ("    bands: [50]\n", "", "experts.0.bands: missing"),
        ("happiness", "hapiness", "hapiness: no such field, found"),
        ("actions:", "actions: [", "is not YAML"),
        (GOOD, "", "the file: expected a mapping of fields, found None"),
        (
            GOOD,
            "actions: [0, 50]\nhappiness: [1.0]\nexperts: []\n",
            "experts: expected at least 1 entry",
        ),
    ],
)
def test_the_error_of_a_malformed_file_is_one_line(tmp_path, old, new, message):
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(InputError, match=message) as error:
        read_experts(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"none.yaml: no such file"):
        read_experts(tmp_path / "none.yaml")
