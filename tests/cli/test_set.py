"""``--set`` sets any field of a scenario; several values are a sweep, and an unknown field is named."""

import json
from pathlib import Path

import pytest

from windlass.cli.overrides import Overrides, overridden
from windlass.experiment.worlds import find_world, worlds
from windlass.model import InputError

DRAWN = {"workload": {"lublin": {"jobs": 20}}, "policies": {"order": ["fcfs", "easy"]}}


def with_set(*texts: str, tree=DRAWN):
    return overridden(tree, Overrides(fields=texts))


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("cluster.processors=100,200", "cluster.processors", [100, 200]),
        ("cluster.processors=100", "cluster.processors", 100),
        ("load=0.8,x1.2", "load", [0.8, "x1.2"]),
        ("kill_at_walltime=true,false", "kill_at_walltime", [True, False]),
        ("workload.where='a, b', c", "workload.where", ["a, b", "c"]),
        ("workload.where=x IN (1,2)", "workload.where", "x IN (1,2)"),
        ("cluster.processors=null,8", "cluster.processors", [None, 8]),
        ("seeds=1,2", "seeds", [1, 2]),
        (
            "policies.order=sjf,{queue: {priority: saf}}",
            "policies.order",
            ["sjf", {"queue": {"priority": "saf"}}],
        ),
        (
            "policies.order.easy.depth=1,2",
            "policies.order",
            ["fcfs", {"easy": {"depth": [1, 2]}}],
        ),
    ],
)
def test_set_parses_the_values_of_a_field(text, field, value):
    found = with_set(text)
    for name in field.split("."):
        found = found[name]
    assert found == value
    assert DRAWN["policies"] == {"order": ["fcfs", "easy"]}


def test_set_applies_to_each_entry_of_a_sweep_and_overrides_other_options():
    tree = {**DRAWN, "workload": [{"lublin": {"jobs": 5}}, {"lublin": {"jobs": 6}}]}
    found = overridden(
        tree, Overrides(procs="8,16", fields=("workload.lublin.kinds=true", "cluster.processors=4"))
    )
    assert [entry["lublin"]["kinds"] for entry in found["workload"]] == [True, True]
    assert found["cluster"] == {"processors": 4}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cluster.procs=4", "--set: cluster.procs: world 'batch' has no such field; cluster has processors"),
        ("claster.processors=4", "its fields are name, seeds, world, cluster, workload"),
        ("claster.processors=4", "; did you mean 'cluster.processors'?"),
        ("processors=4", "; did you mean 'cluster.processors'?"),
        ("workload.lublin.lode=0.8", "; did you mean 'workload.lublin.load'?"),
        ("policies.ordr=easy", "; did you mean 'order'?"),
        ("workload.lublin.load.high=4", "workload.lublin.load has no fields"),
        ("policies.place=tetrium", "world 'batch' has no decision 'place', expected one of order"),
        (
            "policies.order.sjf.depth=1",
            "expected policies.order.POLICY.PARAMETER with one of the policies fcfs, easy",
        ),
        ("policies.order.easy=1", "expected policies.order.POLICY.PARAMETER"),
        ("load", "'load' is not FIELD=VALUE"),
        ("load=", "'load=' is not FIELD=VALUE"),
        ("load=0.8,,1", "has an empty value"),
        ("load=[0.8", "is not a value"),
        ("a..b=1", "is not FIELD=VALUE"),
    ],
)
def test_an_unknown_field_or_bad_value_is_named(text, message):
    with pytest.raises(InputError) as caught:
        with_set(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("world", worlds(), ids=lambda world: world.name)
def test_each_field_of_a_world_can_be_set(world):
    for field in world.setting.model_fields:
        if field != "policies":
            assert overridden({"world": world.name}, Overrides(fields=(f"{field}=1",)))[field] == 1


def test_fields_of_named_sites_and_loads_can_be_set():
    tree = {"world": "cluster", "sites": {"iowa": {"up": 1.0}}, "loads": {"web": {"tasks": {"tasks": 5}}}}
    fields = ("sites.iowa.keeps.tasks=0.1,0.2", "loads.web.tasks.load=0.5")
    changed = overridden(tree, Overrides(fields=fields))
    assert changed["sites"] == {"iowa": {"up": 1.0, "keeps": {"tasks": [0.1, 0.2]}}}
    assert changed["loads"] == {"web": {"tasks": {"tasks": 5, "load": 0.5}}}
    for field, message in (
        (
            "sites.iwoa.up=2",
            "the scenario has no 'iwoa' in sites, expected one of iowa; did you mean 'iowa'?",
        ),
        ("loads.web.tasks.laod=2", "no such field; loads.web.tasks has tasks, load, "),
        ("loads.ml.vectors=2", "the scenario has no 'ml' in loads, expected one of web"),
    ):
        with pytest.raises(InputError) as error:
            overridden(tree, Overrides(fields=(field,)))
        assert message in str(error.value)


def test_fields_of_alternative_sections_can_be_set():
    elastic = find_world("elastic").name
    tree = overridden({"world": elastic}, Overrides(fields=("workload.drawn.days=3", "cluster.idle=10")))
    assert (tree["workload"], tree["cluster"]) == ({"drawn": {"days": 3}}, {"idle": 10})


def test_several_values_are_a_sweep(windlass):
    Path("s.yaml").write_text(json.dumps(DRAWN))
    arguments = ("--procs", "64,128", "--set", "load=0.5,0.9", "--json")
    status, out, _ = windlass("run", "s.yaml", *arguments)
    tree = json.loads(out)
    assert status == 0
    points = [point["point"] for point in tree["verdict"]["points"]]
    assert points == [f"processors={count}, load={load}" for count in (64, 128) for load in (0.5, 0.9)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--procs", "64,many"], "--procs: 'many' is not a whole number, as in 64 or 64,128"),
        (
            ["--set", "load=0"],
            "load: expected an offered load above 0, such as 0.8, or a factor such as x1.2",
        ),
        (["--set", "load=x0"], "found 'x0'"),
        (["--set", "load=true"], "found True"),
        (["--set", "workload.lublin.load=0.5", "--set", "load=0.5"], "workload.lublin.load is given as well"),
    ],
)
def test_a_wrong_value_is_a_one_line_error(windlass, arguments, message):
    Path("s.yaml").write_text(json.dumps(DRAWN))
    status, out, err = windlass("run", "s.yaml", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1
