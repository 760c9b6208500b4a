"""Training data, inputs and errors of a network, with a stand-in for the network."""

from __future__ import annotations

import math
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from tests.scale.test_forecast_plain import drawn


class Recorded:
    """A stand-in for training: it forecasts the mean of the window, the row's number and the step."""

    def __init__(self, monkeypatch):
        self.taught, self.made = [], []
        train = ModuleType("train")
        train.TrainingSchedule = lambda *numbers, seconds: (*numbers, seconds)
        train.teach = lambda *given: self.taught.append(given) or "taught"
        train.adam = lambda rate: ("adam", rate)
        train.adam_by_noam = lambda width, warmup: ("noam", width, warmup)
        windowed = ModuleType("windowed")
        windowed.Taught = self._taught
        for name, module in (("train", train), ("windowed", windowed)):
            monkeypatch.setitem(sys.modules, f"windlass.scale.forecast.neural.{name}", module)
        monkeypatch.setattr("windlass.scale.forecast.network.need", lambda module, who: None)

    def _taught(self, network, window):
        assert network == "taught"

        def ahead(rows, first, steps):
            assert len(rows) == window
            return np.array([rows.mean(axis=0) + 0.001 * first + 0.1 * step for step in range(steps)])

        def many(rows, first, steps):
            starts = range(len(rows) - window + 1)
            return np.array([ahead(rows[at : at + window], first + at, steps) for at in starts])

        return SimpleNamespace(ahead=ahead, many=many)


@pytest.fixture
def network(monkeypatch):
    """An LSTM without weights."""
    from windlass.scale.forecast.models.lstm import Lstm

    recorded = Recorded(monkeypatch)
    monkeypatch.setattr(Lstm, "_network", lambda self, columns: ("untaught", columns))
    monkeypatch.setattr(Lstm, "_how", lambda self: ("loss", "optimizer"))
    return recorded, Lstm


def test_a_network_is_trained_on_all_but_the_last_tenth(network):
    recorded, lstm = network
    rows = drawn(75)
    made = lstm(window=6, horizon=2, steps=11, batch=3, seconds=5.0, seed=8).fit(rows[:70])
    ((untaught, loss, optimizer, early, late, course, seed),) = recorded.taught
    assert (untaught, loss, optimizer, course, seed) == (
        ("untaught", 2),
        "loss",
        "optimizer",
        (11, 3, 6, 2, 5.0),
        8,
    )
    most = rows[:70].max(axis=0)
    np.testing.assert_allclose(early, (rows[:63] / most).astype(np.float32))
    np.testing.assert_allclose(late, (rows[63:70] / most).astype(np.float32))
    made.update(rows[70:74])
    made.update(rows[74])
    mean = [((rows[69:75] / most).mean(axis=0) + 0.069 + 0.1 * step) * most for step in range(3)]
    np.testing.assert_allclose(made.forecast(3), mean)
    errors = []
    for first in range(57, 70 - 6 - 3 + 1):
        forecasts = [
            ((rows[first : first + 6] / most).mean(axis=0) + 0.001 * first + 0.1 * x) * most for x in range(3)
        ]
        errors.append(rows[first + 6 : first + 9] - forecasts)
    ordered = np.sort(errors, axis=0)
    np.testing.assert_allclose(
        made.forecast(3, [0.5])[0], mean + ordered[math.ceil(0.5 * (len(errors) + 1)) - 1]
    )


def test_a_network_is_not_trained_on_a_constant_series(network):
    recorded, lstm = network
    made = lstm(window=6, horizon=2).fit(np.full((50, 2), 4.0))
    made.update([[5.0, 6.0]])
    assert recorded.taught == []
    assert made.forecast(2).tolist() == [[5.0, 6.0]] * 2
    assert made.forecast(2, [0.1, 0.9]).tolist() == [[[5.0, 6.0]] * 2] * 2
    assert lstm(window=6, horizon=2).least == 20


@pytest.mark.parametrize(("rows", "held"), [(20, 4), (39, 4), (50, 5), (99, 9)])
def test_at_least_two_horizons_of_rows_are_held_out(network, rows, held):
    recorded, lstm = network
    lstm(window=6, horizon=2).fit(drawn(rows))
    assert len(recorded.taught[0][4]) == held
