"""Forewarn: it learns the precursors of spikes, keeps to its budget, and shares its model with other nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.admit.cases import low_rank, telemetry
from windlass.admit import Forewarn, Subspace
from windlass.admit.evaluation import NodeTelemetry, intervals
from windlass.admit.lib.ridge import Ridge
from windlass.admit.measure import onsets, quality
from windlass.admit.shared_model import Lesson
from windlass.model import InputError
from windlass_reproductions.pronto.drawn import drawn_node as drawn

seeds = st.integers(0, 2**32 - 1)


def run(node, policy, steps=None):
    return np.array(
        [
            policy.observe(row, ready)
            for row, ready in zip(node.metrics[:steps], node.ready[:steps], strict=True)
        ]
    )


def judged(up, node, first):
    spikes = onsets(node.ready, 0.2, 5)
    return quality(up[first:], spikes[first:], 10), intervals(up[first:], spikes[first:], 10)


@pytest.mark.parametrize("downtime", [0.05, 0.1])
def test_spikes_with_precursors_are_foreseen_within_the_downtime(downtime):
    node = drawn(1, steps=5000)
    found, sure = judged(run(node, Forewarn(60, downtime=downtime)), node, 1500)
    assert found.downtime == pytest.approx(downtime, abs=0.25 * downtime)
    assert found.recall > 0.7
    assert sure.over_chance[0] > 0.05
    assert sure.over_shifted[0] > 0.1


@pytest.mark.matrix(0)
def test_without_precursors_it_is_no_better_than_chance():
    # Would catch a use of future values: onsets here are independent of the metrics.
    node = drawn(2, steps=5000, warns=False)
    _, sure = judged(run(node, Forewarn(60, downtime=0.05)), node, 1500)
    assert sure.over_chance[0] < 0.05


def test_future_values_change_no_answer():
    one, other = drawn(3, steps=1500), drawn(4, steps=1500)
    one.metrics[1000:], one.ready[1000:] = other.metrics[1000:], other.ready[1000:]
    both = [run(node, Forewarn(60)) for node in (one, drawn(3, steps=1500))]
    assert (both[0][:1000] == both[1][:1000]).all()


@pytest.mark.matrix(0)
def test_a_new_node_starts_with_the_shared_lesson():
    # Would catch a lesson in terms of directions, which differ between nodes.
    whole = drawn(5, steps=8000)
    before, after = (
        NodeTelemetry(whole.metrics[:6000], whole.ready[:6000], 0.2, 0.2, 0),
        NodeTelemetry(whole.metrics[6000:], whole.ready[6000:], 0.2, 0.2, 0),
    )
    old, new, alone = Forewarn(60), Forewarn(60), Forewarn(60)
    run(before, old)
    new.start(Lesson.of_all([old.lesson()], old.lesson().subspace))
    found = [judged(run(after, policy), after, 50)[0] for policy in (new, alone)]
    assert found[0].onsets >= 8
    assert found[0].recall > found[1].recall + 0.1


def test_each_step_before_an_onset_is_learned_exactly_once():
    # Would catch a window that is one step too long or too short, or that begins with the onset itself.
    node = Forewarn(3, rank=1, block=5, within=4, spike=0.5, slow=1e12)
    for step in range(40):
        node.observe(np.zeros(3), float(step in (20, 21)))
        # The first feature is 1, so that its products count the steps that an onset followed.
        assert node.line.products[0] == pytest.approx(min(max(step - 19, 0), 4))


def test_open_features_are_re_expressed_in_the_new_directions():
    # With as many directions as metrics nothing is lost, and features can be computed from the metrics at any time.
    rng = np.random.default_rng(1)
    node = Forewarn(4, rank=4, block=6, within=5, forget=0.5)
    for step in range(80):
        node.observe(rng.normal(size=4) * [1.0, 2.0, 3.0, 4.0] ** np.array(step // 20 - 1.0), 0.0)
        if step > 12:
            assert node.features[:, 4:8] == pytest.approx(node.metrics[:, 0] @ node.stream.basis[0])


def test_a_lesson_is_kept_after_the_first_block():
    # Would catch directions that are discarded for those of the new node's first block.
    rng, basis = np.random.default_rng(1), np.eye(6)[:, :2]
    lesson = Lesson(Subspace(basis, np.array([2.0, 1.0])), np.eye(6)[:, [4, 5]], np.zeros(4), 1000.0)
    node = Forewarn(6, rank=2, block=10, within=3)
    node.start(lesson)
    assert np.abs(node.directions) == pytest.approx(np.eye(6)[[4, 5]])
    for step in range(25):
        node.observe(rng.normal(size=6), float(step % 7 == 0))
    assert np.abs((node.directions * np.eye(6)[[4, 5]]).sum(axis=1)).min() > 0.9


def test_lessons_are_weighted_by_their_steps():
    space = Subspace(np.eye(3)[:, :1], np.ones(1))
    lessons = [
        Lesson(space, np.full((3, 2), value), np.full(4, value), steps)
        for value, steps in ((1.0, 30.0), (5.0, 10.0))
    ]
    found = Lesson.of_all(lessons, space)
    assert found.metrics == pytest.approx(np.full((3, 2), 2.0))
    assert found.count == 40.0


@given(st.integers(0, 120), seeds)
@settings(max_examples=20, deadline=None)
def test_a_restored_node_continues_as_if_uninterrupted(steps, seed):
    stream, rng = telemetry(steps + 60, seed=seed), np.random.default_rng(seed)
    ready = rng.random(steps + 60) ** 4
    ready[rng.random(steps + 60) < 0.1] = np.nan
    policy = Forewarn(12, rank=3, block=7, within=4)
    for row, value in zip(stream[:steps], ready[:steps], strict=True):
        policy.observe(row, value)
    data = policy.save()
    back = Forewarn.load(data)
    assert back.save() == data
    for row, value in zip(stream[steps:], ready[steps:], strict=True):
        assert policy.observe(row, value) == back.observe(row, value)
        assert policy.score == back.score
        assert np.isfinite(policy.score)


@given(seeds, st.floats(0.9, 1.0))
@settings(max_examples=40, deadline=None)
def test_ridge_equals_its_closed_form_and_follows_rotations(seed, forget):
    rng = np.random.default_rng(seed)
    rows, values = rng.normal(size=(30, 4)), rng.normal(size=30)
    line, prior = Ridge(4, strength=2.0, forget=forget), rng.normal(size=4)
    line.prior = prior.copy()
    for row, value in zip(rows, values, strict=True):
        line.learn(row, value)
    part = forget ** np.arange(30)[::-1]
    expected = np.linalg.solve(
        (rows.T * part) @ rows + 2.0 * np.eye(4), (rows.T * part) @ values + 2.0 * prior
    )
    assert line.weights() == pytest.approx(expected, abs=1e-9)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    line.carry(turn)
    assert rows @ turn.T @ line.weights() == pytest.approx(rows @ expected, abs=1e-9)


def test_a_lesson_gives_the_same_score_in_terms_of_metrics():
    node = drawn(6, steps=1200)
    policy = Forewarn(60)
    run(node, policy)
    lesson = policy.lesson()
    vector = np.random.default_rng(1).normal(size=60)
    own = (
        policy.weights[4:8] @ (policy.stream.basis[0].T @ vector)
        + policy.weights[-2] * policy.directions[0] @ vector
    )
    assert lesson.metrics[:, 0] @ vector == pytest.approx(own)


SPACE = Subspace(*(low_rank(5, 5, 1)[:, :1] / np.linalg.norm(low_rank(5, 5, 1)[:, :1]), np.ones(1)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Forewarn(5, downtime=0.0), "downtime is 0.0"),
        (lambda: Forewarn(5, rank=6), "rank is 6"),
        (lambda: Forewarn(5, within=0), "within is 0"),
        (lambda: Forewarn(5, spike=0.0), "spike is 0.0"),
        (lambda: Forewarn(5, share=1.0), "downtime is 1.0, expected a share"),
        (lambda: Forewarn(5, slow=1.0), "slow is 1.0"),
        (lambda: Forewarn(5).observe(np.zeros(4)), "metrics have shape"),
        (lambda: Forewarn(5).observe(np.zeros(5), -1.0), "ready is -1.0"),
        (
            lambda: Forewarn(6).start(Lesson(SPACE, np.zeros((5, 2)), np.zeros(4), 1.0)),
            "the lesson has weights of shape",
        ),
        (
            lambda: Forewarn(5).lesson(),
            "lesson: the node has processed 0 steps, expected at least a block of 20",
        ),
        (lambda: Lesson.of_all([], SPACE), "lessons: the list is empty"),
        (lambda: Forewarn.load(b"nothing"), "saved state: 7 bytes"),
        (lambda: Forewarn.load(Forewarn(5).save()[:-1]), "saved state: its checksum is wrong"),
    ],
)
def test_invalid_input_is_named_in_the_error(make, message):
    with pytest.raises(InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)
