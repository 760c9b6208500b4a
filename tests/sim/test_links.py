"""Rates of flows compared with a plain filling of random links and flows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.fleet.plain_fleet import fair
from windlass.sim.links import max_min_rates


def plain(weight, up, down, pair):
    flows = [
        SimpleNamespace(source=x, site=y, batch=SimpleNamespace(tasks=float(weight[x, y])))
        for x, y in zip(*np.nonzero(weight), strict=True)
    ]
    rates = np.zeros_like(weight)
    for flow, rate in zip(flows, fair(flows, up, down, pair), strict=True):
        rates[flow.source, flow.site] = rate
    return rates


@pytest.mark.parametrize("kind", ["whole", "ties", "fractional", "many"])
def test_rates_equal_a_plain_max_min_filling(kind):
    for seed in range(30):
        rng = np.random.default_rng([seed, len(kind)])
        n = int(rng.integers(1, 6))
        weight = rng.integers(0, 4, (n, n)) * rng.integers(0, 2, (n, n)).astype(float)
        up, down = rng.uniform(0.0, 9.0, (2, n))
        pair = rng.uniform(0.0, 9.0, (n, n)) if rng.random() < 0.5 else np.full((n, n), np.inf)
        if kind == "ties":
            up, down, pair = rng.choice([0.0, 2.0, 4.0], (2, n))[0], rng.choice([2.0, 4.0], n), np.round(pair)
        if kind == "fractional":
            weight *= rng.uniform(0.1, 1.0, (n, n))
        if kind == "many":
            # Sums of many flows leave more than one rounding error when all are subtracted.
            weight *= rng.uniform(1e7, 1e9, (n, n))
        found = max_min_rates(weight, up, down, None if np.isinf(pair).all() else pair)
        np.testing.assert_allclose(
            found, plain(weight, up, down, pair.tolist()), rtol=1e-6, atol=1e-13 if kind == "many" else 1e-7
        )
        used = found * weight
        assert (used.sum(axis=1) <= up * (1 + 1e-9) + 1e-6).all()
        assert (used.sum(axis=0) <= down * (1 + 1e-9) + 1e-6).all()
        assert ((found > 0) <= (weight > 0)).all()
