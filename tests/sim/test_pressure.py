"""The compiled step of pressure equals the one in NumPy, bit for bit."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.pressure import ArrayTasks
from windlass.sim.telemetry.cores import StepCores
from windlass.sim.telemetry.pressure import CHANNELS
from windlass.sim.telemetry.unfinished import UnfinishedTasks

#: Times that tie with the ends of steps, and others.
_GAPS = st.sampled_from([0.0, 0.5, 1.0, 2.0, 0.1, 1 / 3])


def same(found, wanted):
    """Compare the results of a step, as bytes."""
    for name in CHANNELS:
        assert getattr(found, name).tobytes() == getattr(wanted, name).tobytes(), name
    for field in fields(found.tasks):
        one, other = (getattr(each.tasks, field.name) for each in (found, wanted))
        assert one.tobytes() == np.asarray(other, one.dtype).tobytes(), field.name
    assert (
        found.channels().tobytes() == np.stack([getattr(wanted, name) for name in CHANNELS], axis=1).tobytes()
    )


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_compiled_step_has_the_bits_of_the_one_in_arrays(data):
    nodes, count = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 25))
    several = st.lists(_GAPS, min_size=count, max_size=count)
    came = np.cumsum(data.draw(several))
    began = came + np.array(data.draw(several))
    ended = began + np.array(data.draw(several))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    whole, speed = rng.integers(1, 9, nodes), rng.random(nodes) + 0.1
    node, late = rng.integers(0, nodes, count), data.draw(st.booleans())
    # Some tasks lose their node in the middle of their run: they wait elsewhere, or with their scheduler.
    lost, next_node = rng.random(count) < 0.2, rng.integers(-1, nodes, count)
    compiled, plain = UnfinishedTasks(whole, speed), ArrayTasks(whole, speed)
    begin = 0.0
    for gap in data.draw(st.lists(_GAPS.filter(bool), min_size=1, max_size=12)):
        until = begin + gap
        away = lost & (until > began + 0.7)
        start = np.where((began <= until) & ~away, began, np.nan)
        end = np.where((ended <= until) & ~away, ended, np.nan)
        worker = np.where(began <= until, node, -1)
        at = np.full(count, -1) if late else np.where(away, next_node, node)
        up = np.where(rng.random(nodes) < 0.7, 1.0, rng.choice([0.0, 0.3, 0.5], nodes))
        cores = StepCores(rng.random(nodes), whole * up, up, up > 0.0)
        given_ = (
            begin,
            until,
            start if late else came,
            start,
            end,
            worker,
            int((came <= until).sum()),
            at,
            cores,
        )
        same(compiled.step(*given_), plain.step(*given_))
        assert compiled.unfinished.tolist() == plain._open.tolist()
        begin = until


@pytest.mark.parametrize("seed", range(3))
def test_long_queues_have_the_bits_of_the_ones_in_arrays(seed):
    # Sums of many terms, in the same order; the room for unfinished tasks grows.
    rng, nodes, count = np.random.default_rng(seed), 24, 3000
    came = np.sort(rng.uniform(0, 50, count))
    began = came + rng.exponential(8, count)
    ended = began + rng.exponential(9, count)
    whole, speed, node = rng.integers(1, 17, nodes), rng.random(nodes) + 0.1, rng.integers(0, nodes, count)
    compiled, plain = UnfinishedTasks(whole, speed), ArrayTasks(whole, speed)
    for step in range(80):
        until = step + 1.0
        start, end = (np.where(each <= until, each, np.nan) for each in (began, ended))
        cores = StepCores.whole(rng.random(nodes), whole)
        given_ = (float(step), until, came, start, end, np.where(np.isnan(start), -1, node))
        more = (int((came < until).sum()), node, cores)
        same(compiled.step(*given_, *more), plain.step(*given_, *more))
