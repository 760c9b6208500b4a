"""Scores of forecasters as tables, JSON and a chart, compared with values worked out by hand."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.keyed import axes
from windlass.cli import forecast, forecast_output
from windlass.cli.forecast import ForecastOptions
from windlass.model import InputError


@dataclass
class Score:
    mse: float
    pmse: float
    mase: float
    wql: float


def result(*errors, mean=0.0, count=700):
    made = [
        SimpleNamespace(truth=np.arange(count)[:, None] * 1.0 + place, mean=np.full((count, 1), mean + place))
        for place in range(len(errors))
    ]
    scores = [Score(error, 2 * error, 3 * error, float("nan")) for error in errors]
    return SimpleNamespace(scores=scores, fit=1.25, forecast=0.002, made=made, squared=())


def options_of(**changed):
    base = {
        "file": Path("s.csv"),
        "kind": "csv",
        "columns": (),
        "models": ("naive", "ses"),
        "freq": 600.0,
        "seasons": (86_400.0, 604_800.0),
        "test": 7200.0,
        "launch": 1200.0,
    }
    return ForecastOptions(**(base | changed))


def test_time_spans_round_up_to_whole_rows():
    calls = options_of()
    assert [calls.rows(span) for span in (1.0, 600.0, 601.0, 1200.0)] == [1, 1, 2, 2]
    assert options_of(freq=0.1).rows(0.3) == 3
    assert calls.steps == (1, 2)
    assert options_of(launch=60.0).steps == (1,)
    units = {"2s": 2.0, "1.5min": 90.0, "2h": 7200.0, ".5d": 43_200.0, "1w": 604_800.0}
    assert {span: forecast.seconds("--x", span) for span in units} == units
    for wrong in ("0s", "1y", "min", "-1h", "1"):
        with pytest.raises(InputError, match="--x is"):
            forecast.seconds("--x", wrong)


def test_the_best_score_of_each_table_is_bold():
    found = [("naive", result(4.0, 9.0), 1), ("ses", result(5.0, 8.0), 1)]
    table = forecast_output.score_table(options_of(), 2, found)
    assert table.title == "2 rows ahead (20 min)"
    assert forecast_output.score_table(options_of(), 1, found).title == "1 row ahead (10 min)"
    columns = [list(column.cells) for column in table.columns]
    assert columns == [
        ["naive", "ses"],
        ["9", "8"],
        ["18", "16"],
        ["27", "24"],
        ["–", "–"],
        ["1.25", "1.25"],
        ["2", "2"],
    ]
    assert [row.style for row in table.rows] == [None, "bold"]


def made_series(count=100):
    return SimpleNamespace(
        period=600.0, name="made", columns=("used",), rows=np.zeros((count, 1)), notes=("a gap",)
    )


def test_missing_scores_are_nan_in_the_tree():
    tree = forecast_output.scores_tree(options_of(), made_series(), [("naive", result(4.0, 9.0))])
    assert {key: tree[key] for key in ("series", "columns", "rows", "notes", "test_rows")} == {
        "series": "made",
        "columns": ["used"],
        "rows": 100,
        "notes": ["a gap"],
        "test_rows": 12,
    }
    (model,) = tree["models"]
    assert (model["name"], model["fit_s"], model["forecast_s"]) == ("naive", 1.25, 0.002)
    assert model["scores"][1] == {
        "mse": 9.0,
        "pmse": 18.0,
        "mase": 27.0,
        "wql": pytest.approx(math.nan, nan_ok=True),
    }


def test_the_chart_shows_the_longest_step():
    found = [("naive", result(4.0, 9.0, mean=5.0)), ("ses", result(5.0, 8.0, mean=7.0))]
    drawn = forecast_output.picture_of(options_of(), made_series(), found)
    # The best forecaster is first, and the truth is drawn above all.
    ses, naive, truth = drawn.lines
    assert [line.measured for line in drawn.lines] == [False, False, True]
    assert len(truth.x) == 168
    assert list(truth.x[:3]) == pytest.approx([0.0, 1 / 6, 1 / 3])
    assert list(truth.y[:3]) == [1.0, 2.0, 3.0]
    assert (naive.y[0], ses.y[0], ses.name) == (6.0, 8.0, "ses")
    assert axes(drawn) == ("course", "hours of the test part", "used")
    assert drawn.title == "used, forecast 20 min ahead"
    assert drawn.caption == "Shown: 168 of 700 rows of the test part."
    found += [(f"m{error}", result(4.0, error)) for error in (10.0, math.nan, 1.0)]
    drawn = forecast_output.picture_of(options_of(), made_series(), found)
    assert [line.name for line in drawn.lines] == ["m1.0", "ses", "naive", "truth"]
    assert drawn.caption.endswith(" and the 3 forecasters with the lowest MSE.")


def test_the_report_has_a_table_per_step():
    html = forecast_output.page_of(options_of(), made_series(1500), [("naive", result(4.0, 9.0))])
    assert "1,500 rows of 10 min · the last 12 are for the test" in html
    assert "<h2>1 row ahead, 10 min</h2>" in html
    assert "<h2>2 rows ahead, 20 min</h2>" in html
    cells = "<th scope='row'>naive</th><td>9</td><td>18</td><td>27</td><td>–</td><td>1.25</td><td>2</td>"
    assert cells in html
    assert cells.replace("<td>9</td><td>18</td><td>27</td>", "<td>4</td><td>8</td><td>12</td>") in html


def test_forecasters_are_tested_on_the_last_rows(monkeypatch):
    calls = []
    monkeypatch.setattr(forecast, "make", lambda name, seasons: (name, seasons))

    def backtest(model, rows, test, steps, season, notify):
        calls.append((model, len(rows), test, steps, season, notify))
        return "done"

    monkeypatch.setattr(forecast, "backtest", backtest)
    found = forecast._tested(options_of(), made_series())
    assert found == [("naive", "done"), ("ses", "done")]
    assert calls == [((name, [144, 1008]), 100, 12, (1, 2), 144, None) for name in ("naive", "ses")]
    # A season has at least two rows.
    calls.clear()
    forecast._tested(options_of(seasons=(600.0,)), made_series())
    assert (calls[0][0][1], calls[0][4]) == ([2], 2)
    with pytest.raises(InputError, match=r"--test: 12 rows, expected fewer than the 12 of s\.csv"):
        forecast._tested(options_of(), made_series(12))
    assert forecast._tested(options_of(), made_series(13))


@pytest.mark.parametrize("as_json", [True, False])
def test_results_are_printed_once(monkeypatch, capsys, tmp_path, as_json):
    monkeypatch.setattr(forecast, "_read", lambda calls: made_series())
    monkeypatch.setattr(forecast, "_tested", lambda calls, series: [("naive", result(4.0, 9.0))])
    report = tmp_path / "r.html"
    forecast.forecast_command(options_of(models=("naive",)), as_json=as_json, report=report)
    out = capsys.readouterr().out
    assert report.read_text().startswith("<!doctype html>")
    if as_json:
        assert json.loads(out)["series"] == "made"
    else:
        assert out.startswith("Lowest MSE: naive, 1 row ahead; naive, 2 rows ahead.\nmade: a gap\n")
        assert out.index("1 row ahead") < out.index("2 rows ahead")


def test_the_first_line_names_the_smallest_error_of_each_step():
    found = [("naive", result(4.0, 9.0)), ("ses", result(3.0, 9.0))]
    line = forecast_output.best_line(options_of(models=("naive", "ses")), found)
    assert line == "Lowest MSE: ses, 1 row ahead (25 % less than naive); naive and ses, 2 rows ahead."
    found = [(name, result(0.0, 9.0 * (name == "c"))) for name in ("a", "b", "c")]
    line = forecast_output.best_line(options_of(models=("a", "b", "c")), found)
    assert line == "Lowest MSE: a and b and c, 1 row ahead; a and b, 2 rows ahead."
