"""Statistics without each block equal those that are computed anew, to the last bit."""

import itertools
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verdict.test_judge import LOG, longer, results
from windlass.experiment.worlds import find_world, worlds
from windlass.model import InputError
from windlass.results.verdict.compare import compare, reused_observations
from windlass.results.verdict.measures import measure_of, pseudo_values, statistic
from windlass.results.verdict.repeated import repeat
from windlass.results.verdict.without_blocks import means_without, percentiles_without

METRICS = ("mean_wait_s", "median_wait_s", "p95_wait_s", "p99_response_s")
VALUES = st.lists(st.sampled_from([0.0, 0.0, 1.5, 7.25, 1e6]) | st.floats(0.0, 1e9), min_size=1, max_size=60)


@given(VALUES, st.sampled_from(METRICS), st.integers(1, 8), st.integers(0, 5))
def test_pseudo_values_equal_those_of_new_selections(values, metric, blocks, missing):
    array = np.array(values)
    array[: min(missing, len(array) - 1)] = np.nan
    measure = measure_of(metric)
    edges = np.linspace(0, len(array), blocks + 1).round().astype(np.int64)
    anew = [
        statistic(measure, np.concatenate((array[:low], array[high:])))
        for low, high in itertools.pairwise(edges)
    ]
    expected = blocks * statistic(measure, array) - (blocks - 1) * np.array(anew)
    np.testing.assert_array_equal(pseudo_values(measure, array, blocks), expected)


def test_nothing_is_left_without_the_only_block():
    edges = np.array([0, 3])
    assert np.isnan(percentiles_without(np.array([1.0, 2.0, 3.0]), edges, 50.0)).all()
    assert np.isnan(means_without(np.array([1.0, 2.0, 3.0]), edges)).all()


def test_observations_are_computed_once_per_metric(monkeypatch):
    variants = results(("slow", [longer(LOG, 200.0)]), ("fast", [LOG])).variants
    calls = []

    def counted(of, metric):
        calls.append(metric)
        return repeat(of, metric)

    monkeypatch.setattr(sys.modules["windlass.results.verdict.compare"], "repeat", counted)
    plain = compare(variants, "mean_wait_s", -1)
    with reused_observations():
        assert compare(variants, "mean_wait_s", -1) == plain
        assert compare(variants, "mean_wait_s", -1) == plain
        compare(variants, "p99_wait_s", -1)
    compare(variants, "mean_wait_s", -1)
    assert calls == ["mean_wait_s", "mean_wait_s", "p99_wait_s", "mean_wait_s"]


def test_each_world_is_found_by_its_name():
    for world in worlds():
        assert type(find_world(world.name)) is type(world)
    for name in (
        "contents",
        "spec",
        "none",
        "a.b",
        "",
        "x" * 5000,
        b"batch",
        {"batch": 1},
        ["batch"],
        None,
        True,
    ):
        wrong = re.escape(f"unknown world {name!r}, expected one of admission, batch, ")
        with pytest.raises(InputError, match=wrong):
            find_world(name)
