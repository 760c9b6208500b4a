"""The spike model that nodes exchange, expressed in metrics, which all nodes have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.admit.federation import Subspace
from windlass.admit.lib.subspace import Floats
from windlass.model import InputError

#: Number of features from CPU Ready: a constant 1, its value, its change, and its running mean.
PLAIN = 4


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A node's spike model in terms of metrics rather than of its own directions, so that another node can use it.

    Parameters
    ----------
    subspace
        Leading directions of the node.
    metrics
        (d, 2) weights of each metric and of its change, in standard deviations, in the score.
    plain
        (4,) weights of the features of CPU Ready.
    count
        Number of steps that the model was learned from.
    """

    subspace: Subspace
    metrics: Floats
    plain: Floats
    count: float

    @staticmethod
    def of_all(lessons: list[Lesson], subspace: Subspace) -> Lesson:
        """Return the mean of several, weighted by steps, with the subspace that the tree has merged.

        Raises
        ------
        InputError
            The list is empty.
        """
        if not lessons:
            raise InputError("lessons: the list is empty, expected at least one")
        counts = np.array([each.count for each in lessons])
        part = counts / max(float(counts.sum()), 1e-300)
        return Lesson(
            subspace,
            np.tensordot(part, np.stack([each.metrics for each in lessons]), 1),
            np.tensordot(part, np.stack([each.plain for each in lessons]), 1),
            float(counts.sum()),
        )
