"""The end of patience: at a second stop request, a batch system that does not answer is no longer waited for."""

from __future__ import annotations

from collections.abc import Callable

from windlass.agent.stop import Stop
from windlass.model import BatchError


def hurried_sleep(stop: Stop, system: str, away: Callable[[str], BatchError]) -> Callable[[float], None]:
    """Return a function that waits until a command of a system is tried again, and raises an error in a hurry.

    Commands that the system answers are carried out, also in a hurry. So a queue is given back, unless the system is
    unreachable.

    Parameters
    ----------
    stop
        The stop request.
    system
        The system's name.
    away
        Returns the error, from its message.

    Examples
    --------
    >>> stop = Stop()
    >>> sleep = hurried_sleep(stop, "Slurm", BatchError)
    >>> sleep(0.0)
    >>> stop.hurry()
    >>> sleep(60.0)
    Traceback (most recent call last):
    windlass.model.errors.BatchError: Slurm does not answer, and a second signal ended the wait for it
    """

    def sleep(seconds: float) -> None:
        if stop.wait_patiently(seconds):
            raise away(f"{system} does not answer, and a second signal ended the wait for it")

    return sleep
