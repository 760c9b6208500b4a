"""The notation for a policy in a scenario: ``easy``, ``./mine.py``, or ``{easy: {parameter: value}}``.

``{priority: sjf, backfill: conservative}`` is short for ``{queue: {priority: sjf, backfill: conservative}}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from windlass.policy.bounds import is_bound
from windlass.policy.registry import Registry
from windlass.results import Choice


class PolicySpec(BaseModel):
    """A policy's name and parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    parameters: dict[str, Any] = {}

    def make(self, registry: Registry, rng: np.random.Generator) -> Any:
        """Create the policy."""
        return registry.make(self.name, rng, **self.parameters)

    def choice(self, registry: Registry) -> Choice:
        """Return the policy's name for results: its own name, independent of the file it came from."""
        found = registry.find(self.name)
        return Choice(registry.key, found.name, _label(self.parameters), bound=is_bound(found))


def _label(parameters: Mapping[str, Any]) -> str:
    """Format parameters: ``probes=8``, or for a nested policy, ``priority=multifactor(max_age=60)``."""
    return ", ".join(f"{key}={_value(value)}" for key, value in parameters.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}({_label(given)})" if given else str(name) for name, given in value.items())
    return str(_shown(value))


#: Parameters that identify the policy ``queue`` if its name is omitted.
_OF_QUEUE = frozenset({"priority", "backfill"})


def _shown(value: Any) -> Any:
    """Shorten a file path to its name, so that labels do not depend on the folder."""
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


#: The field type of a policy in a scenario.
Policy = Annotated[PolicySpec, BeforeValidator(_read), PlainSerializer(_write)]
