"""Parameters of a decision of Tetrium."""

from typing import NamedTuple

from windlass.jit import lean


class PlacementOptions(NamedTuple):
    """Parameters of a decision, all floats; see :class:`~windlass.place.policies.tetrium.Tetrium`.

    ``remote_first`` and ``spread`` set the order of map tasks, 1 for true; ``direction`` is 0 forward, 1
    reverse, 2 the better of both; ``fair_order`` shares slots evenly; ``iridium`` places as Iridium does;
    ``keep_sites`` is the number of sites of a kept plan that may change, 0 to keep no plans.
    """

    epsilon: float
    rho: float
    local_share: float
    remote_first: float
    spread: float
    direction: float
    fair_order: float
    iridium: float
    keep_sites: float


@lean
def options_of(parameters):
    """Return the parameters from an array in their order."""
    return PlacementOptions(
        epsilon=parameters[0],
        rho=parameters[1],
        local_share=parameters[2],
        remote_first=parameters[3],
        spread=parameters[4],
        direction=parameters[5],
        fair_order=parameters[6],
        iridium=parameters[7],
        keep_sites=parameters[8],
    )
