"""Small policies that are nothing but a name and decide(): the simulator asks them from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from windlass.order.site import SitePolicy
from windlass.order.site.view import SiteView, Start


class Plain:
    """A policy of Windlass with its compiled function hidden; keeps the views it was shown."""

    name: ClassVar[str] = "plain"

    def __init__(self, policy: SitePolicy) -> None:
        self._policy = policy
        self.views: list[SiteView] = []

    def decide(self, view: SiteView) -> Start:
        self.views.append(view)
        return self._policy.decide(view)


class Answers:
    """Whatever a function says, under the name ``stub``."""

    name: ClassVar[str] = "stub"

    def __init__(self, answer: Callable[[SiteView], Start]) -> None:
        self.decide = answer


def all_waiting(view: SiteView) -> Start:
    """Starts everybody, fitting or not."""
    return Start(jobs=tuple(view.waiting.job.tolist()))
