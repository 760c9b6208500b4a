"""Errors of a scenario's fields end with what to write instead."""

from __future__ import annotations

from typing import Any

import pytest

from windlass.experiment.scenario import make_scenario
from windlass.model import InputError

NODES: dict[str, Any] = {"nodes": [{"count": 4, "cores": 8}]}
LOADS: dict[str, Any] = {"batch": {"rigid": {"lublin": {"jobs": 10}}}}
CLUSTER: dict[str, Any] = {"world": "cluster", "sites": {"a": NODES}, "loads": LOADS}
BATCH: dict[str, Any] = {"workload": {"lublin": {"jobs": 10}}, "policies": {"order": "fcfs"}}


@pytest.mark.parametrize(
    ("tree", "line"),
    [
        (
            CLUSTER | {"sites": [{"name": "a", **NODES}]},
            "sites.name: expected a mapping of fields, found 'a'; sites is a mapping of names, as in sites: {a: {…}}",
        ),
        (
            CLUSTER | {"sites": ["a", "b"]},
            "sites: expected a mapping of fields, found 'a'; sites is a mapping of names, as in sites: {NAME: {…}}",
        ),
        (
            CLUSTER | {"loads": {"x": 3}},
            "loads.x: expected a mapping of fields, found 3; loads is a mapping of names, as in loads: {NAME: {…}}",
        ),
        (
            CLUSTER | {"sites": {"a": {"nodes": {"count": 4}}}},
            "sites.a.nodes: expected a list, found a mapping; write a list, as in nodes: [{…}]",
        ),
        (
            CLUSTER | {"sites": {"a": {"nodes": 4}}},
            "sites.a.nodes: expected a list, found 4; write a list, as in nodes: […]",
        ),
        (
            CLUSTER | {"sites": {"a": {"nodes": [{"cuont": 4, "cores": 8}]}}},
            "sites.a.nodes.0.cuont: no such field, found 4; did you mean 'count'?",
        ),
        (
            CLUSTER | {"loads": {"batch": LOADS["batch"] | {"at": "a"}}},
            "loads.batch.at: expected 'each' or a list, found 'a'",
        ),
        (
            {"world": "cluster", "loads": LOADS},
            "sites: missing; sites is a mapping of names, as in sites: {NAME: {…}}",
        ),
        (
            BATCH | {"cluster": {"procesors": 64}},
            "cluster.procesors: no such field, found 64; did you mean 'processors'?",
        ),
        (
            BATCH | {"policies": {"odrer": "fcfs"}},
            "policies.odrer: no such field, found 'fcfs'; did you mean 'order'?",
        ),
        (
            BATCH | {"policies": "fcfs"},
            "policies: expected a mapping of fields, found 'fcfs'; policies has order",
        ),
        (BATCH | {"seed": 3}, "seed: no such field, found 3; did you mean 'seeds'?"),
        (BATCH | {"zzz": 3}, "zzz: no such field, found 3; the fields are name, seeds, world, "),
        (
            BATCH | {"cluster": {"z": 1}},
            "cluster.z: no such field, found 1; cluster has processors, partitions, gpus",
        ),
        (
            BATCH | {"cluster": {"processors": "many"}},
            "cluster.processors: expected a whole number, found 'many'",
        ),
    ],
)
def test_a_wrong_field_has_a_hint(tree, line):
    with pytest.raises(InputError) as caught:
        make_scenario(tree, source="s.yaml")
    assert str(caught.value).startswith(f"s.yaml: {line}")
    assert "\n" not in str(caught.value)


def test_a_value_that_is_wrong_alone_has_no_hint():
    with pytest.raises(InputError, match=r"found -64$"):
        make_scenario(BATCH | {"cluster": {"processors": -64}})


@pytest.mark.parametrize(("tree", "found"), [(None, "nothing"), ([1], "a list"), ("hello", "'hello'")])
def test_a_scenario_that_is_no_mapping(tree, found):
    with pytest.raises(InputError, match=f"expected a scenario .*, found {found}$"):
        make_scenario(tree)
