"""Policies that are read again while a driver runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Protocol

from windlass.drive import Named, StopRequest
from windlass.engines.slurm.settings import Notify
from windlass.model import InputError
from windlass.policy.user_code import imported_again


class Stoppable(StopRequest, Protocol):
    """A stop request that this process sends."""

    def notify(self) -> None:
        """Request a stop."""
        ...


class PolicyReload:
    """Reads the policies of a running driver again, on request of any thread.

    Parameters
    ----------
    read
        Returns the policies, by the name of their decision; files of users are imported again.
    new_stop
        Returns a new stop request.
    notify
        Called with a line for each reload.
    """

    def __init__(
        self, read: Callable[[], Mapping[str, Named]], new_stop: Callable[[], Stoppable], notify: Notify
    ) -> None:
        self._read, self._new_stop, self._notify = read, new_stop, notify
        self._lock = threading.Lock()
        self._stop: Stoppable = new_stop()
        self._next: Mapping[str, Named] | None = None

    def request(self) -> None:
        """Read the policies; if they can be used, stop the present ones before their next decision."""
        with self._lock:
            try:
                with imported_again():
                    self._next = self._read()
            except InputError as error:
                self._notify(f"not reloaded, the driver goes on: {error}")
                return
            self._stop.notify()

    @property
    def stop(self) -> Stoppable:
        """What stops the present policies: a new one each time that policies are taken."""
        return self._stop

    def take(self) -> Mapping[str, Named] | None:
        """Return the policies of the last request, which go on from here; None without a request."""
        with self._lock:
            found, self._next, self._stop = self._next, None, self._new_stop()
            return found
