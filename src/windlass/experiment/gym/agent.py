"""A trained agent as an ordering policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from windlass.experiment.gym.window import Mask, Observation, OrderWindow
from windlass.model import PolicyError
from windlass.order.site.view import SiteView, Start


class AgentOrder:
    """Starts the jobs that an agent chooses, one after the other, until the agent waits.

    Parameters
    ----------
    choose
        Called with an observation and the mask of allowed actions, both as in
        :class:`~windlass.experiment.gym.window.OrderWindow`; returns an action.
    window
        Number of jobs that the agent sees, as in its training.

    Examples
    --------
    An agent that takes the first job that fits:

    >>> from windlass.order.site.view import Running, Waiting
    >>> agent = AgentOrder(lambda observation, mask: int(mask.argmax()), window=2)
    >>> agent.decide(SiteView(now=0.0, processors=8, free=3,
    ...     waiting=Waiting.of(job=[7, 8], submit=[0, 0], procs=[4, 2], request=[60, 60]), running=Running.of())).jobs
    (8,)
    """

    name: ClassVar[str] = "agent"

    def __init__(self, choose: Callable[[Observation, Mask], int], window: int = 32) -> None:
        self._choose, self._window = choose, OrderWindow(window)

    def decide(self, view: SiteView) -> Start:
        """Return the jobs that the agent chooses.

        Raises
        ------
        PolicyError
            The agent took an action that is not allowed.
        """
        chosen: list[int] = []
        while (mask := self._window.mask(view, chosen))[:-1].any():
            action = int(self._choose(self._window.observe(view, chosen), mask))
            if not 0 <= action < len(mask) or not mask[action]:
                raise PolicyError(
                    f"the agent took action {action}, expected one of {mask.nonzero()[0].tolist()} as in the mask"
                )
            if action == self._window.wait:
                break
            chosen.append(int(self._window.rows(view, chosen)[action]))
        return self._window.start(view, chosen, "chosen by the agent")
