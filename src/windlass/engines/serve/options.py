"""Options of the request router, validated before a deployment."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from windlass.engines.serve.calls import Learner
from windlass.model import InputError
from windlass.model.nearest import did_you_mean


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class RouterDispatch(enum.StrEnum):
    """The dispatch policies by which a router chooses a replica: those that bind at once and read queue lengths."""

    PULL = "pull"
    ROSELLA = "rosella"
    PREQUAL = "prequal"
    LL = "ll"
    JSQ = "jsq"
    JIQ = "jiq"
    FASTEST_IDLE = "fastest-idle"


#: The options that belong to some policies only.
_OWN_OPTIONS: dict[str, tuple[str, ...]] = {
    RouterDispatch.ROSELLA: ("probes", "by"),
    RouterDispatch.PREQUAL: ("probes",),
    RouterDispatch.LL: ("probes",),
}


@dataclass(frozen=True, slots=True)
class RouterOptions:
    """Options of :class:`windlass.engines.serve.router.LearningRouter`.

    In the paper, Rosella adapts its window and its detection of dead workers to the cluster's load, and benchmark
    requests detect that dead workers have recovered. Only a deployment can define a benchmark request, so none is sent
    by default. The window is therefore fixed, no replica counts as dead, and a share of the *real* requests explores.

    Parameters
    ----------
    at_once
        Requests that a replica processes at full speed at the same time. 1 for work bound by a processor or
        accelerator; ``max_ongoing_requests`` for work that only waits for other services.
    explore_share
        Share of real requests, 0 to 1, sent to the idle replica with the oldest completion. No request is added.
    window
        Completions per estimate, at least 16. Fewer follow changes faster and are noisier.
    dispatch
        ``"pull"``, bound at once: the replica of all with the earliest expected end, where speeds are shrunk towards
        their mean by as much as chance may have spread them. Or another policy of the simulator by its name, to compare
        with: ``"rosella"``, ``"prequal"``, ``"ll"``, ``"jsq"``, ``"jiq"`` or ``"fastest-idle"``.
    probes
        Replicas drawn per request, at least 2; None for the default of the policy. Rosella draws 8 in proportion to
        their speed: a router knows its own queues at no cost, and many routers with stale queues do better with fewer.
        LL draws 2 uniformly. Prequal probes 3 for later requests.
    by
        Of the replicas drawn by Rosella, take the one with the least expected ``"wait"`` or the shortest ``"queue"``.
    benchmark
        A method of the deployment that does the work of a typical request and changes nothing; None for no benchmark
        requests. It is called without arguments at idle replicas.
    benchmark_share
        Rate of benchmark requests as a share of the replicas' spare rate, above 0, at most 1.
    seed
        Random seed for tests; None draws a new one. Routers with the same seed would make the same choices.

    Raises
    ------
    InputError
        A value is out of bounds; the message names it.

    Examples
    --------
    >>> RouterOptions(dispatch="rosella", probes=2).window
    16
    """

    at_once: int = 1
    explore_share: float = 0.01
    window: int = 16
    dispatch: str = RouterDispatch.PULL
    probes: int | None = None
    by: str = "wait"
    benchmark: str | None = None
    benchmark_share: float = 0.1
    seed: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("at_once", 1), ("window", 16), ("probes", 2), ("seed", 0)):
            value = getattr(self, name)
            if name in ("probes", "seed") and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{name} is {value!r}, expected a whole number of at least {least}")
        if not _is_number(self.explore_share) or not 0 <= self.explore_share <= 1:
            raise InputError(f"explore_share is {self.explore_share!r}, expected a number from 0 to 1")
        if not _is_number(self.benchmark_share) or not 0 < self.benchmark_share <= 1:
            raise InputError(
                f"benchmark_share is {self.benchmark_share!r}, expected a number above 0, at most 1"
            )
        method = self.benchmark
        if method is not None and not (isinstance(method, str) and method.isidentifier()):
            raise InputError(f"benchmark is {method!r}, expected the name of a method")
        if self.by not in ("queue", "wait"):
            raise InputError(f"by is {self.by!r}, expected 'queue' or 'wait'")
        if self.dispatch not in tuple(RouterDispatch):
            known = ", ".join(f"'{each}'" for each in RouterDispatch)
            raise InputError(f"dispatch is {self.dispatch!r}, expected one of {known}")
        for field in fields(self):
            is_own = field.name in _OWN_OPTIONS.get(self.dispatch, ())
            if field.name in ("probes", "by") and not is_own and getattr(self, field.name) != field.default:
                raise InputError(f"{field.name}: has no effect with dispatch '{self.dispatch}'")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> RouterOptions:
        """Make options from names and values.

        >>> RouterOptions.of({"probe": 3})
        Traceback (most recent call last):
        windlass.model.errors.InputError: unknown option 'probe', expected one of at_once, explore_share, window, \
dispatch, probes, by, benchmark, benchmark_share, seed; did you mean 'probes'?
        """
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise InputError(
                    f"unknown option {name!r}, expected one of {', '.join(known)}{did_you_mean(name, known)}"
                )
        return cls(**given)

    def policy(self, workers: int, rng: np.random.Generator) -> Learner:
        """Return the policy for this many replicas; the first call imports its compiler, which takes a second."""
        from windlass.engines.serve.policies import make

        return make(self, workers, rng)
