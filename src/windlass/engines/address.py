"""Validation of addresses that users give; they are checked before any connection is attempted."""

from __future__ import annotations

import ipaddress
import re

from windlass.model import InputError
from windlass.model.errors import ParameterError

_URL = re.compile(r"https?://(\[[^\[\]/]*\]|[^\[\]/:]*)(?::([0-9]+))?(?:/[A-Za-z0-9._~/-]*)?")
_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_LONGEST_HOST = 253
#: Number of characters of an invalid address that a message shows.
_LONGEST_SHOWN = 80
#: Addresses that Ray resolves itself.
_RESOLVED_BY_RAY = ("auto", "local")
_CLIENT = "ray://"


def host_and_port(option: str, text: str) -> tuple[str, int]:
    """Split an address into the host, without brackets, and the port.

    Parameters
    ----------
    option
        The name of the parameter or option, for the error message.
    text
        A name, an IPv4 address, or an IPv6 address in brackets; a colon; and a port from 1 to 65535.

    Raises
    ------
    InputError
        The text is not an address.

    Examples
    --------
    >>> host_and_port("address", "127.0.0.1:6379"), host_and_port("address", "[::1]:80")
    (('127.0.0.1', 6379), ('::1', 80))
    >>> host_and_port("address", "me@host:80")
    Traceback (most recent call last):
    windlass.model.errors.ParameterError: address: 'me@host:80', expected a host and a port, as in 127.0.0.1:6379
    """
    host, _, port = text.rpartition(":")
    if not is_host(host) or not is_port(port):
        raise ParameterError(option, f"{shorten(text)!r}, expected a host and a port, as in 127.0.0.1:6379")
    return host.strip("[]"), int(port)


def ray_head(option: str, text: str) -> tuple[str, int] | None:
    """Return host and port of a Ray cluster's head; None for one that Ray finds itself (``auto``).

    Raises
    ------
    InputError
        The text is not the address of a Ray cluster.

    Examples
    --------
    >>> ray_head("on", "ray://head:10001"), ray_head("on", "auto")
    (('head', 10001), None)
    """
    if text in _RESOLVED_BY_RAY:
        return None
    try:
        return host_and_port(option, text.removeprefix(_CLIENT))
    except InputError:
        # Raise an error that shows the original text.
        return host_and_port(option, text)


def is_host(text: str) -> bool:
    """Return whether this is a name, an IPv4 address, or an IPv6 address in brackets.

    >>> is_host("head.cluster"), is_host("[::1]"), is_host("::1"), is_host("127.0.0.256"), is_host("a b")
    (True, True, False, False, False)
    """
    if is_ip(text):
        return True
    labels = text.removesuffix(".").split(".")
    if len(text) > _LONGEST_HOST or not all(map(_LABEL.fullmatch, labels)):
        return False
    # The system accepts 127.1 and 0x7f.1 as addresses, too, but they are usually mistakes.
    return not _NUMBER.fullmatch(labels[-1])


def is_ip(text: str) -> bool:
    """Return whether this is an IPv4 address, or an IPv6 address in brackets.

    >>> is_ip("127.0.0.1"), is_ip("[::1]"), is_ip("::1"), is_ip("[127.0.0.1]"), is_ip("localhost")
    (True, True, False, False, False)
    """
    brackets = text.startswith("[") and text.endswith("]")
    bare = text[1:-1] if brackets else text
    # The library accepts any scope after a percent sign.
    scope = bare.partition("%")
    if not bare.isascii() or len(bare) > _LONGEST_HOST or (scope[1] and not scope[2].isalnum()):
        return False
    try:
        return ipaddress.ip_address(bare).version == (6 if brackets else 4)
    except ValueError:
        return False


def is_port(text: str) -> bool:
    """Return whether this is a port number.

    >>> is_port("80"), is_port("0"), is_port("+80"), is_port("65536")
    (True, False, False, False)
    """
    return text.isascii() and text.isdecimal() and len(text) <= 5 and 0 < int(text) < 65536


def shorten(text: str) -> str:
    """Shorten an invalid text for a message to 80 characters and an ellipsis.

    >>> len(shorten("a" * 1000))
    81
    """
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def is_url(text: str) -> bool:
    """Return whether this is an HTTP or HTTPS URL with a host and an optional path, and nothing else.

    >>> is_url("http://10.0.0.1:9092"), is_url("https://[::1]/tree"), is_url("http://me@host"), is_url("http://a:b")
    (True, True, False, False)
    """
    found = _URL.fullmatch(text)
    return found is not None and is_host(found[1]) and (found[2] is None or is_port(found[2]))
