"""The interface of policies that call compiled functions, which are compiled before a run."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from windlass.jit import Kernel


@runtime_checkable
class Compiled(Protocol):
    """A policy, or a policy's class, whose decisions call compiled functions."""

    def functions(self) -> tuple[Kernel, ...]:
        """Return all kernels that its decisions call. Worlds call this once before a run, to compile them."""
        ...


def functions_of(policy: object) -> tuple[Kernel, ...]:
    """Return the kernels that a policy needs compiled; empty for a policy without any.

    Parameters
    ----------
    policy
        A policy of any decision, or a policy's class if the class has the functions.

    Examples
    --------
    >>> from windlass.place.policies.iridium import Iridium
    >>> len(functions_of(Iridium())), functions_of(object())
    (1, ())
    """
    return policy.functions() if isinstance(policy, Compiled) else ()
