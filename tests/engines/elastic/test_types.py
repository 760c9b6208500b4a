"""A file of instance types: each field, its default, and rejected files."""

from __future__ import annotations

import pytest

from windlass.engines.elastic.types import read_types
from windlass.model import InputError
from windlass.model.instances import InstanceType


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a text as a file of types."""

    def types(text):
        file = tmp_path / "types.yaml"
        file.write_text(text)
        return read_types(file)

    return types


def test_each_field_is_read(read):
    text = "types: [{name: a, gpus: 2, cores: 7.5, memory: 6.0e+9, price: 1.25, launch: 90, most: 4}]"
    assert read(text) == (
        InstanceType("a", gpus=2.0, cores=7.5, memory=6e9, price=1.25, launch=90.0, most=4),
    )


@pytest.mark.parametrize("resource", ["gpus", "cores", "memory"])
def test_omitted_fields_are_zero_except_a_launch_of_five_minutes(read, resource):
    (kind,) = read(f"types: [{{name: a, {resource}: 3, most: 0}}]")
    rest = dict.fromkeys(("gpus", "cores", "memory", "price"), 0.0) | {resource: 3.0}
    assert {name: getattr(kind, name) for name in rest} == rest
    assert (kind.launch, kind.most) == (300.0, 0)


def test_the_smallest_comes_first_by_gpus_then_cores_then_memory(read):
    of = {"d": (1, 1, 1), "c": (0, 8, 1), "b": (0, 4, 9), "a": (0, 4, 8)}
    lines = [
        f"{{name: {name}, gpus: {g}, cores: {c}, memory: {m}, most: 1}}" for name, (g, c, m) in of.items()
    ]
    assert [kind.name for kind in read(f"types: [{', '.join(lines)}]")] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("types: []", "types.yaml: types: "),
        ("{}", "types.yaml: types: missing"),
        ("types: [{name: a, cores: 1}]", r"types\.0\.most: missing"),
        ("types: [{name: '', cores: 1, most: 1}]", r"types\.0\.name: "),
        ("types: [{name: a, cores: 1, most: -1}]", r"types\.0\.most: expected at least 0, found -1"),
        ("types: [{name: a, cores: 1, most: 1.5}]", r"types\.0\.most: expected a whole number, found 1.5"),
        (
            "types: [{name: a, cores: 1, most: 1}, {name: b, gpus: -1, most: 1}]",
            r"types\.1\.gpus: expected at least 0, found -1",
        ),
        ("types: [{name: a, cores: .inf, most: 1}]", r"types\.0\.cores: expected a finite number, found inf"),
        ("types: [{name: a, cores: 1, disk: 3, most: 1}]", r"types\.0\.disk: "),
        ("types: [{name: a, most: 1}]", "instance type a has no resources"),
        ("[1]", r"types\.yaml: "),
        (
            "types: [{name: a, cores: 1, most: 1}, {name: b, cores: 2, most: 1}, {name: b, cores: 3, most: 1}]",
            "type 'b' is defined twice",
        ),
    ],
)
def test_a_file_without_valid_types_is_rejected(read, text, message):
    with pytest.raises(InputError, match=message):
        read(text)
