"""Addresses of decisions: which load at which site needs one, and which of the given policies makes it.

An engine of one site and one load names its decisions ``order`` or ``scale``. In a cluster, a decision has an
*address*, such as ``order.batch@iowa``: the decision, the load, the site. A policy may be given for an address, or for
less of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar, runtime_checkable

from windlass.model import InputError
from windlass.policy.registry import capability

_Policy = TypeVar("_Policy")


class HasName(Protocol):
    """A policy of any decision."""

    @property
    def name(self) -> str:
        """Name of the policy."""
        ...


@runtime_checkable
class Shareable(Protocol):
    """A policy of which one object may make the decisions of several addresses.

    Attributes
    ----------
    shared
        True if a decision does not depend on earlier ones. A policy that learns would mix the addresses.
    """

    shared: bool


def names_of(address: str) -> tuple[str, ...]:
    """Return the names under which a policy may be given for a decision, the most specific first.

    Parameters
    ----------
    address
        The decision; with ``.load``, with ``@site``, or with both.

    Examples
    --------
    >>> names_of("order.batch@iowa")
    ('order.batch@iowa', 'order@iowa', 'order.batch', 'order')
    >>> names_of("order")
    ('order',)
    """
    what, _, site = address.partition("@")
    decision, _, load = what.partition(".")
    at, of = f"@{site}" if site else "", f".{load}" if load else ""
    return tuple(dict.fromkeys((f"{decision}{of}{at}", f"{decision}{at}", f"{decision}{of}", decision)))


def policy_at(address: str, policies: Mapping[str, _Policy]) -> _Policy | None:
    """Return the policy that was given for an address, or for less of it; None if there is none.

    Examples
    --------
    >>> policy_at("order.batch@iowa", {"order": "easy", "order@iowa": "fcfs"})
    'fcfs'
    """
    return next((policies[name] for name in names_of(address) if name in policies), None)


class Assignment:
    """The policy of each address that was due so far.

    Parameters
    ----------
    policies
        Policies by address, or by less of it.

    Examples
    --------
    >>> from windlass.scale.policies.thrifty import Thrifty
    >>> policies = Assignment({"scale": Thrifty()})
    >>> policies.at("scale@iowa").name
    'thrifty'
    >>> policies.at("scale@oregon")
    Traceback (most recent call last):
    windlass.model.errors.InputError: policies: one 'thrifty' is given for 'scale@iowa' and 'scale@oregon', and ...
    """

    def __init__(self, policies: Mapping[str, HasName]) -> None:
        self._policies, self._found = policies, dict[str, HasName]()
        #: The first address of each policy, by the policy's identity.
        self._first: dict[int, str] = {}

    def at(self, address: str) -> HasName:
        """Return the policy of an address.

        Raises
        ------
        InputError
            No policy is given for it; or its policy makes the decisions of another address already, and does not
            declare ``shared = True``.
        """
        if address not in self._found:
            self._found[address] = self._assign(address)
        return self._found[address]

    def _assign(self, address: str) -> HasName:
        policy = policy_at(address, self._policies)
        if policy is None:
            given = ", ".join(repr(name) for name in self._policies) or "none"
            raise InputError(
                f"policies: no policy for the decision {address!r}, which is due; policies are given for: {given}"
            )
        first = self._first.setdefault(id(policy), address)
        declared = capability(policy, Shareable)
        if first != address and not (declared is not None and declared.shared):
            raise InputError(
                f"policies: one {policy.name!r} is given for {first!r} and {address!r}, and does "
                "not declare `shared = True`; give each an object of its own, as a policy that learns would mix them"
            )
        return policy
