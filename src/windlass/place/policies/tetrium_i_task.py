"""Tetrium's job order with Iridium's placement."""

from typing import ClassVar

import numpy as np

from windlass.place.lib.options import PlacementOptions
from windlass.place.policies.tetrium import Tetrium


class TetriumITask(Tetrium):
    """Orders jobs as Tetrium does, but places tasks as Iridium does: maps in place, shuffles by the network alone.

    Source: thesis, section 4.6.3 (+I-task).

    Examples
    --------
    >>> from windlass.place.view import PlaceView, Ready, Sites
    >>> sites = Sites.of(slots=[4, 4], up=[1e9, 1e9], down=[1e9, 1e9])
    >>> ready = Ready.of(shuffles=[0, 0], task_s=1, here=[[8, 8], [1, 1]], task_bytes=1e6)
    >>> TetriumITask().decide(PlaceView(0.0, sites, ready)).starts.tolist()
    [[1, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 3], [0, 1, 1, 3]]
    """

    name: ClassVar[str] = "tetrium-i-task"

    def __init__(self) -> None:
        super().__init__()
        self.parameters = np.array(PlacementOptions(*self.parameters)._replace(iridium=1.0))
