"""HAProxy's agent-check: a second port on which each connection receives one line and is closed.

``ready up 80%`` makes a server available with that percentage of its weight. ``drain`` stops new connections, while
existing ones continue. ``drain`` sets the server's administrative state, which only ``ready`` resets; ``ready``
therefore also ends a drain or maintenance that an operator set by hand. To avoid that, answers can use the weight
alone: ``up 0%`` has the same effect as ``drain``, and leaves the administrative state unchanged.

Source: HAProxy's configuration manual, ``agent-check``.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable

from windlass.agent.options import Address
from windlass.agent.signal_board import AdmissionAnswer
from windlass.agent.web import listening

#: Time limit for sending the line, s; slower clients do not receive it.
_PATIENCE = 0.2
#: How long the farewell is sent, s: some intervals of HAProxy's checks.
_FAREWELL_S = 5.0


def line_of(answer: AdmissionAnswer, by: str) -> str:
    """Return the line for HAProxy.

    Parameters
    ----------
    answer
        The current decision.
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
    """Sends each connection a line, until it is closed.

    Parameters
    ----------
    address
        The address to listen on; port 0 for any free port.
    line
        Returns the line.
    farewell
        The line that is sent for five seconds before the end, unless it was the last one anyway; empty for none.
        HAProxy keeps the state of an agent that no longer answers, so that a drained server would stay drained.

    Raises
    ------
    InputError
        The address cannot be listened on.
    """

    def __init__(self, address: Address, line: Callable[[], str], farewell: str = "") -> None:
        self._socket = listening("--check", address)
        self.address = Address(address.host, self._socket.getsockname()[1])
        self._line, self._farewell, self._closed = line, farewell, False
        self._last = farewell
        self._thread = threading.Thread(target=self._serve, name="agent-check", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Send the farewell, if there is one and another line was sent last; then stop answering."""
        if self._last != self._farewell and self._farewell:
            self._line = lambda: self._farewell
            time.sleep(_FAREWELL_S)
        self._closed = True
        # Shutting the socket down wakes the thread in accept(), which closing it would not.
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
                continue  # the client has already disconnected
            with connection, contextlib.suppress(OSError):
                connection.settimeout(_PATIENCE)
                self._last = self._line()
                connection.sendall(f"{self._last}\n".encode())
                connection.shutdown(socket.SHUT_WR)
                # HAProxy may send a line, too; a close with unread data would reset the connection.
                connection.recv(256)
