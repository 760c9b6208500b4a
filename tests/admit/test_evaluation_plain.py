"""The evaluation against plain recomputation: inputs of policies, pooled numbers, intervals and choices."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from windlass.admit import POLICIES
from windlass.admit.evaluation import (
    TUNED,
    CandidateRole,
    NodeTelemetry,
    PolicyCandidate,
    best_pronto,
    candidates,
    difference,
    intervals,
    judge,
    judge_apart,
    level_of,
    signal,
    tuned,
)
from windlass.admit.evaluation import variants as choosing
from windlass.admit.evaluation.certainty import share
from windlass.admit.evaluation.variants import variants
from windlass.admit.measure import quality
from windlass.model import InputError

seeds = st.integers(0, 2**32 - 1)


def cluster_errors(values, clusters):
    """The variance of a sum over clusters, around 0, and Student's quantile for as many of them."""
    names = sorted(set(clusters))
    sums = [sum(v for v, c in zip(values, clusters, strict=True) if c == name) for name in names]
    count = len(names)
    return (
        count / max(count - 1, 1) * sum(each**2 for each in sums),
        student.ppf(0.975, max(count - 1, 1)),
        count,
    )


def share_plainly(hits, counts, ways):
    """Wilson's interval for the effective number of cases of the widest clustering."""
    total, found = sum(counts), sum(hits) / sum(counts)
    lows, highs = [], []
    for clusters in ways if 0.0 < found < 1.0 else ways[:1]:
        left = [h - found * c for h, c in zip(hits, counts, strict=True)]
        variance, quantile, groups = cluster_errors(left, clusters)
        if groups == 1:
            worth = 1.0
        elif found in (0.0, 1.0):
            worth = groups
        else:
            worth = min(total, found * (1.0 - found) * total**2 / variance if variance else math.inf)
        # The two shares at exactly that distance from the measured one, for that many cases (Wilson 1927).
        ends = np.roots([1.0 + quantile**2 / worth, -2.0 * found - quantile**2 / worth, found**2]).real
        lows.append(max(0.0, min(ends)))
        highs.append(min(1.0, max(ends)))
    return min(lows), max(highs)


@given(seeds, st.integers(1, 25), st.sampled_from([0.3, 0.8, 1.0]))
@settings(max_examples=40, deadline=None)
def test_the_interval_of_a_share_equals_a_plain_computation(seed, count, chance):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, count).astype(float)
    hits = np.minimum(counts, rng.binomial(3, chance, count))
    fine = np.sort(rng.integers(0, 10, count))
    ways = [fine, fine // 3]
    assert share(hits, counts, ways) == pytest.approx(share_plainly(hits, counts, ways), abs=1e-6)


def test_a_share_of_zero_cases_has_no_interval():
    assert np.isnan(share(np.zeros(2), np.zeros(2), [np.arange(2)])).all()
    # Cases with a count of zero are in no cluster.
    counts, hits = np.array([1.0, 0.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0, 1.0])
    kept = counts > 0
    clusters = np.array([0, 7, 1, 2])
    assert share(hits, counts, [clusters]) == pytest.approx(share(hits[kept], counts[kept], [clusters[kept]]))


@given(seeds, st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_a_difference_has_the_wider_of_both_intervals(seed, count):
    rng = np.random.default_rng(seed)
    ours, theirs = rng.random(count) < 0.7, rng.random(count) < 0.4
    fine = np.sort(rng.integers(0, 12, count))
    value = ours.mean() - theirs.mean()
    # Agresti and Min: half a case is added to each kind of pair.
    gained, lost = (ours & ~theirs).sum() + 0.5, (theirs & ~ours).sum() + 0.5
    cases = count + 2
    alone = (gained + lost - (gained - lost) ** 2 / cases) / cases**2
    half = 0.0
    for clusters in (fine, fine // 3):
        left = ours.astype(float) - theirs - value
        variance, quantile, _ = cluster_errors(left, clusters)
        half = max(half, quantile * math.sqrt(max(alone, variance / count**2)))
    found = difference(ours, theirs, [fine, fine // 3])
    assert found.value == pytest.approx(value)
    assert found.interval == pytest.approx((max(-1.0, value - half), min(1.0, value + half)))


@given(seeds, st.integers(1, 6), st.integers(0, 2), st.integers(2, 8))
@settings(max_examples=40, deadline=None)
def test_intervals_equal_those_of_shares_counted_one_by_one(seed, within, least, blocks):
    rng = np.random.default_rng(seed)
    least, steps = min(least, within), 60
    up, spikes = rng.random(steps) < 0.25, rng.random(steps) < 0.1
    if not spikes.any() or not up.any():
        return
    found = intervals(up, spikes, within, least, blocks)
    at, block = np.flatnonzero(spikes), np.arange(steps) * blocks // steps
    episode, number = {}, -1
    for place, onset in enumerate(at):
        number += place == 0 or onset - at[place - 1] > 2 * within
        episode[onset] = number
    covers = [any(up[max(0, step - within) : max(0, step - least + 1)]) for step in range(steps)]
    low, high = share(
        np.array([float(covers[onset]) for onset in at]), np.ones(len(at)),
        [np.array(list(episode.values())), block[at]],
    )  # fmt: skip
    assert found.recall == pytest.approx((low, high))
    cover, chance = np.mean(covers), 1.0 - (1.0 - up.mean()) ** len(range(least, within + 1))
    assert found.over_shifted == pytest.approx((low - cover, high - cover))
    assert found.over_chance == pytest.approx((low - chance, high - chance))
    # Each step shortly before an onset belongs to the episode of the first such onset.
    near = {step: [o for o in at if least <= o - step <= within] for step in range(steps)}
    near = {step: onsets for step, onsets in near.items() if onsets}
    if near:
        soon = np.array(list(near))
        ahead = share(
            up[soon].astype(float), np.ones(len(soon)),
            [np.array([episode[onsets[0]] for onsets in near.values()]), block[soon]],
        )  # fmt: skip
        assert found.lift == pytest.approx([each / up.mean() for each in ahead])
        assert quality(up, spikes, within, least).ahead == pytest.approx(up[soon].mean())


def test_the_defaults_are_twenty_blocks_and_a_lead_of_one_step():
    assert inspect.signature(intervals).parameters["blocks"].default == 20
    assert inspect.signature(intervals).parameters["least"].default == 1
    assert inspect.signature(quality).parameters["least"].default == 1
    for function in (judge, judge_apart):
        requested = inspect.signature(function).parameters
        assert [requested[name].default for name in ("within", "apart", "blocks")] == [10, 5, 20]
    requested = inspect.signature(tuned).parameters
    assert [requested[name].default for name in ("within", "apart")] == [10, 5]
    assert inspect.signature(signal).parameters["apart"].default == 5


def spiky(seed, steps=160, warm=30, busy=True):
    rng = np.random.default_rng(seed)
    ready = np.convolve(rng.random(steps) < 0.06, np.ones(3), "same").clip(0, 1) - 0.1 * rng.random(steps)
    return NodeTelemetry(
        rng.normal(size=(steps, 5)), ready, 0.5, 0.7, warm, rng.uniform(-0.2, 1.3, steps) if busy else None
    )


class RecordingPolicy:
    """A policy that records its arguments and views; it rejects if CPU Ready is above a half."""

    made = None

    def __init__(self, rng, dim, within, spike, apart, extra=0):
        RecordingPolicy.made = {
            "rng": rng, "dim": dim, "within": within, "spike": spike, "apart": apart, "extra": extra, "views": []
        }  # fmt: skip

    def decide(self, view):
        RecordingPolicy.made["views"].append(view)
        return SimpleNamespace(reject=view.ready > 0.5)


class Registry:
    """A registry of one policy."""

    def find(self, name):
        return RecordingPolicy

    def make(self, name, context, **given):
        offered = dict(context.offers())
        return RecordingPolicy(offered.pop("rng"), **offered | given)


@pytest.mark.parametrize("busy", [True, False])
def test_a_policy_receives_the_settings_of_its_node_and_every_step(busy):
    node, rng = spiky(1, busy=busy), np.random.default_rng(1)
    up = signal(Registry(), PolicyCandidate("asked", "asked", 0.1, {"extra": 3}), node, 7, rng, 4)
    made = dict(RecordingPolicy.made)
    views = made.pop("views")
    assert made == {"rng": rng, "dim": 5, "within": 7, "spike": 0.7, "apart": 4, "extra": 3}
    assert [view.now for view in views] == list(range(160))
    assert np.array_equal([view.metrics for view in views], node.metrics)
    # Values slightly below 0 or above 1 are rounding errors of the measurement.
    assert [view.ready for view in views] == [max(0.0, each) for each in node.ready]
    if busy:
        assert [view.busy for view in views] == [min(1.0, max(0.0, each)) for each in node.busy]
    else:
        assert all(math.isnan(view.busy) for view in views)
    assert up.tolist() == [each > 0.5 for each in node.ready]


def test_parameters_of_a_candidate_override_those_of_the_node():
    signal(
        Registry(),
        PolicyCandidate("", "", 0.1, {"within": 2, "spike": 9.0}),
        spiky(1),
        7,
        np.random.default_rng(1),
        4,
    )
    assert (RecordingPolicy.made["within"], RecordingPolicy.made["spike"], RecordingPolicy.made["apart"]) == (
        2,
        9.0,
        4,
    )


@pytest.mark.parametrize("blocks", [2, 5])
def test_nodes_are_judged_one_after_the_other_without_their_warm_up(blocks):
    nodes = [spiky(2), spiky(3, steps=240, warm=50)]
    candidate = PolicyCandidate("asked", "asked", 0.1)
    whole, *apart = judge_apart(
        Registry(), candidate, nodes, np.random.default_rng(1), within=6, apart=2, blocks=blocks
    )
    for judged, own in ((whole, nodes), (apart[0], nodes[:1]), (apart[1], nodes[1:])):
        up = np.concatenate([node.ready[node.warm :] > 0.5 for node in own])
        spikes = []
        for node in own:
            high = node.ready >= 0.5
            spikes += [high[at] and not high[max(0, at - 2) : at].any() for at in range(node.warm, len(high))]
        spikes = np.array(spikes)
        assert repr(judged.quality) == repr(quality(up, spikes, 6))
        assert repr(judged.intervals) == repr(intervals(up, spikes, 6, blocks=blocks * len(own)))
        assert len(judged.each) == len(own)
        at = np.flatnonzero(spikes)
        assert judged.clusters[1].tolist() == (at * blocks * len(own) // len(up)).tolist()
        first = [[step for step in range(max(0, o - 6), o) if up[step]] for o in at]
        expected = [float(o - steps[0]) if steps else np.nan for o, steps in zip(at, first, strict=True)]
        assert judged.leads == pytest.approx(expected, nan_ok=True)
        assert judged.hits.tolist() == [bool(steps) for steps in first]
    with pytest.raises(InputError, match="blocks is 1"):
        judge(Registry(), candidate, nodes, np.random.default_rng(1), blocks=1)
    with pytest.raises(InputError, match="no nodes to judge on"):
        judge(Registry(), candidate, [], np.random.default_rng(1))


def test_the_candidates_are_those_of_the_documentation():
    trackers, forecasters = ("fpca", "spirit", "directions", "power"), ("naive", "smoothing", "arima", "svm")
    printed = [("pronto", {"tracker": each}) for each in trackers]
    at, scores = {"downtime": 0.1}, {"signal": "scores", "forget": 0.99, "downtime": 0.1}
    expected = [
        *(("alarm", {"forecaster": each, "series": "values", **at}) for each in forecasters),
        *(("pronto", {"tracker": each, **scores}) for each in trackers),
        ("pronto", {"weights": "equal", **scores}),
        ("forewarn", at),
        ("rising", {"between": False, **at}),
    ]
    baselines = [("random", at), ("utilisation", at), ("ready", at)]
    found = list(candidates([0.1], busy=True))
    # After each candidate comes the same between spikes.
    assert [(each.policy, each.parameters) for each in found] == [
        *printed,
        *(
            (policy, own)
            for policy, each in [*baselines, *expected]
            for own in (each, {**each, "between": True})
        ),
    ]
    assert [each.label for each in found[4:]] == [
        label for each in found[4::2] for label in (each.label, f"{each.label}, between spikes")
    ]
    assert np.isnan([each.downtime for each in found[:4]]).all()
    assert {each.downtime for each in found[4:]} == {0.1}
    fewer = [(each.policy, each.parameters) for each in candidates([0.1], busy=False, svm=False)]
    assert fewer[:4] + fewer[4::2] == [*printed, baselines[0], baselines[2], *expected[:3], *expected[4:]]
    assert len(list(candidates([0.1, 0.2], busy=True))) == 4 + 4 * 14
    for downtime in (0.0, 1.1):
        with pytest.raises(InputError, match="downtime"):
            list(candidates([downtime], busy=True))


def test_all_variants_are_tried_at_the_given_downtime():
    found = {tuple(sorted(each.parameters.items())) for each in variants(0.07)}
    assert found == {
        tuple(sorted({
            "signal": "scores", "forget": 0.99, "downtime": 0.07, "weights": weights, "lag": lag, "memory": memory,
            "between": between,
        }.items()))
        for weights in ("raw", "equal") for lag in (5, 10, 20, 40) for memory in (100.0, 1000.0)
        for between in (False, True)
    }  # fmt: skip
    assert {(each.policy, each.downtime) for each in variants(0.07)} == {("pronto", 0.07)}


def test_the_variant_with_the_highest_recall_above_chance_is_chosen(monkeypatch):
    # A fifth variant foresees the most for its downtime; another has more recall, and is down much longer.
    seen, notified = [], []
    numbers = {4: (0.8, 0.2), 7: (0.9, 0.7)}

    def judged(registry, candidate, parts, rng, *, within, apart):
        recall, by_chance = numbers.get(len(seen), (0.3, 0.2))
        seen.append((candidate, parts, within, apart))
        return SimpleNamespace(quality=SimpleNamespace(recall=recall, by_chance=by_chance))

    monkeypatch.setattr(choosing, "judge", judged)
    node = spiky(4, steps=400, warm=200)
    chosen = tuned(
        POLICIES, [node], 0.07, np.random.default_rng(1), within=3, apart=2, notify=notified.append
    )
    assert chosen == replace(variants(0.07)[4], label=TUNED)
    assert notified == [place / 32 for place in range(32)]
    assert {each[2:] for each in seen} == {(3, 2)}
    (part,) = seen[0][1]
    assert (len(part.ready), part.level, part.policy_level, part.warm, len(part.busy)) == (
        200,
        0.7,
        0.7,
        50,
        200,
    )
    assert np.array_equal(part.metrics, node.metrics[:200])


def test_recordings_that_differ_in_one_field_count_separately(monkeypatch):
    parts = []

    def judged(registry, candidate, nodes, rng, **requested):
        parts.append(len(nodes))
        return SimpleNamespace(quality=SimpleNamespace(recall=0.5, by_chance=0.1))

    monkeypatch.setattr(choosing, "judge", judged)
    one = spiky(5, steps=400, warm=300)
    other = NodeTelemetry(one.metrics + 1.0, one.ready, 0.5, 0.7, 300)
    higher = NodeTelemetry(one.metrics, one.ready, 0.5, 0.75, 300)
    nothing = NodeTelemetry(one.metrics, one.ready, 0.5, 0.7, 1)
    tuned(POLICIES, [one, other, higher, one, nothing], 0.1, np.random.default_rng(1))
    assert set(parts) == {3}


def test_the_shortest_usable_warm_up_part_has_two_steps():
    two = NodeTelemetry(np.zeros((9, 1)), np.zeros(9), 0.5, 0.5, 2).warm_up_part()
    assert (len(two.ready), two.warm) == (2, 0)


def role_of(policy):
    return CandidateRole.PRONTO if policy == "pronto" else CandidateRole.BASELINE


def test_each_candidate_has_the_role_of_its_policy():
    ours, pronto = CandidateRole.OWN, CandidateRole.PRONTO
    roles = {"forewarn": ours, "rising": ours, "pronto": pronto}
    listed = [*candidates([0.05, 0.1], busy=True), *variants(0.05)]
    assert all(each.role is roles.get(each.policy, CandidateRole.BASELINE) for each in listed)
    assert PolicyCandidate("mine", "mine", 0.1).role is CandidateRole.OTHER


def test_the_best_pronto_has_the_same_downtime_and_is_the_first_of_equals():
    def judged(label, downtime, policy, hits):
        return SimpleNamespace(
            candidate=PolicyCandidate(label, policy, downtime, role=role_of(policy)),
            hits=np.arange(9) < hits,
            leads=np.zeros(9),
        )

    found = [
        judged("a", 0.1, "pronto", 3), judged("b", 0.1, "pronto", 5), judged("c", 0.1, "pronto", 5),
        judged("d", 0.2, "pronto", 8), judged("e", 0.1, "ready", 9),
    ]  # fmt: skip
    assert best_pronto(found, 0.1).candidate.label == "b"
    assert best_pronto(found, 0.3) is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metrics": np.zeros((4, 2))}, "metrics has 4 steps, expected 5"),
        ({"busy": np.zeros(6)}, "busy has 6 steps, expected 5"),
        ({"warm": 5}, "warm is 5, expected fewer than the 5 steps"),
        ({"warm": -1}, "warm is -1"),
    ],
)
def test_invalid_node_telemetry_is_named_in_the_error(changed, message):
    given = {"metrics": np.zeros((5, 2)), "ready": np.zeros(5), "level": 0.5, "policy_level": 0.5, "warm": 4}
    assert len(NodeTelemetry(**given).onsets(1)) == 1
    with pytest.raises(InputError, match=message):
        NodeTelemetry(**{**given, **changed})


def test_a_level_is_a_number_or_a_percentile_of_known_values():
    values = np.array([np.nan, 1.0, 5.0, 2.0, 4.0, 3.0])
    assert level_of(values, "p50") == 3.0
    assert level_of(values, "p0") == np.nextafter(1.0, 2.0)
    assert level_of(np.array([0.0] * 30 + [2.0]), "p95") == np.nextafter(0.0, 1.0)
    assert level_of(values, "-2.5") == level_of(values, -2.5) == -2.5
    assert level_of(values, "p100") == 5.0
    for text in ("p101", "p-1", "high", "inf", "pp5"):
        with pytest.raises(InputError, match="threshold"):
            level_of(values, text)
