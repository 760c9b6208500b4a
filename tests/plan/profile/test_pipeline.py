"""The file of a pipeline, its plans, and one-line errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from windlass.model import InputError
from windlass.plan.profile import stream_plans

pytest.importorskip("cv2", reason="the extra `vision` is not installed")

from windlass.plan.profile.pipeline import read_pipeline, read_tree

SHIPPED = Path(__file__).parents[3] / "examples" / "plan" / "pipeline.yaml"
GOOD = "detect: [mog2]\nassociate: [overlap]\n"


def test_the_example_tracker_has_300_distinct_plans():
    plans = read_pipeline(SHIPPED).plans
    assert len(plans) == len(set(plans)) == len({plan.label for plan in plans}) == 300
    # Components have equal names exactly if they have equal steps.
    parts = {part for plan in plans for part in plan.parts[1:]}
    assert len({part.name for part in parts}) == len({part.steps for part in parts}) == len(parts)


def test_the_golden_plan_need_not_be_among_the_plans():
    tree = yaml.safe_load(GOOD + "golden: {detect: [{hog: {stride: 8}}], associate: [orb]}")
    found = read_tree(tree, "t.yaml")
    assert found.golden.label == "decode, detect hog with crops, associate orb"
    assert [plan.label for plan in found.plans] == ["decode, detect mog2, associate overlap"]
    assert read_tree(yaml.safe_load(GOOD), "t.yaml").golden is None


def test_an_associator_of_pixels_receives_crops():
    tree = {"detect": ["knn"], "associate": ["overlap", "histogram"]}
    labels = [plan.label for plan in read_tree(tree, "t.yaml").plans]
    assert labels == [
        "decode, detect knn, associate overlap",
        "decode, detect knn with crops, associate histogram",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "is [1, 2], expected name, decode, detect and associate"),
        ("a: {b", "is not YAML"),
        ("track: 1\n" + GOOD, "'track' is unknown, expected name, decode, detect, associate or golden"),
        (GOOD + "golden: mog2", "golden is 'mog2', expected decode, detect and associate"),
        (GOOD + "golden: {name: x}", "golden is {'name': 'x'}, expected decode, detect and associate"),
        (GOOD + "golden: {detect: [mog2, knn], associate: [orb]}", "golden has 2 plans, expected one"),
        (GOOD + "golden: {detect: [sift], associate: [orb]}", "golden: detect: 'sift' is unknown"),
        ("associate: [orb]", "detect is None, expected a list of mog2, knn, difference, hog"),
        ("detect: [mog2]\nassociate: []", "associate is [], expected a list of overlap"),
        (
            "detect: [yolo]\nassociate: [orb]",
            "detect: 'yolo' is unknown, expected mog2, knn, difference, hog",
        ),
        ("detect: [{mog2: {}, knn: {}}]\nassociate: [orb]", "expected a name, or a name with knobs"),
        ("detect: [mog2, mog2]\nassociate: [orb]", "detect: 'detect mog2' occurs twice"),
        ("decode: {scale: 1.5}\n" + GOOD, "decode: scale: expected at most 1, found 1.5"),
        ("decode: {scale: []}\n" + GOOD, "decode: scale is [], expected one value or more"),
        ("decode: {every: [1, 1]}\n" + GOOD, "decode: every is [1, 1], which contains a value twice"),
        ("decode: {every: 1.5}\n" + GOOD, "decode: every: expected a whole number, found 1.5"),
        ("decode: {height: 720}\n" + GOOD, "decode: unknown knob 'height', expected scale, every"),
        ("decode: 3\n" + GOOD, "decode is 3, expected knobs such as scale, every"),
        (
            "detect: [{hog: {stride: 5}}]\nassociate: [orb]",
            "detect: hog: stride: expected a multiple of 8, found 5",
        ),
        (
            "detect: [mog2]\nassociate: [{orb: {alike: 0}}]",
            "associate: orb: alike: expected a number above 0, found 0",
        ),
        (
            "detect: [{mog2: {least: much}}]\nassociate: [orb]",
            "detect: mog2: least: expected a number, found 'much'",
        ),
        ("detect: [{mog2: {1: 2}}]\nassociate: [orb]", "detect: mog2: {1: 2}, expected names of knobs"),
    ],
)
def test_the_error_of_an_invalid_pipeline_is_one_line(tmp_path, text, message):
    path = tmp_path / "p.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_pipeline(path)
    assert str(error.value).startswith((f"{path}: ", f"{path}, line "))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_or_a_directory_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_pipeline(tmp_path / "p.yaml")
    with pytest.raises(InputError, match="is a directory"):
        read_pipeline(tmp_path)


def test_every_list_is_expanded():
    tree = yaml.safe_load(
        "decode: {scale: [1, 0.5], every: [1, 3]}\ndetect: [{mog2: {least: [0.1, 0.2], history: [5, 6, 7]}}, hog]\n"
        "associate: [{orb: {alike: [0.1, 0.2]}}, centroid]"
    )
    assert len(read_tree(tree, "t.yaml").plans) == 2 * 2 * (2 * 3 + 1) * (2 + 1)


def test_the_example_tracker_is_in_the_documentation():
    page = (SHIPPED.parents[2] / "docs" / "profile.md").read_text(encoding="utf-8")
    block, golden = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    both = read_tree(yaml.safe_load(block + golden), "page")
    assert both.golden.label == "decode, detect knn with crops, associate orb"
    assert both.plans == read_pipeline(SHIPPED).plans
    assert read_tree(yaml.safe_load(block), "page") == read_pipeline(SHIPPED)


def test_the_example_profile_is_of_the_example_tracker():
    profiled = stream_plans(SHIPPED.with_name("tracker.parquet"))
    assert [", ".join(part.name for part in plan.components) for plan in profiled] == [
        plan.label for plan in read_pipeline(SHIPPED).plans
    ]
