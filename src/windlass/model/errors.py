"""Errors that name the thing: which file, field and value, and what was expected."""


class InputError(ValueError):
    """What the user gave cannot be used; the message is one line and complete.

    >>> raise InputError("log.swf, line 7: run time 'abc' is not a number")
    Traceback (most recent call last):
    windlass.model.errors.InputError: log.swf, line 7: run time 'abc' is not a number
    """


class PolicyError(RuntimeError):
    """A policy answered with something that cannot be carried out."""


class TaskError(RuntimeError):
    """A task of a live run failed, by its own error or by being lost too often; names job, stage and task."""
