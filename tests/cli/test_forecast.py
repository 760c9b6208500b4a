"""``windlass forecast``: what it prints and writes, and its errors for wrong options."""

import json

import numpy as np
import pytest

from tests.scale.models import wavy
from windlass.cli import main


@pytest.fixture
def use(tmp_path):
    path = tmp_path / "use.csv"
    rows = wavy(400, 2)
    lines = [f"{600 * row},{a:.3f},{b:.3f}" for row, (a, b) in enumerate(rows)]
    path.write_text("time,small,large\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["windlass", "forecast", *map(str, words)])
    with pytest.raises(SystemExit) as done:
        main()
    return done.value.code


def test_json_scores_each_model_one_step_ahead_and_at_the_launch_time(use, monkeypatch, capsys):
    words = (
        use,
        "--freq",
        "10min",
        "--season",
        "2h",
        "--models",
        "naive,seasonal-naive",
        "--test",
        "8h",
        "--json",
    )
    assert run(monkeypatch, *words) == 0
    tree = json.loads(capsys.readouterr().out)
    assert (tree["rows"], tree["test_rows"], tree["columns"]) == (400, 48, ["small", "large"])
    naive, season = tree["models"]
    assert [score["steps"] for score in naive["scores"]] == [1, 2]
    rows = np.loadtxt(use, delimiter=",", skiprows=1)[:, 1:]
    scaled = rows / rows[:352].max(axis=0)
    assert tree["scaling"]["scores"] == ["mse", "pmse"]
    assert tree["scaling"]["divisors"] == dict(
        zip(("small", "large"), rows[:352].max(axis=0).tolist(), strict=True)
    )
    assert naive["scores"][0]["mse"] == pytest.approx(np.mean((scaled[352:] - scaled[351:-1]) ** 2))
    assert naive["scores"][1]["mse"] == pytest.approx(np.mean((scaled[353:] - scaled[351:-2]) ** 2))
    assert season["scores"][1]["mse"] < naive["scores"][1]["mse"]


def test_the_table_and_the_report_name_each_model(use, monkeypatch, capsys, tmp_path):
    page = tmp_path / "page.html"
    words = (
        use,
        "--freq",
        "10min",
        "--season",
        "2h",
        "--models",
        "naive,ses",
        "--test",
        "8h",
        "--columns",
        "small",
    )
    assert run(monkeypatch, *words, "--report", page) == 0
    out = capsys.readouterr().out
    assert "1 row ahead" in out
    assert "2 rows ahead" in out
    assert out.endswith("MSE and PMSE are of columns divided by their largest value in the training rows.\n")
    html = page.read_text(encoding="utf-8")
    assert all(name in html and name in out for name in ("naive", "ses"))
    assert "divided by their largest value in the training rows" in html


def test_a_file_without_a_header_and_with_zones_is_read_whole(tmp_path, monkeypatch, capsys):
    path = tmp_path / "use.csv"
    lines = [f"2020-03-29T{at // 60:02}:{at % 60:02}:00+01:00,{at}" for at in range(0, 600, 10)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = (path, "--freq", "10min", "--season", "2h", "--models", "naive", "--test", "2h", "--json")
    assert run(monkeypatch, *words) == 0
    tree = json.loads(capsys.readouterr().out)
    assert (tree["rows"], tree["columns"]) == (60, ["column 2"])
    assert tree["notes"] == ["the first line has no names: columns are named column 1, column 2"]
    # The last of the 48 training rows is the largest.
    assert tree["scaling"]["divisors"] == {"column 2": 470.0}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--freq", "ten"),
            "--freq is 'ten', expected a number above 0 and one of s, min, h, d, w, as in 10min",
        ),
        (
            ("--freq", "10min", "--models", "naive,nlinear,naive"),
            "--models: naive is given twice, expected each forecaster once",
        ),
        (
            ("--freq", "10min", "--models", "oracle"),
            "--models: unknown forecaster 'oracle', expected some of arima",
        ),
        (("--freq", "10min", "--test", "9w"), "--test: 9,072 rows, expected fewer than the 400 of"),
        (("--freq", "10min", "--format", "xls"), "--format is 'xls', expected one of csv, helios"),
        (
            ("--freq", "10min", "--models", "nlinear", "--test", "8h"),
            "nlinear: 352 rows of history, expected at least",
        ),
    ],
)
def test_wrong_options_are_a_one_line_error(use, monkeypatch, capsys, words, message):
    assert run(monkeypatch, use, *words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
