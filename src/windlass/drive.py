"""The loop that runs policies on any engine, simulated or live: wait, decide, act."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, cast

from windlass.model import InputError, PolicyError
from windlass.policy.addresses import Assignment, policy_at
from windlass.policy.user_code import ANSWER_ERRORS, describe_failure, is_user_code, message_of, place_of

Answer_co = TypeVar("Answer_co", covariant=True)
View_contra = TypeVar("View_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
Result = TypeVar("Result")


class Engine(Protocol[Result_co]):
    """The system that policies control, simulated or live. Only an engine acts, and only an engine reads a clock.

    Decisions have the names that scenarios use: the ``key`` of each :class:`~windlass.policy.registry.Registry`. Views
    and answers differ by decision; the ``view.py`` of each decision documents them.
    """

    def wait(self) -> str | None:
        """Run until a decision is due, and return its name; None when all work has ended.

        Raises
        ------
        PolicyError
            Work is left, but no event will ever occur again.
        """
        ...

    def view(self, decision: str) -> Any:
        """Return what the policy of the decision may know now, including the time."""
        ...

    def act(self, decision: str, answer: Any) -> None:
        """Carry out an answer.

        Raises
        ------
        PolicyError
            The answer cannot be carried out; parts of it that had not started yet are not carried out.
        """
        ...

    def result(self) -> Result_co:
        """Return the result of the run."""
        ...

    def close(self) -> None:
        """Stop what the engine started, and nothing else; further calls have no effect."""
        ...


class Decider(Protocol[View_contra, Answer_co]):
    """The interface of a policy that the loop calls."""

    @property
    def name(self) -> str:
        """Name of the policy."""
        ...

    def decide(self, view: View_contra) -> Answer_co:
        """Return the answer to the current view."""
        ...


class Named(Protocol):
    """A policy of any decision; callers check for further methods."""

    @property
    def name(self) -> str:
        """Name of the policy."""
        ...


#: Policies by the name of their decision, or by its address. If an engine makes a decision within its own loop, `drive`
#: uses the policy only for its name.
Policies = Mapping[str, Named]


class EngineStoppedError(Exception):
    """An engine was stopped on request; it is not a failure."""


class StopRequest(Protocol):
    """A request to stop, which another thread may send at any time."""

    @property
    def requested(self) -> bool:
        """True once a stop was requested."""
        ...

    @property
    def hands_over(self) -> bool:
        """True if another driver takes over at once what the stopped one holds."""
        ...

    def wait(self, seconds: float) -> bool:
        """Wait for ``seconds`` or a stop request; return whether a stop was requested."""
        ...


def interruptible_sleep(stop: StopRequest) -> Callable[[float], None]:
    """Return a function that waits for a number of seconds, and raises EngineStoppedError at a stop request.

    Parameters
    ----------
    stop
        The stop request.

    Examples
    --------
    >>> from windlass.agent.stop import Stop
    >>> stop = Stop()
    >>> sleep = interruptible_sleep(stop)
    >>> sleep(0.0)
    >>> stop.notify()
    >>> sleep(60.0)
    Traceback (most recent call last):
    windlass.drive.EngineStoppedError: stopped on request
    """

    def sleep(seconds: float) -> None:
        if stop.wait(seconds):
            raise EngineStoppedError("stopped on request")

    return sleep


def drive(
    engine: Engine[Result],
    policies: Policies,
    log: Callable[[str, Any, Any], None] | None = None,
    stop: StopRequest | None = None,
) -> Result:
    """Run all of an engine's work under policies, one for each decision.

    Parameters
    ----------
    engine
        The engine, simulated or live; it is always closed at the end, also after an error.
    policies
        Policies by the name of their decision, or by an address such as ``order.batch@iowa``; see
        :mod:`windlass.policy.addresses`. Each is called whenever its decision is due.
    log
        Called after each decision has been carried out, with its name or address, the view, and the answer.
    stop
        Ends the run before the next decision. An engine's own waits must obey it, too: see
        :func:`interruptible_sleep`. None for a run that only its engine ends.

    Returns
    -------
    Result
        The engine's result.

    Raises
    ------
    InputError
        A decision is due for which no policy was given, or one policy that may not be shared was given for two
        addresses; names the decision.
    PolicyError
        A policy's answer cannot be carried out, or work waits forever because of it; names the policy.
    EngineStoppedError
        A stop was requested.

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
    # Policies that may be at fault for an error: all of them until the first is called.
    suspects, assigned = tuple(policies.values()), Assignment(policies)
    try:
        while (decision := engine.wait()) is not None:
            if stop is not None and stop.requested:
                raise EngineStoppedError("stopped on request")
            policy = cast(Decider[Any, Any], assigned.at(decision))
            suspects = (policy,)
            view = engine.view(decision)
            answer = policy.decide(view)
            engine.act(decision, answer)
            if log is not None:
                log(decision, view, answer)
        return engine.result()
    except PolicyError as error:
        at_fault = None if error.decision is None else policy_at(error.decision, policies)
        if at_fault is not None:
            suspects = (at_fault,)
        raise PolicyError(f"{_named(suspects)} {error}") from error
    except InputError:
        raise
    except ANSWER_ERRORS as error:
        # Engines check for the usual mistakes in answers, but a user's policy can make others.
        own = tuple(policy for policy in policies.values() if is_user_code(policy))
        if not own or describe_failure(error) is not None:
            raise
        raise PolicyError(
            f"{_named(own)} gave an answer that cannot be carried out: {message_of(error)}"
        ) from error
    finally:
        engine.close()


def _named(policies: tuple[Named, ...]) -> str:
    names = " or ".join(f"{policy.name!r}{place_of(policy)}" for policy in policies)
    return f"policy {names}" if names else "no policy was given:"
