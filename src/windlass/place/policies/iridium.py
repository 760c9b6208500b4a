"""Maps in place, and shuffles where the network takes least time."""

from typing import ClassVar

import numpy as np

from windlass.jit import Kernel
from windlass.place.compiled import PLACE, CompiledPlacement
from windlass.place.lib.fair import REASONS_OF_FAIR, share_slots, start_elsewhere, wanted_in_place
from windlass.place.policies.tetrium import chosen

_TIES = ("data", "slots")


def _place(now, sites, ready, changed, parameters, starts):
    want = np.zeros(ready.here.shape, np.int64)
    wanted_in_place(sites, ready, True, parameters[0] > 0.0, want)
    count = share_slots(sites, ready, want, starts, 0)
    return start_elsewhere(now, sites, ready, 0.0, want, starts, count)


class Iridium(CompiledPlacement):
    """Runs map tasks at their input and places reduce tasks so that the shuffle takes least time.

    The placement of reduce tasks minimises network time alone (the reduce program without T_red), whatever
    slots a site has. Slots are shared fairly among jobs. The part of Iridium that moves input ahead of
    queries is ``tetrium-i-data``.

    Many placements have the same network time, and the paper does not specify which of them is used.

    Source: Pu et al., "Low latency geo-distributed data analytics", SIGCOMM 2015; thesis, section 4.2.2.

    Parameters
    ----------
    ties
        Among placements with equal shuffle time: ``data``, the one that leaves most data in place, or
        ``slots``, the one with the least compute time.

    Raises
    ------
    InputError
        The value of ``ties`` is unknown; the message names it.

    Examples
    --------
    >>> from windlass.place.view import PlaceView, Ready, Sites
    >>> sites = Sites.of(slots=[500, 500, 500], up=[5e9, 1e9, 2e9], down=[5e9, 1e9, 5e9])
    >>> ready = Ready.of(shuffles=1, task_s=1, here=[[0, 0, 0]], data=[[10e9, 15e9, 25e9]], waiting=500)
    >>> Iridium().decide(PlaceView(0.0, sites, ready)).starts.tolist()
    [[0, -1, 1, 150], [0, -1, 2, 350]]
    >>> Iridium(ties="slots").decide(PlaceView(0.0, sites, ready)).starts.tolist()
    [[0, -1, 0, 175], [0, -1, 1, 150], [0, -1, 2, 175]]
    """

    name: ClassVar[str] = "iridium"
    reasons: ClassVar[tuple[str, ...]] = REASONS_OF_FAIR
    place: ClassVar[Kernel] = Kernel(_place, PLACE)

    def __init__(self, ties: str = "data") -> None:
        self.parameters = np.array([float(_TIES.index(chosen("ties", ties, _TIES)))])
