"""Admission by CPU Ready that gives way to tasks which wait for a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.admit.policies.ready import Ready
from windlass.admit.site import AdmitSiteView, Reads, SiteAdmission
from windlass.admit.view import Admission, AdmitView, UnboundTasks
from windlass.model.values import number


@dataclass(frozen=True, slots=True, eq=False)
class _Reasons(Sequence[str]):
    """The reasons of nodes: one for those that would reject, and those of CPU Ready for the others."""

    ready: Sequence[str]
    rejects: NDArray[np.bool_]
    why: str

    def __len__(self) -> int:
        return len(self.rejects)

    def __getitem__(self, node: Any) -> Any:
        return self.why if self.rejects[node] else self.ready[node]


class Relenting:
    """Rejects while CPU Ready is high, as ``ready`` does, but only while no task of the site waits long for a node.

    Under a dispatch policy that binds late, a rejected task is sent to no other node: it waits at its site. If several
    nodes reject while other loads hold most cores, the rest may not suffice, and the queue grows for hours. This policy
    reads that queue, which is part of dispatch's view. Once its oldest task has waited for ``patience``, all nodes
    accept until it has started. Where the queue is unknown, or where dispatch binds at once, it is ``ready``.

    Source: Windlass.

    Parameters
    ----------
    threshold, downtime
        See :class:`~windlass.admit.policies.ready.Ready`.
    patience
        Longest time that a task should wait for a node that accepts it, s.
    nodes
        Number of nodes, of which each has its own CPU Ready.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> policy = Relenting(threshold=0.05, patience=2.0)
    >>> queues = (None, UnboundTasks(3, oldest=1.9), UnboundTasks(3, oldest=2.0))
    >>> [policy.decide(AdmitView(0.0, np.zeros(0), ready=0.2, unbound=queue)).reject for queue in queues]
    [True, True, False]
    """

    name: ClassVar[str] = "relenting"
    reads: ClassVar[Reads] = Reads(metrics=False, tasks=False, unbound=True)

    def __init__(
        self,
        threshold: float = 0.05,
        downtime: float | None = None,
        patience: float = 0.25,
        nodes: int = 1,
    ) -> None:
        self._ready = Ready(threshold, downtime, nodes=nodes)
        self.patience = number("patience", patience, 0.0)

    def decide(self, view: AdmitView) -> Admission:
        """Decide by CPU Ready, unless a task has waited for too long."""
        answer = self._ready.decide(view)
        waits = self._waits(view.unbound)
        return Admission(False, _why(waits), answer.score) if waits is not None and answer.reject else answer

    def decide_all(self, view: AdmitSiteView) -> SiteAdmission:
        """Decide by the CPU Ready of each node, unless a task has waited for too long."""
        answer = self._ready.decide_all(view)
        waits = self._waits(view.unbound)
        if waits is None or not answer.reject.any():
            return answer
        why = _Reasons(answer.why, answer.reject, _why(waits))
        return SiteAdmission(np.zeros_like(answer.reject), answer.limit, answer.score, why)

    def _waits(self, unbound: UnboundTasks | None) -> UnboundTasks | None:
        """Return the tasks that wait if the oldest has waited for too long, else None."""
        late = unbound is not None and unbound.waiting > 0 and unbound.oldest >= self.patience
        return unbound if late else None


def _why(waits: UnboundTasks) -> str:
    return f"{waits.waiting} tasks of the site wait for a node, the oldest for {waits.oldest:.3g} s"
