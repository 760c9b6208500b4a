"""``windlass admit evaluate``: its tables and JSON, and one-line errors for bad input."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from windlass.admit import POLICIES
from windlass.admit.evaluation import NodeTelemetry, PolicyCandidate, signal, tuned
from windlass.admit.evaluation.recordings import EvaluationOptions, evaluate, node_of
from windlass.cli import main
from windlass.cli.admit import shares
from windlass.io.traces.telemetry import read_recorded
from windlass.model import InputError


def recording(path, seed=1, steps=450, warns=True, rate=0.02):
    """A node in bursts of CPU Ready; with warnings, two metrics rise three steps before."""
    rng = np.random.default_rng(seed)
    ready, before = np.zeros(steps), np.zeros(steps)
    for at in np.flatnonzero(rng.random(steps) < rate):
        ready[at : at + 6] = rng.uniform(0.5, 1.0)
        before[max(0, at - 3) : at] = 5.0 * warns
    columns = {"at": np.arange(steps), "busy": np.clip(ready + 0.1, 0, 1), "cpu_ready": ready}
    for place in range(10):
        columns[f"metric {place}"] = rng.normal(size=steps) * 0.3 + (before if place < 2 else ready)
    pl.DataFrame(columns).write_parquet(path)
    return path


def exit_status(monkeypatch, *words):
    """Run the command and return its exit status."""
    monkeypatch.setattr(sys, "argv", ["windlass", "admit", "evaluate", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code


@pytest.mark.slow
def test_json_has_every_policy_at_every_downtime(monkeypatch, capsys, tmp_path):
    first = recording(tmp_path / "a.parquet", rate=0.03)
    second = recording(tmp_path / "b.parquet", seed=2)
    report = tmp_path / "report.html"
    assert not exit_status(
        monkeypatch, second, "--before", first, "--threshold", "0.4", "--downtime", "5%,0.2", "--json",
        "--report", report,
    )  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    by = {(row["policy"], row["asked_downtime"]): row for row in found}
    assert len(by) == len(found)
    for downtime in (0.05, 0.2):
        for name in ("random", "utilisation", "ready", "alarm arima", "forewarn", "pronto spirit, z-scores"):
            row = by[name, downtime]
            assert row["downtime"] <= downtime * 3
            assert row["by_chance"] == pytest.approx(1 - (1 - row["downtime"]) ** 10)
            assert row["left"] == round(row["recall"] * row["onsets"])
            assert (
                row["best_baseline"].removesuffix(", between spikes") in ("random", "utilisation", "ready")
                or "alarm" in row["best_baseline"]
            )
            best = by[row["best_baseline"], downtime]
            assert row["over_best"] == pytest.approx(row["recall"] - best["recall"])
            assert best["recall"] >= by["ready", downtime]["recall"]
        assert by["pronto, best on earlier telemetry", downtime]["parameters"]["lag"] in (5, 10, 20, 40)
    assert ("pronto fpca, as printed", None) in by
    # Two metrics rise three steps before each onset: a policy that learns from the node's own CPU Ready must detect it.
    assert by["forewarn", 0.2]["recall"] > by["ready", 0.2]["recall"] + 0.2
    scores = by["forewarn", 0.2]
    assert scores["by_shift"] < 0.5
    # Seven onsets prove little, so the intervals are wide.
    assert scores["over_shifted_95"][0] < scores["recall"] - scores["shifted"] < scores["over_shifted_95"][1]
    assert scores["over_shifted_95"][1] - scores["over_shifted_95"][0] > 0.3
    html = report.read_text()
    assert "forewarn" in html
    assert "default-src 'none'" in html


def test_tables_are_printed(monkeypatch, capsys, tmp_path):
    assert not exit_status(monkeypatch, recording(tmp_path / "a.parquet", steps=300), "--downtime", "10%")
    shown = capsys.readouterr().out
    assert "at 10% downtime" in shown
    assert "onsets in 240 steps" in shown
    assert "(p95 of the first fifth)" in shown
    assert "forewarn at 10%: " in shown


@pytest.mark.slow
def test_the_first_line_has_the_best_signal_at_each_downtime(monkeypatch, capsys, tmp_path):
    file = recording(tmp_path / "a.parquet", steps=300)
    words = (file, "--downtime", "5%,10%")
    assert not exit_status(monkeypatch, *words, "--json")
    rows = [row for row in json.loads(capsys.readouterr().out) if row["asked_downtime"] is not None]
    assert not exit_status(monkeypatch, *words)
    first = " ".join(capsys.readouterr().out.split())
    for target in (0.05, 0.1):
        recalls = {row["policy"]: row["recall"] for row in rows if row["asked_downtime"] == target}
        begin = first.index(f"At {target:.0%} downtime, ")
        sentence = first[begin : first.index(" by chance.", begin)]
        for policy, recall in recalls.items():
            assert (policy in sentence.replace("'", "")) >= (recall == max(recalls.values()))
        assert f"the highest recall: {max(recalls.values()):.2f} (" in sentence


@pytest.mark.slow
def test_several_recordings_are_scored_separately_and_pooled(monkeypatch, capsys, tmp_path):
    first = recording(tmp_path / "a.parquet", rate=0.03, steps=200)
    files = [
        recording(tmp_path / f"{name}.parquet", seed, steps)
        for name, seed, steps in (("b", 2, 200), ("c", 3, 300))
    ]
    words = ("--before", first, "--threshold", "0.4", "--downtime", "10%")
    report = tmp_path / "report.html"
    assert not exit_status(monkeypatch, *files, *words, "--json", "--report", report)
    rows = json.loads(capsys.readouterr().out)
    by = {(row["file"], row["policy"]): row for row in rows}
    assert {name for name, _ in by} == {"b.parquet", "c.parquet", None}
    assert len({name for _, name in by}) * 3 == len(rows)
    for policy in {name for _, name in by}:
        one, other, both = (by[name, policy] for name in ("b.parquet", "c.parquet", None))
        assert both["onsets"] == one["onsets"] + other["onsets"]
        assert both["downtime"] == pytest.approx((200 * one["downtime"] + 300 * other["downtime"]) / 500)
    html = report.read_text()
    assert all(f"<h2>{file.name}</h2>" in html for file in files)
    assert not exit_status(monkeypatch, files[0], *words, "--json")
    alone = json.loads(capsys.readouterr().out)
    # A single recording is reported without a file name and with the same figures.
    assert [{"file": "b.parquet", **row} for row in alone] == [
        row for row in rows if row["file"] == "b.parquet"
    ]
    assert not exit_status(monkeypatch, *files, *words)
    shown = capsys.readouterr().out
    assert shown.index("b.parquet: ") < shown.index("c.parquet: ") < shown.index("All recordings: ")
    assert "onsets in 500 steps" in shown


def test_the_threshold_percentile_excludes_the_evaluated_steps(tmp_path):
    first = read_recorded(recording(tmp_path / "a.parquet"))
    second = read_recorded(recording(tmp_path / "b.parquet", seed=2))
    options = EvaluationOptions("cpu_ready", "p95", (0.05,))
    node = node_of(second, options, first)
    assert node.level == node.policy_level == np.percentile(first.of("cpu_ready"), 95)
    assert (node.warm, len(node.ready)) == (450, 900)
    alone = node_of(second, options, None)
    assert (
        alone.level
        == alone.policy_level
        == max(np.percentile(second.of("cpu_ready")[:90], 95), np.nextafter(0, 1))
    )


@pytest.mark.matrix(0)
def test_later_telemetry_does_not_change_earlier_signals(tmp_path):
    first = read_recorded(recording(tmp_path / "a.parquet", steps=300, rate=0.03))
    second = read_recorded(recording(tmp_path / "b.parquet", seed=2, steps=300))
    other = replace(second, values=10.0 * second.values)
    options = EvaluationOptions("cpu_ready", "p70", (0.1,))
    one, two = node_of(second, options, first), node_of(other, options, first)
    assert (one.level, one.policy_level) == (two.level, two.policy_level)
    chosen = [tuned(POLICIES, [each], 0.1, np.random.default_rng(1)) for each in (one, two)]
    assert chosen[0] == chosen[1] is not None
    # No signal depends on a later step.
    for candidate in (PolicyCandidate("f", "forewarn", 0.1, {"downtime": 0.1}), chosen[0]):
        whole = signal(POLICIES, candidate, one, 10, np.random.default_rng(1))
        half = NodeTelemetry(
            one.metrics[:450], one.ready[:450], one.level, one.policy_level, 300, one.busy[:450]
        )
        assert (whole[:450] == signal(POLICIES, candidate, half, 10, np.random.default_rng(1))).all()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_rows(tmp_path):
    node = node_of(
        read_recorded(recording(tmp_path / "a.parquet", steps=300)),
        EvaluationOptions("cpu_ready", "0.4", (0.1,)),
        None,
    )
    one, other = (evaluate([node], EvaluationOptions("cpu_ready", "0.4", (0.1,))) for _ in range(2))
    assert [repr(each.quality) for each in one] == [repr(each.quality) for each in other]
    assert [repr(each.intervals) for each in one] == [repr(each.intervals) for each in other]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--spikes", "ready"), "there is no column 'ready'"),
        (("--threshold", "high"), "threshold is 'high', expected a number, or a percentile such as p95"),
        (("--threshold", "p101"), "threshold: percentile is 101"),
        (("--downtime", "5%,much"), "--downtime: 'much' is not a share of time"),
        (("--downtime", "100%"), "--downtime: '100%' is out of bounds"),
        (("--before", "none.parquet"), "none.parquet: no such file"),
    ],
)
def test_bad_input_is_reported_in_one_line(monkeypatch, capsys, tmp_path, words, message):
    path = recording(tmp_path / "a.parquet", steps=60)
    assert exit_status(monkeypatch, path, *words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_earlier_telemetry_with_other_metrics_is_rejected(tmp_path):
    first = read_recorded(recording(tmp_path / "a.parquet"))
    pl.DataFrame({"cpu_ready": [0.1, 0.2]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"has other metrics than .*: busy, metric 0"):
        node_of(read_recorded(tmp_path / "b.parquet"), EvaluationOptions("cpu_ready", "p95", (0.05,)), first)


def test_shares_are_percentages_or_fractions():
    assert shares("5%, 0.1") == (0.05, 0.1)
