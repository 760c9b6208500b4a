"""``windlass plan clip`` and ``windlass plan profile``: from a seed to a profile, and one-line errors."""

from __future__ import annotations

import json

import pytest

from windlass.plan.profile import stream_plans

pytest.importorskip("cv2", reason="the extra `vision` is not installed")

PIPELINE = "name: two\ndecode: {every: [1, 3]}\ndetect: [{knn: {least: [0.001, 0.004]}}]\nassociate: [overlap, orb]\n"
CLIP = (
    "plan",
    "clip",
    "a.mp4",
    "--truth",
    "a.csv",
    "--seconds",
    "0.4",
    "--size",
    "256x144",
    "--density",
    "2",
)
PROFILE = ("plan", "profile", "p.yaml", "a.mp4", "--truth", "a.csv")


@pytest.fixture
def ready(windlass, tmp_path):
    """The command, in a folder with a clip, its tracks and a pipeline."""
    status, message, _ = windlass(*CLIP)
    assert (status, message) == (0, "a.mp4: 12 frames of 256 x 144, 0.4 s, clear; a.csv: true tracks\n")
    (tmp_path / "p.yaml").write_text(PIPELINE)
    return windlass


def test_a_clip_becomes_a_profile(ready, tmp_path):
    status, out, message = ready(
        *PROFILE, "--cache", "5MB", "--out", "x.parquet", "--report", "x.html", "--alone", "--json"
    )
    assert (status, message) == (0, "")
    found = json.loads(out)
    assert len(found["plans"]) == 8
    assert found["alone_differ"] == 0
    assert found["cache_most_held_bytes"] <= found["cache_bytes"] == 5e6
    assert found["step_runs"] < found["step_runs_plan_by_plan"]
    plans = stream_plans(tmp_path / "x.parquet")
    assert [plan.accuracy for plan in plans] == [plan["accuracy"] for plan in found["plans"]]
    assert plans[0].components[1].name == found["plans"][0]["components"][1]["component"]
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "Accuracy against cores" in page
    assert "default-src 'none'" in page


def test_the_table_lists_the_profiled_plans(ready, tmp_path):
    status, out, _ = ready(*PROFILE)
    assert status == 0
    assert "8 plans on 12 frames of 256 x 144, 0.4 s: accuracy (F1 of tracks)" in out
    assert "of 900.0" in out
    assert "written: profile.parquet" in out
    assert len(stream_plans(tmp_path / "profile.parquet")) == 8


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cache", "much"), "--cache is 'much', expected an amount of bytes, as in 900MB"),
        (("--out", "no/x.parquet"), "--out: the folder no does not exist"),
        (("--truth", "none.csv"), "none.csv: no such file"),
        (("--truth", "empty.csv"), "empty.csv: no rows"),
        (("--truth", "other.csv"), "the digest of a.mp4"),
    ],
)
def test_wrong_options_are_a_one_line_error(ready, tmp_path, words, message):
    head = (tmp_path / "a.csv").read_text().splitlines()
    (tmp_path / "empty.csv").write_text(head[0] + "\n")
    (tmp_path / "other.csv").write_text("\n".join([head[0], head[1].rsplit(",", 1)[0] + ",0123"]) + "\n")
    status, out, error = ready(*PROFILE, *words)
    assert (status, out) == (2, "")
    assert message in error
    assert error.count("\n") == 1


def test_an_invalid_clip_or_pipeline_is_named(ready, tmp_path):
    (tmp_path / "b.mp4").write_text("text")
    status, _, error = ready("plan", "profile", "p.yaml", "b.mp4", "--truth", "a.csv")
    assert status == 2
    assert "b.mp4: OpenCV cannot read it as video" in error
    (tmp_path / "p.yaml").write_text(PIPELINE.replace("knn", "sift"))
    status, _, error = ready(*PROFILE)
    assert status == 2
    assert error.startswith(
        "windlass: p.yaml: detect: 'sift' is unknown, expected mog2, knn, difference, hog"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--size", "big"), "--size is 'big', expected a width and a height, as in 1280x720"),
        (("--weather", "fog"), "weather is 'fog'"),
        (("--seconds", "0"), "seconds is 0.0"),
    ],
)
def test_invalid_clip_options_are_a_one_line_error(windlass, words, message):
    status, _, error = windlass(*CLIP, *words)
    assert status == 2
    assert message in error
    assert error.count("\n") == 1
