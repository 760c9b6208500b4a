"""Bodies of requests, with limits: forms of browsers, and messages of the Model Context Protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

from windlass.control.mcp.protocol import VERSIONS
from windlass.control.web.request import BadRequestError, FieldRules, PageRequest, values_of

#: The longest body, bytes, and the time to receive it, s.
LONGEST, _PATIENCE = 65_536, 10.0
_FORM_FIELDS = FieldRules("form", "field", longest=500, lines=True, strict=True)
_FORM = "application/x-www-form-urlencoded"

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


async def read_body(receive: Receive) -> bytes:
    """Return the body of a request.

    Raises
    ------
    BadRequestError
        It is too long, or the client is too slow or gone.
    """
    try:
        return await asyncio.wait_for(_received(receive), _PATIENCE)
    except TimeoutError:
        raise BadRequestError(408, "the body did not arrive in time") from None


async def _received(receive: Receive) -> bytes:
    found = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BadRequestError(400, "the client is gone")
        found += message.get("body", b"")
        if len(found) > LONGEST:
            raise BadRequestError(413, f"the body has more than {LONGEST:,} bytes")
        if not message.get("more_body", False):
            return bytes(found)


def check_message(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse a message that is not JSON, or of a version of the protocol that is not known.

    Raises
    ------
    BadRequestError
        A header has another type or version. A page of another site cannot send JSON without a permission.

    Examples
    --------
    >>> check_message([(b"content-type", b"application/json; charset=utf-8")])
    """
    found = {name: value.decode("latin-1") for name, value in headers}
    if found.get(b"content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise BadRequestError(415, "expected the type application/json")
    version = found.get(b"mcp-protocol-version", VERSIONS[0])
    if version not in VERSIONS:
        raise BadRequestError(400, f"unknown version of the protocol, expected one of {', '.join(VERSIONS)}")


def form_of(request: PageRequest, kind: str, body: bytes, known: Iterable[str]) -> Mapping[str, str]:
    """Read a form that a page of this server has sent.

    Parameters
    ----------
    request
        The request. Browsers send its origin with each form.
    kind
        Its header ``Content-Type``.
    body
        Its body.
    known
        Names of fields.

    Raises
    ------
    BadRequestError
        The origin is missing, the body is not a form, or a field is unknown, repeated or too long.

    Examples
    --------
    >>> request = PageRequest("POST", "/", "localhost", "http://localhost", None, {})
    >>> form_of(request, "application/x-www-form-urlencoded", b"job=7&reason=a+b", ("job", "reason"))
    {'job': '7', 'reason': 'a b'}
    """
    if not request.origin:
        raise BadRequestError(403, "the header Origin is missing, which browsers send with a form")
    if kind.partition(";")[0].strip().lower() != _FORM:
        raise BadRequestError(415, f"expected the type {_FORM}")
    return values_of(body, _FORM_FIELDS, set(known))
