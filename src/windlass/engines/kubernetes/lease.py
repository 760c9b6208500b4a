"""A Lease of Kubernetes, by which one of several drivers acts at a time."""

from __future__ import annotations

import math
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.server import ConflictError, MissingError, Server
from windlass.model import BatchError
from windlass.model.values import number

Tree = dict[str, Any]
#: Tries to become or stay the holder, per duration of the Lease.
_TRIES = 3
#: The part of the duration after which the holder must have renewed it to act: less than all, for the way of a request.
_VALID = 2 / 3


class LeadershipLostError(BatchError):
    """Another driver holds the Lease, so this one must not act any more."""


def identity() -> str:
    """Return a name for this process that no other one has: host, process id, and a random part."""
    return f"{socket.gethostname()}_{os.getpid()}_{secrets.token_hex(4)}"


class Lease:
    """A Lease (``coordination.k8s.io/v1``) that at most one driver holds.

    A driver takes the Lease if it has no holder, or if it has not changed for its duration by this driver's own clock,
    so clocks of hosts need not agree. Each request that takes or renews it names the version that was read, so of two
    drivers that take it at once one fails.

    Parameters
    ----------
    server
        The API server.
    namespace, name
        The Lease; it is created if it does not exist.
    holder
        The name of this driver.
    duration
        Time without a renewal after which another driver takes over, s.
    notify
        Called with a line when another driver holds the Lease, and when this one does.
    clock
        Returns the Unix time, s; only written to the Lease.
    monotonic
        Returns a monotonic time, s.
    sleep
        Waits for this many seconds between tries.

    Raises
    ------
    InputError
        The duration is less than a second.
    """

    def __init__(
        self,
        server: Server,
        namespace: str,
        name: str,
        holder: str | None = None,
        duration: float = 15.0,
        *,
        notify: Callable[[str], None] = lambda line: None,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.holder, self.duration = holder or identity(), number("lease", duration, 1.0)
        self._server, self._name, self._notify = server, name, notify
        self._folder = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._path = f"{self._folder}/{name}"
        self._clock, self._monotonic, self._sleep = clock, monotonic, sleep
        self._lock = threading.Lock()
        self._seen, self._seen_at = "", -math.inf
        self._renewed, self._rival = -math.inf, ""

    @property
    def interval(self) -> float:
        """Time between two renewals, s."""
        return self.duration / _TRIES

    def acquire(self) -> None:
        """Wait until this driver holds the Lease; a server that does not answer is tried again."""
        reported = ""
        while True:
            try:
                if self.take():
                    self._notify(f"this driver leads: {self.holder}")
                    return
                line = f"waits until it leads: {self._rival} holds the Lease {self._name}"
            except ClusterError as error:
                line = f"waits until it leads: {error}"
            if line != reported:
                self._notify(line)
                reported = line
            self._sleep(self.interval)

    def take(self) -> bool:
        """Take or renew the Lease if that is possible now; return whether this driver holds it.

        Raises
        ------
        ClusterError
            The server does not answer, or refuses.
        """
        with self._lock:
            began = self._monotonic()
            try:
                done = self._write()
            except ConflictError:
                # Another driver was faster, or the answer to an own request was lost: the next try shows it.
                done = False
            if done:
                self._renewed, self._rival = began, ""
            return done

    def _write(self) -> bool:
        try:
            found = self._server.get(self._path)
        except MissingError:
            self._server.send("POST", self._folder, self._created())
            return True
        spec, version = found.get("spec") or {}, str(found["metadata"]["resourceVersion"])
        if version != self._seen:
            self._seen, self._seen_at = version, self._monotonic()
        other = str(spec.get("holderIdentity") or "")
        lasts = float(spec.get("leaseDurationSeconds") or self.duration)
        if other not in ("", self.holder):
            self._rival = other
            if self._monotonic() - self._seen_at < lasts:
                return False
        self._server.send("PATCH", self._path, self._patch(version, spec, other))
        return True

    def _created(self) -> Tree:
        now = self._time()
        meta = {"name": self._name, "labels": {"app.kubernetes.io/managed-by": "windlass"}}
        spec = {"leaseTransitions": 0, "acquireTime": now, "renewTime": now, **self._held()}
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}

    def _patch(self, version: str, spec: Tree, other: str) -> Tree:
        change = {"renewTime": self._time(), **self._held()}
        if other != self.holder:
            change["acquireTime"] = change["renewTime"]
            change["leaseTransitions"] = int(spec.get("leaseTransitions") or 0) + 1
        return {"metadata": {"resourceVersion": version}, "spec": change}

    def _held(self) -> Tree:
        return {"holderIdentity": self.holder, "leaseDurationSeconds": math.ceil(self.duration)}

    def _time(self) -> str:
        now = datetime.fromtimestamp(self._clock(), UTC)
        return now.isoformat(timespec="microseconds").replace("+00:00", "Z")

    def renew(self) -> None:
        """Renew the Lease, unless another driver has it; a server that does not answer is no error."""
        with suppress(ClusterError):
            if not self._lost():
                self.take()

    def check(self) -> None:
        """Raise unless this driver holds the Lease, which is renewed first if that is overdue.

        Raises
        ------
        LeadershipLostError
            Another driver has taken it.
        ClusterError
            The server does not answer.
        """
        valid = self._monotonic() - self._renewed <= _VALID * self.duration
        if not self._lost() and (valid or self.take()):
            return
        if self._lost():
            raise LeadershipLostError(f"another driver leads now: {self._rival}")
        raise ClusterError(f"the Lease {self._name} was changed by another; it is read again")

    def _lost(self) -> bool:
        return bool(self._rival)

    def release(self) -> None:
        """Give the Lease up, so that another driver need not wait; a server that does not answer is no error."""
        with suppress(ClusterError, KeyError), self._lock:
            found = self._server.get(self._path)
            if (found.get("spec") or {}).get("holderIdentity") == self.holder:
                meta = {"resourceVersion": str(found["metadata"]["resourceVersion"])}
                patch = {"metadata": meta, "spec": {"holderIdentity": None, "renewTime": self._time()}}
                self._server.send("PATCH", self._path, patch)


@contextmanager
def leading(lease: Lease) -> Iterator[None]:
    """Hold a Lease within the context: wait for it, renew it in a thread, and give it up at the end."""
    lease.acquire()
    over = threading.Event()

    def renew() -> None:
        while not over.wait(lease.interval):
            lease.renew()

    thread = threading.Thread(target=renew, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        lease.release()


class LeadersServer:
    """A client of an API server that writes only while this driver leads.

    Parameters
    ----------
    server
        The client.
    lease
        Checked before each write.
    """

    def __init__(self, server: Server, lease: Lease) -> None:
        self._server, self._lease = server, lease

    def get(self, path: str) -> Tree:
        """Return one object, or one page of a list."""
        return self._server.get(path)

    def send(self, method: str, path: str, body: Tree | None = None) -> Tree:
        """Send a request that writes, if this driver leads.

        Raises
        ------
        LeadershipLostError
            Another driver leads.
        """
        self._lease.check()
        return self._server.send(method, path, body)


@contextmanager
def leaders_server(
    server: Server,
    namespace: str,
    name: str,
    duration: float,
    *,
    notify: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Server]:
    """Hold a Lease within the context, and yield a client that writes only while this driver leads.

    Parameters
    ----------
    server
        The client.
    namespace, name, duration, notify, sleep
        As of :class:`Lease`; with a duration of 0 s, the client itself is yielded, and there is no Lease.

    Raises
    ------
    InputError
        The duration is neither 0 nor a second or more.
    """
    if duration == 0.0:
        yield server
        return
    lease = Lease(server, namespace, name, duration=duration, notify=notify, sleep=sleep)
    with leading(lease):
        yield LeadersServer(server, lease)
