"""What a node has learned of its spikes, for other nodes: it is said of metrics, which all have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.admit.federation import Subspace
from windlass.admit.lib.subspace import Floats
from windlass.model import InputError

#: Of CPU Ready: a one, itself, its change, and its mean over some steps.
PLAIN = 4


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """What a node has learned, said of metrics and not of its own directions, so that another node can use it.

    Parameters
    ----------
    subspace
        Its directions.
    metrics
        (d, 2): what a metric and its change, in its own deviations, add to the score.
    plain
        (4,): the same of CPU Ready.
    count
        How many steps it is from.
    """

    subspace: Subspace
    metrics: Floats
    plain: Floats
    count: float

    @staticmethod
    def of_all(lessons: list[Lesson], subspace: Subspace) -> Lesson:
        """The mean of several, by steps, with the subspace that the tree has merged.

        Raises
        ------
        InputError
            There is none.
        """
        if not lessons:
            raise InputError("lessons: there is none, expected one at least")
        counts = np.array([each.count for each in lessons])
        part = counts / max(float(counts.sum()), 1e-300)
        return Lesson(
            subspace,
            np.tensordot(part, np.stack([each.metrics for each in lessons]), 1),
            np.tensordot(part, np.stack([each.plain for each in lessons]), 1),
            float(counts.sum()),
        )
