"""Policies and histories have the defaults that their pages state."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.executed_again import defaults, executed_again
from windlass.model import InputError
from windlass.scale.forecast.registry import make
from windlass.scale.monitor import Monitor
from windlass.scale.policies.buffer import Buffer
from windlass.scale.policies.clairvoyant import Clairvoyant
from windlass.scale.policies.consolidate import Consolidate
from windlass.scale.policies.hazard import Hazard
from windlass.scale.policies.newsvendor import Newsvendor
from windlass.scale.policies.predictive import Predictive
from windlass.scale.policies.reactive import Reactive
from windlass.scale.policies.static import Static
from windlass.scale.policies.thrifty import Thrifty

DAY = 86_400.0
PLANS = {
    "ladder": ((0, 1), (8, 2), (32, 4), (128, 8)),
    "seasons": (DAY, 7 * DAY),
    "retrain": 28 * DAY,
    "keep": 84 * DAY,
    "idle": 600.0,
    "options": None,
    "rng": None,
}


@pytest.mark.parametrize(
    ("policy", "defaults"),
    [
        (Reactive, {"unneeded": 600.0}),
        (Consolidate, {"after": 0.0}),
        (Hazard, {"worth": 30.0, "idle": 0.0}),
        (Thrifty, {"worth": 30.0, "idle": 0.0}),
        (Buffer, {"spare": 1, "share": 0.0, "idle": 600.0}),
        (Static, {"count": None, "margin": 1.0}),
        (Clairvoyant, {"times": None, "counts": None}),
        (Predictive, {"forecaster": "nlinear", "quantile": None, **PLANS}),
        (Newsvendor, {"wait_price": 4.0, "forecaster": "seasonal-naive", **PLANS}),
    ],
)
def test_default_parameters_are_those_of_the_documentation(policy, defaults):
    found = {
        name: each.default for name, each in inspect.signature(executed_again(policy)).parameters.items()
    }
    assert found == defaults


def test_the_monitor_keeps_fifty_thousand_periods_by_default():
    assert inspect.signature(Monitor).parameters["keep"].default == 50_000


class PlainHistory:
    """A plain history in a dictionary."""

    def __init__(self, keep):
        self.keep, self.known = keep, {}

    def add(self, bucket, counts):
        self.known[bucket] = counts
        self.known = {at: each for at, each in self.known.items() if at > bucket - self.keep}

    def rows(self, last):
        shown = [at for at in self.known if last - self.keep < at <= last]
        found, row = [], [0.0, 0.0]
        for at in range(min(shown), last + 1) if shown else ():
            row = self.known.get(at, row)
            found.append(row)
        return found


@settings(max_examples=8, deadline=None)
@given(
    added=st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8
    ),
    keep=st.integers(1, 9),
    period=st.sampled_from([10.0, 12.5]),
)
def test_a_history_keeps_the_last_row_added_in_each_period(tmp_path_factory, added, keep, period):
    path = tmp_path_factory.mktemp("m") / "below" / "history.db"
    plain = PlainHistory(keep)
    with Monitor(path, ["a", "b"], period=period, keep=keep) as kept:
        for at, one, other in added:
            kept.add(float(at), np.array([one, other], float))
            plain.add(int(at // period), [float(one), float(other)])
            for now in (0, at, at + 30, 400):
                assert kept.rows(float(now)).tolist() == plain.rows(int(now // period))
            assert kept.rows(float(now)).shape[1] == 2


def test_a_history_of_another_version_or_period_is_rejected(tmp_path):
    import sqlite3
    from contextlib import closing

    path = tmp_path / "history.db"
    Monitor(path, ["a"], period=10.0).close()
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("pragma user_version").fetchone() == (1,)
        assert file.execute("pragma journal_mode").fetchone() == ("wal",)
        file.execute("pragma user_version = 2")
    with pytest.raises(InputError, match="history has version 2, expected 1"):
        Monitor(path, ["a"], period=10.0)
    for more, message in (({"period": 0.0}, "period"), ({"period": 1.0, "keep": 0}, "keep")):
        with pytest.raises(InputError, match=message):
            Monitor(tmp_path / "other.db", ["a"], **more)


def test_each_row_is_synced_to_disk_when_it_is_added(tmp_path):
    with Monitor(tmp_path / "history.db", ["a"], period=10.0) as kept:
        # 2 means "full": an added row survives a power cut.
        assert kept._file.execute("pragma synchronous").fetchone() == (2,)


def test_forecasters_default_to_a_season_of_144_rows_and_seed_1():
    assert defaults(executed_again(make)) == {"seasons": (144,), "seed": 1}
