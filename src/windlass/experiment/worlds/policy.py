"""How a scenario names a policy: ``easy``, ``./mine.py``, or ``{easy: {parameter: value}}``.

``{priority: sjf, backfill: conservative}`` is short for ``{queue: {priority: sjf, backfill: conservative}}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from windlass.policy.registry import Registry
from windlass.results import Choice


class PolicySpec(BaseModel):
    """A policy's name and the parameters given to it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    parameters: dict[str, Any] = {}

    def make(self, registry: Registry, rng: np.random.Generator) -> Any:
        """The policy, ready to decide."""
        return registry.make(self.name, rng, **self.parameters)

    def choice(self, registry: Registry) -> Choice:
        """The policy as results call it: by its own name, whatever file it came from."""
        return Choice(registry.key, registry.find(self.name).name, _said(self.parameters))


def _said(parameters: Mapping[str, Any]) -> str:
    """Parameters in a name: ``probes=8``, or of one that has parameters, ``priority=multifactor(max_age=60)``."""
    return ", ".join(f"{key}={_value(value)}" for key, value in parameters.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}({_said(given)})" if given else str(name) for name, given in value.items())
    return str(_shown(value))


#: Parameters by which the policy ``queue`` is known where its name is left out.
_OF_QUEUE = frozenset({"priority", "backfill"})


def _shown(value: Any) -> Any:
    """A parameter as labels have it: a file by its name, wherever it lies."""
    file, colon, cls = value.partition(":") if isinstance(value, str) else ("", "", "")
    return f"{Path(file).name}{colon}{cls}" if file.endswith(".py") else value


def _read(value: Any) -> Any:
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, dict) and value and set(value) <= _OF_QUEUE:
        return {"name": "queue", "parameters": value}
    if isinstance(value, dict) and len(value) == 1 and set(value) != {"name"}:
        name, parameters = next(iter(value.items()))
        return {"name": name, "parameters": parameters or {}}
    return value


def _write(spec: PolicySpec) -> Any:
    return {spec.name: spec.parameters} if spec.parameters else spec.name


#: A policy as a scenario writes it.
Policy = Annotated[PolicySpec, BeforeValidator(_read), PlainSerializer(_write)]
