"""What a plan answers at a look, between two decisions: who waits is served, and nothing else is launched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.scale.lib.demand import Need, most
from windlass.scale.view import ScaleView, Totals

_Ints = NDArray[np.int64]


def look_after(view: ScaleView, need: Need, plan: _Ints) -> Totals:
    """As many as hold jobs and as who waits needs, and of those that are there besides as many as the plan has.

    What a plan has in reserve is launched at its decisions alone: what is told about a period is told once.

    Parameters
    ----------
    view
        Of a look.
    need
        Of the view.
    plan
        (k,) how many there should be by the plan.
    """
    there = view.ready + view.coming
    counts = np.minimum(np.maximum(need.least, np.minimum(there, plan)), most(view))
    why = (
        f"{more} more for jobs that wait" if more > 0 else "nobody waits for more"
        for more in (counts - there).tolist()
    )
    return Totals(tuple(counts.tolist()), tuple(why))
