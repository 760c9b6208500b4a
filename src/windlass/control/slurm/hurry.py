"""The end of patience: at a second stop request, a Slurm that does not answer is no longer waited for."""

from __future__ import annotations

from collections.abc import Callable

from windlass.agent.stop import Stop
from windlass.engines.slurm.client import AwayError


def hurried_sleep(stop: Stop) -> Callable[[float], None]:
    """Return a function that waits until a command of Slurm is tried again, and raises AwayError in a hurry.

    Commands that Slurm answers are carried out, also in a hurry. So a queue is given back, unless Slurm is unreachable.

    Parameters
    ----------
    stop
        The stop request.

    Examples
    --------
    >>> stop = Stop()
    >>> sleep = hurried_sleep(stop)
    >>> sleep(0.0)
    >>> stop.hurry()
    >>> sleep(60.0)
    Traceback (most recent call last):
    windlass.engines.slurm.client.AwayError: Slurm does not answer, and a second signal ended the wait for it
    """

    def sleep(seconds: float) -> None:
        if stop.wait_patiently(seconds):
            raise AwayError("Slurm does not answer, and a second signal ended the wait for it")

    return sleep
