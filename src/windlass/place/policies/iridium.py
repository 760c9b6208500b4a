"""Maps in place, shuffles where the network takes least."""

from typing import ClassVar

import numpy as np

from windlass.compiled import Kernel
from windlass.place.compiled import PLACE, CompiledPlacement
from windlass.place.lib.fair import REASONS_OF_FAIR, share_slots, start_elsewhere, wanted_in_place


def _place(now, sites, ready, changed, parameters, starts):
    want = np.zeros(ready.here.shape, np.int64)
    wanted_in_place(sites, ready, True, want)
    count = share_slots(sites, ready, want, starts, 0)
    return start_elsewhere(now, sites, ready, 0.0, want, starts, count)


class Iridium(CompiledPlacement):
    """Runs map tasks where their input is and places reduce tasks so that the shuffle takes least.

    The placement of reduce tasks minimises network time alone (the reduce program without T_red); how many slots
    a site has does not matter. Slots are shared fairly among jobs. Iridium's moving of input ahead of queries is
    ``tetrium-i-data``.

    Source: Pu et al., "Low latency geo-distributed data analytics", SIGCOMM 2015; thesis, section 4.2.2.

    Examples
    --------
    >>> from windlass.place.view import PlaceView, Ready, Sites
    >>> sites = Sites.of(slots=[500, 500, 500], up=[5e9, 1e9, 2e9], down=[5e9, 1e9, 5e9])
    >>> ready = Ready.of(shuffles=1, task_s=1, here=[[0, 0, 0]], data=[[10e9, 15e9, 25e9]], waiting=500)
    >>> Iridium().decide(PlaceView(0.0, sites, ready)).starts.tolist()
    [[0, -1, 1, 150], [0, -1, 2, 350]]
    """

    name: ClassVar[str] = "iridium"
    reasons: ClassVar[tuple[str, ...]] = REASONS_OF_FAIR
    place: ClassVar[Kernel] = Kernel(_place, PLACE)

    def __init__(self) -> None:
        self.parameters = np.zeros(1)
