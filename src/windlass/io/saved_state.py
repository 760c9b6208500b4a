"""Container format of learned state, in files and on the wire: a line with kind, version and checksum, then a body.

The code that saves the state defines the body: arrays, parts, or JSON. If the body is text, so is the whole container.
"""

from __future__ import annotations

import re
import zlib

from windlass.model import InputError

_FIRST = re.compile(rb"windlass-([a-z-]{1,40}) ([0-9]{1,9}) ([0-9a-f]{8})\n")
#: Arrays that were saved before this format existed: these bytes, a checksum of four bytes, and the body.
_OLD, _OLD_BODY = b"WINDLASS", 12


def seal(kind: str, body: bytes, version: int = 1) -> bytes:
    """Return a body in its container.

    Parameters
    ----------
    kind
        The kind of state: lower-case letters and hyphens.
    body
        Any bytes.
    version
        Version of the body's layout.

    Examples
    --------
    >>> seal("agent", b"body")
    b'windlass-agent 1 dba80bb2\\nbody'
    >>> unseal(seal("agent", b"body"), "agent")
    b'body'
    """
    return b"windlass-%s %d %08x\n" % (kind.encode(), version, zlib.crc32(body)) + body


def unseal(data: bytes, kind: str, version: int = 1) -> bytes:
    """Return the body of a container made by :func:`seal`.

    Parameters
    ----------
    data
        The whole content of a file or a message.
    kind, version
        Expected kind and version; any other is rejected.

    Raises
    ------
    InputError
        The data is not such a container, has another kind or version, or was truncated or changed.
    """
    if data.startswith(_OLD) and len(data) > _OLD_BODY:
        return _checked(data[_OLD_BODY:], int.from_bytes(data[len(_OLD) : _OLD_BODY], "little"))
    first = _FIRST.match(data)
    if first is None:
        raise InputError(
            f"saved state: {len(data)} bytes that do not begin with 'windlass-{kind} {version}' and a checksum"
        )
    found = first[1].decode()
    if found != kind:
        raise InputError(f"saved state: is of kind {found!r}, expected {kind!r}")
    if int(first[2]) != version:
        raise InputError(f"saved state: version is {int(first[2])}, expected {version}")
    return _checked(data[first.end() :], int(first[3], 16))


def seal_text(kind: str, body: str, version: int = 1) -> str:
    """Return a text in its container, as text; see :func:`seal`.

    >>> seal_text("sharing", "{}")
    'windlass-sharing 1 a3a6bf43\\n{}'
    """
    return seal(kind, body.encode(), version).decode()


def unseal_text(data: str | bytes, kind: str, version: int = 1) -> str:
    """Return the body of a container made by :func:`seal_text`.

    A JSON object without a container was saved before the format existed; it is returned unchanged.

    Raises
    ------
    InputError
        The container is not valid (see :func:`unseal`), or the body is not UTF-8.
    """
    sealed = data.encode(errors="surrogatepass") if isinstance(data, str) else data
    body = sealed if sealed.startswith(b"{") else unseal(sealed, kind, version)
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"saved state: is not UTF-8: {error.reason}") from error


def _checked(body: bytes, checksum: int) -> bytes:
    if zlib.crc32(body) != checksum:
        raise InputError("saved state: its checksum is wrong: it was truncated or changed")
    return body
