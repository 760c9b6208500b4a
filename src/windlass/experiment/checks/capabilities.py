"""Checks of what policies of several decisions may offer beyond deciding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from windlass.experiment.checks.common import CheckError, require
from windlass.jit import Kernel
from windlass.jit.compiled import Compiled
from windlass.model import InputError
from windlass.policy.registry import capability
from windlass.share.learned import Persistent


def require_methods(policy: object, name: str, *methods: str) -> None:
    """A capability is there with all of its methods, or not at all; each of them can be called."""
    there = [method for method in methods if getattr(policy, method, None) is not None]
    for method in methods:
        require(method in there or not there, f"{name}: has {' and '.join(there)}() and no {method}()")
    for method in there:
        require(callable(getattr(policy, method)), f"{name}: {method} is no method")


def require_kernel(value: object, name: str, what: str) -> None:
    """A compiled function is a kernel, or None where the policy has none."""
    right = value is None or isinstance(value, Kernel)
    require(right, f"{name}: {what} is of type {type(value).__name__}, expected a Kernel")


def require_numbers(value: object, name: str, what: str) -> None:
    """Numbers for a compiled function are (k,) floats, or None where the policy has none."""
    if value is None:
        return
    try:
        found = np.asarray(value, np.float64)
    except (TypeError, ValueError) as error:
        raise CheckError(f"{name}: {what} is {value!r}, expected an array of numbers") from error
    require(found.ndim == 1, f"{name}: {what} has shape {found.shape}, expected (k,)")


def require_positive(value: Any, name: str, what: str) -> None:
    """A time is a number above 0, possibly infinite, or None where the policy has none."""
    number = isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)
    # NaN is not above 0.
    right = value is None or (number and bool(np.greater(value, 0.0)))
    require(right, f"{name}: {what} is {value!r}, expected a number above 0")


def require_compiled(policy: object, name: str) -> None:
    """A policy that is compiled ahead of a run says which functions that are, and all of them are kernels."""
    require_methods(policy, name, "functions")
    compiled = capability(policy, Compiled)
    if compiled is None:
        return
    functions: object = compiled.functions()
    if not isinstance(functions, tuple):
        raise CheckError(
            f"{name}: functions() returns an object of type {type(functions).__name__}, expected a tuple"
        )
    for each in functions:
        right = isinstance(each, Kernel)
        require(right, f"{name}: functions() returns one of type {type(each).__name__}, expected a Kernel")


def require_restored(learned: Persistent, fresh: Persistent, name: str) -> None:
    """What one policy has saved another takes over as it is; half of it is refused and changes nothing.

    Parameters
    ----------
    learned
        A policy that has learned something.
    fresh
        Another of its kind that has not.
    name
        Of the policy.
    """
    text: Any = learned.saved()
    require(isinstance(text, str), f"{name}: saved() returns a {type(text).__name__}, expected text")
    try:
        fresh.restore(text)
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
        raise CheckError(f"{name}: restore() of what saved() returned raises {found}") from error
    require(fresh.saved() == text, f"{name}: restored from what saved() returned, it saves something else")
    if text:
        half = "restore() of half of what saved() returned"
        require_refused(lambda: fresh.restore(text[: len(text) // 2]), f"{name}: {half}")
        require(fresh.saved() == text, f"{name}: {half} changes it")


def require_refused(call: Callable[[], object], what: str) -> None:
    """A call with bad input raises an InputError; ``what`` begins the message."""
    found = "nothing"
    try:
        call()
    except InputError:
        return
    except Exception as error:
        found = f"a {type(error).__name__}"
    raise CheckError(f"{what} raises {found}, expected an InputError")
