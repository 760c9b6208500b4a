"""Names of machine code, which no two functions share, in whichever processes they were compiled.

Numba numbers the functions of a process from 1, and what is loaded from the cache keeps the number of the process that
made it. So two functions of one name, as closures of one text are, may carry one number too. Of two such the linker
takes the first for both: one policy then decides in the place of another, and nobody is told.
"""

from __future__ import annotations

import functools
import secrets

from numba.core.bytecode import FunctionIdentity


def distinguish() -> None:
    """Number what is compiled from now on by chance: 64 bits, which no other process draws, not even a fork."""
    FunctionIdentity._unique_ids = iter(functools.partial(secrets.randbits, 64), None)
