"""The protocol of an engine that lets people hold and release jobs."""

from __future__ import annotations

from typing import Protocol


class JobControl(Protocol):
    """Holds and releases single jobs. Any thread may call it, also while the engine runs or is paused."""

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of the actions on jobs, see :mod:`windlass.control.actions.kinds`."""
        ...

    def preview(self, action: str, job: str) -> str:
        """Return what an action would do, and change nothing.

        Raises
        ------
        InputError
            There is no such job, or it is not in a state for this action.
        BatchError
            The engine does not answer.
        """
        ...

    def carry_out(self, action: str, job: str) -> str:
        """Carry out an action, and return the state of the job that was found afterwards; errors as of a preview."""
        ...

    def found(self, action: str, job: str) -> str:
        """Return the outcome of an action that a process began before it was killed, by the present state of its job.

        It begins with ``failed`` if the action was not carried out.

        Raises
        ------
        BatchError
            The engine does not answer.
        """
        ...
