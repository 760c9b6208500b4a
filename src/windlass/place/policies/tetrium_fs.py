"""Tetrium's placement with fair sharing of slots."""

from typing import ClassVar

import numpy as np

from windlass.place.lib.options import PlacementOptions
from windlass.place.policies.tetrium import Tetrium


class TetriumFs(Tetrium):
    """Places as Tetrium does, but shares the free slots of each site evenly among waiting jobs.

    Source: thesis, section 4.6.3 (Tetrium+FS); parameters as in ``tetrium``, except ε, which has no meaning
    here.

    Examples
    --------
    >>> from windlass.place.view import PlaceView, Ready, Sites
    >>> sites = Sites.of(slots=[4, 4], up=[1e9, 1e9], down=[1e9, 1e9])
    >>> ready = Ready.of(shuffles=[0, 0], task_s=1, here=[[8, 8], [1, 1]], task_bytes=1e6)
    >>> TetriumFs().decide(PlaceView(0.0, sites, ready)).starts.tolist()
    [[0, 0, 0, 2], [0, 1, 1, 2], [1, 0, 0, 1], [1, 1, 1, 1]]
    """

    name: ClassVar[str] = "tetrium-fs"

    def __init__(self, rho: float = 1.0, local_share: float = 0.1, direction: str = "forward") -> None:
        super().__init__(rho=rho, local_share=local_share, direction=direction)
        self.parameters = np.array(PlacementOptions(*self.parameters)._replace(fair_order=1.0))
