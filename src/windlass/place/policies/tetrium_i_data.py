"""Tetrium's placement over data that Iridium moved ahead."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.place.lib.prefer import PREFER
from windlass.place.policies.tetrium import Tetrium
from windlass.place.view import PlaceView


class TetriumIData(Tetrium):
    """Moves input ahead so that the next shuffle is fastest, as Iridium does, then places as Tetrium does.

    Iridium moves input from sites whose uplink delays the shuffle, ahead of the query. Here input moves when
    the job is submitted, the smallest amount that gives the distribution with the fastest shuffle for reduce
    tasks in proportion to slots; tasks whose input moves wait for it.

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
        """Return Tetrium's functions, and the one that chooses input to move."""
        return (*super().functions(), PREFER)

    def moves(self, view: PlaceView) -> NDArray[np.int64]:
        """Return the input of new jobs to move ahead, if that makes a later shuffle faster."""
        m, n = view.ready.here.shape
        rows = np.empty((m * 2 * n, 4), np.int64)
        return rows[: PREFER.ready()(view.sites, view.ready, view.fresh, rows)]
