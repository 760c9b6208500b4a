"""Registries of policies by name: each is a folder of files.

Each decision folder has one :class:`Registry`. A policy is any public class with a ``name`` in one of the
folder's modules; adding a file adds the policy. A policy outside the folder is named by its file,
``./mine.py`` or ``./mine.py:ClassName``, or comes with an installed package (:mod:`windlass.policy.installed`).
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from windlass.model import InputError
from windlass.model.nearest import did_you_mean
from windlass.policy import installed
from windlass.policy.context import Context
from windlass.policy.discovery import classes_in, named_classes
from windlass.policy.user_code import describe_failure, import_file

#: Annotations of numeric parameters, also as text, for modules with postponed annotations.
_NUMBERS = frozenset({int, float, "int", "float", "int | None", "float | None"})


_Protocol = TypeVar("_Protocol")


@dataclass(frozen=True, slots=True)
class Registry:
    """The policies of one decision.

    Parameters
    ----------
    decision
        The folder's dotted name, such as ``order.site``.
    question
        The question that the decision answers, a sentence.
    upon
        When the decision is made; completes "Called when …".
    package
        The import name of the folder with its policies.
    method
        Name of the method that a policy has.
    key
        The decision's name in scenarios and results; by default ``decision``.
    field
        The scenario field that names a policy, for messages; by default ``policies.KEY``.

    Examples
    --------
    >>> package = "windlass.order.site.policies"
    >>> registry = Registry("order.site", "Which job goes first?", "a job arrives or ends", package, key="order")
    >>> registry.find("easy").__name__
    'Easy'
    """

    decision: str
    question: str
    upon: str
    package: str
    method: str = "decide"
    key: str = ""
    field: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.key or self.decision)
        object.__setattr__(self, "field", self.field or f"policies.{self.key}")

    def names(self) -> tuple[str, ...]:
        """Return the names of all policies in the folder and in installed packages, sorted."""
        return tuple(sorted({*(cls.name for cls in self._classes()), *installed.names_of(self.decision)}))

    def find(self, name: str) -> Any:
        """Return the class of a policy, by its name or by the file that holds it.

        If the folder and an installed package have a policy of one name, the folder's is returned.

        Raises
        ------
        InputError
            There is no such policy (the message suggests the nearest name), or an installed one cannot be imported.
        """
        if name.partition(":")[0].endswith(".py"):
            return self._from_file(name)
        for cls in self._classes():
            if cls.name == name:
                return cls
        if name in installed.names_of(self.decision):
            try:
                return installed.find(self.decision, name, self.method)
            except InputError as error:
                raise InputError(f"{self.field}: {error}") from error
        known = ", ".join(self.names())
        hint = did_you_mean(name, self.names())
        raise InputError(f"{self.field}: unknown policy {name!r}, expected one of {known}{hint}")

    def parameters(self, name: str) -> Mapping[str, inspect.Parameter]:
        """Return the parameters of a policy's constructor, by name, in order."""
        return _parameters_of(self.find(name))

    def make(self, name: str, context: Context | np.random.Generator, /, **parameters: Any) -> Any:
        """Return an instance of a policy.

        Parameters
        ----------
        name
            Its name, or the file that holds it.
        context
            Arguments that the engine offers; the policy receives those that its constructor has parameters for. A
            generator stands for a :class:`~windlass.policy.context.Context` with that generator alone.
        parameters
            Arguments that a user gives; they override those of the context.

        Raises
        ------
        InputError
            The policy has no such parameter, or rejects a value.

        Examples
        --------
        >>> from windlass.admit import POLICIES, AdmitContext
        >>> POLICIES.make("pronto", AdmitContext(np.random.default_rng(1), dim=4)).dim
        4
        """
        cls = self.find(name)
        accepted = _parameters_of(cls)
        for parameter in parameters:
            if parameter not in accepted or parameter == "rng":
                known = [each for each in accepted if each != "rng"]
                takes, hint = ", ".join(known) or "none", did_you_mean(parameter, known)
                raise InputError(
                    f"{self.field}: {name} has no parameter {parameter!r}, it takes {takes}{hint}"
                )
            numeric = accepted[parameter].annotation in _NUMBERS
            if numeric and isinstance(parameters[parameter], bool):
                raise InputError(
                    f"{self.field}: {name}: {parameter} is {parameters[parameter]}, expected a number"
                )
        offered = Context(context) if isinstance(context, np.random.Generator) else context
        given = {known: value for known, value in offered.offers() if known in accepted} | parameters
        try:
            return cls(**given)
        except (TypeError, ValueError) as error:
            # The error of a nested policy, such as the priority of `queue`, already has the prefix.
            own = f"{name}: {_first_line(error).removeprefix(f'{self.field}: {name}: ')}"
            problem = describe_failure(error) or own
            raise InputError(f"{self.field}: {problem}") from error

    def _classes(self) -> Iterator[Any]:
        return classes_in(self.package, self.method)

    def _from_file(self, spec: str) -> Any:
        path_text, _, wanted = spec.partition(":")
        path = Path(path_text)
        if not path.is_file():
            raise InputError(f"{self.field}: {path_text}: no such file")
        module = import_file(path)
        classes = [cls for cls in named_classes(module, self.method) if wanted in ("", cls.__name__)]
        if len(classes) != 1:
            found = ", ".join(cls.__name__ for cls in classes) or "none"
            raise InputError(
                f"{self.field}: {spec}: expected one class with a name and {self.method}(), found {found}"
            )
        return classes[0]


@functools.lru_cache(maxsize=512)
def _parameters_of(cls: type) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a constructor, by name; reading them takes 50 µs."""
    return inspect.signature(cls).parameters


def decisions() -> tuple[Registry, ...]:
    """Return the registries of all decisions, sorted by name: one for each folder with a subfolder ``policies``.

    Decisions that no world leaves to policies yet are included.

    Examples
    --------
    >>> [registry.decision for registry in decisions() if registry.key == "order"]
    ['order.fleet', 'order.site']
    """
    root = Path(__file__).parents[1]
    rooms = sorted(file.parent.parent for file in root.rglob("policies/__init__.py"))
    names = (".".join(room.relative_to(root.parent).parts) for room in rooms)
    found: list[Registry] = [importlib.import_module(name).POLICIES for name in names]
    return tuple(sorted(found, key=lambda registry: registry.decision))


def capability(policy: object, protocol: type[_Protocol]) -> _Protocol | None:
    """Return a policy as an instance of a protocol; None if it does not implement it.

    Engines use this to detect a policy's optional capabilities: only the methods of its decision's protocol are
    required. Each decision defines one runtime-checkable protocol per capability. Attributes of a protocol may be None
    if it documents so. A check takes about 1 µs: make it before a run, not in each decision.

    Parameters
    ----------
    policy
        A policy, or a policy's class.
    protocol
        A runtime-checkable protocol, such as :class:`windlass.admit.learned.Restorable`.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.admit import POLICIES
    >>> from windlass.admit.learned import Restorable
    >>> rng = np.random.default_rng(1)
    >>> capability(POLICIES.make("ready", rng), Restorable) is None
    True
    >>> capability(POLICIES.make("pronto", rng, dim=4), Restorable).dim
    4
    """
    # Python's own check reads a protocol's members anew each time, and does not find dynamic attributes from 3.12 on.
    attributes, methods = _public_members(cast(type, protocol))
    able = all(hasattr(policy, name) for name in attributes) and all(
        getattr(policy, name, None) is not None for name in methods
    )
    return cast(_Protocol, policy) if able else None


@functools.cache
def _public_members(protocol: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the public attributes that a protocol requires, and its methods, which may not be None."""
    declared = [(*vars(base), *vars(base).get("__annotations__", ())) for base in protocol.__mro__]
    names = {name for names in declared for name in names if not name.startswith("_")}
    methods = {name for name in names if callable(getattr(protocol, name, None))}
    return tuple(names - methods), tuple(methods)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "no message")
