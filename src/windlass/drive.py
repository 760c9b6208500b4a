"""The one loop that runs a policy on an engine, simulated or live: decide, then act."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from windlass.model import PolicyError

View = TypeVar("View")
Answer = TypeVar("Answer")
View_co = TypeVar("View_co", covariant=True)
Answer_co = TypeVar("Answer_co", covariant=True)
Answer_contra = TypeVar("Answer_contra", contravariant=True)
View_contra = TypeVar("View_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
Result = TypeVar("Result")


class Engine(Protocol[View_co, Answer_contra, Result_co]):
    """What a policy is run on. Only an engine acts, and only an engine reads a clock."""

    def wait(self) -> bool:
        """Go on until a decision is due; False when all work has ended.

        Raises
        ------
        PolicyError
            Work is left, and nothing will ever happen again.
        """
        ...

    def view(self) -> View_co:
        """What the policy may know now, the time among it."""
        ...

    def act(self, answer: Answer_contra) -> None:
        """Carry out an answer.

        Raises
        ------
        PolicyError
            It cannot be carried out; nothing of it that was not yet begun is.
        """
        ...

    def result(self) -> Result_co:
        """What happened."""
        ...

    def close(self) -> None:
        """Stop what the engine started, and nothing else; more than once does no harm."""
        ...


class Decider(Protocol[View_contra, Answer_co]):
    """A policy, as the loop needs it."""

    @property
    def name(self) -> str:
        """How it is called."""
        ...

    def decide(self, view: View_contra) -> Answer_co:
        """What to do now."""
        ...


def drive(
    engine: Engine[View, Answer, Result],
    policy: Decider[View, Answer],
    log: Callable[[View, Answer], None] | None = None,
) -> Result:
    """Run all of an engine's work under a policy.

    Parameters
    ----------
    engine
        Simulated or live; it is closed at the end, whatever happens.
    policy
        Asked whenever a decision is due.
    log
        Told of each decision, after it was carried out.

    Returns
    -------
    Result
        What the engine says happened.

    Raises
    ------
    PolicyError
        The policy's answer cannot be carried out, or it leaves work waiting for ever; names the policy.

    Examples
    --------
    >>> from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
    >>> from windlass.place.policies.in_place import InPlace
    >>> from windlass.sim.fleet.engine import PlacedFleet
    >>> fleet = Fleet.of(slots=[40, 10, 20], up=[5e9, 1e9, 2e9], down=[5e9, 1e9, 5e9])
    >>> jobs = FleetJobs.of([0.0], [[StageSpec(2.0, here=(200, 300, 500), task_bytes=1e8)]])
    >>> drive(PlacedFleet(FleetCase(fleet, jobs)), InPlace()).end.tolist()
    [60.0]
    """
    try:
        while engine.wait():
            view = engine.view()
            answer = policy.decide(view)
            engine.act(answer)
            if log is not None:
                log(view, answer)
        return engine.result()
    except PolicyError as error:
        raise PolicyError(f"policy {policy.name!r} {error}") from error
    finally:
        engine.close()
