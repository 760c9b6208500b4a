"""Random outages: each node alternates independently between up and down, at the given rates."""

import numpy as np
import pytest

from windlass.experiment.workloads.outages import draw_outages
from windlass.model import InputError


def drawn(**changes):
    values = {"nodes": 40, "cores": 4, "every": 900.0, "last": 100.0, "kill": 0.25, "until": 50_000.0}
    return draw_outages(**{**values, **changes}, rng=np.random.default_rng(1))


def test_each_node_alternates_between_down_and_up():
    found = drawn()
    assert set(found.cores.tolist()) == {0, 4}
    for node in range(40):
        own = found.node == node
        assert found.cores[own].tolist() == [0, 4] * (own.sum() // 2)
        assert (np.diff(found.time[own]) > 0).all()
    assert found.time[found.cores == 0].max() < 50_000


def test_rates_match_the_law():
    found = drawn(until=500_000.0)
    away = found.cores == 0
    assert away.sum() == pytest.approx(40 * 500, rel=0.03)
    assert found.kill[away].mean() == pytest.approx(0.25, abs=0.02)
    assert not found.kill[~away].any()
    order = np.lexsort((found.time, found.node))
    last = np.diff(found.time[order].reshape(-1, 2), axis=1)
    assert last.mean() == pytest.approx(100, rel=0.03)


def test_no_outages_before_time_zero():
    assert len(drawn(until=0.0)) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"every": 0.0}, "every is 0.0"),
        ({"last": np.inf}, "last is inf"),
        ({"kill": 1.5}, "kill is 1.5"),
        ({"until": -1.0}, "until is -1.0"),
        ({"every": 1e-3, "last": 1e-3}, r"every is 0.001, about 1e\+09 outages"),
    ],
)
def test_values_out_of_bounds_are_named(changes, message):
    with pytest.raises(InputError, match=message):
        drawn(**changes)
