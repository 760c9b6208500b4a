"""Checks of every decision, each written once over a decision's :class:`~windlass.experiment.checks.cases.Cases`."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.checks.capabilities import require_compiled
from windlass.experiment.checks.cases import Cases, Drawn, Recorder
from windlass.experiment.checks.common import Check, require
from windlass.model import PolicyError
from windlass.policy.registry import Registry


def generic_checks(cases: Cases) -> tuple[Check, ...]:
    """Return the generic checks that fit a decision, each with its own name and docstring.

    Examples
    --------
    >>> from windlass.experiment.checks.dispatch import CASES
    >>> [check.__name__ for check in generic_checks(CASES)][:2]
    ['check_parameters_have_defaults', 'check_seeded']
    """
    checks: list[Callable[[Any, Registry, str], None]] = [check_parameters_have_defaults]
    if isinstance(cases, Drawn):
        checks.append(check_can_be_carried_out)
    checks += [check_seeded, check_picklable]
    if cases.has_views:
        checks.append(check_leaves_the_view_alone)
    checks.append(check_compiled_ahead)
    return tuple(functools.update_wrapper(functools.partial(check, cases), check) for check in checks)


def check_parameters_have_defaults(cases: Cases, registry: Registry, name: str) -> None:
    """A policy can be used by its name alone: every parameter that an engine does not offer has a default."""
    for parameter in registry.parameters(name).values():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        needed = parameter.default is parameter.empty and parameter.name not in cases.known and not variadic
        require(not needed, f"{name}: parameter {parameter.name} has no default")


def check_can_be_carried_out(cases: Drawn, registry: Registry, name: str) -> None:
    """An engine can carry out every answer, and every answer has reasons."""
    for seed in range(5):
        require_carried_out(cases, cases.make(registry, name), seed, name)


def check_seeded(cases: Cases, registry: Registry, name: str) -> None:
    """The same seed gives the same decisions, whatever the global generator does."""
    before = _global_state()
    first, second = (cases.outcome(cases.make(registry, name), 11) for _ in range(2))
    require(first == second, f"{name}: the same seed gives different decisions")
    require(_global_state() == before, f"{name}: draws from NumPy's global generator")


def check_picklable(cases: Cases, registry: Registry, name: str) -> None:
    """A pickled copy decides as the original does; for a policy in a file, the file is imported again."""
    policy = cases.make(registry, name)
    if isinstance(cases, Drawn):
        cases.outcome(policy, 12)
    copy = pickle.loads(pickle.dumps(policy))
    same = cases.outcome(policy, 13) == cases.outcome(copy, 13)
    require(same, f"{name}: a pickled copy decides differently")


def check_leaves_the_view_alone(cases: Cases, registry: Registry, name: str) -> None:
    """A view is the same after a decision; a drawn view also after all later decisions."""
    recorder = Recorder(cases.make(registry, name))
    cases.outcome(recorder, 14)
    # A simulator may reuse a view's arrays after the decision.
    later = isinstance(cases, Drawn) and any(decision.view_changed() for decision in recorder.decisions)
    require(not recorder.changed and not later, f"{name}: changes the view that it receives")


def check_compiled_ahead(cases: Cases, registry: Registry, name: str) -> None:
    """If a policy has functions that are compiled before a run, they are a tuple of kernels."""
    require_compiled(cases.make(registry, name), name)


def require_carried_out(cases: Drawn, policy: Any, seed: int, what: str) -> None:
    """Require that an engine can carry out the policy's answers to the views of a seed; ``what`` begins the message."""
    try:
        for view, answer in cases.decisions(policy, seed):
            answer.check(view)
    except PolicyError as error:
        require(False, f"{what}: {error}")


def require_ends(name: str, ends: Iterable[NDArray[np.float64]]) -> None:
    """Require that every job of each run ends.

    Parameters
    ----------
    name
        Name of the policy.
    ends
        For each run, the end of each job, s; infinity for a job that does not end.
    """
    for each in ends:
        require(bool(np.isfinite(each).all()), f"{name}: a job never ends")


def _global_state() -> bytes:
    return pickle.dumps(np.random.get_state(legacy=False))  # noqa: NPY002
