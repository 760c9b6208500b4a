"""The policies of ``windlass slurm drive``, read from the command line."""

from __future__ import annotations

import numpy as np

from windlass.drive import Named
from windlass.model import InputError
from windlass.order.site import POLICIES as ORDER
from windlass.share import POLICIES as SHARE


def read_policies(text: str) -> dict[str, Named]:
    """Return policies by decision, read from an option such as ``order=easy``.

    Raises
    ------
    InputError
        A decision cannot be driven on Slurm or is given twice, or a policy does not exist.

    Examples
    --------
    >>> read_policies("order=easy")["order"].name
    'easy'
    """
    # The decisions that the driver of Slurm supports.
    registries = {ORDER.key: ORDER, SHARE.key: SHARE}
    found: dict[str, Named] = {}
    for entry in text.split(","):
        decision, equals, name = entry.strip().partition("=")
        if not equals:
            decision, name = ORDER.key, decision
        if decision not in registries:
            raise InputError(
                f"--policies: decision {decision!r} cannot be driven on Slurm, expected one of {', '.join(registries)}"
            )
        if decision in found:
            raise InputError(f"--policies: {decision} is given twice, expected one policy")
        found[decision] = registries[decision].make(name, np.random.default_rng(1))
    return found
