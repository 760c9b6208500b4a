"""The reproduction of Pronto, on known numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from windlass.admit import POLICIES
from windlass.admit.evaluation import NodeTelemetry, PolicyCandidate, judge
from windlass.io.traces.telemetry import Telemetry, read_recorded
from windlass.model import InputError
from windlass.sim.telemetry.metrics import Metrics, read_model
from windlass_reproductions import public
from windlass_reproductions.pronto import data, paper, spikes, values
from windlass_reproductions.pronto.data import Machine, after, clusters
from windlass_reproductions.pronto.drawn import drawn_node
from windlass_reproductions.pronto.fit import channels_of, fit
from windlass_reproductions.pronto.methods import cluster, has_svm, own, pooled
from windlass_reproductions.pronto.recall import NodeSet, pictures, rows_of, shown_candidates
from windlass_reproductions.pronto.similar import DISTANCES, medoids
from windlass_reproductions.pronto.verdicts import beats_chance

RECORDING = Path(__file__).parents[2] / "examples" / "telemetry" / "tune.parquet"
DAY = 86_400.0
needs_svm = pytest.mark.skipif(not has_svm(), reason="scikit-learn is not here, of the extra forecast")


def machine(number, of, days=30):
    """Return a machine whose usage, every five minutes, is a function of the time in days."""
    time = np.arange(0.0, days * DAY, 300.0)
    return Machine(number, time, of(time / DAY))


def test_medians_begin_at_midnight_and_keep_gaps():
    time = np.arange(0.5 * DAY, 4 * DAY, 300.0)
    time = time[(time < 2 * DAY) | (time >= 3 * DAY)]
    found = Machine(1, time, np.floor(time / DAY)).medians(DAY)
    assert np.array_equal(found, [1.0, np.nan, 3.0], equal_nan=True)
    series = values.series_of([Machine(1, time, np.floor(time / DAY))] * 2, DAY)
    assert series.tolist() == [[1.0, 1.0, 3.0]] * 2


def test_on_a_straight_line_naive_errs_by_one_step_and_smoothing_by_more():
    line = np.arange(30.0)[None] * 2.0
    naive = values.errors(line, 14, 10, values.alone("naive"))
    smooth = values.errors(line, 14, 10, values.alone("ExpSmo"))
    assert naive == pytest.approx([2.0])
    assert smooth[0] > naive[0]


def test_windows_end_before_the_forecast_value():
    series = np.random.default_rng(1).random((2, 30))
    seen = []
    values.errors(series, 5, 3, lambda windows: seen.append(windows.copy()) or np.zeros(2))
    assert [window[:, -1].tolist() for window in seen] == [
        series[:, place - 1].tolist() for place in (27, 28, 29)
    ]


@pytest.mark.parametrize("method", ["naive", "ExpSmo", "ARIMA"])
def test_forecasts_scale_and_shift_with_the_machine(method):
    window = np.random.default_rng(2).random(21)
    assert own(method, 100.0 * window + 7.0) == pytest.approx(100.0 * own(method, window) + 7.0)
    both = np.stack([window, 100.0 * window + 7.0])
    assert cluster(method, both)[1] == pytest.approx(100.0 * cluster(method, both)[0] + 7.0)


@needs_svm
def test_pooled_forecasts_learn_from_similar_machines():
    # A sawtooth of three days: one window has too few teeth to learn from, the windows of ten machines have enough.
    teeth = np.array([(np.arange(14) + shift) % 3 for shift in range(10)], np.float64) / 2.0
    following = np.array([(14 + shift) % 3 for shift in range(10)]) / 2.0
    assert np.abs(pooled(teeth) - following).max() < 0.2


@pytest.mark.parametrize("name", DISTANCES)
def test_distances_separate_two_kinds_of_series(name):
    days = np.arange(20.0)
    kinds = [np.sin(days), np.sin(days) + 0.01, 5.0 + 0.3 * days, 5.1 + 0.3 * days]
    rng = np.random.default_rng(3)
    distance = DISTANCES[name](np.array(kinds) + 0.001 * rng.normal(size=(4, 20)))
    assert np.allclose(distance, distance.T)
    assert np.allclose(np.diag(distance), 0.0, atol=1e-6)
    assert medoids(distance, groups=2).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])


def test_clusters_hold_each_machine_once():
    found = clusters(tuple(machine(number, np.sin, days=1) for number in range(8)))
    assert [each.number for group in found for each in group] == list(range(8))


def test_balanced_accuracy_averages_both_classes():
    were = np.array([[True, False], [False, False], [False, False]])
    assert spikes.accuracy(were, were).balanced == 1.0
    never = spikes.accuracy(np.zeros((3, 2), bool), were)
    # The first machine has an accuracy of one half; the second, which has no spike, of 1.
    assert (never.balanced, never.plain) == (0.75, pytest.approx(5 / 6))
    assert spikes.accuracy(~were, were).balanced == pytest.approx((0 + 0 + 1 + 0) / 4)


@pytest.mark.matrix(0)
def test_random_rarely_beats_chance_and_few_onsets_leave_it_undecided():
    node, outcomes = drawn_node(3, steps=6000), []
    few = NodeTelemetry(node.metrics[:2200], node.ready[:2200], 0.2, 0.2, 2000)
    for seed in range(20):
        candidate = PolicyCandidate("random", "random", 0.1, {"downtime": 0.1})
        found, short = (
            judge(POLICIES, candidate, [each], np.random.default_rng(seed)) for each in (node, few)
        )
        outcomes.append(bool(beats_chance(found.quality, found.intervals)))
        assert beats_chance(short.quality, short.intervals) is None
    assert sum(outcomes) <= 3


def test_drawn_sets_have_no_verdicts_or_published_values():
    nodes = [drawn_node(seed, steps=1200) for seed in (1, 2)]
    names = ("pronto fpca, as printed", "pronto directions, as printed", "random", "forewarn")
    listed = [each for each in shown_candidates(nodes) if each.label in names]
    found = [judge(POLICIES, each, nodes, np.random.default_rng(1)) for each in listed]
    assert all(
        row.holds is None and row.paper is None for row in rows_of(NodeSet("drawn", nodes, real=False), found)
    )
    real = rows_of(NodeSet("real", nodes), found)
    assert sum(row.paper is not None for row in real) == 3
    for picture in pictures(NodeSet("real", nodes), found, "x"):
        for line in picture.lines:
            assert list(line.y) == sorted(line.y)
            assert list(line.x) == sorted(line.x)


def test_without_traces_forecasts_report_not_run(monkeypatch, tmp_path):
    monkeypatch.setenv(public.VARIABLE, str(tmp_path))
    monkeypatch.setenv(data.RECORDINGS, str(tmp_path))
    (row,), (other,) = paper._forecasts(quick=True), paper._recorded(quick=True)
    for each in (row, other):
        assert (each.ours, each.holds) == ("not run", None)
        assert tmp_path.name in each.note or "telemetry" in each.note
    assert data.recorded_nodes() == data.bitbrains_nodes(3, None) == data.smd_nodes(3, None) == []


def recording(steps=1500, seed=1):
    """Return a recording whose metrics depend on pressure in a known way."""
    rng = np.random.default_rng(seed)
    busy, ready = (np.convolve(rng.random(steps) < 0.05, np.ones(8), "same").clip(0, 1) for _ in range(2))
    columns = {
        "busy": busy,
        "load.runnable": 4 * ready + rng.random(steps),
        "cpu_ready": ready + 0.01 * rng.random(steps),
        "memory.MemAvailable": 1e9 * (1 - 0.3 * rng.random(steps)),
        "net.lo_packets": rng.integers(0, 50, steps).astype(float),
        "late": np.roll(busy, 2) * 50.0 + rng.normal(size=steps),
        "still": np.full(steps, 3.0),
    }
    return Telemetry(
        "here", np.arange(float(steps)), tuple(columns), np.stack(list(columns.values()), axis=1)
    )


def test_a_fitted_model_has_the_lags_and_noise_of_the_recording():
    found = recording()
    model = fit([found], 2.0)
    assert "still" not in model.names
    place = model.names.index("late")
    assert model.delay[place] == 2
    assert np.abs(model.along[place]).argmax() == 0
    assert model.pole[place] == 0.0
    # Driven by the recording's own pressure, the model gives metrics like the recording's.
    metrics = Metrics(model, 1, np.random.default_rng(2))
    drawn = np.array([metrics.step(each[None])[0] for each in channels_of(found, 2.0)])
    true = found.of("late")
    assert np.corrcoef(drawn[5:, place], true[5:])[0, 1] > 0.9
    assert drawn[:, place].std() == pytest.approx(true.std(), rel=0.15)


def test_recordings_that_cannot_be_fitted_are_refused():
    whole = recording(steps=50)
    without = Telemetry("there", whole.time, whole.names[1:], whole.values[:, 1:])
    with pytest.raises(InputError, match="there: expected one of the columns busy"):
        fit([without], 2.0)
    with pytest.raises(InputError, match="the recordings have different metrics"):
        fit([whole, without], 2.0)
    with pytest.raises(InputError, match="have different metrics"):
        after(whole, without)


def test_the_shipped_model_is_fitted_to_the_shipped_recording():
    # Detects a recording or a fit that changes without the model.
    shipped, again = read_model(), fit([read_recorded(RECORDING)], 2.0)
    assert again.names == shipped.names
    for name in ("channel_mean", "channel_scale", "mean", "scale"):
        np.testing.assert_allclose(getattr(again, name), getattr(shipped, name), rtol=1e-3, atol=1e-300)
    # Rounding may exchange two delays that explain a metric equally well.
    alike = (again.delay == shipped.delay) & (again.pole == shipped.pole)
    assert alike.mean() > 0.9
    np.testing.assert_allclose(again.along[alike], shipped.along[alike], rtol=2e-3, atol=1e-6)


def test_the_shipped_model_s_cpu_ready_follows_its_own_channel():
    model = read_model()
    assert {"cpu_ready", "busy"} <= set(model.names)
    # CPU Ready depends most on the channel of the same name.
    assert np.abs(model.along[model.names.index("cpu_ready")]).argmax() == 2
