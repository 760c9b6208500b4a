"""Each row of the reproduction of Pronto, with inputs that confirm it, refute it, and leave it undecided."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.turning import lacks_reason, rows_with_fixed_verdicts
from windlass.admit.evaluation import PolicyCandidate
from windlass.admit.measure import Quality
from windlass_reproductions.pronto import merging, recall, spikes, trackers, values
from windlass_reproductions.pronto.methods import has_svm

NOISE = np.array([1.0, 1.02, 0.99, 1.01])
ABOVE, BELOW, ABOUT = (0.1, 0.2), (-0.2, -0.1), (-0.1, 0.2)
needs_svm = pytest.mark.skipif(not has_svm(), reason="scikit-learn is not here, of the extra forecast")


def check(row, holds):
    assert row.holds is holds, (row.ours, row.note)
    assert rows_with_fixed_verdicts([row]) == {}
    assert not lacks_reason(row)


def errors_of(column, naive, smooth=(1.0, 1.0), svm=1.0):
    """Return the verdicts on Tables 1 and 3 for errors of naive, of smoothing, and of SVM relative to naive."""
    one = {("naive", f"{kind} {days}"): NOISE for kind in ("same", "cluster") for days in values.DAYS}
    one |= {("SVM", f"cluster {days}"): svm * NOISE for days in values.DAYS}
    one |= {("ExpSmo", f"same {days}"): each * NOISE for days, each in zip(values.DAYS, smooth, strict=True)}
    three = {("naive", name): naive(place) for place, name in enumerate(values.STRETCHES)}
    three |= {("SVM", name): column * three["naive", name] for name in values.STRETCHES}
    return values.verdicts(values.Errors(one), values.Errors(three))


@pytest.mark.parametrize(
    ("naive", "holds"),
    [
        (lambda place: (1.0 + place) * NOISE, True),
        (lambda place: (9.0 - place) * NOISE, False),
        (lambda place: np.roll(np.array([1.0, 2.0, 4.0, 3.0]), place), None),
    ],
)
def test_errors_must_grow_as_stretches_get_shorter(naive, holds):
    check(errors_of(1.0, naive)[1], holds)


@pytest.mark.parametrize(
    ("smooth", "holds"),
    [
        ((1.0, 1.1), True),
        ((1.0, 1.5), False),
        ((1.0, 0.5), False),
        ((1.0, np.array([0.4, 1.9, 1.5, 0.6])), None),
    ],
)
def test_another_week_of_data_must_change_little(smooth, holds):
    check(errors_of(1.0, lambda place: NOISE, smooth=smooth)[0], holds)


@needs_svm
@pytest.mark.parametrize(
    ("part", "holds"), [(0.8, [True, True, False]), (1.2, [False, False, True]), (NOISE[::-1], [None] * 3)]
)
def test_svm_is_compared_with_naive(part, holds):
    rows = errors_of(part, lambda place: (1.0 + place) * NOISE, svm=part)[2:]
    for row, each in zip(rows, holds, strict=True):
        check(row, each)


BEST = {"1000": 0.9, "99th": 0.8, "μ+3σ": 0.9, "500": 0.7, "90th": 0.7, "median": 0.5}
SILENT = {"1000": 0.5, "99th": 0.5, "μ+3σ": 0.5, "500": 0.5, "90th": 0.5, "median": 0.5}


@pytest.mark.parametrize(
    ("best", "silence", "holds"),
    [
        ({}, {}, True),
        ({"99th": 0.6}, {}, False),
        # Forecasting no spike has the same order, because it is right for machines without spikes.
        ({}, {"1000": 0.9, "99th": 0.8, "μ+3σ": 0.7}, None),
        ({}, {"1000": 0.9, "99th": 0.8}, True),
    ],
)
def test_rules_that_mark_few_days_must_be_forecast_best(best, silence, holds):
    check(spikes.few_row(BEST | best, SILENT | silence), holds)


def test_forecasting_no_spike_is_right_for_machines_without_spikes():
    were = np.array([[True, False], [False, False]])
    assert spikes.accuracy(were, were).silent == 0.75
    assert spikes.accuracy(~were, were).silent == spikes.accuracy(were, were).silent


@pytest.mark.parametrize(("fastest", "holds"), [("power", False), (None, True)])
def test_trackers_must_have_the_published_order_of_speed(fastest, holds):
    found = {name: ms for name, (_, ms, _) in trackers.PAPER.items()} | ({fastest: 0.0} if fastest else {})
    check(trackers.order_row(found), holds)


@pytest.mark.parametrize(("error", "holds"), [(0.01, True), (0.06, False)])
def test_merging_must_stay_within_its_limit(error, holds):
    check(merging.merge_row("64 nodes", [0.0, error], ""), holds)


def signal(label, recall_of, over_chance, left, right, downtime, onsets=90):
    found = Quality(onsets, 0.95, downtime, 0.4, 0.3, 0.5, 0.5, 4.0, left, right)
    sure = SimpleNamespace(
        recall=recall_of, over_shifted=ABOVE, over_chance=over_chance, lift=(0.9, 1.2), by_shift=0.1
    )
    return SimpleNamespace(
        candidate=PolicyCandidate(label, "pronto", np.nan, {}), quality=found, intervals=sure
    )


@pytest.mark.parametrize(
    ("recall_of", "over_chance", "counts", "downtime", "onsets", "holds"),
    [
        ((0.92, 0.99), ABOVE, (70, 10), 0.6, 90, [True, True, True]),
        ((0.4, 0.6), ABOVE, (10, 70), 0.4, 90, [False, False, False]),
        ((0.92, 0.99), BELOW, (10, 70), 0.5, 90, [False, False, False]),
        ((0.88, 0.99), ABOVE, (41, 40), 0.6, 90, [None, None, True]),
        ((0.92, 0.99), ABOUT, (41, 40), 0.6, 90, [None, None, True]),
        # Few onsets leave a claim undecided.
        ((0.92, 0.99), ABOVE, (9, 0), 0.6, 9, [None, None, True]),
    ],
)
def test_claims_of_the_paper_on_its_signal_change_with_their_inputs(
    recall_of, over_chance, counts, downtime, onsets, holds
):
    found = [
        signal(f"pronto {tracker}, as printed", recall_of, over_chance, *counts, downtime, onsets)
        for tracker in ("fpca", "directions")
    ]
    rows = recall.rows_of(recall.NodeSet("here", []), found)[-3:]
    for row, each in zip(rows, holds, strict=True):
        check(row, each)
