"""The alias table draws each present worker in proportion to its rate."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.dispatch import POLICIES
from windlass.dispatch.lib.alias import ALIAS, PER_COLUMN, THRESHOLD
from windlass.dispatch.state import own_ints

_FULL = 2.0**32


def chances(policy) -> list[float]:
    """How likely the table makes each worker, from all columns of it."""
    count, first = policy.workers, int(own_ints.py_func(policy.ints))
    found = [0.0] * count
    for column in range(count):
        place = first + PER_COLUMN * column
        own = min(int(policy.ints[place + THRESHOLD]), int(_FULL)) / _FULL
        found[column] += own / count
        found[int(policy.ints[place + ALIAS])] += (1.0 - own) / count
    return found


@pytest.mark.parametrize("follows", ["pss", "ppot"])
def test_each_worker_is_drawn_in_proportion_to_its_rate(follows):
    for seed in range(60):
        rng = np.random.default_rng([2, seed])
        count = int(rng.integers(1, 30))
        rates = [
            rng.uniform(0.0, 5.0, count),
            rng.integers(0, 4, count).astype(float),
            10.0 ** rng.uniform(-6, 6, count) * (rng.random(count) < 0.8),
        ][seed % 3]
        rates[int(rng.integers(count))] = 1.5
        policy, present = POLICIES.make(follows, np.random.default_rng(0), rates=rates), np.ones(count, bool)
        for turn in range(3):
            policy.choose(np.zeros(count, np.int64))
            known = np.where(present, rates, 0.0)
            # Where no rate is above 0, each that is there is as likely as any other.
            known = known if known.sum() > 0 else present.astype(float)
            found = chances(policy)
            assert found == pytest.approx((known / known.sum()).tolist(), abs=count * 4e-9), (seed, turn)
            # Rounding never lets one be drawn that has no rate or has left.
            assert [
                chance for chance, rate in zip(found, known, strict=True) if rate == 0.0 and chance > 0
            ] == []
            worker = int(rng.integers(count))
            if turn == 0 and count > 1:
                policy.left(worker)
                present[worker] = False
            else:
                rates = np.where(np.arange(count) == worker, 0.0, rates) if seed % 4 else 0.0 * rates
                for each in range(count):
                    policy.set_rate(each, float(rates[each]))
