"""Which requests are refused: foreign hosts and origins, and requests without the token.

A page of another site can make a browser send requests here. It cannot read the answers as long as the header ``Host``
has a name of this server, which a name that was rebound to this address does not have.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from windlass.agent.options import Address
from windlass.agent.token import Token, read_token
from windlass.control.web.request import BadRequestError, PageRequest
from windlass.model import InputError

#: Paths to which forms, and messages of the Model Context Protocol, are sent.
POSTED: Mapping[str, Sequence[str]] = {
    "/actions/preview": ("POST",),
    "/actions/carry-out": ("POST",),
    "/mcp": ("POST",),
}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class PageAccess:
    """Checks requests.

    Parameters
    ----------
    token
        The token that each request must have; None for none.
    hosts
        Names under which the pages are requested, in addition to those of the loopback device.
    methods
        Methods other than GET by path.

    Examples
    --------
    >>> def request(host, origin="", authorization=None):
    ...     return PageRequest("GET", "/", host, origin, authorization, {})
    >>> access = PageAccess(None, ["cluster.example"])
    >>> access.check(request("localhost:8090", "http://localhost:8090"))
    >>> access.check(request("cluster.example"))
    >>> access.check(request("rebound.example:8090"))
    Traceback (most recent call last):
    windlass.control.web.request.BadRequestError: this server has no such name
    """

    def __init__(
        self,
        token: Token | None,
        hosts: Iterable[str] = (),
        methods: Mapping[str, Sequence[str]] = POSTED,
    ) -> None:
        self._token, self._methods = token, methods
        self._hosts = frozenset({*_LOOPBACK, *(each.strip("[]").lower() for each in hosts)})

    def check(self, request: PageRequest) -> None:
        """Refuse a request that is not meant for this server, or not allowed.

        Raises
        ------
        BadRequestError
            The method is not supported at this path; the host or the origin is foreign; or the token is missing.
        """
        if request.method not in ("GET", "HEAD", *self._methods.get(request.path, ())):
            raise BadRequestError(405, "only GET is supported here: the pages change nothing")
        if not self._is_own(_name_of(request.host)):
            raise BadRequestError(421, "this server has no such name")
        if request.origin and request.origin not in (f"http://{request.host}", f"https://{request.host}"):
            raise BadRequestError(403, "requests of other sites are refused")
        if self._token is not None and not _has(self._token, request.authorization):
            raise BadRequestError(401, "the token is missing or wrong")

    def _is_own(self, name: str) -> bool:
        if name in self._hosts:
            return True
        # An address cannot be rebound as a name can. Behind a token the server may have several addresses.
        return self._token is not None and _is_ip(name)


def check_access(listen: Address, token_file: Path | None) -> Token | None:
    """Return the token, and refuse an address that other machines reach without one.

    Parameters
    ----------
    listen
        Address of the pages.
    token_file
        File with the token; None for the environment variable ``WINDLASS_TOKEN``.

    Raises
    ------
    InputError
        The token cannot be read, or the address needs one.

    Examples
    --------
    >>> check_access(Address("127.0.0.1", 8090), None) is None
    True
    """
    token = read_token(token_file)
    if token is None and not ipaddress.ip_address(listen.host).is_loopback:
        raise InputError(
            f"pages: {listen.host} is reachable from other machines, expected a token or 127.0.0.1"
        )
    return token


def _has(token: Token, header: bytes | None) -> bool:
    """Return whether a header has the token: as a bearer, or as the password that a browser sends."""
    if header is None:
        return False
    scheme, _, encoded = header.partition(b" ")
    if scheme.lower() == b"basic":
        try:
            header = b"Bearer " + base64.b64decode(encoded, validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return False
    return token.is_in(header)


def _name_of(host: str) -> str:
    """Return the name in the header ``Host``, without the port.

    >>> _name_of("localhost:80"), _name_of("[::1]:80"), _name_of("a:b"), _name_of("")
    ('localhost', '::1', '', '')
    """
    if host.startswith("["):
        name, bracket, port = host[1:].partition("]")
        return name if bracket and (not port or (_is_port(port[1:]) and port[0] == ":")) else ""
    name, colon, port = host.partition(":")
    return name if not colon or _is_port(port) else ""


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 5


def _is_ip(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
