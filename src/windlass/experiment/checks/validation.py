"""The checks of a policy run one by one, each with its result and the line of code that it concerns."""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from windlass.experiment.checks.common import Check, CheckError
from windlass.experiment.checks.suite import checks_of
from windlass.model import InputError
from windlass.model.errors import ParameterError
from windlass.model.nearest import did_you_mean
from windlass.order.site import POLICIES as ORDER
from windlass.policy.context import Context
from windlass.policy.limit import CHECK_LIMIT_S, TimeLimitError, time_limit
from windlass.policy.registry import Registry, decisions
from windlass.policy.user_code import contain_policies


@dataclass(frozen=True, slots=True)
class _Priorities(Registry):
    """Priorities of the policy ``queue``; each is checked within a queue with EASY backfilling."""

    def make(self, name: str, context: Context | np.random.Generator, /, **parameters: Any) -> Any:
        """See :class:`~windlass.policy.registry.Registry`."""
        return ORDER.make("queue", context, priority=name, **parameters)


_PRIORITIES = _Priorities(
    ORDER.decision, ORDER.question, ORDER.upon, "windlass.order.site.priorities", "score", ORDER.key
)


@dataclass(frozen=True, slots=True)
class Checked:
    """One check of a policy.

    Parameters
    ----------
    name
        Name of the check, in words.
    asks
        The requirement, in a sentence.
    problem
        What is wrong; empty if the check passes.
    line
        The line of the policy's file that failed; if no line did, the first line of the method or class concerned.
    code
        The code of that line.
    failed_there
        Whether that line itself failed.
    """

    name: str
    asks: str
    problem: str = ""
    line: int = 0
    code: str = ""
    failed_there: bool = False


def decision_of(policy: str, wanted: str | None = None) -> Registry:
    """Return the registry of the decision that a policy makes.

    Parameters
    ----------
    policy
        Its file, or its name.
    wanted
        The decision, such as ``order.site``, if it is known; otherwise it follows from the policy's methods, and from
        what its file imports.

    Raises
    ------
    InputError
        There is no such decision, the policy makes none, or it may make several; or the file cannot be imported.

    Examples
    --------
    >>> decision_of("tetrium").decision
    'place'
    """
    known = {registry.decision: registry for registry in decisions()}
    if wanted is not None:
        if wanted not in known:
            raise ParameterError(
                "decision",
                f"unknown decision {wanted!r}, expected one of {', '.join(known)}{did_you_mean(wanted, known)}",
            )
        return known[wanted]
    is_file = policy.partition(":")[0].endswith(".py")
    able: list[Registry] = []
    problems: list[InputError] = []
    for registry in known.values():
        try:
            cls = registry.find(policy)
        except InputError as error:
            problems.append(error)
            continue
        if not is_file or _is_about(cls, registry):
            able.append(registry)
    if len(able) == 1:
        return able[0]
    if able:
        names = ", ".join(registry.decision for registry in able)
        raise ParameterError(
            "decision", f"{policy} is a policy of several decisions, expected one of {names}"
        )
    if is_file and len(problems) < len(known):
        names = ", ".join(known)
        raise ParameterError(
            "decision", f"{policy} imports from no package of a decision, expected one of {names}"
        )
    if is_file and _is_priority(policy):
        return _PRIORITIES
    if is_file:
        # The error is the same for all decisions: the file is wrong, or none of its classes decides.
        raise InputError(str(problems[0]).removeprefix(f"{next(iter(known.values())).field}: "))
    all_names = {name for registry in known.values() for name in registry.names()}
    raise InputError(
        f"unknown policy {policy!r}, expected a name or a file that ends in .py{did_you_mean(policy, all_names)}"
    )


def _is_priority(policy: str) -> bool:
    """Return whether a file has a class that the policy ``queue`` accepts as a priority."""
    try:
        _PRIORITIES.find(policy)
    except InputError:
        return False
    return True


def _is_about(cls: type, registry: Registry) -> bool:
    """Return whether the file of a class imports anything from a decision's package, such as its view."""
    package = f"windlass.{registry.decision}."
    names = [getattr(value, "__module__", None) for value in vars(sys.modules[cls.__module__]).values()]
    return any(isinstance(name, str) and f"{name}.".startswith(package) for name in names)


def run_checks(registry: Registry, policy: str, limit_s: float = CHECK_LIMIT_S) -> Iterator[Checked]:
    """Run every check on a policy, including those after a failed one.

    What the policy prints goes to standard error.

    Parameters
    ----------
    registry
        The decision's registry.
    policy
        The policy's name, or its file.
    limit_s
        Time limit per check, s. A check that exceeds it fails and names the running line.

    Examples
    --------
    >>> from windlass.order.site import POLICIES
    >>> [check.problem for check in run_checks(POLICIES, "fcfs") if check.problem]
    []
    """
    cls = registry.find(policy)
    for check in checks_of(registry.decision):
        yield _checked(check, registry, policy, cls, limit_s)


def _checked(check: Check, registry: Registry, policy: str, cls: Any, limit_s: float) -> Checked:
    name = check.__name__.removeprefix("check_").replace("_", " ")
    asks = " ".join((inspect.getdoc(check) or "").split())
    try:
        with contain_policies(), time_limit(limit_s, f"{policy}: the check {name!r}"):
            check(registry, policy)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a policy may raise anything, and may exit
        return _failed(name, asks, error, policy, registry, cls)
    return Checked(name, asks)


def _failed(name: str, asks: str, error: BaseException, policy: str, registry: Registry, cls: Any) -> Checked:
    expected = isinstance(error, CheckError | InputError | TimeLimitError)
    text = str(error).removeprefix(f"{policy}: ").removeprefix(f"{cls.name}: ")
    problem = text if expected else f"{type(error).__name__}: {text}".rstrip(": ")
    file = Path(inspect.getfile(cls)).resolve()
    line = _line_of(error, file)
    there = line is not None
    if line is None:
        method = vars(cls).get(registry.method)
        about = method if inspect.isfunction(method) and "docu" not in name and "name" not in name else cls
        line = inspect.getsourcelines(about)[1]
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    code = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return Checked(name, asks, problem, line, code, there)


def _line_of(error: BaseException, file: Path) -> int | None:
    """Return the last line of a file in an error's traceback, or the line of a failed example; None without one."""
    each: BaseException | None = error
    found: int | None = None
    while each is not None and found is None:
        frames = traceback.extract_tb(each.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == file]
        found = lines[-1] if lines else None
        each = each.__cause__ or each.__context__
    if found is None and (example := re.search(r'File "[^"]*", line (\d+), in', str(error))):
        return int(example[1])
    return found
