"""What a scenario reads, generates and imports, determined without running it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import yaml

from windlass.experiment.checkpoint import files_of
from windlass.experiment.scenario import Scenario, Variant
from windlass.experiment.scenario.files import code_in
from windlass.experiment.worlds.contents import Contents


@dataclass(frozen=True, slots=True)
class ValidatedWorkload:
    """A workload that was read or generated.

    Parameters
    ----------
    variants
        The names of the variants that run it.
    point
        Their point of the sweep; empty if they differ.
    seed
        The seed of a generated workload.
    contents
        Its numbers of jobs, and notes.
    """

    variants: tuple[str, ...]
    point: str
    seed: int
    contents: Contents


@dataclass(frozen=True, slots=True)
class ScenarioContents:
    """What a scenario reads, generates and imports.

    Parameters
    ----------
    workloads
        Each workload once.
    files
        Files of data and code, sorted.
    imported
        The files that are imported as code, sorted.
    runs
        The number of runs: variants times seeds.
    """

    workloads: tuple[ValidatedWorkload, ...]
    files: tuple[str, ...]
    imported: tuple[str, ...]
    runs: int


def inspect_scenario(scenario: Scenario) -> ScenarioContents:
    """Create every policy and read or generate every workload, with the first seed; nothing is compiled or run.

    Raises
    ------
    InputError
        A parameter of a policy or a workload is wrong.

    Examples
    --------
    >>> from windlass.experiment.scenario import make_scenario
    >>> tree = {"workload": {"lublin": {"jobs": 40}}, "policies": {"order": ["fcfs", "easy"]}, "seeds": [1, 2, 3]}
    >>> found = inspect_scenario(make_scenario(tree))
    >>> found.runs, found.files, [each.variants for each in found.workloads]
    (6, (), [('fcfs', 'easy')])
    """
    for variant in scenario.variants:
        # Creates each policy with its parameters, without compiling.
        scenario.world.kernels(variant.setting)
    return ScenarioContents(
        tuple(_workloads(scenario)),
        tuple(sorted(map(str, files_of(scenario.as_run)))),
        tuple(sorted(set(code_in(yaml.safe_load(scenario.as_run))))),
        len(scenario.variants) * len(scenario.seeds),
    )


def _workloads(scenario: Scenario) -> Iterator[ValidatedWorkload]:
    seed, world = scenario.seeds[0], scenario.world
    alike: dict[Hashable, list[Variant]] = {}
    for variant in scenario.variants:
        # Variants with the same workload may still differ in fields that its check reads; policies do not matter.
        other = variant.setting.model_dump_json(exclude=set(variant.setting.policy_fields))
        alike.setdefault((world.workload_key(variant.setting, seed), other), []).append(variant)
    for variants in alike.values():
        contents = world.contents(world.workload(variants[0].setting, seed))
        points = {each.point for each in variants}
        yield ValidatedWorkload(
            tuple(each.name for each in variants), points.pop() if len(points) == 1 else "", seed, contents
        )
