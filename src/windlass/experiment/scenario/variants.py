"""Named variants of a scenario: policies that are chosen together, instead of every combination of lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from windlass.experiment.scenario.quoting import shown
from windlass.experiment.worlds import Setting
from windlass.model import InputError

#: The field of a scenario with its named variants.
FIELD = "variants"


def named_variants(tree: Mapping[str, Any], setting: type[Setting]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the scenario of each named variant; without any, an empty name and the scenario itself.

    Parameters
    ----------
    tree
        Plain values of a scenario.
    setting
        The class of its world's variants, which states which fields choose policies.

    Raises
    ------
    InputError
        Variants are no mapping, or a variant changes a field that chooses no policies.

    Examples
    --------
    >>> variants = {"ours": {}, "old": {"policies": {"order": "fcfs"}}}
    >>> tree = {"policies": {"order": "easy", "share": "pairs"}, "variants": variants}
    >>> [(name, rest["policies"]) for name, rest in named_variants(tree, Setting)]
    [('ours', {'order': 'easy', 'share': 'pairs'}), ('old', {'order': 'fcfs', 'share': 'pairs'})]
    """
    rest = {key: value for key, value in tree.items() if key != FIELD}
    if FIELD not in tree:
        yield "", rest
        return
    given = tree[FIELD]
    if not isinstance(given, Mapping) or not given:
        raise InputError(f"{FIELD}: expected a mapping of names to changes, found {shown(given)}")
    for name, changes in given.items():
        if not isinstance(name, str | int | float) or isinstance(name, bool) or not str(name).strip():
            raise InputError(f"{FIELD}: {shown(name)} is not a name")
        yield str(name), _changed(rest, changes, f"{FIELD}.{name}", setting)


def _changed(rest: Mapping[str, Any], changes: Any, where: str, setting: type[Setting]) -> dict[str, Any]:
    """Return the scenario with a variant's fields; of a mapping such as ``policies``, each entry is replaced."""
    if changes is None:
        changes = {}
    if not isinstance(changes, Mapping):
        raise InputError(f"{where}: expected a mapping of fields, found {shown(changes)}")
    found = dict(rest)
    for field, value in changes.items():
        if not isinstance(field, str) or not setting.chooses_policies(field):
            raise InputError(
                f"{where}.{field}: a variant changes only {' and '.join(sorted(setting.policy_fields))}; to vary "
                f"{field}, give it a list of values"
            )
        old = found.get(field)
        merges = isinstance(old, Mapping) and isinstance(value, Mapping)
        found[field] = dict(old or {}) | dict(value) if merges else value
    return found
