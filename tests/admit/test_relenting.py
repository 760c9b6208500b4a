"""Relenting: CPU Ready, unless tasks of the site wait too long for a node."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.admit import AdmitSiteView, AdmitView
from windlass.admit.policies.ready import Ready
from windlass.admit.policies.relenting import Relenting
from windlass.admit.view import UnboundTasks
from windlass.model import InputError

_READY = st.one_of(st.just(math.nan), st.floats(0.0, 1.0))
_UNBOUND = st.one_of(
    st.none(), st.just(UnboundTasks(0)), st.builds(UnboundTasks, st.integers(1, 9), st.floats(0.0, 4.0))
)


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(st.tuples(_READY, _UNBOUND), max_size=20), downtime=st.sampled_from([None, 0.3]))
def test_it_is_ready_while_no_task_waits_too_long(
    steps: list[tuple[float, UnboundTasks | None]], downtime: float | None
) -> None:
    policy, ready = Relenting(0.4, downtime, patience=2.0), Ready(0.4, downtime)
    for step, (value, unbound) in enumerate(steps):
        found = policy.decide(AdmitView(float(step), np.zeros(0), ready=value, unbound=unbound))
        expected = ready.decide(AdmitView(float(step), np.zeros(0), ready=value))
        late = unbound is not None and unbound.waiting > 0 and unbound.oldest >= 2.0
        assert found.reject == (expected.reject and not late)
        assert (found.why == expected.why) == (found.reject == expected.reject)
        np.testing.assert_equal(found.score, expected.score)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_site_answers_as_its_nodes_would(data: st.DataObject) -> None:
    site, alone = Relenting(0.3, patience=1.0, nodes=3), [Relenting(0.3, patience=1.0) for _ in range(3)]
    for step in range(data.draw(st.integers(1, 8))):
        ready = np.array(data.draw(st.lists(_READY, min_size=3, max_size=3)))
        unbound = data.draw(_UNBOUND)
        nothing = np.zeros(3)
        view = AdmitSiteView(
            float(step), np.zeros((3, 0)), nothing, ready, np.ones(3, np.bool_), unbound=unbound
        )
        found = site.decide_all(view)
        found.check(view)
        for node, policy in enumerate(alone):
            expected = policy.decide(view.node(node))
            assert (found.node(node).reject, found.node(node).why) == (expected.reject, expected.why)


def test_parameters_out_of_bounds_are_named() -> None:
    with pytest.raises(InputError, match="patience is -1"):
        Relenting(patience=-1.0)
    with pytest.raises(InputError, match="waiting is -1"):
        UnboundTasks(-1)
    with pytest.raises(InputError, match="oldest is -2"):
        UnboundTasks(1, -2.0)
