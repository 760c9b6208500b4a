"""Policies that decide by the tasks of their node: overload control of servers."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.site import Reads
from windlass.admit.view import Admission, AdmitView, TaskLoad


class LoadPolicy:
    """Decides by the node's tasks; while they are unknown, the last answer holds."""

    reads: ClassVar[Reads] = Reads(metrics=False)

    def __init__(self) -> None:
        self.last = Admission(False, "the node's tasks were never measured")

    def decide(self, view: AdmitView) -> Admission:
        """Decide by the tasks of the step that has ended."""
        if view.tasks is not None:
            self.last = self.answer(view.tasks)
        return self.last

    def answer(self, tasks: TaskLoad) -> Admission:
        """Return the decision for the tasks of a step."""
        raise NotImplementedError


def limited(limit: float, why: str) -> Admission:
    """Return an admission of at most ``limit`` tasks at once, rounded down and at least 1.

    >>> limited(3.7, "reason").limit
    3
    """
    return Admission(False, why, limit, max(1, int(limit)))
