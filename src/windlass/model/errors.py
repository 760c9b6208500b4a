"""Errors whose messages name the file, the field and the value, and what was expected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


class InputError(ValueError):
    """Unusable input of a user; the message is complete and one line long.

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
        A parameter to set to True.
    effect
        The effect, as a verb and its object.
    """

    flag: str
    effect: str


class ParameterError(InputError):
    """An unusable argument; the message names the parameter.

    A program with other names for parameters uses them in the message (:meth:`formatted`): the command line
    prints ``--out`` and ``--force`` where Python code has ``out`` and ``force=True``.

    Parameters
    ----------
    parameter
        The name of the parameter.
    problem
        The wrong value, and what was expected.
    remedies
        Flags of the same call that resolve the problem.

    Examples
    --------
    >>> raise ParameterError("out", "folder has results already", Remedy("force", "replaces them"))
    Traceback (most recent call last):
    windlass.model.errors.ParameterError: out: folder has results already; force=True replaces them
    """

    def __init__(self, parameter: str, problem: str, *remedies: Remedy) -> None:
        # Pickling an error needs all arguments in the base class.
        super().__init__(parameter, problem, *remedies)
        self.parameter, self.problem, self.remedies = parameter, problem, remedies

    def __str__(self) -> str:
        return self.formatted(str, "{}=True".format)

    def formatted(self, parameter: Callable[[str], str], flag: Callable[[str], str]) -> str:
        """Return the message with other names for parameters and flags.

        Parameters
        ----------
        parameter
            Returns the printed name of a parameter.
        flag
            Returns the printed text that sets a flag, given its name.

        Examples
        --------
        >>> error = ParameterError("out", "folder has results already", Remedy("force", "replaces them"))
        >>> error.formatted("--{}".format, "--{}".format)
        '--out: folder has results already; --force replaces them'
        """
        remedies = ", ".join(f"{flag(each.flag)} {each.effect}" for each in self.remedies)
        return f"{parameter(self.parameter)}: {self.problem}" + (f"; {remedies}" if remedies else "")


class PolicyError(RuntimeError):
    """An answer of a policy that cannot be carried out.

    Parameters
    ----------
    message
        What is wrong with the answer; the caller prepends the policy's name.
    decision
        The decision with the invalid answer; None for the latest one.
    """

    def __init__(self, message: str, decision: str | None = None) -> None:
        super().__init__(message)
        self.decision = decision


class BatchError(RuntimeError):
    """A job that a batch system did not start on request; names the job and the system's reason."""


class TaskError(RuntimeError):
    """A task of a live run that failed, or was lost too often; names job, stage and task."""
