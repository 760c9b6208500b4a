"""Which checks a policy must pass."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType

from windlass.experiment.checks import common
from windlass.model import InputError
from windlass.policy.registry import Registry

Check = Callable[[Registry, str], None]


def checks_of(decision: str) -> tuple[Check, ...]:
    """The checks that policies of a decision must pass: those of every decision, and those of its own module.

    The module is found by the decision's name, as :mod:`windlass.experiment.checks.order.site` is for ``order.site``.

    >>> [check.__name__ for check in checks_of("order.site")][:2]
    ['check_documented', 'check_named']
    """
    try:
        own = importlib.import_module(f"windlass.experiment.checks.{decision}")
    except ModuleNotFoundError as error:
        raise InputError(f"decision {decision!r} has no checks") from error
    return (*_checks_in(common), *_checks_in(own))


def _checks_in(module: ModuleType) -> Iterator[Check]:
    """The functions named ``check_…`` that a module defines, in the order of the file."""
    for name, value in vars(module).items():
        if name.startswith("check_") and value.__module__ == module.__name__:
            yield value


def check_policy(registry: Registry, name: str) -> None:
    """Run every check on a policy.

    Parameters
    ----------
    registry
        The decision's registry.
    name
        The policy's name, or the file that holds it.

    Raises
    ------
    CheckError
        The first check that fails, with what is wrong.

    Examples
    --------
    >>> from windlass.order.site import POLICIES
    >>> check_policy(POLICIES, "fcfs")
    """
    for check in checks_of(registry.decision):
        check(registry, name)
