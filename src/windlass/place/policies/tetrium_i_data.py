"""Tetrium over data that Iridium moved ahead."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.place.lib.prefer import PREFER
from windlass.place.policies.tetrium import Tetrium
from windlass.place.view import PlaceView


class TetriumIData(Tetrium):
    """Moves input ahead so that the shuffle behind it is fastest, as Iridium does, then places as Tetrium does.

    Iridium moves input of a site whose uplink holds up the shuffle, ahead of the query. Here input moves when the
    job is submitted, as little of it as gives the distribution with the fastest shuffle for reduce tasks in
    proportion to slots; tasks of what moves wait for it.

    Source: thesis, section 4.6.3 (+I-data); Pu et al., SIGCOMM 2015, section 5.

    Examples
    --------
    >>> from windlass.place.view import PlaceView, Ready, Sites
    >>> sites = Sites.of(slots=[40, 40], up=[1e9, 1e8], down=[1e9, 1e9])
    >>> ready = Ready.of(shuffles=0, task_s=1, here=[[10, 90]], task_bytes=1e8, next_work=100.0, ratio=0.5)
    >>> TetriumIData().decide(PlaceView(0.0, sites, ready)).moves.tolist()
    [[0, 1, 0, 81]]
    """

    name: ClassVar[str] = "tetrium-i-data"

    def __init__(self) -> None:
        super().__init__()

    @classmethod
    def functions(cls) -> tuple[Kernel, ...]:
        """Tetrium's, and what moves input ahead."""
        return (*super().functions(), PREFER)

    def moves(self, view: PlaceView) -> NDArray[np.int64]:
        """Input of new jobs that a shuffle reads later, as far as that makes the shuffle faster."""
        m, n = view.ready.here.shape
        rows = np.empty((m * 2 * n, 4), np.int64)
        return rows[: PREFER.ready()(view.sites, view.ready, view.fresh, rows)]
