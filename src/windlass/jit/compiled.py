"""The interface of policies that call compiled functions, which are compiled before a run."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from windlass.jit import Kernel
from windlass.model.errors import InputError


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


def check_is_kernel(policy: object, name: str, function: object) -> None:
    """Reject a function of a policy that is not compiled.

    Parameters
    ----------
    policy
        The policy.
    name
        The attribute that has the function.
    function
        Its value.

    Raises
    ------
    InputError
        The value is no kernel.

    Examples
    --------
    >>> check_is_kernel(object(), "select", len)
    Traceback (most recent call last):
    windlass.model.errors.InputError: policy object: select is <built-in function len>, expected a compiled function: \
select = Kernel(function, SELECT)
    """
    if not isinstance(function, Kernel):
        raise InputError(
            f"policy {getattr(policy, 'name', type(policy).__name__)}: {name} is {function!r:.80}, "
            f"expected a compiled function: {name} = Kernel(function, {name.upper()})"
        )
