"""``--policies``: policies with parameters, read from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from windlass.cli.policy_notation import decision_and_policy, split_policies, with_parameters
from windlass.experiment.scenario.files import resolve_policies
from windlass.experiment.worlds import World
from windlass.model import InputError
from windlass.model.nearest import did_you_mean


def policies_given(text: str, given: dict[str, Any], world: World) -> dict[str, Any]:
    """Return a scenario's policies by decision, with those that the option names replaced.

    Parameters
    ----------
    text
        The value of the option: names or files separated by commas, each with parameters in brackets. ``decision=``
        before a name sets the decision of the names from there on; the default is the first decision of the scenario,
        or else of the world.
    given
        The scenario's policies, which are not changed.
    world
        The scenario's world.

    Raises
    ------
    InputError
        The text cannot be parsed, or the world has no such decision.
    """
    known = [registry.key for registry in world.decisions]
    decision = next(iter(given), known[0])
    named: dict[str, list[Any]] = {}
    for entry in split_policies(text):
        head, policy = decision_and_policy(entry)
        if head is not None:
            if head not in known:
                raise InputError(
                    f"--policies: world {world.name!r} has no decision {head!r}, expected one of {', '.join(known)}"
                    f"{did_you_mean(head, known)}"
                )
            decision = head
        chosen = named.setdefault(decision, [])
        if policy:
            # A file named on the command line is relative to the current folder, not to the scenario's.
            chosen.append(resolve_policies(with_parameters(policy), Path()))
    if not all(named.values()):
        raise InputError(f"--policies: {text!r} names no policy")
    return given | named
