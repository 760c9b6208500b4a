"""Keeps a process from asking anybody beyond this machine, and knows whom it would have asked."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Contacts:
    """Hosts beyond this machine that somebody wanted to look up or to connect to."""

    asked: list[str] = field(default_factory=list)


def is_here(host: object) -> bool:
    """Whether a host is this machine, and nobody needs to be asked where it is."""
    if host in ("localhost", None, ""):
        return True
    try:
        found = ipaddress.ip_address(str(host).partition("%")[0])
    except ValueError:
        return False
    return found.is_loopback or found.is_unspecified


def only_here() -> Contacts:
    """From now on, whoever looks up or connects to anything beyond this machine is told that there is no network."""
    contacts = Contacts()
    looked_up, connected = socket.getaddrinfo, socket.socket.connect

    def look_up(host: Any, *more: Any, **others: Any) -> Any:
        if not is_here(host):
            contacts.asked.append(str(host))
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return looked_up(host, *more, **others)

    def connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_here(address[0]):
            contacts.asked.append(str(address[0]))
            raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))
        connected(self, address)

    socket.getaddrinfo = look_up
    socket.socket.connect = connect  # type: ignore[method-assign]
    return contacts
