"""The generated reference has every command and option, every field of a scenario, and every metric."""

from __future__ import annotations

import importlib
from dataclasses import fields

import pytest

from tests.docs.pages import ROOT
from windlass.experiment.worlds import worlds


@pytest.fixture(scope="module")
def reference():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        yield importlib.import_module("site_reference")


def test_every_metric_has_a_row(reference):
    page = reference.metrics()
    for world in worlds():
        for each in fields(world.metrics):
            assert f"| `{each.name}` | " in page, f"{world.name}: {each.name}"


def test_every_top_level_field_of_a_world_has_a_row(reference):
    page = reference.scenario_fields()
    for world in worlds():
        for name in world.setting.model_fields:
            assert f"| `{name}` | " in page, f"{world.name}: {name}"


@pytest.mark.parametrize(
    "words", ["## windlass run", "| `--policies` |", "## windlass slurm drive", "## windlass plan solve"]
)
def test_commands_have_sections(reference, words):
    assert words in reference.command_line()


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1}, "integer ≥ 1"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 1}, "number > 0, ≤ 1"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string or none"),
        ({"type": "array", "items": {"$ref": "#/$defs/Site"}}, "list of Site"),
        ({"enum": ["a", "b"]}, "`a` or `b`"),
        ({"const": "batch", "type": "string"}, "`batch`"),
        ({}, "any"),
    ],
)
def test_values_are_described_by_type_and_bounds(reference, schema, words):
    assert reference._value(schema) == words
