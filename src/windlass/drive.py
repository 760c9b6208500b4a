"""The one loop that runs policies on an engine, simulated or live: decide, then act."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, cast

from windlass.model import InputError, PolicyError
from windlass.policy.user_code import ODD, blamed, is_foreign, message_of, place_of

Answer_co = TypeVar("Answer_co", covariant=True)
View_contra = TypeVar("View_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
Result = TypeVar("Result")


class Engine(Protocol[Result_co]):
    """What policies are run on. Only an engine acts, and only an engine reads a clock.

    A decision is named as scenarios name it: by the ``key`` of its :class:`~windlass.policy.registry.Registry`. What is
    shown and answered differs by decision, and is said in the ``view.py`` of each.
    """

    def wait(self) -> str | None:
        """Go on until a decision is due; which one, or None when all work has ended.

        Raises
        ------
        PolicyError
            Work is left, and nothing will ever happen again.
        """
        ...

    def view(self, decision: str) -> Any:
        """What the policy of the decision that is due may know now, the time among it."""
        ...

    def act(self, decision: str, answer: Any) -> None:
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


class Named(Protocol):
    """A policy of any decision; callers check for further methods."""

    @property
    def name(self) -> str:
        """How it is called."""
        ...


#: Policies by the name of their decision. Those of decisions that an engine makes within its loop are only named.
Policies = Mapping[str, Named]


def drive(
    engine: Engine[Result],
    policies: Policies,
    log: Callable[[str, Any, Any], None] | None = None,
) -> Result:
    """Run all of an engine's work under policies, one for each decision that it makes.

    Parameters
    ----------
    engine
        Simulated or live; it is closed at the end, whatever happens.
    policies
        By the name of the decision: each is called whenever its decision is due.
    log
        Called after each decision was carried out, with its name, the view, and the answer.

    Returns
    -------
    Result
        The engine's result.

    Raises
    ------
    InputError
        A decision is due that no policy was given for; names the decision.
    PolicyError
        A policy's answer cannot be carried out, or it leaves work waiting for ever; names the policy.

    Examples
    --------
    >>> from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
    >>> from windlass.place.policies.in_place import InPlace
    >>> from windlass.sim.coupled import SinglePart
    >>> from windlass.sim.fleet.part import PlacedFleet
    >>> fleet = Fleet.of(slots=[40, 10, 20], up=[5e9, 1e9, 2e9], down=[5e9, 1e9, 5e9])
    >>> jobs = FleetJobs.of([0.0], [[StageSpec(2.0, here=(200, 300, 500), task_bytes=1e8)]])
    >>> drive(SinglePart(PlacedFleet(FleetCase(fleet, jobs))), {"place": InPlace()}).end.tolist()
    [60.0]
    """
    # Policies that an error can be about: all of them until the first is called.
    asked = tuple(policies.values())
    try:
        while (decision := engine.wait()) is not None:
            policy = _policy_for(decision, policies)
            asked = (policy,)
            view = engine.view(decision)
            answer = policy.decide(view)
            engine.act(decision, answer)
            if log is not None:
                log(decision, view, answer)
        return engine.result()
    except PolicyError as error:
        if error.decision is not None and error.decision in policies:
            asked = (policies[error.decision],)
        raise PolicyError(f"{_named(asked)} {error}") from error
    except InputError:
        raise
    except ODD as error:
        # Engines check for the usual mistakes in answers. A user's policy can make any other.
        own = tuple(policy for policy in policies.values() if is_foreign(policy))
        if not own or blamed(error) is not None:
            raise
        raise PolicyError(
            f"{_named(own)} gave an answer that cannot be carried out: {message_of(error)}"
        ) from error
    finally:
        engine.close()


def _policy_for(decision: str, policies: Policies) -> Decider[Any, Any]:
    if decision not in policies:
        given = ", ".join(repr(name) for name in policies) or "none"
        raise InputError(f"policies: the decision {decision!r} is due, and a policy is given for {given}")
    return cast(Decider[Any, Any], policies[decision])


def _named(policies: tuple[Named, ...]) -> str:
    names = " or ".join(f"{policy.name!r}{place_of(policy)}" for policy in policies)
    return f"policy {names}" if names else "no policy was given:"
