"""Unique symbol names for compiled functions, across all processes that share a cache.

Numba numbers the functions of a process from 1, and a function from the cache keeps the number of the process that
compiled it. So two functions with the same name, such as closures of one function, may have the same number too. The
linker then uses the first of them for both: one policy would decide in place of another, without an error.
"""

from __future__ import annotations

import functools
import secrets

from numba.core.bytecode import FunctionIdentity


def distinguish() -> None:
    """Give each function compiled from now on a random 64-bit number, which other processes and forks do not repeat."""
    FunctionIdentity._unique_ids = iter(functools.partial(secrets.randbits, 64), None)
