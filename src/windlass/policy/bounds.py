"""Policies that know what none can know in reality, such as the future: bounds for those that do not."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from windlass.policy.registry import capability


@runtime_checkable
class Bound(Protocol):
    """A class of policies that declares whether it is a bound."""

    bound: bool


def is_bound(policy: object) -> bool:
    """Return whether a policy's class declares that it knows more than a real one can.

    Such a policy is compared with the others, and cannot win.

    Parameters
    ----------
    policy
        The class.

    Examples
    --------
    >>> from windlass.scale import POLICIES
    >>> is_bound(POLICIES.find("clairvoyant")), is_bound(POLICIES.find("reactive"))
    (True, False)
    """
    found = capability(policy, Bound)
    return found is not None and found.bound is True
