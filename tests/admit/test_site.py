"""One call for all nodes of a site: each node gets the answer that a policy of its own would give."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.admit import POLICIES, AdmitContext, AdmitSiteView, AdmitsSite, AdmitView, SiteAdmission
from windlass.admit.site import NO_LIMIT, Declaring, Reads, SiteTasks, alike
from windlass.admit.view import Admission, UnboundTasks
from windlass.model import InputError, PolicyError
from windlass.policy.registry import capability

#: Policies that decide for a site, with parameters.
FOR_A_SITE = [
    ("always", {}),
    ("never", {}),
    ("concurrency", {"limit": 3}),
    *(
        (name, {**given, **gate})
        for name, given in (
            ("utilisation", {"threshold": 0.6}),
            ("utilisation", {"downtime": 0.3}),
            ("ready", {"threshold": 0.3}),
            ("ready", {"downtime": 0.3}),
            ("rising", {"downtime": 0.3, "rise": 2.0}),
        )
        for gate in ({"between": False}, {"between": True}, {"between": True, "spike": 0.7})
    ),
    ("relenting", {"threshold": 0.3, "patience": 2.0}),
    ("relenting", {"downtime": 0.3}),
]
_UNBOUND = st.none() | st.builds(UnboundTasks, st.integers(0, 3), st.sampled_from([0.0, 0.5, 2.0]))
_SHARES = st.one_of(st.just(math.nan), st.sampled_from([0.0, 0.3, 0.6, 0.7, 1.0]), st.floats(0.0, 1.0))


def made(name, parameters, nodes=None):
    return POLICIES.make(name, AdmitContext(np.random.default_rng(1), 8, nodes=nodes), **parameters)


def known(answer):
    """Return a decision as values that compare exactly, also where the score is NaN."""
    return answer.reject, answer.why, np.float64(answer.score).tobytes(), answer.limit


def test_these_are_all_policies_for_a_site():
    able = {name for name in POLICIES.names() if capability(POLICIES.find(name), AdmitsSite) is not None}
    assert able == {name for name, _ in FOR_A_SITE}


@pytest.mark.matrix
@pytest.mark.parametrize(("name", "parameters"), FOR_A_SITE)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_call_for_a_site_answers_as_its_nodes_would(name, parameters, data):
    nodes = data.draw(st.integers(1, 4))
    site, alone = made(name, parameters, nodes), [made(name, parameters) for _ in range(nodes)]
    # An absent node may stand anywhere, with any numbers: only `present` counts.
    rows = st.lists(
        st.tuples(_SHARES, _SHARES, st.sampled_from([True] * 4 + [False])), min_size=nodes, max_size=nodes
    )
    for step, drawn in enumerate(data.draw(st.lists(rows, max_size=12))):
        busy, ready, present = (np.array(each) for each in zip(*drawn, strict=True))
        busy[~present] = ready[~present] = np.nan
        unbound = data.draw(_UNBOUND)
        view = AdmitSiteView(float(step), np.zeros((nodes, 0)), busy, ready, present, unbound=unbound)
        found = site.decide_all(view)
        found.check(view)
        for node in np.flatnonzero(present).tolist():
            assert known(found.node(node)) == known(alone[node].decide(view.node(node)))


@pytest.mark.matrix(0)
def test_many_steps_at_a_site_equal_those_of_each_node():
    # Long enough for the budgets to be spent, and for a node that is away to lag behind the others.
    rng = np.random.default_rng(5)
    for name, parameters in FOR_A_SITE:
        site, alone = made(name, parameters, 3), [made(name, parameters) for _ in range(3)]
        for step in range(1500):
            busy, ready, present = rng.random(3), rng.exponential(0.3, 3), rng.random(3) < 0.8
            busy[~present] = ready[~present] = np.nan
            unbound = UnboundTasks(1, 0.1 * (step % 40))
            view = AdmitSiteView(float(step), np.zeros((3, 0)), busy, ready, present, unbound=unbound)
            found = site.decide_all(view)
            for node in np.flatnonzero(present).tolist():
                assert known(found.node(node)) == known(alone[node].decide(view.node(node)))


def tasks(nodes):
    counts = np.arange(nodes)
    return SiteTasks(counts / 2.0, counts, counts, *(counts + 0.25 for _ in range(5)))


def test_a_row_of_a_view_is_the_view_of_a_node():
    view = AdmitSiteView(
        3.0,
        np.arange(6.0).reshape(2, 3),
        np.array([0.5, 1.0]),
        np.array([0.0, 2.0]),
        np.ones(2, bool),
        tasks(2),
        UnboundTasks(1, 2.0),
    )
    row = view.node(1)
    assert (row.now, row.metrics.tolist(), row.busy, row.ready) == (3.0, [3.0, 4.0, 5.0], 1.0, 2.0)
    assert (row.tasks.in_flight, row.tasks.waiting, row.tasks.completed, row.tasks.oldest) == (
        0.5,
        1,
        1,
        1.25,
    )
    assert view.node(1, tasks=False).tasks is None
    assert row.unbound is view.unbound is not None


@pytest.mark.parametrize(
    ("busy", "ready", "message"),
    [
        ([0.5, 1.5], [0.0, 0.0], "busy is 1.5, expected a finite number at least 0, at most 1"),
        ([0.5, -0.1], [0.0, 0.0], "busy is -0.1"),
        ([0.5, 0.5], [0.0, -1.0], "ready is -1.0"),
        ([0.5, 0.5], [0.0, math.inf], "ready is inf"),
        ([0.5], [0.0, 0.0], r"shapes \(2, 0\), \(1,\), \(2,\), expected a row for each node"),
    ],
)
def test_a_view_out_of_bounds_is_named(busy, ready, message):
    with pytest.raises(InputError, match=message):
        AdmitSiteView(0.0, np.zeros((2, 0)), np.array(busy), np.array(ready), np.ones(2, bool))


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("waiting", np.array([1, -1]), "waiting is -1"),
        ("completed", np.array([-2, 1]), "completed is -2"),
        ("wait", np.array([0.5, -0.5]), "wait is -0.5, expected a finite number at least 0"),
        ("least_latency", np.array([math.nan, math.inf]), "least_latency is inf"),
        ("oldest", np.zeros(3), r"tasks: oldest has shape \(3,\), expected \(2,\)"),
    ],
)
def test_tasks_out_of_bounds_are_named(name, values, message):
    zeros = np.zeros((2, 0)), np.zeros(2), np.zeros(2), np.ones(2, bool)
    AdmitSiteView(0.0, *zeros, replace(tasks(2), wait=np.full(2, math.nan)))
    with pytest.raises(InputError, match=message):
        AdmitSiteView(0.0, *zeros, replace(tasks(2), **{name: values}))
    with pytest.raises(InputError, match="now is inf"):
        AdmitSiteView(math.inf, *zeros)


def test_decisions_are_rows_of_one_answer():
    answers = [Admission(True, "full", 0.5), Admission(False, "few", limit=3), Admission(False, "none")]
    found = SiteAdmission.of(answers)
    assert [known(found.node(node)) for node in range(3)] == [known(each) for each in answers]
    assert found.limit.tolist() == [NO_LIMIT, 3, NO_LIMIT]
    assert [known(alike(each, 2).node(1)) for each in answers] == [known(each) for each in answers]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"reject": np.array([True])},
            r"reject has type bool and shape \(1,\), expected a boolean for each of 2",
        ),
        ({"reject": np.zeros(2)}, "reject has type float64"),
        ({"limit": np.ones(2)}, "limit has type float64 .* expected a whole number for each"),
        ({"limit": np.array([1, 0])}, "limit of node 1 is 0, expected at least 1"),
        ({"why": ("one",)}, "why has 1 reasons, expected 2"),
    ],
)
def test_an_answer_that_cannot_be_carried_out_is_named(changes, message):
    plain = {
        "reject": np.zeros(2, bool), "limit": np.full(2, NO_LIMIT), "score": np.zeros(2), "why": ("a", "b")
    }  # fmt: skip
    view = AdmitSiteView(0.0, np.zeros((2, 0)), np.zeros(2), np.zeros(2), np.ones(2, bool))
    SiteAdmission(**plain).check(view)
    with pytest.raises(PolicyError, match=message):
        SiteAdmission(**{**plain, **changes}).check(view)


@pytest.mark.parametrize("name", POLICIES.names())
def test_a_policy_reads_no_more_than_it_declares(name):
    declared = capability(POLICIES.find(name), Declaring)
    reads = Reads() if declared is None else declared.reads
    rng, all_of_it, less = np.random.default_rng(2), made(name, {}), made(name, {})
    for step in range(80):
        metrics, busy, ready = rng.random(8), float(rng.random()), float(rng.exponential(0.2))
        load = tasks(5).of(int(rng.integers(0, 5)))
        whole = AdmitView(float(step), metrics, busy, ready, load)
        part = AdmitView(
            float(step), metrics if reads.metrics else np.zeros(0), busy, ready, load if reads.tasks else None
        )
        assert known(all_of_it.decide(whole)) == known(less.decide(part))
