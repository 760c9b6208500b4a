"""Small policies with only a name and decide(), which the simulator calls through Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from windlass.order.site import SitePolicy
from windlass.order.site.view import SiteView, Start


class Plain:
    """A policy of Windlass without its compiled function; it records its views."""

    name: ClassVar[str] = "plain"

    def __init__(self, policy: SitePolicy) -> None:
        self._policy = policy
        self.views: list[SiteView] = []

    def decide(self, view: SiteView) -> Start:
        self.views.append(view)
        return self._policy.decide(view)


class Answers:
    """A policy named ``stub`` that returns the result of a function."""

    name: ClassVar[str] = "stub"

    def __init__(self, answer: Callable[[SiteView], Start]) -> None:
        self.decide = answer


def all_waiting(view: SiteView) -> Start:
    """Start all waiting jobs, whether they fit or not."""
    return Start(jobs=tuple(view.waiting.job.tolist()))
