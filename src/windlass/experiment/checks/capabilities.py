"""Checks of optional capabilities, which policies of several decisions may have."""

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
    """Require that a policy has all methods of a capability or none, and that each can be called."""
    there = [method for method in methods if getattr(policy, method, None) is not None]
    for method in methods:
        require(method in there or not there, f"{name}: has {' and '.join(there)}() and no {method}()")
    for method in there:
        require(callable(getattr(policy, method)), f"{name}: {method} is not a method")


def require_kernel(value: object, name: str, what: str) -> None:
    """Require that a compiled function is a kernel, or None if the policy has none."""
    right = value is None or isinstance(value, Kernel)
    require(right, f"{name}: {what} is of type {type(value).__name__}, expected a Kernel")


def require_numbers(value: object, name: str, what: str) -> None:
    """Require that numbers for a compiled function are (k,) floats, or None if the policy has none."""
    if value is None:
        return
    try:
        found = np.asarray(value, np.float64)
    except (TypeError, ValueError) as error:
        raise CheckError(f"{name}: {what} is {value!r}, expected an array of numbers") from error
    require(found.ndim == 1, f"{name}: {what} has shape {found.shape}, expected (k,)")


def require_positive(value: Any, name: str, what: str) -> None:
    """Require that a time is a number above 0, possibly infinite, or None if the policy has none."""
    number = isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)
    # NaN is not above 0.
    right = value is None or (number and bool(np.greater(value, 0.0)))
    require(right, f"{name}: {what} is {value!r}, expected a number above 0")


def require_compiled(policy: object, name: str) -> None:
    """Require that the functions of a policy that is compiled before a run are a tuple of kernels."""
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
    """Require that one policy restores the state that another has saved, and rejects half of it without a change.

    Parameters
    ----------
    learned
        A policy that has learned something.
    fresh
        A new policy of the same kind.
    name
        Name of the policy.
    """
    text: Any = learned.saved()
    require(isinstance(text, str), f"{name}: saved() returns a {type(text).__name__}, expected text")
    try:
        fresh.restore(text)
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
        raise CheckError(f"{name}: restore() of the text from saved() raises {found}") from error
    require(fresh.saved() == text, f"{name}: saved() returns another text after restore()")
    if text:
        half = "restore() of the first half of the text from saved()"
        require_refused(lambda: fresh.restore(text[: len(text) // 2]), f"{name}: {half}")
        require(fresh.saved() == text, f"{name}: {half} changes the policy")


def require_refused(call: Callable[[], object], what: str) -> None:
    """Require that a call with bad input raises an InputError; ``what`` begins the message."""
    found = "nothing"
    try:
        call()
    except InputError:
        return
    except Exception as error:
        found = f"a {type(error).__name__}"
    raise CheckError(f"{what} raises {found}, expected an InputError")
