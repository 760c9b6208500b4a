"""The checks that a policy must pass, by decision."""

from __future__ import annotations

import importlib

from windlass.experiment.checks.common import (
    Check,
    check_documented,
    check_named,
    check_refuses_unknown_parameter,
)
from windlass.model import InputError
from windlass.policy.registry import Registry

#: Checks that need no cases.
ALWAYS: tuple[Check, ...] = (check_documented, check_named, check_refuses_unknown_parameter)


def checks_of(decision: str) -> tuple[Check, ...]:
    """Return the checks for policies of a decision: those of every decision, and ``CHECKS`` of its own module.

    The module has the decision's name, such as :mod:`windlass.experiment.checks.order.site` for ``order.site``.

    >>> [check.__name__ for check in checks_of("order.site")][:2]
    ['check_documented', 'check_named']
    """
    try:
        own = importlib.import_module(f"windlass.experiment.checks.{decision}")
    except ModuleNotFoundError as error:
        raise InputError(f"decision {decision!r} has no checks") from error
    checks: tuple[Check, ...] = own.CHECKS
    return (*ALWAYS, *checks)


def check_policy(registry: Registry, name: str) -> None:
    """Run every check on a policy.

    Parameters
    ----------
    registry
        The decision's registry.
    name
        The policy's name, or its file.

    Raises
    ------
    CheckError
        A check fails; the message names the policy and the problem.

    Examples
    --------
    >>> from windlass.order.site import POLICIES
    >>> check_policy(POLICIES, "fcfs")
    """
    for check in checks_of(registry.decision):
        check(registry, name)
