"""A queue ordered by any priority, with any way of backfilling."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
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
    "Which waiting job goes first?",
    "the policy queue is called",
    "windlass.order.site.priorities",
    method="score",
    field="policies.order: queue: priority",
)


class Queue:
    """Jobs in the order of a priority, with a way of backfilling behind the first job that does not fit.

    With ``none``, a job that does not fit blocks all behind it. With ``easy``, others fill in where they do not delay
    the first. With ``conservative``, each job is promised a start on arrival; when processors are released early,
    promises move forward in the order of the priority. If requested times are exact, the priority then only decides
    among jobs that arrive at the same instant. The policy ``easy`` is the same as ``fcfs`` with ``easy``.

    Parameters
    ----------
    priority
        A name from ``priorities/``, or a file that defines a priority; with its parameters, if any, as in
        ``{"multifactor": {"weight_age": 500}}``.
    backfill
        ``none``, ``easy`` or ``conservative``. As ``{"easy": {"order": "sjf"}}``, jobs are tried for backfilling in the
        order of a second priority: shortest job first is SJBF, which EASY++ combines with predicted run times.

    Raises
    ------
    InputError, ValueError
        A priority or the way of backfilling does not exist, or the way of backfilling takes no order.

    Source: Srinivasan, Kettimuthu, Subramani and Sadayappan, "Characterization of backfilling strategies for parallel
    job scheduling", ICPP workshops 2002. SJBF: Tsafrir, Etsion and Feitelson, "Backfilling using system-generated
    predictions rather than user runtime estimates", IEEE TPDS 18(6), 2007.

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

    def __init__(
        self, priority: str | Mapping[str, Any] = "fcfs", backfill: str | Mapping[str, Any] = "easy"
    ) -> None:
        self.backfill, self._order = _read_backfill(backfill)
        self.priority, self._parameters = _read("priority", priority)
        self._placed: NDArray[np.float64] | None = None
        self._own()

    def _own(self) -> Any:
        """Return the priority, created on each call so that copying this policy does not need the priority's file."""
        return _PRIORITIES.make(self.priority, np.random.default_rng(0), **self._parameters)

    @property
    def given(self) -> NDArray[np.float64]:
        """The priority's own numbers, for its score."""
        return numbers_of(self._own()) if self._placed is None else self._placed

    def placed(self, owners: Owners, queues: Sequence[str]) -> tuple[Queue, Owners]:
        """Return this policy prepared for the owners of a run's jobs, and the users renumbered.

        See :func:`windlass.order.site.ownership.placed`. Only a priority that is
        :class:`~windlass.order.site.ownership.OwnedPriority` needs it.
        """
        priority = capability(self._own(), OwnedPriority)
        if priority is None:
            return self, owners
        found = copy.copy(self)
        found._placed, owners = priority.placed(owners, queues)
        return found, owners

    @property
    def half_life(self) -> float | None:
        """Half-life of consumption for the priority, s; None if consumption does not matter."""
        return half_life_of(self._own())

    @property
    def select(self) -> Kernel:
        """The compiled function of this priority and way of backfilling."""
        return self._kernel(pools=False)

    @property
    def pooled(self) -> Kernel:
        """The compiled function for jobs that request more than processors."""
        return self._kernel(pools=True)

    @property
    def score(self) -> Callable[..., Any]:
        """The priority's function of a view and a row, which Numba compiles."""
        found: Callable[..., Any] = _PRIORITIES.find(self.priority).score
        return found

    @property
    def backfill_order(self) -> str | None:
        """The priority by which jobs are tried for backfilling; None for that of the queue."""
        return self._order

    def _kernel(self, pools: bool) -> Kernel:
        order = None if self._order is None else _PRIORITIES.find(self._order).score
        return queue_kernel(_PRIORITIES.find(self.priority).score, self.backfill, pools, order)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons of the way of backfilling."""
        return BACKFILLS[self.backfill].policy.reasons

    def decide(self, view: SiteView) -> Start:
        """Return the jobs to start now, the reasons, and the notes to keep."""
        return decided(select_of(self, len(view.pools) > 0), self.reasons, view, self.given)

    def promised(self, view: SiteView, answer: Start) -> NDArray[np.float64]:
        """Return the latest start of each waiting job, s, as the way of backfilling promises it in this order."""
        columns, score = columns_of(view, self.given), _PRIORITIES.find(self.priority).score
        order = np.argsort([score(columns, row) for row in columns.queue], kind="stable")
        found = np.full(len(order), np.nan)
        found[order] = promises(BACKFILLS[self.backfill].policy(), *in_other_order(view, answer, order))
        return found


def _read(field: str, value: object) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of a scenario's entry."""
    if isinstance(value, str):
        return value, {}
    if isinstance(value, Mapping) and len(value) == 1:
        name, given = next(iter(value.items()))
        if given is None or isinstance(given, Mapping):
            return str(name), dict(given or {})
    raise ValueError(f"{field} is {value!r}, expected a name, or {{name: {{parameter: value}}}}")


def _read_backfill(value: object) -> tuple[str, str | None]:
    """Return the way of backfilling, and the priority by which jobs are tried for it; None for that of the queue."""
    name, given = _read("backfill", value)
    if name not in BACKFILLS:
        raise ValueError(f"backfill is {name!r}, expected one of {', '.join(BACKFILLS)}")
    if not given:
        return name, None
    if not BACKFILLS[name].takes_order:
        able = ", ".join(each for each, backfill in BACKFILLS.items() if backfill.takes_order)
        raise ValueError(
            f"backfill: {name} takes no parameters, expected none, or one of {able} with an order"
        )
    order = given.get("order")
    if set(given) != {"order"} or not isinstance(order, str):
        raise ValueError(f"backfill: {name} is {dict(given)!r}, expected {{'order': PRIORITY}}")
    # The view has room for the numbers and the usage of one priority only, that of the queue.
    second = _PRIORITIES.make(order, np.random.default_rng(0))
    if len(numbers_of(second)) or half_life_of(second) is not None:
        raise ValueError(
            f"backfill: {name}: order is {order!r}, expected a priority without parameters and without a half-life"
        )
    return name, order
