"""What an object offers that calls compiled functions: to have them compiled ahead of a run."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from windlass.jit import Kernel


@runtime_checkable
class Compiled(Protocol):
    """A policy, or a policy's class, whose decisions call compiled functions."""

    def functions(self) -> tuple[Kernel, ...]:
        """All that its decisions call. Worlds call it once, before a run, to compile them ahead."""
        ...


def functions_of(policy: object) -> tuple[Kernel, ...]:
    """What a policy needs compiled: its own functions, or nothing where it has none.

    Parameters
    ----------
    policy
        Of any decision, compiled or not; or its class, where that has the functions.

    Examples
    --------
    >>> from windlass.place.policies.iridium import Iridium
    >>> len(functions_of(Iridium())), functions_of(object())
    (1, ())
    """
    return policy.functions() if isinstance(policy, Compiled) else ()
