"""Policies by their addresses, such as ``share@oslo``, and nested, as they are validated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windlass.experiment.worlds.batch.estimates import Estimates
from windlass.experiment.worlds.policy import Policy, PolicySpec
from windlass.experiment.worlds.spec import Spec


class OrderSpec(Spec):
    """The policies that order jobs: ``rigid`` ones of a site, and ``staged`` ones of all sites.

    With ``staged``, that policy orders staged jobs, and their tasks run where their input is; without it, the policy of
    ``place`` starts their tasks. ``estimates``: the run times that policies expect of rigid jobs,
    as in the batch world.
    """

    rigid: Policy = PolicySpec(name="easy")
    staged: Policy | None = None
    estimates: Estimates = "requested"


#: Names of kinds of jobs, and of the run times that policies expect.
ORDER_FIELDS = frozenset(OrderSpec.model_fields)


def nested(given: Any) -> Any:
    """Return policies in which those with addresses are nested, by site and by kind of job.

    Parameters
    ----------
    given
        The value of ``policies``; a value that is no mapping is returned for the validator to report.

    Raises
    ------
    ValueError
        A policy is given twice.

    Examples
    --------
    >>> nested({"order": "easy", "order.staged": "swag", "order@iowa": "fcfs"})
    {'order': {'rigid': 'easy', 'staged': 'swag'}, 'at': {'iowa': {'order': 'fcfs'}}}
    """
    if not isinstance(given, Mapping):
        return given
    found = {name: value for name, value in given.items() if not (set(str(name)) & set(".@"))}
    for address in [name for name in given if name not in found]:
        decision, _, site = str(address).partition("@")
        first, _, kind = decision.partition(".")
        if site:
            at = dict(found.get("at") or {})
            _put(at, site, decision, given[address], address)
            found["at"] = at
        else:
            own = found.get(first)
            by_kind = isinstance(own, Mapping) and own.keys() <= ORDER_FIELDS
            found[first] = {} if own is None else own if by_kind else {"rigid": own}
            _put(found, first, kind, given[address], address)
    return found


def by_address(policies: Mapping[str, Any]) -> dict[str, Any]:
    """Return policies by their addresses: the reverse of :func:`nested`.

    Parameters
    ----------
    policies
        The value of ``policies``, in plain values.

    Examples
    --------
    >>> by_address({"order": {"rigid": "fcfs", "staged": "swag"}, "at": {"iowa": {"share": None}}})
    {'order': 'fcfs', 'order.staged': 'swag', 'share@iowa': None}
    """
    found: dict[str, Any] = {}
    for name, given in policies.items():
        if name == "order" and isinstance(given, Mapping) and given and given.keys() <= ORDER_FIELDS:
            defaults = OrderSpec().model_dump(mode="json")
            found[name] = given.get("rigid", defaults["rigid"])
            found |= {
                f"{name}.{kind}": given[kind]
                for kind in given
                if given[kind] != defaults[kind] and kind != "rigid"
            }
        elif name == "at":
            for site, own in given.items():
                found |= {f"{decision}@{site}": value for decision, value in own.items()}
        else:
            found[name] = given
    return found


def _put(tree: dict[str, Any], name: str, field: str, value: Any, address: object) -> None:
    own = tree.get(name) or {}
    if not isinstance(own, Mapping) or field in own:
        raise ValueError(f"{address}: given twice")
    tree[name] = {**own, field: value}
