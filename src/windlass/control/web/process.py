"""The process of the pages: ``python -m windlass.control.web.process JOURNAL --socket FD --parent FD``."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from windlass.agent.options import Address
from windlass.agent.stop import Stop
from windlass.agent.token import read_token
from windlass.agent.web import listening
from windlass.control.actions.channel import send_request
from windlass.control.actions.messages import ActionReply, ActionRequest
from windlass.control.journal import JournalReader
from windlass.control.web.access import PageAccess, check_access
from windlass.control.web.server import PagesServer
from windlass.model import InputError

#: Interval at which the server is checked, s.
_CHECK = 1.0


def show(
    listening: socket.socket,
    journal: Path,
    access: PageAccess,
    stop: Stop,
    act: Callable[[ActionRequest], ActionReply] | None = None,
) -> None:
    """Serve the pages until a stop is requested.

    Parameters
    ----------
    listening
        A listening socket.
    journal
        The journal.
    access
        Checks each request.
    stop
        Ends the server.
    act
        Sends a request for an action to the process of the engines; None for pages that change nothing.

    Raises
    ------
    InputError
        The journal cannot be opened.
    """
    # What was imported stays for ever. Unless it is left out, a collection of garbage takes 80 ms now and then.
    gc.collect()
    gc.freeze()
    with JournalReader(journal) as reader:
        server = PagesServer(listening, reader, access, act=act)
        try:
            while not stop.wait(_CHECK) and server.alive:
                pass
        finally:
            server.close()


def show_at(
    listen: Address,
    journal: Path,
    token_file: Path | None,
    hosts: Sequence[str],
    stop: Stop,
    report: Callable[[str], None],
) -> None:
    """Serve the pages at an address until a stop is requested.

    Parameters
    ----------
    listen
        The address.
    journal
        The journal.
    token_file, hosts
        As in :class:`~windlass.control.serve.ServeOptions`.
    stop
        Ends the server.
    report
        Called with the URL.

    Raises
    ------
    InputError
        The journal cannot be opened, or the address cannot be listened on or needs a token.
    """
    JournalReader(journal).close()
    access = PageAccess(check_access(listen, token_file), (listen.host, *hosts))
    with listening("pages", listen) as bound:
        report(f"pages: {Address(listen.host, bound.getsockname()[1]).url}")
        show(bound, journal, access, stop)


def main(words: Sequence[str] | None = None) -> None:
    """Run the process that :class:`~windlass.control.pages_process.PagesProcess` starts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("journal", type=Path)
    parser.add_argument("--socket", type=int, required=True)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--token-file", type=Path)
    parser.add_argument("--host", action="append", default=[])
    parser.add_argument("--act", action="store_true")
    given = parser.parse_args(words)
    stop = Stop()

    def on_signal(*_: object) -> None:
        # From a thread, since this handler may interrupt the thread that waits for the stop and holds its lock.
        threading.Thread(target=stop.notify, daemon=True).start()

    signal.signal(signal.SIGTERM, on_signal)
    threading.Thread(target=_end_with_parent, args=(given.parent,), daemon=True).start()
    try:
        access = PageAccess(read_token(given.token_file), given.host)
        act = partial(send_request, given.journal) if given.act else None
        show(socket.socket(fileno=given.socket), given.journal, access, stop, act)
    except InputError as error:
        sys.exit(f"windlass: pages: {error}")


def _end_with_parent(pipe: int) -> None:
    """End the process when the parent's end of a pipe is closed, also after SIGKILL of the parent."""
    while os.read(pipe, 1):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
