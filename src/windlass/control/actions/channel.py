"""A Unix socket next to the journal, on which pages and commands send requests to the process of the engines.

Only its owner may connect (mode 0600). The kernel names the user of the other end. Paths of Unix sockets are limited to
about 100 bytes, so that both ends use the open folder in place of its path.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from windlass.control.actions.messages import (
    LONGEST,
    ActionReply,
    ActionRequest,
    RequestKind,
    line_of,
    reply_from,
    request_from,
)
from windlass.model import InputError

#: Time for a peer to send its request, s, and the most requests at a time.
_PATIENCE, _AT_ONCE = 5.0, 8
#: Time for a process to accept a request, s.
_CONNECT = 5
#: Time for a reply, s: an engine that gives its queue back may take a while.
_REPLY = 90.0
#: Interval at which the end is noticed, s.
_POLL = 0.2

#: Answers a request of a user of this machine.
Answer = Callable[[ActionRequest, str], ActionReply]


class ActionChannel:
    """Receives requests in threads until it is closed.

    Parameters
    ----------
    journal
        The journal; the socket is ``<journal>.sock``. One that a killed process has left is replaced, so the caller
        must have the lock of the journal.
    answer
        Called with each request and the user that sent it, from several threads.

    Raises
    ------
    InputError
        The socket cannot be made.
    """

    def __init__(self, journal: Path, answer: Answer) -> None:
        self._path, self._answer, self._closed = _socket_of(journal), answer, threading.Event()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with _reachable(self._path) as name:
                self._path.unlink(missing_ok=True)
                self._socket.bind(name)
                # Before it listens, connections are refused.
                os.chmod(name, 0o600)
                self._socket.listen(_AT_ONCE)
        except OSError as error:
            self._socket.close()
            raise InputError(
                f"{self._path}: the socket for actions cannot be made: {error.strerror}"
            ) from error
        self._socket.settimeout(_POLL)
        self._room = threading.Semaphore(_AT_ONCE)
        self._thread = threading.Thread(target=self._accept, name="actions", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Accept no further requests, wait for those that are answered, and remove the socket."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._thread.join()
        self._socket.close()
        self._path.unlink(missing_ok=True)
        for _ in range(_AT_ONCE):
            self._room.acquire()

    def _accept(self) -> None:
        while not self._closed.is_set():
            if not self._room.acquire(timeout=_POLL):
                continue
            try:
                peer, _ = self._socket.accept()
            except OSError:
                self._room.release()
                continue
            threading.Thread(target=self._serve, args=(peer,), name="action", daemon=True).start()

    def _serve(self, peer: socket.socket) -> None:
        # A peer that is gone needs no answer.
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            stack.callback(self._room.release)
            stack.enter_context(peer)
            peer.settimeout(_PATIENCE)
            try:
                reply = self._answer(request_from(_line(peer)), _user(peer))
            except InputError as error:
                reply = ActionReply(error=str(error))
            peer.sendall(line_of(reply))


def send_request(journal: Path, request: ActionRequest) -> ActionReply:
    """Send a request to the process that writes a journal, and return its reply.

    Raises
    ------
    InputError
        No process that acts writes the journal, or it does not reply.
    """
    path = _socket_of(journal)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        try:
            # A connection of a Unix socket waits as long as the queue of the other end is full.
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _CONNECT, 0))
            with _reachable(path) as name:
                peer.connect(name)
            peer.settimeout(_REPLY)
            peer.sendall(line_of(request))
            return reply_from(_line(peer))
        except BlockingIOError as error:
            raise InputError(
                f"{journal}: `windlass serve` did not accept the request within {_CONNECT} s, so nothing was changed;"
                " try again later"
            ) from error
        except TimeoutError as error:
            raise InputError(
                f"{journal}: no reply within {_REPLY:g} s; the list of actions has the rest"
            ) from error
        except PermissionError as error:
            raise InputError(
                f"{journal}: belongs to another user, expected that of `windlass serve`"
            ) from error
        except OSError as error:
            raise InputError(
                f"{journal}: no `windlass serve --act` writes this journal, so nothing can be changed"
            ) from error


def dry_run_then(journal: Path, request: ActionRequest, *, carries_out: bool) -> list[str]:
    """Send a dry run, carry it out if requested, and return lines on both.

    Raises
    ------
    InputError
        It is refused, or the action has failed.
    """
    shown = send_request(journal, request).checked()
    lines = [f"{shown.text}."]
    if not carries_out:
        return [*lines, "Nothing was changed."]
    done = send_request(journal, ActionRequest(RequestKind.CARRY_OUT, ticket=shown.ticket)).checked()
    return [*lines, f"action {done.number}: {done.text}"]


def _socket_of(journal: Path) -> Path:
    return journal.absolute().with_name(f"{journal.name}.sock")


@contextlib.contextmanager
def _reachable(path: Path) -> Iterator[str]:
    """Yield a short name of a path."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def _line(peer: socket.socket) -> bytes:
    found = b""
    while not found.endswith(b"\n") and len(found) <= LONGEST and (part := peer.recv(LONGEST)):
        found += part
    return found


def _user(peer: socket.socket) -> str:
    """Return the name of the user at the other end of a connection."""
    size = struct.calcsize("3i")
    _, uid, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    try:
        return f"user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"user {uid}"
