"""Tables 1 to 6 on recorded CPU Ready: its unit, its days, and the rows that are not run."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tests.reproductions.turning import rows_with_fixed_verdicts
from windlass.io.traces.telemetry import Telemetry, read_recorded
from windlass_reproductions.pronto import data, paper, recorded, values
from windlass_reproductions.pronto.methods import has_svm
from windlass_reproductions.pronto.verdicts import nearer

STEPS = 840


def recording(ready, name="here"):
    """Return a recording of CPU Ready with one step per second."""
    rows = np.stack([np.asarray(ready, float), np.zeros(len(ready))], axis=1)
    return Telemetry(name, 1e9 + np.arange(float(len(ready))), ("cpu_ready", "busy"), rows)


def bursts(seed):
    rng = np.random.default_rng(seed)
    return np.convolve(rng.random(STEPS) < 0.03, np.ones(8), "same").clip(0, 1) * rng.random(STEPS)


def test_a_recording_is_stretched_to_four_weeks_of_cpu_ready_in_ms():
    # The median of each 28th of the recording is known.
    found = recorded.machine_of(1, recording(np.repeat(np.arange(28.0), STEPS // 28) / 1000.0))
    assert values.series_of([found], values.DAY)[0] == pytest.approx(20.0 * np.arange(28.0))
    with_holes = recorded.machine_of(1, recording([np.nan, 0.1, np.nan, 0.2]))
    assert with_holes.usage.tolist() == [2000.0, 4000.0]


def test_stretches_shorter_than_a_step_have_no_column():
    found = [recorded.machine_of(1, recording(np.zeros(STEPS)))]
    # A day is 30 steps: half an hour is less than one.
    assert list(recorded.stretches(found)) == ["1 day", "12 hours", "6 hours", "3 hours", "1 hour"]


def test_forecasts_are_spread_over_the_last_values():
    series, seen = np.arange(100.0)[None], []

    def ahead(windows):
        seen.append(float(windows[0, -1]) + 1.0)
        return windows[:, -1]

    assert values.residuals(series, 5, 3, ahead, over=50).ravel().tolist() == [-1.0] * 3
    assert seen == [50.0, 74.0, 99.0]
    assert len(values.residuals(series, 98, 10, ahead, over=50)) == 2


def test_rows_have_each_cell_and_report_what_was_not_run():
    rows = recorded.rows_of([recording(bursts(1)), recording(bursts(2))], 3)
    by = {row.what: row for row in rows}
    assert len(by) == len(rows)
    # The ratio of naive to itself is 1 in the paper and here.
    naive = by["recorded CPU Ready, Table 1, naive, same VM, 14 days: RMSE (ratio to naive)"]
    assert naive.paper == "127.6 (1.00)"
    assert naive.ours.endswith("(1.00)")
    assert "6 forecasts" in naive.note
    left = [row for row in rows if row.ours == "not run"]
    assert [row.note for row in left] == ["the recordings are of one machine"]
    alone = "SVM alone" if has_svm() else "ARIMA"
    assert f"recorded CPU Ready, Table 4, 800, {alone}: accuracy" in by


def test_a_rule_in_ms_marks_the_days_above_it():
    days = np.repeat([0.0] * 14 + [0.03, 0.045, 0.06] * 4 + [0.0, 0.0], STEPS // 28)
    rows = {row.what: row for row in recorded.rows_of([recording(days)], 14)}
    shares = [
        float(
            rows[f"recorded CPU Ready, Table 4, {rule}, naive: accuracy"].note.split("are ")[1].split(" %")[0]
        )
        for rule in ("500", "800", "1000")
    ]
    # Days of 600, 900 and 1200 ms, four of each among the last 14.
    assert shares == [pytest.approx(100 * each / 14, abs=0.1) for each in (12, 8, 4)]


def test_nearer_compares_squared_errors_and_must_be_significant():
    rng = np.random.default_rng(1)
    off = rng.normal(size=60)
    assert nearer([(0.5 * off, off)]).holds is True
    assert nearer([(off, 0.5 * off)]).holds is False
    assert nearer([(off, rng.permutation(off))]).holds is None
    assert nearer([(off[:1], 0.1 * off[:1])]).holds is None


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_verdicts_on_errors_change_with_their_inputs(factor):
    names = list(values.STRETCHES)
    methods = ("naive", "SVM")
    grows = {(m, name): np.full(2, factor**place) for m in methods for place, name in enumerate(names)}
    rng = np.random.default_rng(1)
    each = {("naive", name): rng.normal(size=30) for name in names}
    each |= {("SVM", name): factor * each["naive", name] for name in names}
    rows = recorded.verdicts(recorded.ForecastErrors(each, grows), names)
    assert rows[0].holds is (factor > 1.0)
    if has_svm():
        assert rows[1].holds is (factor < 1.0)
    assert rows_with_fixed_verdicts(rows) == {}


def test_recordings_that_disagree_leave_errors_undecided():
    names = list(values.STRETCHES)
    apart = {("naive", name): np.array([1.0 + place, 8.0 - place]) for place, name in enumerate(names)}
    off = {(method, name): np.array([1.0, -1.0]) for method in ("naive", "SVM") for name in names}
    rows = recorded.verdicts(recorded.ForecastErrors(off, apart), names)
    assert rows[0].holds is None
    assert rows_with_fixed_verdicts(rows[:1]) == {}


def test_recordings_are_read_from_the_configured_folder(monkeypatch, tmp_path):
    for name, seed in (("tune", 1), ("judge", 2)):
        table = {
            "at": np.arange(float(STEPS)),
            "cpu_ready": bursts(seed),
            "busy": bursts(seed),
            "x": bursts(3),
        }
        pl.DataFrame(table).write_parquet(tmp_path / f"{name}.parquet")
    monkeypatch.setenv(data.RECORDINGS, str(tmp_path))
    first, _ = data.recorded()
    assert first.source.endswith("tune.parquet")
    (node,) = data.recorded_nodes(steps=100)
    assert (node.warm, len(node.ready)) == (STEPS, STEPS + 100)
    assert node.level == np.percentile(first.of("cpu_ready"), 95)
    # Detects a recording that is judged after any other recording than the one to tune on.
    (tmp_path / "judge-short.parquet").write_bytes((tmp_path / "judge.parquet").read_bytes())
    both = data.recorded_nodes()
    assert [(each.warm, len(each.ready), each.level) for each in both] == [(STEPS, 2 * STEPS, node.level)] * 2
    assert len(data.recorded_nodes(steps=100)) == 1
    assert len(paper._recorded(quick=True)) > 30


def test_shipped_recordings_have_the_same_metrics_and_no_gaps():
    # Detects a recording that was truncated, interrupted, or made by another recorder.
    files = [data.recordings() / name for name in (data.TUNE, data.JUDGE, data.SHORT)]
    assert sum(path.stat().st_size for path in files) < 3e6
    tune, judge, short = (read_recorded(path) for path in files)
    assert tune.names == judge.names == short.names
    for each, least in ((tune, 1200), (judge, 1200), (short, 2400)):
        assert len(each) >= least
        apart = np.diff(each.time)
        assert 0.5 < apart.min() <= apart.max() < 3.0
        assert np.isfinite(each.of("cpu_ready")).mean() > 0.99
        assert np.isfinite(each.of("busy")).mean() > 0.99
