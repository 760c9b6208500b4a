"""Checks that hold for a policy of any decision."""

from __future__ import annotations

import doctest
import inspect
import re
import sys
from collections.abc import Callable

import numpy as np

from windlass.model import InputError
from windlass.policy.registry import Registry

#: A check of a policy: it returns, or raises :class:`CheckError` or what the policy raises.
Check = Callable[[Registry, str], None]


class CheckError(AssertionError):
    """A policy fails a check."""


def require(holds: bool, problem: str) -> None:
    """Raise unless it holds."""
    if not holds:
        raise CheckError(problem)


def check_documented(registry: Registry, name: str) -> None:
    """The class says what it does, with an example that runs."""
    cls = registry.find(name)
    text = inspect.getdoc(cls) or ""
    require(len(text.split()) >= 5, f"{name}: the class has no docstring that says what it does")
    found = doctest.DocTestFinder().find(cls, globs=vars(sys.modules[cls.__module__]).copy())
    examples = [test for test in found if test.examples]
    require(bool(examples), f"{name}: the docstring has no example")
    runner = doctest.DocTestRunner(verbose=False)
    said: list[str] = []
    for test in examples:
        runner.run(test, out=said.append)
    require(runner.failures == 0, f"{name}: the example fails: {''.join(said)}")


def check_named(registry: Registry, name: str) -> None:
    """The name is short, plain, and finds the class."""
    cls = registry.find(name)
    require(
        re.fullmatch(r"[a-z][a-z0-9_-]*", cls.name) is not None,
        f"{name}: name {cls.name!r} is not lower-case words",
    )


def check_refuses_unknown_parameter(registry: Registry, name: str) -> None:
    """A parameter that does not exist is refused by name."""
    try:
        registry.make(name, np.random.default_rng(0), no_such_parameter=1)
    except InputError as error:
        require("no_such_parameter" in str(error), f"{name}: the error does not name the parameter: {error}")
    else:
        raise CheckError(f"{name}: accepts a parameter that it does not have")
