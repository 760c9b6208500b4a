"""Compute- and network-aware placement, with jobs ordered by remaining time (Tetrium)."""

from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from windlass.jit import Kernel
from windlass.model import InputError
from windlass.place.compiled import CompiledPlacement
from windlass.place.lib.decide import DECIDE, REASONS_OF_BUDGET
from windlass.place.lib.options import PlacementOptions

_DIRECTIONS = ("forward", "reverse", "best")
_MAP_ORDERS = {"remote-spread": (1.0, 1.0), "remote": (1.0, 0.0), "local": (0.0, 1.0)}
_REDUCE_ORDERS = ("largest", "given")


def between(name: str, value: float, low: float, high: float) -> float:
    """Return the value if it is within bounds.

    Raises
    ------
    InputError
        The value is out of bounds; the message names it.
    """
    if not low <= value <= high:
        raise InputError(f"{name} is {value}, expected a number from {low:g} to {high:g}")
    return float(value)


def chosen(name: str, value: str, known: Iterable[str]) -> str:
    """Return the value if it is one of the known ones, else raise."""
    options = tuple(known)
    if value not in options:
        raise InputError(f"{name} is {value!r}, expected one of {', '.join(options)}")
    return value


class Tetrium(CompiledPlacement):
    """Places the tasks of each stage so that transfer plus compute time is least, shortest job first.

    At each decision, jobs with the fewest stages left come first, and among them those whose stage would take
    least time on the free slots (the optimum of its placement program). The tasks of a stage are placed by
    its program, solved exactly for the slots that earlier jobs left free; tasks without a slot now are placed
    again later. If a site has fewer slots than planned tasks, map tasks that read remotely start first, spread over
    their sources from the narrowest uplink on, with a few slots kept for local ones; of reduce tasks of
    different sizes the largest start first.

    Source: thesis, sections 4.3 and 4.4.

    Parameters
    ----------
    epsilon
        ε: each job keeps at least (1 − ε) of its fair share of slots, by waiting tasks; 1 for no guarantee.
    rho
        ρ: each decision lets the waiting tasks of a stage send at most W_min + ρ (W_max − W_min) bytes; 1 for
        no limit. If more has to move because its input is at sites without slots, tasks start anyway, and the
        reason states this.
    local_share
        Fraction of the slots that a stage gets at a site that is kept for local map tasks.
    direction
        ``forward`` places the map stage by its own program, ``reverse`` by the best distribution for the
        shuffle, ``best`` by the better of both.
    map_order
        Which map tasks start first: ``remote-spread``, ``remote`` (source by source) or ``local``.
    reduce_order
        ``largest`` first, or as ``given``.
    update_sites
        Keep each stage's plan, and change it at this many sites at most (two or more) when slots or links
        change. 0 places waiting tasks again at each decision. The order of jobs is the same in either case.

    Raises
    ------
    InputError
        A parameter is out of bounds; the message names it.

    Examples
    --------
    >>> from windlass.place.view import PlaceView, Ready, Sites
    >>> sites = Sites.of(slots=[3, 3, 3], up=[1e10] * 3, down=[1e10] * 3)
    >>> ready = Ready.of(shuffles=[0, 0], task_s=1, here=[[2, 4, 6], [0, 1, 2]], task_bytes=1e6)
    >>> answer = Tetrium().decide(PlaceView(0.0, sites, ready))
    >>> answer.starts[:3].tolist()
    [[1, 1, 1, 1], [1, 2, 2, 2], [0, 0, 0, 1]]
    """

    name: ClassVar[str] = "tetrium"
    place: ClassVar[Kernel] = DECIDE
    reasons: ClassVar[tuple[str, ...]] = REASONS_OF_BUDGET

    def __init__(
        self,
        epsilon: float = 1.0,
        rho: float = 1.0,
        local_share: float = 0.1,
        direction: str = "forward",
        map_order: str = "remote-spread",
        reduce_order: str = "largest",
        update_sites: int = 0,
    ) -> None:
        remote_first, spread = _MAP_ORDERS[chosen("map_order", map_order, _MAP_ORDERS)]
        self.largest_first = chosen("reduce_order", reduce_order, _REDUCE_ORDERS) == "largest"
        if update_sites != 0 and update_sites < 2:
            raise InputError(f"update_sites is {update_sites}, expected 0 or at least 2")
        options = PlacementOptions(
            epsilon=between("epsilon", epsilon, 0.0, 1.0),
            rho=between("rho", rho, 0.0, 1.0),
            local_share=between("local_share", local_share, 0.0, 1.0),
            remote_first=remote_first,
            spread=spread,
            direction=_DIRECTIONS.index(chosen("direction", direction, _DIRECTIONS)),
            fair_order=0.0,
            iridium=0.0,
            keep_sites=update_sites,
        )
        self.parameters = np.array(options, np.float64)
