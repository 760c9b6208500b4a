"""Which candidates are compared, and what is known before the evaluation."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.admit import POLICIES
from windlass.admit.evaluation import (
    RULE,
    TUNED,
    CandidateRole,
    Intervals,
    Judged,
    NodeTelemetry,
    PolicyCandidate,
    against_best,
    against_pronto,
    candidates,
    judge,
    judge_apart,
    level_of,
    tuned,
)
from windlass.admit.evaluation.variants import variants
from windlass.admit.measure import Quality
from windlass.cli.admit.compared import verdicts_of
from windlass.cli.admit.output import leads, over_nodes, row_of
from windlass.model import InputError

ONSETS = 40
#: The role of each candidate that is compared.
ROLES = {each.label: each.role for each in candidates([0.05], busy=True)}


def judged(label, downtime, foresees, policy="never"):
    """A candidate that foresaw the first `foresees` of 40 onsets, three steps before."""
    lead = np.where(np.arange(ONSETS) < foresees, 3.0, np.nan)
    share = foresees / ONSETS
    own = Quality(ONSETS, share, downtime, 0.4, 0.3, share, 0.5, 3.0, foresees, 0)
    none = (0.0, 1.0)
    sure = Intervals(none, none, none, none, 0.5)
    alone = np.arange(ONSETS)
    role = CandidateRole.PRONTO if policy == "pronto" else ROLES.get(label, CandidateRole.OTHER)
    return Judged(
        PolicyCandidate(label, policy, downtime, role=role), own, sure, (own, own), lead, (alone, alone // 2)
    )


def node(spikes, warm=40, steps=100):
    ready = np.zeros(steps)
    ready[spikes] = 1.0
    return NodeTelemetry(np.zeros((steps, 6)), ready, 0.5, 0.5, warm, np.arange(float(steps)))


def test_the_best_baseline_has_the_same_downtime_and_is_not_pronto():
    ours = judged("forewarn", 0.05, 36)
    others = [
        judged("ready", 0.05, 10), judged("random", 0.05, 16), judged("alarm svm", 0.05, 16),
        judged("utilisation", 0.10, 40), judged("pronto fpca, z-scores", 0.05, 40),
    ]  # fmt: skip
    best, difference = against_best(ours, [ours, *others])
    assert best.candidate.label == "random"
    assert difference.value == pytest.approx(0.5)
    assert against_best(ours, [ours, *others[3:]]) is None
    assert row_of(ours, [ours, *others])["best_baseline"] == "random"


@pytest.mark.parametrize(
    ("foresees", "verdict"), [(36, "ahead"), (2, "not ahead"), (17, "undecided"), (16, "not ahead")]
)
def test_each_verdict_is_printed_with_the_rule(foresees, verdict):
    ours = judged("forewarn", 0.05, foresees)
    line, rule = verdicts_of([ours, judged("ready", 0.05, 16), judged("never", 0.05, 40)])
    assert line.endswith(f"compared with ready, the best baseline: {verdict}")
    assert rule == RULE


@pytest.mark.parametrize(
    ("ours", "pronto", "verdict"),
    [
        (36, 4, ("ahead", "ahead", "not ahead")),
        (4, 36, ("not ahead", "not ahead", "ahead")),
        (18, 17, ("undecided", "undecided", "undecided")),
    ],
)
def test_forewarn_is_compared_with_the_best_pronto_and_pronto_with_the_best_baseline(ours, pronto, verdict):
    # Would catch another downtime's Pronto, the worst form, and baselines among its forms.
    found = [
        judged("forewarn", 0.05, ours), judged("ready", 0.05, 16), judged("one form", 0.05, 2, "pronto"),
        judged("another", 0.05, pronto, "pronto"), judged("the same", 0.10, 40, "pronto"),
    ]  # fmt: skip
    first, second, third, rule = verdicts_of(found)
    assert first.startswith("forewarn at 5%: ")
    assert first.endswith(f"compared with ready, the best baseline: {verdict[0]}")
    assert second.endswith(f"compared with another, the best Pronto: {verdict[1]}")
    assert third.startswith("another at 5%: ")
    assert third.endswith(f"compared with ready, the best baseline: {verdict[2]}")
    assert rule == RULE
    row = row_of(found[0], found)
    assert (row["best_baseline"], row["best_pronto"]) == ("ready", "another")
    assert row["over_pronto"] == pytest.approx((ours - pronto) / ONSETS)
    verdicts = {"ahead": True, "not ahead": False, "undecided": None}
    assert (row["ahead_of_best"], row["ahead_of_pronto"]) == (verdicts[verdict[0]], verdicts[verdict[1]])
    assert "best_pronto" not in row_of(found[3], found)


def test_the_tuned_pronto_has_its_own_line():
    found = [judged("ready", 0.05, 16), judged(TUNED, 0.05, 10, "pronto"), judged("b", 0.05, 20, "pronto")]
    lines = verdicts_of(found)
    assert [line.split(" at ")[0] for line in lines[:-1]] == [TUNED, "b"]
    # Without a Pronto candidate there is no comparison with it.
    assert against_pronto(found[0], found[:1]) is None


def test_lead_times_and_nodes_are_plotted_as_distributions():
    found = [judged("forewarn", 0.05, 20), judged("ready", 0.1, 10)]
    (line,) = leads(found, 10).lines
    assert list(line.y) == [0.5] * 3 + [0.0] * 7
    gains, downs = over_nodes(found)
    assert [list(each.y) for each in (*gains.lines, *downs.lines)] == [[0.5, 1.0]] * 2


def test_the_warm_up_part_is_judged_after_its_first_quarter():
    whole = node([5, 20, 60])
    before = whole.warm_up_part()
    assert (len(before.ready), before.warm) == (40, 10)
    assert before.onsets(2).sum() == 1
    assert whole.onsets(2).sum() == 1
    assert node([5], warm=1).warm_up_part() is None


def test_no_variant_is_chosen_from_too_few_onsets():
    # Four onsets in the warm-up part, and many after it, which the choice may not use.
    few = node([10, 14, 18, 22, *range(42, 99, 4)], warm=40)
    assert tuned(POLICIES, [few], 0.1, np.random.default_rng(1), apart=2) is None


def test_a_level_of_no_known_values_is_an_error():
    with pytest.raises(InputError, match="no value of the column is known"):
        level_of(np.full(3, np.nan), "p95")


def drawn(seed, steps, warm=100):
    rng = np.random.default_rng(seed)
    ready = np.convolve(rng.random(steps) < 0.04, np.ones(3), "same").clip(0, 1)
    return NodeTelemetry(rng.normal(size=(steps, 6)), ready, 0.5, 0.5, warm, ready)


def test_nodes_judged_separately_and_together_have_the_same_signals():
    # Would catch a policy that keeps its state between recordings, and pooled shares that are means of shares.
    nodes = [drawn(1, 300), drawn(2, 900)]
    for candidate in (PolicyCandidate("ready", "ready", 0.1, {"downtime": 0.1}), variants(0.1)[0]):
        together, *apart = judge_apart(POLICIES, candidate, nodes, np.random.default_rng(1))
        whole = judge(POLICIES, candidate, nodes, np.random.default_rng(1))
        assert repr(together) == repr(whole)
        alone = [judge(POLICIES, candidate, [node], np.random.default_rng(1)) for node in nodes]
        assert [repr(each.quality) for each in apart] == [repr(each.quality) for each in alone]
        assert [repr(each.intervals) for each in apart] == [repr(each.intervals) for each in alone]
        own = [each.quality for each in apart]
        assert together.quality.onsets == sum(each.onsets for each in own)
        steps = np.array([200, 800])
        downs = np.array([each.downtime for each in own])
        assert together.quality.downtime == pytest.approx((downs * steps).sum() / 1000)
        assert together.quality.by_chance == pytest.approx(1.0 - (1.0 - together.quality.downtime) ** 10)
        hits = np.concatenate([each.hits for each in apart])
        # An alarm at the end of the first may count for an onset at the beginning of the second.
        assert (hits != together.hits).sum() <= 1


def test_a_random_policy_continues_its_generator_from_node_to_node():
    nodes = [drawn(1, 400), drawn(1, 400)]
    candidate = PolicyCandidate("random", "random", 0.2, {"downtime": 0.2})
    _, first, second = judge_apart(POLICIES, candidate, nodes, np.random.default_rng(1))
    assert repr(first.quality) == repr(
        judge(POLICIES, candidate, nodes[:1], np.random.default_rng(1)).quality
    )
    assert repr(first.quality) != repr(second.quality)


def test_the_warm_up_that_two_recordings_share_counts_once():
    # Five onsets are enough to choose by: four that are there twice are four.
    few = node([10, 14, 18, 22, *range(42, 99, 4)], warm=40)
    other = node([10, 14, 18, 22, *range(43, 99, 5)], warm=40)
    rng = np.random.default_rng(1)
    assert tuned(POLICIES, [few, other], 0.1, rng, apart=2) is None
    third = node([11, 15, 19, 23, *range(43, 99, 5)], warm=40)
    assert tuned(POLICIES, [few, third], 0.1, rng, apart=2) is not None
