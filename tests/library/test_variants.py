"""Named variants of a scenario: choices of policies that are made together."""

from pathlib import Path

import pytest
import yaml

from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.model import InputError

BATCH = {
    "workload": {"lublin": {"jobs": 40}},
    "cluster": {"processors": 32},
    "policies": {"order": "easy"},
    "estimates": "requested",
}
CLUSTER = {
    "world": "cluster",
    "seconds": 3600,
    "begin": 36000,
    "sites": {"iowa": {"nodes": [{"count": 4, "cores": 8}]}},
    "loads": {"batch": {"rigid": {"lublin": {"jobs": 400, "load": 1.0}}}, "web": {"tasks": {"tasks": 200}}},
    "policies": {"order": "easy", "share": {"pairs": {"budget": 0.2}}, "dispatch": "jsq"},
}


def names(tree):
    return [variant.name for variant in make_scenario(tree).variants]


def test_a_variant_replaces_whole_policies_and_keeps_all_others():
    variants = {
        "ours": None,
        "shared less": {"policies": {"share": {"pairs": {}}, "dispatch": "pot"}},
        "nothing": {"without": "all"},
    }
    scenario = make_scenario(CLUSTER | {"variants": variants})
    assert [variant.name for variant in scenario.variants] == ["ours", "shared less", "nothing"]
    chosen = [
        {choice.decision: choice.label for choice in scenario.world.choices(variant.setting)}
        for variant in scenario.variants
    ]
    assert [each["order"] for each in chosen] == ["easy", "easy", "fcfs"]
    assert [each["share"] for each in chosen] == ["pairs(budget=0.2)", "pairs", "none"]
    assert [each["dispatch"] for each in chosen] == ["jsq", "pot", "round-robin"]


def test_lists_are_swept_in_each_variant_and_name_it_further():
    tree = BATCH | {
        "cluster": {"processors": [32, 64]},
        "variants": {"one": {"policies": {"order": "sjf"}}, "two": {"policies": {"order": ["fcfs", "easy"]}}},
    }
    scenario = make_scenario(tree)
    assert [variant.name for variant in scenario.variants] == [
        "one, processors=32", "one, processors=64",
        "two: fcfs, processors=32", "two: easy, processors=32", "two: fcfs, processors=64", "two: easy, processors=64",
    ]  # fmt: skip
    assert {variant.point for variant in scenario.variants} == {"processors=32", "processors=64"}


def test_the_scenario_as_run_makes_the_same_variants():
    tree = CLUSTER | {"variants": {"nothing": {"without": "all"}, "ours": {}}, "seeds": [3]}
    scenario = make_scenario(tree)
    again = make_scenario(yaml.safe_load(scenario.as_run))
    assert [variant.setting for variant in again.variants] == [
        variant.setting for variant in scenario.variants
    ]
    assert [variant.name for variant in again.variants] == ["nothing", "ours"]
    assert again.as_run == scenario.as_run


def test_files_of_a_variants_policies_are_relative_to_the_scenario(tmp_path):
    tree = BATCH | {"variants": {"mine": {"policies": {"order": "mine.py:Mine"}}}}
    (tmp_path / "mine.py").write_text(
        "from windlass.order.site.policies.easy import Easy\nclass Mine(Easy): name = 'mine'\n"
    )
    scenario = make_scenario(tree, folder=tmp_path)
    (choice,) = scenario.world.choices(scenario.variants[0].setting)
    assert Path(choice.policy.partition(":")[0]).parent == tmp_path or choice.policy == "mine"
    assert str(tmp_path / "mine.py") in scenario.as_run


def test_variants_have_the_results_of_their_policies_alone():
    whole = run(make_scenario(BATCH | {"variants": {"a": {}, "b": {"policies": {"order": "fcfs"}}}}))
    alone = run(make_scenario(BATCH | {"policies": {"order": "fcfs"}}))
    assert whole.variants[1].name == "b"
    assert whole.variants[1].outcomes[0].jobs.equals(alone.variants[0].outcomes[0].jobs)


@pytest.mark.parametrize(
    ("variants", "message"),
    [
        ([], "variants: expected a mapping of names to changes, found []"),
        ({}, "variants: expected a mapping of names to changes, found {}"),
        ({"a": "fcfs"}, "variants.a: expected a mapping of fields, found 'fcfs'"),
        ({"": {}}, "variants: '' is not a name"),
        (
            {"a": {"cluster": {"processors": 8}}},
            "variants.a.cluster: a variant changes only policies; to vary cluster, give it a list of values",
        ),
        (
            {"a": {"policies": {"order": []}}},
            "variants.a: policies.order: the list is empty, expected at least one value",
        ),
        (
            {"a": {}, "b": {"policies": {"odrer": "easy"}}},
            "variants.b: policies.odrer: no such field, found 'easy'; did you mean 'order'?",
        ),
        ({1: {}, "1": {}}, "variant '1: easy' appears 2 times"),
    ],
)
def test_a_wrong_variant_is_one_line(variants, message):
    with pytest.raises(InputError) as error:
        make_scenario(BATCH | {"variants": variants}, "jobs.yaml")
    assert str(error.value) == f"jobs.yaml: {message}"


def test_most_decisions_are_left_out_in_words():
    left_out = [[], "all", "all but order", "all but share and order", ["share"]]
    assert names(CLUSTER | {"without": left_out}) == [
        "all decisions", "no decision", "order alone", "order and share alone", "without share",
    ]  # fmt: skip
    with pytest.raises(InputError, match="without: no decision 'odrer', expected some of plan, order, "):
        make_scenario(CLUSTER | {"without": "all but odrer"})
