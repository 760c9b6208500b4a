"""Answers at polls between two plans: waiting jobs are served, and nothing else is launched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.scale.lib.demand import Need, most
from windlass.scale.view import ScaleView, Totals

_Ints = NDArray[np.int64]


def serve_waiting(view: ScaleView, need: Need, plan: _Ints) -> Totals:
    """Return the instances that hold jobs or that waiting jobs need, and existing others up to the plan.

    The reserve of a plan is launched only at its decisions: a poll must not act on a period's forecast again.

    Parameters
    ----------
    view
        The view of a poll.
    need
        The demand of the view.
    plan
        (k,) totals of the last plan.
    """
    existing = view.ready + view.coming
    counts = np.minimum(np.maximum(need.least, np.minimum(existing, plan)), most(view))
    why = (
        f"{more} more for waiting jobs" if more > 0 else "no waiting job needs more"
        for more in (counts - existing).tolist()
    )
    return Totals(tuple(counts.tolist()), tuple(why))
