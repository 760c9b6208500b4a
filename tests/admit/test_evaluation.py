"""Who is compared with whom, and what is known before."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.admit import POLICIES
from windlass.admit.evaluation import Candidate, Intervals, Judged, Node, beside_best, level_of, tuned
from windlass.admit.measure import Quality
from windlass.cli.admit.shown import leads, over_nodes, row_of, verdicts_of
from windlass.model import InputError

ONSETS = 40


def judged(label, downtime, foresees):
    """Who foresaw the first so many of 40 onsets, three steps before."""
    lead = np.where(np.arange(ONSETS) < foresees, 3.0, np.nan)
    share = foresees / ONSETS
    own = Quality(ONSETS, share, downtime, 0.4, 0.3, share, 0.5, 3.0, foresees, 0)
    none = (0.0, 1.0)
    sure = Intervals(none, none, none, none, 0.5)
    alone = np.arange(ONSETS)
    return Judged(Candidate(label, "never", downtime), own, sure, (own, own), lead, (alone, alone // 2))


def node(spikes, warm=40, steps=100):
    ready = np.zeros(steps)
    ready[spikes] = 1.0
    return Node(np.zeros((steps, 2)), ready, 0.5, 0.5, warm, np.arange(float(steps)))


def test_the_best_baseline_is_of_the_same_downtime_and_no_pronto():
    ours = judged("forewarn", 0.05, 36)
    others = [
        judged("ready", 0.05, 10), judged("random", 0.05, 16), judged("alarm svm", 0.05, 16),
        judged("utilisation", 0.10, 40), judged("pronto fpca, z-scores", 0.05, 40),
    ]  # fmt: skip
    best, beside = beside_best(ours, [ours, *others])
    assert best.candidate.label == "random"
    assert beside.value == pytest.approx(0.5)
    assert beside_best(ours, [ours, *others[3:]]) is None
    assert row_of(ours, [ours, *others])["best_baseline"] == "random"


@pytest.mark.parametrize(("foresees", "said"), [(36, "more"), (2, "less"), (17, "no telling")])
def test_a_verdict_goes_both_ways(foresees, said):
    ours = judged("forewarn", 0.05, foresees)
    (line,) = verdicts_of([ours, judged("ready", 0.05, 16), judged("never", 0.05, 40)])
    assert line.endswith(f"beside ready, the best baseline: {said}")


def test_leads_and_nodes_are_drawn_as_distributions():
    found = [judged("forewarn", 0.05, 20), judged("ready", 0.1, 10)]
    (line,) = leads(found, 10).lines
    assert list(line.y) == [0.5] * 3 + [0.0] * 7
    gains, downs = over_nodes(found)
    assert [list(each.y) for each in (*gains.lines, *downs.lines)] == [[0.5, 1.0]] * 2


def test_what_a_node_is_known_of_before_is_judged_after_a_quarter():
    whole = node([5, 20, 60])
    before = whole.begun()
    assert (len(before.ready), before.warm) == (40, 10)
    assert before.onsets(2).sum() == 1
    assert whole.onsets(2).sum() == 1
    assert node([5], warm=1).begun() is None


def test_nothing_is_chosen_of_few_onsets():
    # Four before what is judged, and many after, of which nobody may know.
    few = node([10, 14, 18, 22, *range(42, 99, 4)], warm=40)
    assert tuned(POLICIES, [few], 0.1, np.random.default_rng(1), apart=2) is None


def test_a_level_that_is_none_is_named():
    with pytest.raises(InputError, match="no value of the column is known"):
        level_of(np.full(3, np.nan), "p95")
