"""Processes that tests have started, however deep and in whatever background they are, and where they listen.

Whoever starts a process hands it the environment. A variable in it stays with a daemon whose parent has ended, where no
tree of processes shows any more who started it.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import threading
from collections.abc import Iterator

#: The variable that all that is started has; its value says by whom.
MARK = "WINDLASS_STARTED_BY_TESTS"
#: The first look at who listens, s; each that follows waits longer by this factor.
_FIRST_S, _LONGER = 1.0, 1.5


def mark() -> str:
    """Have what this process starts from now on carry its mark."""
    os.environ[MARK] = str(os.getpid())
    return os.environ[MARK]


def is_marked(pid: int, by: str) -> bool:
    """Whether a process, or one above it, carries a mark. Some write their title where their environment was."""
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


def left(by: str) -> list[int]:
    """Ids of the processes that carry a mark, and have not ended."""
    import psutil

    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == by:
                found.append(process.pid)
    return found


def reachable(by: str) -> set[str]:
    """Where processes with a mark, and who set it, listen for more than this machine: who and where, a line each."""
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
def looked_at(by: str, found: set[str]) -> Iterator[None]:
    """Look who is reachable, now and then and at the end, and put it into a set. A look takes some hundredths of a
    second, and each comes later than the one before."""
    over = threading.Event()

    def look() -> None:
        pause = _FIRST_S
        while not over.wait(pause):
            found.update(reachable(by))
            pause *= _LONGER

    looking = threading.Thread(target=look, name="who listens", daemon=True)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()
        found.update(reachable(by))
