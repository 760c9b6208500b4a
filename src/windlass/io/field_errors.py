"""The first error of a file's fields in one line: the field, what is expected, and the value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import ValidationError

#: The longest text of a value, in characters, and the longest integer that is written out, in bits.
_LONGEST: Final = 60
_BITS: Final = 64
_Context = Mapping[str, Any]


def _items(context: _Context) -> str:
    least, most = context.get("min_length"), context.get("max_length")
    number, bound = (least, "at least") if least is not None else (most, "at most")
    return f"expected {bound} {number} {'entry' if number == 1 else 'entries'}"


def _constant(text: str) -> Callable[[_Context], str]:
    return lambda context: text


_NUMBER, _WHOLE, _TEXT = (_constant(f"expected {what}") for what in ("a number", "a whole number", "a text"))
_TRUTH, _LIST, _MAPPING = (
    _constant(f"expected {what}") for what in ("true or false", "a list", "a mapping of fields")
)
#: By Pydantic's type of error, what is expected.
_EXPECTED: Final[Mapping[str, Callable[[_Context], str]]] = {
    "missing": _constant("missing"),
    "extra_forbidden": _constant("no such field"),
    "greater_than": lambda context: f"expected a number above {context['gt']:g}",
    "greater_than_equal": lambda context: f"expected at least {context['ge']:g}",
    "less_than": lambda context: f"expected a number below {context['lt']:g}",
    "less_than_equal": lambda context: f"expected at most {context['le']:g}",
    "multiple_of": lambda context: f"expected a multiple of {context['multiple_of']:g}",
    "finite_number": _constant("expected a finite number"),
    "too_short": _items,
    "too_long": _items,
    "string_too_short": lambda context: f"expected a text of at least {context['min_length']} characters",
    "string_too_long": lambda context: f"expected a text of at most {context['max_length']} characters",
    "string_pattern_mismatch": lambda context: f"expected a text of the form {context['pattern']}",
    "literal_error": lambda context: f"expected {context['expected']}",
    "enum": lambda context: f"expected {context['expected']}",
    "none_required": _constant("expected no value"),
    "json_invalid": _constant("is not JSON"),
    **dict.fromkeys(("float_type", "float_parsing", "decimal_type", "decimal_parsing"), _NUMBER),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), _WHOLE),
    **dict.fromkeys(("string_type", "string_sub_type", "string_unicode"), _TEXT),
    **dict.fromkeys(("bool_type", "bool_parsing"), _TRUTH),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "iterable_type"), _LIST),
    **dict.fromkeys(
        ("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type"), _MAPPING
    ),
}


def field_error(error: ValidationError, before: str = "", whole: str = "") -> str:
    """Return the first error in one line.

    Parameters
    ----------
    error
        The error of Pydantic.
    before
        Put before the field's name.
    whole
        Put in place of a name if the value as a whole is wrong.

    Examples
    --------
    >>> from pydantic import BaseModel, Field
    >>> class Types(BaseModel):
    ...     cores: float = Field(ge=0)
    >>> try:
    ...     Types(cores=-1)
    ... except ValidationError as error:
    ...     field_error(error)
    'cores: expected at least 0, found -1'
    """
    found = first_error(error)
    # Pydantic names the alternatives of a type in the path, such as literal['each'].
    name = ".".join(str(part) for part in found["loc"] if "[" not in str(part))
    where = f"{before}{name}: " if name else f"{whole}: " if whole else ""
    kind, value = found["type"], found["input"]
    expected = _EXPECTED.get(kind)
    if expected is not None:
        problem = expected(found.get("ctx", {})) + _alternatives(error, found)
        # The value of a missing field is the mapping that lacks it.
        return f"{where}{problem}" if kind == "missing" else f"{where}{problem}, found {_shown(value)}"
    message = found["msg"].removeprefix("Value error, ")
    problem = f"{message[:1].lower()}{message[1:]}"
    if isinstance(value, dict):
        return f"{where}{problem}"
    shown = f"found {_shown(value)}"
    return f"{where}{problem}, {shown}" if problem.startswith("expected") else f"{where}{problem} ({shown})"


def first_error(error: ValidationError) -> Any:
    """Return the first error; if a field is missing, an unknown field at the same place instead.

    The unknown field may be the missing one, misspelt.

    Parameters
    ----------
    error
        The error of Pydantic.

    Returns
    -------
    Any
        A mapping of Pydantic with ``type``, ``loc``, ``msg``, ``input`` and, for some types, ``ctx``.

    Examples
    --------
    >>> from pydantic import BaseModel
    >>> class Types(BaseModel, extra="forbid"):
    ...     cores: float
    >>> try:
    ...     Types(coers=4)
    ... except ValidationError as error:
    ...     first_error(error)["loc"]
    ('coers',)
    """
    found = error.errors(include_url=False)
    first = found[0]
    if first["type"] != "missing":
        return first
    near = (
        each for each in found if each["type"] == "extra_forbidden" and each["loc"][:-1] == first["loc"][:-1]
    )
    return next(near, first)


def _alternatives(error: ValidationError, found: Any) -> str:
    """Return what else is expected if the type of the field has alternatives, such as `` or a list``."""
    if not found["loc"] or "[" not in str(found["loc"][-1]):
        return ""
    others = (
        _EXPECTED[each["type"]](each.get("ctx", {})).removeprefix("expected ")
        for each in error.errors(include_url=False)
        if each["loc"] != found["loc"] and each["loc"][:-1] == found["loc"][:-1] and each["type"] in _EXPECTED
    )
    return "".join(f" or {other}" for other in others)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, int) and value.bit_length() > _BITS:
        return f"a number of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
