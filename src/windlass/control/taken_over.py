"""A queue that one driver hands over to the next: held jobs are reported if the next one never begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from windlass.agent.stop import Stop
from windlass.drive import EngineStoppedError
from windlass.engines.batch.log_entry import LogEntry
from windlass.engines.batch.status import DriverStatus
from windlass.model import BatchError


@contextmanager
def queue_taken_over(
    stop: Stop, status: DriverStatus, gives_back: bool, by_hand: str, report: Callable[[str], None]
) -> Iterator[None]:
    """Run a driver within the context, which may take over held jobs from an earlier one.

    Parameters
    ----------
    stop
        The stop request of the driver.
    status
        Its state; the driver sets ``inherited`` to False once it gives the queue back at its end.
    gives_back
        True if the driver gives the queue back.
    by_hand
        What an operator does about jobs that stay held.
    report
        Called with a line if jobs may be held, and no driver has begun.

    Raises
    ------
    BatchError
        A stop was requested before the driver began, and jobs may be held.
    """
    status.inherited = stop.takes_over and gives_back
    try:
        yield
    except BaseException as error:
        if not status.inherited or stop.hands_over:
            raise
        # No driver has begun, so that none has given the queue back.
        status.left_held = max(1, status.waiting + status.stuck)
        report(LogEntry.of(f"jobs may still be held; {by_hand}", "still_held"))
        if isinstance(error, EngineStoppedError):
            raise BatchError(still_held(by_hand)) from None
        raise


def still_held(by_hand: str) -> str:
    """Return the failure of a driver that was stopped and could not give the queue back."""
    return f"stopped, and jobs may still be held; {by_hand}"
