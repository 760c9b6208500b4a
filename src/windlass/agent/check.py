"""HAProxy's agent-check: a second port, at which each connection is told one line and closed.

``ready up 80%`` sets a server to work with that part of its weight, and ``drain`` sends it no new connections, while
those that it has go on. ``drain`` sets the server's administrative state, which only ``ready`` ends; so ``ready`` also
ends a drain or maintenance that an operator has set by hand. Where that is not wanted, answers can be by weight alone:
``up 0%`` has the same effect as ``drain``, and leaves the administrative state alone.

Source: HAProxy's configuration manual, ``agent-check``.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

from windlass.agent.options import Address
from windlass.agent.signal_board import AdmissionAnswer
from windlass.agent.web import listening

#: Who does not take a line within so many seconds goes without.
_PATIENCE = 0.2


def line_of(answer: AdmissionAnswer, by: str) -> str:
    """What HAProxy is told.

    Parameters
    ----------
    answer
        What stands.
    by
        ``state`` or ``weight``.

    Examples
    --------
    >>> line_of(AdmissionAnswer(True, "", 80), "state"), line_of(AdmissionAnswer(False, "", 0), "state")
    ('ready up 80%', 'drain')
    >>> line_of(AdmissionAnswer(True, "", 80), "weight"), line_of(AdmissionAnswer(False, "", 0), "weight")
    ('up 80%', 'up 0%')
    """
    if by == "weight":
        return f"up {answer.percent}%"
    return f"ready up {answer.percent}%" if answer.accept else "drain"


class CheckServer:
    """Tells each connection a line, until it is closed.

    Parameters
    ----------
    address
        Where to listen; port 0 for any that is free.
    line
        What is told.

    Raises
    ------
    InputError
        Nobody can listen there.
    """

    def __init__(self, address: Address, line: Callable[[], str]) -> None:
        self._socket = listening("--check", address)
        self.address = Address(address.host, self._socket.getsockname()[1])
        self._line, self._closed = line, False
        self._thread = threading.Thread(target=self._serve, name="agent-check", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer no more."""
        self._closed = True
        # Wakes the thread, which closing the socket would not.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=5.0)
        self._socket.close()

    def _serve(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                if self._closed:
                    return
                continue  # the other end has gone already
            with connection, contextlib.suppress(OSError):
                connection.settimeout(_PATIENCE)
                connection.sendall(f"{self._line()}\n".encode())
                connection.shutdown(socket.SHUT_WR)
                # HAProxy may send a line too; closed with that unread, the connection would be reset.
                connection.recv(256)
