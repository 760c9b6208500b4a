"""The legends of the flat state give the position of every named entry."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from types import ModuleType

import pytest

MODULES = ("windlass.dispatch.state", "windlass.dispatch.lib.learner", "windlass.dispatch.lib.bandit")
MODULES += (
    "windlass.dispatch.lib.alias",
    "windlass.dispatch.lib.ranking",
    "windlass.dispatch.lib.speeds",
    "windlass.sim.status",
)
#: Whole numbers that are not positions in the state, or positions within the entry of one worker.
OTHERS = {"FIRST_OWN", "CENTRAL", "PER_WORKER", "_STEPS", "_MEAN", "_COUNT", "_ABOVE", "_BELOW", "_SILENT"}


def assigned(module: ModuleType) -> dict[str, int]:
    """The whole numbers that a module names itself, imported ones left out."""
    names = {
        name.id
        for statement in ast.parse(inspect.getsource(module)).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }
    return {name: value for name in names if type(value := getattr(module, name)) is int}


def rows(module: ModuleType) -> dict[str, int | None]:
    """First and, where it is a number, second column of the tables in a module's docstring."""
    found = re.findall(r"^``([A-Z_]+)`` {2,}(?:(\d+)  )?", module.__doc__ or "", flags=re.MULTILINE)
    return {name: int(place) if place else None for name, place in found}


def fresh_module(name: str) -> ModuleType:
    """Execute a file again as a new module, which sets its constants."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", MODULES)
def test_every_named_position_is_in_the_legend(name: str) -> None:
    module = fresh_module(name)
    legend, places = rows(module), assigned(module)
    assert set(legend) == set(places) - (OTHERS - set(legend))
    assert {place: at for place, at in legend.items() if at is not None and at != places[place]} == {}


@pytest.mark.parametrize("name", MODULES[:-1])
def test_the_legend_gives_every_place_a_number(name: str) -> None:
    assert None not in rows(fresh_module(name)).values()
