"""The policies of ``windlass slurm``, ``pbs``, ``htcondor`` and ``k8s drive``, read from the command line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import TypeAdapter

from windlass.cli.as_file import policy_fields
from windlass.cli.policy_notation import decision_and_policy, split_policies, with_parameters
from windlass.drive import Named
from windlass.experiment.worlds.policy import Policy, PolicySpec
from windlass.model import InputError
from windlass.model.nearest import did_you_mean
from windlass.order.site import POLICIES as ORDER
from windlass.policy.registry import Registry
from windlass.share import POLICIES as SHARE


def read_policies(
    text: str, decisions: Sequence[Registry] = (ORDER, SHARE), system: str = "Slurm"
) -> dict[str, Named]:
    """Return policies by decision, read from an option such as ``order=easy,share=pairs(budget=0.05)``.

    Parameters
    ----------
    text
        The option's value.
    decisions
        The decisions that can be driven; the first one is required.
    system
        The batch system, for messages.

    Raises
    ------
    InputError
        A decision cannot be driven or is given twice, the first one is missing, a policy does not exist, or a
        parameter is invalid.

    Examples
    --------
    >>> found = read_policies("order=easy,share=pairs(budget=0.05)")
    >>> found["order"].name, found["share"].budget
    ('easy', 0.05)
    """
    registries = {registry.key: registry for registry in decisions}
    found: dict[str, Named] = {}
    for entry in split_policies(text):
        head, policy = decision_and_policy(entry)
        decision = ORDER.key if head is None else head
        if decision not in registries:
            raise InputError(
                f"--policies: decision {decision!r} cannot be driven on {system}, "
                f"expected one of {', '.join(registries)}{did_you_mean(decision, registries)}"
            )
        if decision in found:
            raise InputError(f"--policies: {decision} is given twice, expected one policy")
        given = with_parameters(policy)
        name, parameters = next(iter(given.items())) if isinstance(given, dict) else (given, {})
        found[decision] = registries[decision].make(name, np.random.default_rng(1), **parameters)
    required = decisions[0].key
    if required not in found:
        raise InputError(f"--policies: no policy of {required} given, expected {required}=POLICY")
    return found


def policy_specs(text: str) -> dict[str, PolicySpec]:
    """Return the names and parameters of policies by decision; errors as of :func:`read_policies`.

    >>> policy_specs("easy,share=pairs(budget=0.05)")["share"].parameters
    {'budget': 0.05}
    """
    read_policies(text)
    policy = TypeAdapter[PolicySpec](Policy)
    return {decision: policy.validate_python(value) for decision, value in policy_fields(text).items()}
