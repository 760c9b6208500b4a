"""Delay scheduling: tasks wait for a limited time for a slot at their data."""

import dataclasses
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model import InputError
from windlass.place.compiled import PLACE, CompiledPlacement
from windlass.place.lib.delay import FAR, MICRO, start_late
from windlass.place.lib.fair import REASONS_OF_FAIR, share_slots, wanted_in_place
from windlass.place.view import Placement, PlaceView, Ready


class DelaySchedulingOptions(NamedTuple):
    """Parameters, all floats; see :class:`DelayScheduling`."""

    wait: float
    restarts: float


def _place(now, sites, ready, changed, parameters, starts):
    options = DelaySchedulingOptions(parameters[0], parameters[1])
    want = np.zeros(ready.here.shape, np.int64)
    wanted_in_place(sites, ready, False, False, want)
    count = share_slots(sites, ready, want, starts, 0)
    return start_late(now, sites, ready, options.wait, options.restarts, want, starts, count)


class DelayScheduling(CompiledPlacement):
    """Runs tasks at their data; tasks that have waited for ``wait`` seconds run wherever slots are free.

    A free slot is given to the job with the fewest running tasks among those with a task for its site, as in
    ``in-place``. The remaining slots are given to stages that have waited long enough: maps read their input
    remotely, shuffles read from all sites in any case. A stage waits from when its last task started at its
    input, or from when it could start; once a task has started elsewhere, others follow until one gets a slot
    at its input again.

    A wait that restarts with each local start can hold a stage back for long although other slots are free
    all the time. ``restarts=False`` is the behaviour of Spark since 3.1 when slots are always left: a stage
    waits once.

    Source: Zaharia et al., "Delay Scheduling", EuroSys 2010, Algorithm 2, with sites for nodes and no racks;
    Spark's ``spark.locality.wait``, 3 s by default. The thesis' In-Place (section 4.6.1) uses it, and does
    not give the wait.

    Parameters
    ----------
    wait
        Time to wait, s; at 0 only free slots decide.
    restarts
        Whether the wait restarts with each task that starts at its input.

    Raises
    ------
    InputError
        The wait is negative or not finite; the message names it.

    Examples
    --------
    >>> from windlass.place.view import Sites
    >>> sites = Sites.of(slots=[3, 3, 6], up=[1e10] * 3, down=[1e10] * 3)
    >>> view = PlaceView(0.0, sites, Ready.of(shuffles=0, task_s=1, here=[[0, 4, 2]]))
    >>> answer = DelayScheduling().decide(view)
    >>> answer.starts.tolist(), answer.wake
    ([[0, 1, 1, 3], [0, 2, 2, 2]], 3.0)
    >>> DelayScheduling(wait=0.0).decide(view).starts.tolist()
    [[0, 1, 1, 3], [0, 2, 2, 2], [0, 1, 2, 1]]
    """

    name: ClassVar[str] = "delay-scheduling"
    reasons: ClassVar[tuple[str, ...]] = REASONS_OF_FAIR
    place: ClassVar[Kernel] = Kernel(_place, PLACE)

    def __init__(self, wait: float = 3.0, restarts: bool = True) -> None:
        if not 0.0 <= wait < np.inf:
            raise InputError(f"wait is {wait}, expected a time of 0 s or more")
        if restarts not in (True, False):
            raise InputError(f"restarts is {restarts!r}, expected true or false")
        self.options = DelaySchedulingOptions(float(wait), float(restarts))
        self.parameters = np.array(self.options)

    def decide(self, view: PlaceView) -> Placement:
        """Return the tasks that start now, and the time at which the next stage's wait ends."""
        answer = super().decide(view)
        assert answer.plan is not None  # the state of each stage
        due = self._due(view.now, view.ready, answer.plan[:, 0], answer.starts)
        return dataclasses.replace(answer, wake=float(due[due > view.now].min(initial=np.inf)))

    def _due(
        self, now: float, ready: Ready, kept: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return (m,) when waiting tasks of each stage may leave; infinity if they already may, or none wait."""
        started = np.bincount(starts[:, 0], starts[:, 3], len(ready.job))
        if self.options.restarts:
            since = np.where(kept == FAR, np.inf, np.where(started > 0, now, ready.since))
        else:
            since = kept * MICRO
        due: NDArray[np.float64] = np.where(ready.waiting > started, since + self.options.wait, np.inf)
        return due
