"""A request's headers and query, with limits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

#: The longest query, bytes, and the most fields of a query or a form.
_QUERY, _FIELDS = 2_000, 20


class BadRequestError(Exception):
    """A request that is refused.

    Parameters
    ----------
    status
        The HTTP status, 400 to 499.
    why
        One line for the client.
    """

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page.

    Parameters
    ----------
    method, path
        The method, and the path without the query.
    host, origin, authorization
        The headers of these names; empty if absent.
    values
        The parameters of the query.
    """

    method: str
    path: str
    host: str
    origin: str
    authorization: bytes | None
    values: Mapping[str, str]

    def text(self, name: str) -> str | None:
        """Return a parameter of the query; None if it is absent or empty."""
        return self.values.get(name) or None

    def number(self, name: str, least: int, most: int, label: str = "") -> int | None:
        """Return a whole number of the query; None if it is absent.

        Parameters
        ----------
        name
            Name of the parameter.
        least, most
            Its bounds.
        label
            What the field is called on the page; empty if it is the name.

        Raises
        ------
        BadRequestError
            It is not a whole number, or out of bounds.
        """
        text = self.text(name)
        if text is None:
            return None
        if not (text.isascii() and text.isdecimal() and len(text) <= 19 and least <= int(text) <= most):
            raise BadRequestError(400, f"{label or name} is not a whole number from {least:,} to {most:,}")
        return int(text)


@dataclass(frozen=True, slots=True)
class FieldRules:
    """What a query or a form may have.

    Parameters
    ----------
    whole, field
        What it and its fields are called in errors.
    longest
        The longest value, characters.
    lines
        Whether values may have several lines.
    strict
        Whether each field must have a value, if only an empty one.
    """

    whole: str
    field: str
    longest: int
    lines: bool = False
    strict: bool = False


_QUERY_FIELDS = FieldRules("query", "parameter", longest=200)


def values_of(data: bytes, rules: FieldRules, known: Collection[str]) -> dict[str, str]:
    """Read the fields of a query or a form.

    Parameters
    ----------
    data
        The fields, encoded as in a query.
    rules
        What they may be.
    known
        Names of fields.

    Raises
    ------
    BadRequestError
        The data is malformed; or a field is unknown, repeated or too long, or has control characters.

    Examples
    --------
    >>> values_of(b"job=a%2F1&user=", FieldRules("query", "parameter", 10), ("job", "user"))
    {'job': 'a/1', 'user': ''}
    """
    try:
        pairs = parse_qsl(
            data.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=rules.strict,
            max_num_fields=_FIELDS,
            errors="strict",
        )
    except ValueError:
        raise BadRequestError(400, f"the {rules.whole} is malformed") from None
    values: dict[str, str] = {}
    for name, value in pairs:
        if name not in known:
            raise BadRequestError(400, f"unknown {rules.field}, expected some of {', '.join(sorted(known))}")
        if name in values:
            raise BadRequestError(400, f"{name} is given twice")
        line = value.replace("\r", "").replace("\n", "") if rules.lines else value
        if len(value) > rules.longest or not line.isprintable():
            raise BadRequestError(
                400, f"{name} has control characters, or more than {rules.longest} characters"
            )
        values[name] = value
    return values


def request_of(
    method: str, path: str, query: bytes, headers: Iterable[tuple[bytes, bytes]], known: frozenset[str]
) -> PageRequest:
    """Read a request.

    Parameters
    ----------
    method, path, query, headers
        As in the scope of ASGI.
    known
        Names of parameters.

    Raises
    ------
    BadRequestError
        The query is too long, has an unknown or a repeated parameter, or control characters; or a header is repeated.

    Examples
    --------
    >>> request_of("GET", "/", b"job=a%2F1", [(b"host", b"localhost")], frozenset({"job"})).text("job")
    'a/1'
    """
    if len(query) > _QUERY:
        raise BadRequestError(414, f"the query has more than {_QUERY} bytes")
    values = values_of(query, _QUERY_FIELDS, known)
    found: dict[bytes, bytes] = {}
    for header, content in headers:
        if header in found and header in (b"host", b"origin", b"authorization"):
            raise BadRequestError(400, "a header is given twice")
        found[header] = content
    return PageRequest(
        method,
        path,
        found.get(b"host", b"").decode("latin-1").lower(),
        found.get(b"origin", b"").decode("latin-1").lower(),
        found.get(b"authorization"),
        values,
    )
