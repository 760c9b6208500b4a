"""Processes started by tests, including daemons, and the addresses on which they listen.

A process inherits its environment. A variable in it marks also a daemon whose parent has ended, which the tree of
processes no longer links to the tests.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import threading
from collections.abc import Iterator

#: Environment variable of every started process; its value is the process id of the test run.
MARK = "WINDLASS_STARTED_BY_TESTS"
#: Interval before the first poll for listening processes (s), and the factor by which it grows.
_FIRST_S, _LONGER = 1.0, 1.5


def mark() -> str:
    """Mark the processes that this process starts from now on."""
    os.environ[MARK] = str(os.getpid())
    return os.environ[MARK]


def is_marked(pid: int, by: str) -> bool:
    """Return True if a process or an ancestor is marked. Some processes overwrite their environment by a title."""
    import psutil

    try:
        process = psutil.Process(pid)
        above = [process, *process.parents()]
    except psutil.Error:
        return False
    for each in above:
        with contextlib.suppress(psutil.Error):
            if str(each.pid) == by or each.environ().get(MARK) == by:
                return True
    return False


def running(by: str) -> list[int]:
    """Return the ids of the marked processes that have not ended."""
    import psutil

    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == by:
                found.append(process.pid)
    return found


def reachable(by: str) -> set[str]:
    """Return a line for each address, except loopback, on which a marked process or its test run listens."""
    import psutil

    found = set()
    for each in psutil.net_connections("tcp"):
        if each.status != psutil.CONN_LISTEN or each.pid is None or _is_loopback(each.laddr.ip):
            continue
        if is_marked(each.pid, by):
            with contextlib.suppress(psutil.Error):
                name = psutil.Process(each.pid).name()
                found.add(f"{name} (process {each.pid}) at {each.laddr.ip}, port {each.laddr.port}")
    return found


def _is_loopback(ip: str) -> bool:
    address = ipaddress.ip_address(ip.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


@contextlib.contextmanager
def polling_for_listeners(by: str, found: set[str]) -> Iterator[None]:
    """Add the reachable addresses to a set, repeatedly and at the end. A poll takes some hundredths of a
    second, and intervals grow."""
    over = threading.Event()

    def poll() -> None:
        pause = _FIRST_S
        while not over.wait(pause):
            found.update(reachable(by))
            pause *= _LONGER

    thread = threading.Thread(target=poll, name="listeners", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        found.update(reachable(by))
