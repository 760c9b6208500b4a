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


GOLDEN = "golden: {detect: [{knn: {least: 0.001}}], associate: [overlap]}\n"


def test_the_golden_plan_labels_a_clip_without_true_tracks(ready, tmp_path):
    (tmp_path / "p.yaml").write_text(PIPELINE + GOLDEN)
    status, out, _ = ready("plan", "profile", "p.yaml", "a.mp4", "--json")
    assert status == 0
    found = {
        ", ".join(part["component"] for part in plan["components"]): plan["accuracy"]
        for plan in json.loads(out)["plans"]
    }
    assert found["decode, detect knn, associate overlap"] == 1.0
    assert min(found.values()) < 1.0


def test_with_true_tracks_the_golden_plan_is_compared_with_them(ready, tmp_path):
    (tmp_path / "p.yaml").write_text(PIPELINE + GOLDEN)
    status, out, _ = ready(*PROFILE, "--json")
    assert status == 0
    found = json.loads(out)
    own = next(
        plan["accuracy"]
        for plan in found["plans"]
        if [part["component"] for part in plan["components"]] == ["decode", "detect knn", "associate overlap"]
    )
    assert found["golden"]["accuracy"] == own
    assert -1.0 <= found["golden"]["kendall_tau"] <= 1.0
    assert 0.0 <= found["golden"]["mean_loss"] <= found["golden"]["largest_loss"]
    status, out, _ = ready(*PROFILE)
    assert f"has an accuracy of {own:.3f}; its labels order the plans" in " ".join(out.split())


def test_a_golden_plan_that_finds_no_object_is_reported(ready, tmp_path):
    blind = GOLDEN.replace("knn: {least: 0.001}", "difference: {least: 0.5}")
    (tmp_path / "p.yaml").write_text(PIPELINE + blind)
    status, out, error = ready(*PROFILE)
    assert (status, error) == (0, "")
    assert "has an accuracy of 0.000; by the true tracks or by its labels all plans" in " ".join(out.split())
    status, out, _ = ready(*PROFILE, "--json")
    assert json.loads(out)["golden"]["kendall_tau"] is None
    status, out, error = ready("plan", "profile", "p.yaml", "a.mp4")
    assert (status, out) == (2, "")
    assert "finds no object, so accuracy cannot be measured" in error


def test_one_plan_has_no_order_to_compare(ready, tmp_path):
    (tmp_path / "p.yaml").write_text(
        "name: one\ndetect: [{knn: {least: 0.001}}]\nassociate: [overlap]\n" + GOLDEN
    )
    status, out, error = ready(*PROFILE, "--json")
    assert (status, error) == (0, "")
    golden = json.loads(out)["golden"]
    assert (golden["kendall_tau"], golden["mean_loss"], golden["largest_loss"]) == (None, 0.0, 0.0)


def test_without_true_tracks_or_a_golden_plan_there_are_no_labels(ready):
    status, out, error = ready("plan", "profile", "p.yaml", "a.mp4")
    assert (status, out) == (2, "")
    assert error == (
        "windlass: p.yaml: golden is missing, expected a plan that labels the clip; or pass --truth\n"
    )


def test_a_profile_is_kept_until_its_plans_differ_on_a_new_clip(ready, tmp_path):
    assert ready(*PROFILE, "--out", "x.parquet")[0] == 0
    before = (tmp_path / "x.parquet").read_bytes()
    status, out, message = ready(*PROFILE, "--out", "x.parquet", "--keep-within", "0")
    assert (status, out) == (0, "")
    assert "differ by at most 0.000 in accuracy on a.mp4" in message
    assert "the profile is kept" in message
    assert (tmp_path / "x.parquet").read_bytes() == before
    assert (
        ready("plan", "clip", "n.mp4", "--truth", "n.csv", *CLIP[5:], "--weather", "night", "--seed", "4")[0]
        == 0
    )
    night = ("plan", "profile", "p.yaml", "n.mp4", "--truth", "n.csv", "--out", "x.parquet")
    status, out, message = ready(*night, "--keep-within", "0.01")
    assert status == 0
    assert "more than 0.01, so all plans are profiled" in message
    assert "written: x.parquet" in out
    accuracies = [plan.accuracy for plan in stream_plans(tmp_path / "x.parquet")]
    status, out, message = ready(*night, "--keep-within", "0")
    assert "the profile is kept" in message
    assert [plan.accuracy for plan in stream_plans(tmp_path / "x.parquet")] == accuracies


def test_a_profile_of_another_pipeline_is_not_checked(ready, tmp_path):
    assert ready(*PROFILE, "--out", "x.parquet")[0] == 0
    (tmp_path / "p.yaml").write_text(PIPELINE.replace("[0.001, 0.004]", "0.002"))
    status, _, error = ready(*PROFILE, "--out", "x.parquet", "--keep-within", "0.5")
    assert status == 2
    assert error.startswith("windlass: --keep-within: x.parquet: plan 'decode")
    assert "is not a plan of the pipeline; profile it anew" in error
