"""Running of tasks at their data."""

import dataclasses
from typing import ClassVar, NamedTuple

import numpy as np

from windlass.jit import Kernel
from windlass.model import InputError
from windlass.place.compiled import PLACE, CompiledPlacement
from windlass.place.lib.fair import REASONS_OF_FAIR, share_slots, start_elsewhere, wanted_in_place
from windlass.place.view import Placement, PlaceView


class InPlaceOptions(NamedTuple):
    """Parameters; see :class:`InPlace`."""

    delay: float


def _place(now, sites, ready, changed, parameters, starts):
    m, n = ready.here.shape
    options = InPlaceOptions(parameters[0])
    want = np.zeros((m, n), np.int64)
    wanted_in_place(sites, ready, False, False, want)
    count = share_slots(sites, ready, want, starts, 0)
    return start_elsewhere(now, sites, ready, options.delay, want, starts, count)


class InPlace(CompiledPlacement):
    """Runs maps at their input and shuffles at their intermediate data, and shares slots fairly among jobs.

    This is the default of Spark, with sites for machines: a slot is given to the job with the fewest running
    tasks among those with input at its site. With delay scheduling, a stage that got no slot at its input for
    ``delay`` seconds may run tasks anywhere; without it, tasks wait, and nothing moves before a shuffle
    except from sites without slots.

    Source: thesis, section 4.6.1 (In-Place); Zaharia et al., "Delay Scheduling", EuroSys 2010.

    Parameters
    ----------
    delay
        Longest time for which tasks wait for a slot at their input, s; 0 for no limit. The thesis uses delay
        scheduling, and does not give the delay.

    Examples
    --------
    >>> from windlass.place.view import PlaceView, Ready, Sites
    >>> sites = Sites.of(slots=[3, 3, 3], up=[1e10] * 3, down=[1e10] * 3)
    >>> view = PlaceView(0.0, sites, Ready.of(shuffles=[0, 0], task_s=1, here=[[0, 1, 2], [2, 4, 6]]))
    >>> InPlace().decide(view).starts.tolist()
    [[1, 0, 0, 2], [0, 1, 1, 1], [1, 1, 1, 2], [0, 2, 2, 2], [1, 2, 2, 1]]
    """

    name: ClassVar[str] = "in-place"
    reasons: ClassVar[tuple[str, ...]] = REASONS_OF_FAIR
    place: ClassVar[Kernel] = Kernel(_place, PLACE)

    def __init__(self, delay: float = 0.0) -> None:
        if not 0.0 <= delay < np.inf:
            raise InputError(f"delay is {delay}, expected a time of 0 s or more")
        self.options = InPlaceOptions(float(delay))
        self.parameters = np.array(self.options)

    def decide(self, view: PlaceView) -> Placement:
        """Return the tasks that start now and, with a delay, the time at which the next stage's wait ends."""
        answer = super().decide(view)
        delay = self.options.delay
        if delay <= 0.0:
            return answer
        due = view.ready.since[view.ready.shuffles == 0] + delay
        wake = due[due > view.now].min(initial=np.inf)
        if len(answer.starts):
            # The wait of stages that start tasks now restarts.
            wake = min(wake, view.now + delay)
        return dataclasses.replace(answer, wake=float(wake))
