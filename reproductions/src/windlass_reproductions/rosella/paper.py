"""Rosella: which worker gets this task?

The paper's examples, its growth laws, its comparison with Sparrow, and the cost and gain of its learner. The available
text ends after Figure 4, so most of the evaluation is known only by its claims; each row states its setting.
"""

from __future__ import annotations

from windlass_reproductions.reproduction import Notify, Reproduction
from windlass_reproductions.rosella.examples import examples, fast_worker, large_cluster
from windlass_reproductions.rosella.grid import against_best
from windlass_reproductions.rosella.growth import growth
from windlass_reproductions.rosella.learning import benchmark_tasks, learning_time, shock
from windlass_reproductions.rosella.table import against_all, stale, volatile

_STEPS = (
    ("Examples 1 and 2", examples),
    ("Example 3", fast_worker),
    ("1,000 workers", large_cluster),
    ("growth of the longest queue", growth),
    ("comparison, rates unknown", against_all),
    ("comparison, speeds permuted", volatile),
    ("comparison, schedulers with old queue lengths", stale),
    ("policy pull, in every cell of a grid", against_best),
    ("after a shock", shock),
    ("benchmark tasks", benchmark_tasks),
    ("learning time", learning_time),
)


class Rosella:
    """Wu and Liu, "Rosella: A Self-Driving Distributed Scheduler for Heterogeneous Clusters"."""

    name = "rosella"
    title = "Rosella: A Self-Driving Distributed Scheduler for Heterogeneous Clusters"

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Compute all rows and pictures."""
        found = []
        for done, (step, make) in enumerate(_STEPS):
            notify(step, done / len(_STEPS))
            found.append(make(quick))
        notify("done", 1.0)
        return Reproduction(
            rows=tuple(row for part in found for row in part.rows),
            pictures=tuple(picture for part in found for picture in part.pictures),
        )
