"""A priority and a way of backfilling, chosen apart."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model import Owners
from windlass.order.site.backfills import BACKFILLS, queue_kernel
from windlass.order.site.compiled import columns_of, decided, numbers_of, select_of
from windlass.order.site.ownership import OwnedPriority, half_life_of
from windlass.order.site.reservation import in_other_order, promises
from windlass.order.site.view import SiteView, Start
from windlass.policy.registry import Registry, capability

_PRIORITIES = Registry(
    "order.site.priority",
    "Which of those who wait goes first?",
    "the policy queue is",
    "windlass.order.site.priorities",
    method="score",
    field="policies.order: queue: priority",
)


class Queue:
    """Jobs in the order of a priority, and one of the ways of backfilling behind the first that does not fit.

    With ``none``, who does not fit holds up all behind. With ``easy``, others fill in where they do not delay the
    first. With ``conservative``, each job is promised a start when it comes; where processors come back early, the
    promises move forward in the order of the priority. Where requests are exact,
    the priority then decides among jobs that come at one instant only. ``easy`` by itself is short for ``fcfs`` with
    ``easy``.

    Parameters
    ----------
    priority
        A name from ``priorities/``, or a file with one of your own; with its parameters, where it takes some, as
        ``{"multifactor": {"weight_age": 500}}``.
    backfill
        ``none``, ``easy`` or ``conservative``.

    Raises
    ------
    InputError, ValueError
        There is no such priority, or no such way of backfilling.

    Source: Srinivasan, Kettimuthu, Subramani and Sadayappan, "Characterization of backfilling strategies for parallel
    job scheduling", ICPP workshops 2002.

    Examples
    --------
    >>> from windlass.order.site.view import Running, SiteView, Waiting
    >>> waiting = Waiting.of(job=[1, 2, 3], submit=[0, 1, 2], procs=[4, 2, 2], request=[60, 50, 40])
    >>> running = Running.of(job=[0], procs=[2], expected_end=[55])
    >>> view = SiteView(5.0, processors=4, free=2, waiting=waiting, running=running)
    >>> Queue("sjf", "easy").decide(view).jobs, Queue("fcfs", "none").decide(view).jobs
    ((3,), ())
    """

    name: ClassVar[str] = "queue"

    def __init__(self, priority: str | Mapping[str, Any] = "fcfs", backfill: str = "easy") -> None:
        if backfill not in BACKFILLS:
            raise ValueError(f"backfill is {backfill!r}, expected one of {', '.join(BACKFILLS)}")
        self.backfill = backfill
        self.priority, self._parameters = _read(priority)
        self._placed: NDArray[np.float64] | None = None
        self._own()

    def _own(self) -> Any:
        """The priority itself; it is not kept, so that a copy of this policy needs none of its file."""
        return _PRIORITIES.make(self.priority, np.random.default_rng(0), **self._parameters)

    @property
    def given(self) -> NDArray[np.float64]:
        """The priority's own numbers, for its score."""
        return numbers_of(self._own()) if self._placed is None else self._placed

    def placed(self, owners: Owners, queues: Sequence[str]) -> tuple[Queue, Owners]:
        """The same for jobs of which it is known whose they are, where that is more to the priority than numbers.

        As :func:`windlass.order.site.ownership.placed` says; such a priority is
        :class:`~windlass.order.site.ownership.OwnedPriority`.
        """
        priority = capability(self._own(), OwnedPriority)
        if priority is None:
            return self, owners
        found = copy.copy(self)
        found._placed, owners = priority.placed(owners, queues)
        return found, owners

    @property
    def half_life(self) -> float | None:
        """After how long what a user has had counts half for the priority, s; None where it does not count."""
        return half_life_of(self._own())

    @property
    def select(self) -> Kernel:
        """The compiled function of this pair."""
        return queue_kernel(_PRIORITIES.find(self.priority).score, self.backfill)

    @property
    def pooled(self) -> Kernel:
        """The same where jobs wait for more than processors."""
        return queue_kernel(_PRIORITIES.find(self.priority).score, self.backfill, pools=True)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Those of the way of backfilling."""
        return BACKFILLS[self.backfill].policy.reasons

    def decide(self, view: SiteView) -> Start:
        """Which waiting jobs to start now, why, and the notes to keep."""
        return decided(select_of(self, len(view.pools) > 0), self.reasons, view, self.given)

    def promised(self, view: SiteView, answer: Start) -> NDArray[np.float64]:
        """When each who waits can start at the latest, as the way of backfilling promises it in this order."""
        columns, score = columns_of(view, self.given), _PRIORITIES.find(self.priority).score
        order = np.argsort([score(columns, row) for row in columns.queue], kind="stable")
        found = np.full(len(order), np.nan)
        found[order] = promises(BACKFILLS[self.backfill].policy(), *in_other_order(view, answer, order))
        return found


def _read(priority: object) -> tuple[str, dict[str, Any]]:
    """A priority's name and parameters, as a scenario gives them."""
    if isinstance(priority, str):
        return priority, {}
    if isinstance(priority, Mapping) and len(priority) == 1:
        name, given = next(iter(priority.items()))
        if given is None or isinstance(given, Mapping):
            return str(name), dict(given or {})
    raise ValueError(f"priority is {priority!r}, expected a name, or {{name: {{parameter: value}}}}")
