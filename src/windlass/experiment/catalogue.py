"""A catalogue of decisions, policies, priorities, worlds and log formats, as ``windlass list`` prints it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from dataclasses import dataclass, fields, is_dataclass

from windlass.experiment.worlds import worlds
from windlass.io.traces import FORMATS
from windlass.policy.context import Context
from windlass.policy.discovery import classes_in
from windlass.policy.registry import Registry, decisions

_PRIORITIES = "windlass.order.site.priorities"
#: A role of reStructuredText, as in :class:`~windlass.place.Place`.
_ROLE = re.compile(r":[\w:]+:`~?(?:[^`<]*\.)?([^`<.]+)`")
_LITERAL = re.compile(r"``([^`]*)``")


@dataclass(frozen=True, slots=True)
class PolicyParameter:
    """A parameter of a policy that a scenario can set; ``default`` is its default as Python code."""

    name: str
    default: str


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """A policy or a priority: its name, one sentence about it, and its parameters."""

    name: str
    summary: str
    parameters: tuple[PolicyParameter, ...]


@dataclass(frozen=True, slots=True)
class DecisionEntry:
    """A decision of a cluster and its policies.

    Parameters
    ----------
    decision
        Its dotted name, such as ``order.site``.
    field
        The field of a scenario that names its policies.
    question
        The question that a policy answers.
    upon
        The events at which a policy is called.
    policies
        Its policies, by name.
    """

    decision: str
    field: str
    question: str
    upon: str
    policies: tuple[PolicyEntry, ...]


@dataclass(frozen=True, slots=True)
class WorldEntry:
    """A kind of cluster that a scenario can name: its name, one sentence about it, and its decisions."""

    name: str
    summary: str
    decisions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormatEntry:
    """A format of logs: its name, one sentence about it, and the suffixes of its files."""

    name: str
    summary: str
    suffixes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything that a scenario can name."""

    decisions: tuple[DecisionEntry, ...]
    priorities: tuple[PolicyEntry, ...]
    worlds: tuple[WorldEntry, ...]
    formats: tuple[FormatEntry, ...]


def catalogue() -> Catalogue:
    """Return the catalogue, with the policies of installed packages.

    Examples
    --------
    >>> {each.name for each in catalogue().decisions[3].policies} >= {"fcfs", "easy", "queue"}
    True
    """
    return Catalogue(
        tuple(_decision(registry) for registry in decisions()),
        tuple(
            sorted(
                (_entry(cls.name, cls) for cls in classes_in(_PRIORITIES, "score")),
                key=lambda each: each.name,
            )
        ),
        tuple(
            WorldEntry(
                world.name, plain_text(world.summary), tuple(each.decision for each in world.decisions)
            )
            for world in worlds()
        ),
        tuple(FormatEntry(known.name, plain_text(known.summary), known.suffixes) for known in FORMATS),
    )


def plain_text(text: str) -> str:
    """Return a docstring's text without reStructuredText markup.

    >>> plain_text("Runs ``wait`` seconds, as :class:`~windlass.place.policies.gather.Gather` does.")
    'Runs wait seconds, as Gather does.'
    """
    return _ROLE.sub(r"\1", _LITERAL.sub(r"\1", text)).replace("`", "")


def _decision(registry: Registry) -> DecisionEntry:
    offered = _offered(registry)
    return DecisionEntry(
        registry.decision,
        registry.field,
        registry.question,
        registry.upon,
        tuple(_entry(name, registry.find(name), offered) for name in registry.names()),
    )


def _entry(name: str, cls: type[object], offered: frozenset[str] = frozenset({"rng"})) -> PolicyEntry:
    parameters = tuple(
        PolicyParameter(each.name, repr(each.default))
        for each in inspect.signature(cls).parameters.values()
        if each.name not in offered and each.default is not each.empty
    )
    return PolicyEntry(name, _first_sentence(cls), parameters)


def _offered(registry: Registry) -> frozenset[str]:
    """Return the parameters that an engine sets: the fields of the decision's context."""
    name = f"{registry.package.rpartition('.')[0]}.context"
    contexts: list[type] = [Context]
    if importlib.util.find_spec(name) is not None:
        module = importlib.import_module(name)
        contexts += [
            cls for _, cls in inspect.getmembers(module, inspect.isclass) if issubclass(cls, Context)
        ]
    return frozenset(field.name for cls in contexts if is_dataclass(cls) for field in fields(cls))


def _first_sentence(thing: object) -> str:
    text = " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
    return plain_text(text.partition(". ")[0].rstrip(".") + ".")
