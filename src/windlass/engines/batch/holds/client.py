"""A client of a batch system's commands, with a timeout per command and retries while the system does not answer."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from windlass.engines.batch.commands import CommandRunner
from windlass.engines.batch.holds.site import SystemAwayError
from windlass.engines.batch.retries import Retries
from windlass.engines.batch.status import Contact
from windlass.model import BatchError, InputError

_Found = TypeVar("_Found")
#: Characters of a command's output that a message has at most.
_MOST_MESSAGE = 1000


@dataclass(frozen=True, slots=True)
class HoldClient:
    """A client that calls commands; base of each system's.

    Parameters
    ----------
    run
        Runs a command.
    patience
        How long to retry while the system does not answer, s.
    timeout
        Time limit of one command, s.
    notify
        Called with a line when the system stops answering, and when it answers again.
    sleep
        Waits for this many seconds before a retry.
    clock
        Returns a monotonic time, s.
    wall
        Returns the Unix time, s.
    contact
        Updated with each command: whether the system answers.
    """

    #: The system's name, where its commands are, and parts of messages, in lower case, that mean that it does not
    #: answer, or that its answer was lost.
    system: ClassVar[str]
    place: ClassVar[str]
    away: ClassVar[tuple[str, ...]]

    run: CommandRunner
    patience: float = 300.0
    timeout: float = 60.0
    notify: Callable[[str], None] = lambda line: None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    contact: Contact = field(default_factory=Contact, compare=False)

    def is_away(self, error: BatchError) -> bool:
        """Return whether an error means that the system does not answer."""
        message = str(error).lower()
        return isinstance(error, SystemAwayError) or any(sign in message for sign in self.away)

    def _answer(self, command: Sequence[str]) -> tuple[int, str, str]:
        """Run a command once; return its exit status, standard output and standard error."""
        try:
            status, out, errors = self.run(command, self.timeout)
        except FileNotFoundError as error:
            raise InputError(f"{command[0]}: not found; expected {self.place}") from error
        except PermissionError as error:
            raise InputError(f"{command[0]}: {error.strerror}; expected a program that may be run") from error
        except OSError as error:
            # The host has no room for a process at the moment, for example.
            raise SystemAwayError(f"{command[0]} cannot be run: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise SystemAwayError(f"{command[0]} did not answer within {self.timeout:g} s") from error
        if status < 0:
            raise SystemAwayError(f"{command[0]} was killed by signal {-status}")
        return status, out, errors

    def _retry(self, call: Callable[[], _Found]) -> _Found:
        """Call a function; while the system is unreachable, retry with growing delays."""
        retries = Retries(
            self.system, self.patience, self.contact, self.notify, self.sleep, self.clock, self.is_away
        )
        return retries.retry(call, SystemAwayError)


def failure(command: Sequence[str], status: int, out: str, errors: str) -> BatchError:
    """Return the error of a command that failed, with its message in one line.

    >>> failure(["qstat"], 1, "", "qstat: Unauthorized Request\\n"), failure(["qstat"], 3, "", "")
    (BatchError('qstat: Unauthorized Request'), BatchError('qstat ended with status 3'))
    """
    message = " ".join((errors or out)[:_MOST_MESSAGE].split())
    return BatchError(message or f"{command[0]} ended with status {status}")
