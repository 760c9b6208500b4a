"""The protocol of an engine that the control plane runs in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol

from windlass.agent.stop import Stop
from windlass.control.actions.job_control import JobControl
from windlass.control.journal import JournalWriter
from windlass.drive import EngineStoppedError
from windlass.jit import Compiling

__all__ = ["ControlledEngine", "EngineStoppedError"]


class ControlledEngine(Protocol):
    """An engine of the control plane.

    Parameters
    ----------
    name
        Its name, unique in the journal.
    about
        A line on what it is.
    """

    name: str
    about: str

    @property
    def scope(self) -> Hashable:
        """What it drives, such as a partition of a cluster; an engine takes over from one with an equal scope."""
        ...

    @property
    def jobs(self) -> JobControl | None:
        """How people hold and release its jobs; None if it does not let them."""
        ...

    def prepare(self, compiling: Callable[[Compiling], None] | None = None) -> None:
        """Compile and read what a recorded run needs, before any thread is started.

        Parameters
        ----------
        compiling
            Called with the progress of the compilation.

        Raises
        ------
        InputError
            What the engine needs cannot be read.
        """
        ...

    @property
    def now(self) -> float:
        """Time of the engine's clock, s."""
        ...

    def run(self, journal: JournalWriter | None, stop: Stop) -> None:
        """Run until all work has ended.

        Parameters
        ----------
        journal
            Where the engine records what it decides and sees; None to record nothing.
        stop
            Ends the run.

        Raises
        ------
        EngineStoppedError
            A stop was requested, and what the engine started has ended, or was handed over.
        """
        ...
