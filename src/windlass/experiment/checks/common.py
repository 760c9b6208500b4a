"""Checks of a policy's class, the same for all decisions."""

from __future__ import annotations

import doctest
import inspect
import re
import sys
from collections.abc import Callable

import numpy as np

from windlass.model import InputError
from windlass.policy.registry import Registry

#: A check of a policy: it returns nothing, or raises :class:`CheckError` or an error of the policy.
Check = Callable[[Registry, str], None]


class CheckError(AssertionError):
    """A policy fails a check."""


def require(holds: bool, problem: str) -> None:
    """Raise a CheckError with this problem unless the condition holds."""
    if not holds:
        raise CheckError(problem)


def check_documented(registry: Registry, name: str) -> None:
    """The class has a docstring that describes the policy, with an example that runs."""
    cls = registry.find(name)
    text = inspect.getdoc(cls) or ""
    require(len(text.split()) >= 5, f"{name}: the class has no docstring of at least five words")
    found = doctest.DocTestFinder().find(cls, globs=vars(sys.modules[cls.__module__]).copy())
    examples = [test for test in found if test.examples]
    require(bool(examples), f"{name}: the docstring has no example")
    runner = doctest.DocTestRunner(verbose=False)
    output: list[str] = []
    for test in examples:
        runner.run(test, out=output.append)
    require(runner.failures == 0, f"{name}: the example fails: {''.join(output)}")


def check_named(registry: Registry, name: str) -> None:
    """The name is in lower case, and the registry finds the class by it."""
    cls = registry.find(name)
    require(
        re.fullmatch(r"[a-z][a-z0-9_-]*", cls.name) is not None,
        f"{name}: name is {cls.name!r}, expected lower-case letters, digits, - and _, with a letter first",
    )


def check_refuses_unknown_parameter(registry: Registry, name: str) -> None:
    """An unknown parameter is rejected with an error that names it."""
    try:
        registry.make(name, np.random.default_rng(0), no_such_parameter=1)
    except InputError as error:
        require("no_such_parameter" in str(error), f"{name}: the error does not name the parameter: {error}")
    else:
        raise CheckError(f"{name}: accepts a parameter that it does not have")
