"""Errors that name the thing: which file, field and value, and what was expected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


class InputError(ValueError):
    """What the user gave cannot be used; the message is one line and complete.

    >>> raise InputError("log.swf, line 7: run time 'abc' is not a number")
    Traceback (most recent call last):
    windlass.model.errors.InputError: log.swf, line 7: run time 'abc' is not a number
    """


@dataclass(frozen=True, slots=True)
class Remedy:
    """A flag that resolves a :class:`ParameterError`.

    Parameters
    ----------
    flag
        A parameter that is to be True.
    effect
        What that does: a verb and its object.
    """

    flag: str
    effect: str


class ParameterError(InputError):
    """An argument that cannot be used; the message names the parameter.

    A program that has other names for parameters formats the message with them (:meth:`formatted`). The command line
    prints ``--out`` and ``--force`` where Python code has ``out`` and ``force=True``.

    Parameters
    ----------
    parameter
        The name of the parameter.
    problem
        The value, and what was expected.
    remedies
        Flags of the same call that resolve the problem.

    Examples
    --------
    >>> raise ParameterError("out", "folder has results already", Remedy("force", "replaces them"))
    Traceback (most recent call last):
    windlass.model.errors.ParameterError: out: folder has results already; force=True replaces them
    """

    def __init__(self, parameter: str, problem: str, *remedies: Remedy) -> None:
        # All arguments go to the base class, so that the error can be pickled.
        super().__init__(parameter, problem, *remedies)
        self.parameter, self.problem, self.remedies = parameter, problem, remedies

    def __str__(self) -> str:
        return self.formatted(str, "{}=True".format)

    def formatted(self, parameter: Callable[[str], str], flag: Callable[[str], str]) -> str:
        """Return the message with other names.

        Parameters
        ----------
        parameter
            Returns the name to print for a parameter.
        flag
            Returns what sets a flag, for its name.

        Examples
        --------
        >>> error = ParameterError("out", "folder has results already", Remedy("force", "replaces them"))
        >>> error.formatted("--{}".format, "--{}".format)
        '--out: folder has results already; --force replaces them'
        """
        remedies = ", ".join(f"{flag(each.flag)} {each.effect}" for each in self.remedies)
        return f"{parameter(self.parameter)}: {self.problem}" + (f"; {remedies}" if remedies else "")


class PolicyError(RuntimeError):
    """A policy answered with something that cannot be carried out.

    Parameters
    ----------
    message
        What is wrong with the answer; the caller adds the policy's name in front.
    decision
        The decision with the invalid answer; None for the one that was just made.
    """

    def __init__(self, message: str, decision: str | None = None) -> None:
        super().__init__(message)
        self.decision = decision


class BatchError(RuntimeError):
    """A batch system did not start a job that it was requested to start; names the job and the system's reason."""


class TaskError(RuntimeError):
    """A task of a live run failed, by its own error or by being lost too often; names job, stage and task."""
