"""Moving all data to one site first."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel, helper
from windlass.place.compiled import PLACE, CompiledPlacement
from windlass.place.lib.fair import REASONS_OF_FAIR, share_slots
from windlass.place.lib.search import copy
from windlass.place.view import PlaceView


@helper
def hub_of(sites):
    """Return the most powerful site: the one with the largest product of slots and downlink."""
    hub = 0
    for x in range(len(sites.slots)):
        if sites.slots[x] * sites.down[x] > sites.slots[hub] * sites.down[hub]:
            hub = x
    return hub


def _place(now, sites, ready, changed, parameters, starts):
    m, n = ready.here.shape
    want = np.zeros((m, n), np.int64)
    hub = hub_of(sites)
    for row in range(m):
        if not ready.shuffles[row]:
            copy(ready.here[row], want[row])
        else:
            want[row, hub] = ready.waiting[row]
    return share_slots(sites, ready, want, starts, 0)


class Centralised(CompiledPlacement):
    """Moves all input to the most powerful site as soon as a job is submitted, and runs everything there.

    The most powerful site has the largest product of slots and downlink. Input moves at once and holds no
    slot; a task starts when its input has arrived. The site's slots are shared fairly among jobs. Input that
    cannot leave its site is processed there.

    Source: thesis, sections 4.2.2 and 4.6.3 (Centralized Approach).

    Examples
    --------
    >>> from windlass.place.view import PlaceView, Ready, Sites
    >>> sites = Sites.of(slots=[40, 10, 20], up=[5e9, 1e9, 2e9], down=[5e9, 1e9, 5e9])
    >>> answer = Centralised().decide(PlaceView(0.0, sites, Ready.of(shuffles=0, task_s=2, here=[[200, 300, 500]])))
    >>> answer.moves.tolist(), answer.starts.tolist()
    ([[0, 1, 0, 300], [0, 2, 0, 500]], [[0, 0, 0, 40]])
    """

    name: ClassVar[str] = "centralised"
    reasons: ClassVar[tuple[str, ...]] = REASONS_OF_FAIR
    place: ClassVar[Kernel] = Kernel(_place, PLACE)

    def __init__(self) -> None:
        self.parameters = np.zeros(1)

    def moves(self, view: PlaceView) -> NDArray[np.int64]:
        """Return all input of new jobs, to be moved to the hub."""
        hub = hub_of.py_func(view.sites)
        here = view.ready.here * (view.fresh > 0)[:, None] * (view.sites.up > 0)[None, :]
        here[:, hub] = 0
        rows, sources = np.nonzero(here if view.sites.down[hub] > 0 else np.zeros_like(here))
        return np.stack([rows, sources, np.full_like(rows, hub), here[rows, sources]], axis=1).astype(
            np.int64
        )
