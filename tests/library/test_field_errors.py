"""Errors of fields are one line in Windlass's words, not in those of the library that reads them."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import Field, ValidationError

from windlass.io import Fields
from windlass.io.field_errors import field_error


class Node(Fields):
    """Fields of all kinds."""

    name: str = Field("n", min_length=1, max_length=3, pattern="^[a-z]*$")
    cores: int = Field(1, ge=1, le=64, multiple_of=1)
    price: float = Field(0.0, gt=-1.0, lt=9.0)
    kind: Literal["cpu", "gpu"] = "cpu"
    spot: bool = False
    tags: list[str] = Field(["a"], min_length=1, max_length=2)
    limits: dict[str, float] = Field(default_factory=dict)
    parent: Any = None


class Site(Fields):
    """A list of nodes."""

    nodes: list[Node]


@pytest.mark.parametrize(
    ("node", "line"),
    [
        ({"name": ""}, "nodes.0.name: expected a text of at least 1 characters, found ''"),
        ({"name": "abcd"}, "nodes.0.name: expected a text of at most 3 characters, found 'abcd'"),
        ({"name": "A-"}, "nodes.0.name: expected a text of the form ^[a-z]*$, found 'A-'"),
        ({"name": 3}, "nodes.0.name: expected a text, found 3"),
        ({"cores": 0}, "nodes.0.cores: expected at least 1, found 0"),
        ({"cores": 65}, "nodes.0.cores: expected at most 64, found 65"),
        ({"cores": 1.5}, "nodes.0.cores: expected a whole number, found 1.5"),
        ({"cores": "many"}, "nodes.0.cores: expected a whole number, found 'many'"),
        ({"cores": None}, "nodes.0.cores: expected a whole number, found None"),
        ({"price": -1}, "nodes.0.price: expected a number above -1, found -1"),
        ({"price": 9}, "nodes.0.price: expected a number below 9, found 9"),
        ({"price": []}, "nodes.0.price: expected a number, found []"),
        ({"price": True}, "nodes.0.price: expected a number, not true or false, found True"),
        ({"kind": "tpu"}, "nodes.0.kind: expected 'cpu' or 'gpu', found 'tpu'"),
        ({"spot": "perhaps"}, "nodes.0.spot: expected true or false, found 'perhaps'"),
        ({"tags": []}, "nodes.0.tags: expected at least 1 entry, found []"),
        ({"tags": list("abc")}, "nodes.0.tags: expected at most 2 entries, found ['a', 'b', 'c']"),
        ({"tags": 5}, "nodes.0.tags: expected a list, found 5"),
        ({"limits": 5}, "nodes.0.limits: expected a mapping of fields, found 5"),
        ({"coers": 5}, "nodes.0.coers: no such field, found 5"),
        (5, "nodes.0: expected a mapping of fields, found 5"),
        ({"name": "x" * 99}, f"nodes.0.name: expected a text of at most 3 characters, found '{'x' * 59}…"),
    ],
)
def test_a_wrong_field_is_one_line(node, line):
    with pytest.raises(ValidationError) as found:
        Site.model_validate({"nodes": [node]})
    assert field_error(found.value) == line


def test_a_missing_field_and_a_wrong_whole_are_named():
    with pytest.raises(ValidationError) as found:
        Site.model_validate({})
    assert field_error(found.value, before="engines.0.") == "engines.0.nodes: missing"
    with pytest.raises(ValidationError) as found:
        Site.model_validate(3)
    assert field_error(found.value, whole="the file") == "the file: expected a mapping of fields, found 3"
    assert field_error(found.value) == "expected a mapping of fields, found 3"
