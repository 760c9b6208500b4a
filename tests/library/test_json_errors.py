"""Errors of JSON messages: one line with field, expectation and value."""

from __future__ import annotations

import enum
from typing import Annotated, Any

import msgspec
import pytest

from windlass.io.json_errors import json_error


class _Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


class _Wheel(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    spoke_count: Annotated[int, msgspec.Meta(ge=3, le=99)] = 36


class _Cart(msgspec.Struct, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=4, description="A name.")]
    wheels: Annotated[tuple[_Wheel, ...], msgspec.Meta(max_length=2)] = ()
    spare: _Wheel | None = None
    colour: _Colour | None = None
    load: float = 0.0
    weights: dict[str, int] = {}
    number: int | float | str | None = None


CASES = [
    ('{"name": 3}', "name: expected a text, found 3"),
    ('{"name": null}', "name: expected a text, found null"),
    ('{"name": ""}', 'name: expected at least 1 character, found ""'),
    ('{"name": "carts"}', 'name: expected at most 4 characters, found "carts"'),
    ("{}", "name: missing"),
    ("[]", "expected an object with fields, found an empty list"),
    ('{"name": "a", "load": "x"}', 'load: expected a number, found "x"'),
    ('{"name": "a", "wheels": {}}', "wheels: expected a list, found an empty object"),
    (
        '{"name": "a", "wheels": [{}, {}, {}]}',
        "wheels: expected at most 2 entries, found a list of 3 entries",
    ),
    (
        '{"name": "a", "wheels": [{}, {"spokeCount": 2}]}',
        "wheels.1.spokeCount: expected at least 3, found 2",
    ),
    ('{"name": "a", "wheels": [[]]}', "wheels.0: expected an object with fields, found an empty list"),
    (
        '{"name": "a", "wheels": [{"spokeCont": 9}]}',
        "wheels.0.spokeCont: no such field, found 9; did you mean 'spokeCount'?",
    ),
    (
        '{"name": "a", "spare": {"tyre": true}}',
        "spare.tyre: no such field, found true; the fields are spokeCount",
    ),
    ('{"name": "a", "spare": 1}', "spare: expected an object with fields or null, found 1"),
    (
        '{"name": "a", "number": []}',
        "number: expected a whole number, a number, a text or null, found an empty list",
    ),
    ('{"name": "a", "colour": "pink"}', 'colour: expected one of "red", "blue", found "pink"'),
    ('{"name": "a", "weights": {"b": "c"}}', "weights: expected a whole number"),
    ('{"name": 3,', "name: expected a text, found text that is not JSON"),
    ('{"name"', "expected JSON, found text that ends too early"),
    ("", "expected JSON, found text that ends too early"),
    ("x", "expected JSON, found a fault: invalid character (byte 0)"),
    (b'{"name": "a\xff"}', "expected JSON, found bytes that are not UTF-8"),
]


@pytest.mark.parametrize(("text", "line"), CASES)
def test_an_error_names_field_expectation_and_value(text, line):
    with pytest.raises((msgspec.MsgspecError, UnicodeDecodeError)) as caught:
        msgspec.json.decode(text, type=_Cart)
    assert json_error(caught.value, text, _Cart) == line


def test_a_value_that_was_decoded_before_gives_the_same_line():
    value: dict[str, Any] = {"name": "a", "wheels": [{"spokeCount": 100}]}
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, _Cart)
    assert json_error(caught.value, value, _Cart) == "wheels.0.spokeCount: expected at most 99, found 100"


def test_a_long_value_is_cut_and_deep_nesting_is_named():
    value = {"name": "é\n" * 500}
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, _Cart)
    line = json_error(caught.value, value, _Cart)
    assert line.startswith('name: expected at most 4 characters, found "é\\né')
    assert line.endswith("…")
    assert len(line) < 120
    assert json_error(RecursionError(), "[", _Cart) == "expected JSON, found text that is nested too deeply"
