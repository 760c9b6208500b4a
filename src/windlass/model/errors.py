"""Errors that name the thing: which file, field and value, and what was expected."""


class InputError(ValueError):
    """What the user gave cannot be used; the message is one line and complete.

    >>> raise InputError("log.swf, line 7: run time 'abc' is not a number")
    Traceback (most recent call last):
    windlass.model.errors.InputError: log.swf, line 7: run time 'abc' is not a number
    """


class PolicyError(RuntimeError):
    """A policy answered with something that cannot be carried out.

    Parameters
    ----------
    message
        What is wrong with it; whoever knows the policy puts its name before.
    decision
        Which decision it was that the policy makes, where more than one is made; None where it is the one just asked.
    """

    def __init__(self, message: str, decision: str | None = None) -> None:
        super().__init__(message)
        self.decision = decision


class BatchError(RuntimeError):
    """A batch system did not start a job that it was told to; names the job, and what the system said."""


class TaskError(RuntimeError):
    """A task of a live run failed, by its own error or by being lost too often; names job, stage and task."""
