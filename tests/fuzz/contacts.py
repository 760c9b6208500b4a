"""Block connections to other hosts, and record the attempts."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Contacts:
    """Other hosts that the process tried to look up or connect to."""

    requested: list[str] = field(default_factory=list)


def is_local(host: object) -> bool:
    """Return True if a host is this machine and needs no name resolution."""
    if host in ("localhost", None, ""):
        return True
    try:
        found = ipaddress.ip_address(str(host).partition("%")[0])
    except ValueError:
        return False
    return found.is_loopback or found.is_unspecified


def block_other_hosts() -> Contacts:
    """Make look-ups of other hosts and connections to them fail from now on, as without a network."""
    contacts = Contacts()
    original_lookup, original_connect = socket.getaddrinfo, socket.socket.connect

    def look_up(host: Any, *more: Any, **others: Any) -> Any:
        if not is_local(host):
            contacts.requested.append(str(host))
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return original_lookup(host, *more, **others)

    def connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_local(address[0]):
            contacts.requested.append(str(address[0]))
            raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))
        original_connect(self, address)

    socket.getaddrinfo = look_up
    socket.socket.connect = connect  # type: ignore[method-assign]
    return contacts
