"""The cases of a decision for the generic checks: how its policies are made, called and compared."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from windlass.policy.registry import Registry


class RecordedDecision(NamedTuple):
    """A view, its bytes before the policy saw it, and the policy's answer."""

    view: Any
    before: bytes
    answer: Any

    def view_changed(self) -> bool:
        """Return whether the view differs from the one that the policy was given."""
        return pickle.dumps(self.view) != self.before


@dataclass
class Recorder:
    """A policy that passes each view to another one and records the decision.

    It has no method other than ``decide``, so the simulator calls that with each view. ``changed`` becomes true if the
    policy changes a view.
    """

    policy: Any
    decisions: list[RecordedDecision] = field(default_factory=list)
    changed: bool = False

    @property
    def name(self) -> str:
        """The policy's name."""
        return str(self.policy.name)

    def decide(self, view: Any) -> Any:
        """Return the policy's answer."""
        before = pickle.dumps(view)
        decision = RecordedDecision(view, before, self.policy.decide(view))
        self.changed = self.changed or decision.view_changed()
        self.decisions.append(decision)
        return decision.answer


def make_seeded(registry: Registry, name: str) -> Any:
    """Return a policy with a generator that always has the same seed."""
    return registry.make(name, np.random.default_rng(7))


@dataclass(frozen=True, kw_only=True)
class Cases(ABC):
    """How the policies of one decision are made, called and compared: :class:`Drawn` or :class:`Simulated`.

    Parameters
    ----------
    make
        Makes a policy by its name.
    known
        Parameters of a constructor that an engine offers; all others need a default.
    has_views
        Whether the policy decides by ``decide(view)``.
    """

    make: Callable[[Registry, str], Any] = make_seeded
    known: tuple[str, ...] = ("rng",)
    has_views: bool = True

    @abstractmethod
    def outcome(self, policy: Any, seed: int) -> object:
        """Return a value that is equal for two policies that decide the same in the cases of a seed."""


@dataclass(frozen=True)
class Drawn(Cases):
    """Cases that call a policy with drawn views, without any engine; it keeps its state from one seed to the next.

    Parameters
    ----------
    views
        Yields the views of a seed in turn for a policy, and receives its answer to each.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> cases = Drawn(lambda policy, seed: (view for view in (seed, seed + 1)))
    >>> cases.outcome(SimpleNamespace(decide=lambda view: -view), 5)
    ['-5', '-6']
    """

    views: Callable[[Any, int], Generator[Any, Any, None]]

    def decisions(self, policy: Any, seed: int) -> Iterator[tuple[Any, Any]]:
        """Yield each view with the policy's answer."""
        views = self.views(policy, seed)
        view = next(views, None)
        while view is not None:
            answer = policy.decide(view)
            yield view, answer
            try:
                view = views.send(answer)
            except StopIteration:
                return

    def outcome(self, policy: Any, seed: int) -> list[str]:
        """Return the policy's answers as text, in which NaN equals NaN."""
        return [repr(answer) for _, answer in self.decisions(policy, seed)]


@dataclass(frozen=True)
class Simulated(Cases):
    """Cases that a simulator runs, which resets the policy for each seed.

    Parameters
    ----------
    simulate
        Runs a policy on the workload of a seed, and returns the part of the result that is compared.
    """

    simulate: Callable[[Any, int], object]

    def outcome(self, policy: Any, seed: int) -> object:
        """Return the compared part of the result of a run."""
        return self.simulate(policy, seed)
