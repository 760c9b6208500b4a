"""Accuracy lost by choosing plans with other labels than the true ones."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from windlass.plan.profile.agreement import losses

SHARES = st.integers(0, 8).map(lambda eighths: eighths / 8)


def columns(plans):
    return arrays(np.float64, plans, elements=SHARES)


@given(st.integers(1, 12).flatmap(lambda plans: st.tuples(columns(plans), columns(plans), columns(plans))))
def test_each_loss_is_that_of_the_first_best_labelled_plan_within_the_budget(drawn):
    accuracy, labelled, needs = drawn
    for budget, lost in zip(needs, losses(accuracy, labelled, needs, needs), strict=True):
        allowed = [plan for plan in range(len(needs)) if needs[plan] <= budget]
        chosen = max(allowed, key=lambda plan: labelled[plan])
        assert lost == max(accuracy[allowed]) - accuracy[chosen] >= 0


@given(st.integers(1, 12).flatmap(lambda plans: st.tuples(columns(plans), columns(plans))))
def test_true_labels_lose_nothing(drawn):
    accuracy, needs = drawn
    assert not losses(accuracy, accuracy, needs, needs).any()
