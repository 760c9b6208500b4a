"""The long form of a scenario: all defaults, and the cluster that a scenario of an older world stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from windlass.experiment.scenario import Scenario, make_scenario
from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.composition import Composition, ShortForm
from windlass.policy.registry import capability


@dataclass(frozen=True, slots=True)
class LongForm:
    """The long form of a scenario.

    Parameters
    ----------
    tree
        A scenario in plain values, which gives the same jobs the same times.
    comments
        What the short form stands for, or what the world ``cluster`` lacks for it; a line each.
    """

    tree: dict[str, Any]
    comments: tuple[str, ...] = ()

    def yaml(self) -> str:
        """Return the scenario as YAML, after the comments."""
        text = yaml.safe_dump(self.tree, sort_keys=False, allow_unicode=True)
        return "".join(f"# {line}\n" for line in self.comments) + text


def long_form(scenario: Scenario) -> LongForm:
    """Return the long form of a scenario.

    Parameters
    ----------
    scenario
        The scenario. If its world is a short form of ``cluster``, the long form is a scenario of that world; metrics
        and tables are then those of a cluster. Otherwise it is the same scenario, with all defaults.

    Raises
    ------
    InputError
        A file cannot be read.

    Examples
    --------
    >>> short = {"workload": {"lublin": {"jobs": 10}}, "policies": {"order": "easy"}}
    >>> found = long_form(make_scenario(short))
    >>> found.tree["world"], found.tree["sites"]["site"]["processors"], found.tree["policies"]["order"]
    ('cluster', 128, 'easy')
    """
    short, world = capability(scenario.world, ShortForm), scenario.world.name
    if short is None:
        return LongForm(_written(scenario))
    tree = yaml.safe_load(scenario.as_run)
    settings = [variant.setting for variant in scenario.variants]
    whole = any(isinstance(tree.get(name), list) for name in ("cluster", "workload", "policies"))
    found = (
        Composition(None, "sweep over whole sections of a short form")
        if whole
        else short.composition(tree, settings, scenario.seeds[0])
    )
    if found.tree is None:
        lacks = f"The world cluster cannot express this scenario of {world} yet: a cluster has no {found.missing}."
        return LongForm(_written(scenario), (lacks,))
    stands = f"A scenario of {world}, as the scenario of one cluster in which all jobs have the same times."
    return LongForm(_written(make_scenario(dict(found.tree), scenario.name)), (stands,))


def _written(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario in plain values with all defaults, also those within lists."""
    first, setting = scenario.variants[0].setting, scenario.world.setting
    defaults = first.model_dump(mode="json", exclude_none=True)
    return setting.written_long(_filled(yaml.safe_load(scenario.as_run), defaults, "", setting))


def _filled(value: Any, default: Any, path: str, setting: type[Setting]) -> Any:
    """Return a value with the defaults of its own fields: that of the first variant, unless it is a sweep."""
    if isinstance(value, dict) and isinstance(default, dict) and not setting.chooses_policies(path):
        return {
            name: _filled(each, default.get(name), f"{path}.{name}".strip("."), setting)
            for name, each in value.items()
        }
    sweeps = isinstance(value, list) and not setting.is_plain(path)
    return value if default is None or sweeps or setting.chooses_policies(path) else default
