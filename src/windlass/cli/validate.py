"""``windlass validate``: all that can be wrong with a scenario is found, and nothing is run."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Hashable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import yaml
from rich.console import Console

from windlass.cli.overrides import Overrides, scenario_of
from windlass.experiment.checkpoint import files_of
from windlass.experiment.scenario import Scenario, Variant
from windlass.experiment.scenario.files import code_in
from windlass.experiment.worlds.contents import Content, Contents
from windlass.report.units import counted, duration


@dataclass(frozen=True, slots=True)
class ValidatedWorkload:
    """A workload that was read or drawn: for which variants, what is swept in them, with which seed, what it holds."""

    variants: tuple[str, ...]
    point: str
    seed: int
    contents: Contents


def validate_command(target: str | None, overrides: Overrides, *, code: bool, as_json: bool) -> None:
    """Look at a scenario or a log as `run` would, and say what was found."""
    scenario = scenario_of(target, overrides, code=code)
    for variant in scenario.variants:
        # Makes each policy with its parameters; compiles nothing.
        scenario.world.kernels(variant.setting)
    found = list(_read(scenario))
    files = sorted(map(str, files_of(scenario.as_run)))
    imported = sorted(set(code_in(yaml.safe_load(scenario.as_run))))
    cells = len(scenario.variants) * len(scenario.seeds)
    if as_json:
        tree = {
            "scenario": scenario.name,
            "world": scenario.world.name,
            "variants": [variant.name for variant in scenario.variants],
            "seeds": list(scenario.seeds),
            "cells": cells,
            "files": files,
            "imported": imported,
            "workloads": [_plain(asdict(each)) for each in found],
        }
        sys.stdout.write(json.dumps(tree, allow_nan=False) + "\n")
        return
    console = Console(highlight=False)
    for line in _lines(scenario, found, files, imported, cells):
        console.print(line, markup=False, soft_wrap=not console.is_terminal)


def _read(scenario: Scenario) -> Iterator[ValidatedWorkload]:
    """Each workload once; what is drawn, with the first seed."""
    seed, world = scenario.seeds[0], scenario.world
    alike: dict[Hashable, list[Variant]] = {}
    for variant in scenario.variants:
        # Variants of one workload may still ask different things of it; policies do not.
        other = variant.setting.model_dump_json(exclude={"policies"})
        alike.setdefault((world.workload_key(variant.setting, seed), other), []).append(variant)
    for variants in alike.values():
        contents = world.contents(world.workload(variants[0].setting, seed))
        points = {each.point for each in variants}
        yield ValidatedWorkload(
            tuple(each.name for each in variants), points.pop() if len(points) == 1 else "", seed, contents
        )


def _lines(
    scenario: Scenario, found: list[ValidatedWorkload], files: list[str], imported: list[str], cells: int
) -> Iterator[str]:
    yield f"{scenario.name} can be run in the world {scenario.world.name}; nothing of it was."
    count = counted(len(scenario.variants), "variant")
    yield f"{count} and {counted(len(scenario.seeds), 'seed')} make {counted(cells, 'cell')}:"
    yield from (f"  {variant.name}" for variant in scenario.variants)
    for each in found:
        amounts = " and ".join(_amount(content) for content in each.contents.contents)
        of = "" if len(found) == 1 else f" for {each.point or counted(len(each.variants), 'variant')}"
        yield f"Workload{of}: {amounts}."
    for note in dict.fromkeys(note for each in found for note in each.contents.notes):
        yield f"note: {note}"
    data = [file for file in files if file not in imported]
    yield f"Read: {', '.join(data)}." if data else "No file of data is read: the workload is drawn."
    if imported:
        yield f"Imported, and so run as code: {', '.join(imported)}; --no-code refuses to."
    else:
        yield "No code but that of Windlass was imported."


def _amount(content: Content) -> str:
    amount = counted(content.count, content.noun)
    if math.isnan(content.last):
        return amount
    return f"{amount} over {duration(content.last - content.first)}"


def _plain(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _plain(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_plain(value) for value in tree]
    return None if isinstance(tree, float) and not math.isfinite(tree) else tree
