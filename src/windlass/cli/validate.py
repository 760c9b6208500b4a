"""``windlass validate``: check a scenario without running it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict

from windlass.cli.output import print_lines, write_json, write_raw
from windlass.cli.overrides import Overrides, scenario_of
from windlass.experiment.inspection import ScenarioContents, inspect_scenario
from windlass.experiment.long_form import long_form
from windlass.experiment.scenario import Scenario
from windlass.experiment.worlds.contents import Content
from windlass.report.units import counted, duration


def validate_command(
    target: str | None, overrides: Overrides, *, code: bool, long: bool, as_json: bool
) -> None:
    """Read a scenario or a log as ``windlass run`` would, and print what it contains, or its long form."""
    scenario = scenario_of(target, overrides, code=code)
    found = inspect_scenario(scenario)
    if long:
        form = long_form(scenario)
        if as_json:
            write_json(form.tree)
        else:
            write_raw(form.yaml())
        return
    if not as_json:
        print_lines(_lines(scenario, found), wrap=True)
        return
    write_json(
        {
            "scenario": scenario.name,
            "world": scenario.world.name,
            "variants": [variant.name for variant in scenario.variants],
            "seeds": scenario.seeds,
            "cells": found.runs,
            "files": found.files,
            "imported": found.imported,
            "workloads": [asdict(each) for each in found.workloads],
        }
    )


def _lines(scenario: Scenario, found: ScenarioContents) -> Iterator[str]:
    yield f"{scenario.name} is valid in the world {scenario.world.name}; nothing was run."
    count = counted(len(scenario.variants), "variant")
    yield f"{count} and {counted(len(scenario.seeds), 'seed')} make {counted(found.runs, 'run')}:"
    yield from (f"  {variant.name}" for variant in scenario.variants)
    for each in found.workloads:
        amounts = " and ".join(_amount(content) for content in each.contents.contents)
        of = (
            ""
            if len(found.workloads) == 1
            else f" for {each.point or counted(len(each.variants), 'variant')}"
        )
        yield f"Workload{of}: {amounts}."
    for note in dict.fromkeys(note for each in found.workloads for note in each.contents.notes):
        yield f"note: {note}"
    data = [file for file in found.files if file not in found.imported]
    yield f"Files read: {', '.join(data)}." if data else "No data file is read: the workload is drawn."
    if found.imported:
        yield f"Files imported as code: {', '.join(found.imported)}; --no-code refuses them."
    else:
        yield "No code other than Windlass's is imported."


def _amount(content: Content) -> str:
    amount = counted(content.count, content.noun)
    if math.isnan(content.last):
        return amount
    return f"{amount} over {duration(content.last - content.first)}"
