"""Options of ``windlass run`` go into the fields that the scenario's world maps them to, and nowhere else."""

import json
from pathlib import Path

import pytest

from windlass.cli.overrides import Overrides, overridden
from windlass.experiment.worlds import Setting, World, worlds
from windlass.model import InputError

SEVERAL = next(world for world in worlds() if len(world.decisions) > 1)
GIVEN = {"--procs": 64, "--format": "swf", "--where": "job > 1", "--skip-bad-lines": True, "--no-kill": True}
ARGUMENTS = {"--format": ("--format", "swf"), "--procs": ("--procs", "4"), "--where": ("--where", "job > 1")}


def said(option: str) -> Overrides:
    """The overrides of one option, as the command line gives it."""
    return Overrides(**{option.strip("-").replace("-", "_"): GIVEN[option]})


def at(tree, field: str):
    for name in field.split("."):
        tree = tree[name]
    return tree


def field_of(setting: type[Setting], path: str):
    """The type of a setting's field, by dotted name; a KeyError where there is none."""
    first, _, rest = path.partition(".")
    own = setting.model_fields[first].annotation
    return field_of(own, rest) if rest else own


@pytest.mark.parametrize("world", worlds(), ids=lambda world: world.name)
def test_options_are_fields_of_the_world(world: World):
    assert set(world.setting.options) <= set(GIVEN)
    for option, field in world.setting.options.items():
        assert field_of(world.setting, field) is not None
        value = False if option == "--no-kill" else GIVEN[option]
        assert at(overridden({"world": world.name}, said(option)), field) == value


@pytest.mark.parametrize("world", worlds(), ids=lambda world: world.name)
@pytest.mark.parametrize("option", GIVEN)
def test_an_option_that_the_world_does_not_have_is_refused(world: World, option: str):
    if option in world.setting.options:
        return
    with pytest.raises(InputError) as caught:
        overridden({"world": world.name}, said(option))
    assert str(caught.value).startswith(f"{option}: world {world.name!r} has no field for it")
    assert str(caught.value).endswith("batch") or "batch, " in str(caught.value)


@pytest.mark.parametrize("option", GIVEN)
def test_a_dispatch_scenario_refuses_them_in_one_line(windlass, option: str):
    scenario = Path(__file__).parents[2] / "examples" / "dispatch.yaml"
    status, out, err = windlass("run", str(scenario), *ARGUMENTS.get(option, (option,)))
    assert (status, out) == (2, "")
    assert err.startswith(f"windlass: {option}: world 'dispatch' has no field for it")
    assert len(err.strip().splitlines()) == 1


def test_an_option_goes_into_each_entry_of_a_sweep():
    tree = {"workload": [{"trace": "a.swf"}, {"trace": "b.swf"}], "cluster": {"processors": [8, 16]}}
    changed = overridden(tree, Overrides(procs=4, where="run > 1"))
    assert changed["cluster"] == {"processors": 4}
    assert [entry["where"] for entry in changed["workload"]] == ["run > 1"] * 2
    assert tree["cluster"] == {"processors": [8, 16]}


def test_what_is_no_scenario_is_left_for_its_own_error(windlass):
    assert overridden(["fcfs"], Overrides(procs=4)) == ["fcfs"]
    assert overridden({"world": "moon"}, Overrides(procs=4)) == {"world": "moon"}
    Path("moon.yaml").write_text("world: moon\n")
    assert "unknown world 'moon'" in windlass("run", "moon.yaml", "--procs", "4")[2]


def policies(text: str, given: dict[str, object], world: str = SEVERAL.name):
    return overridden({"world": world, "policies": given}, Overrides(policies=text))["policies"]


FIRST, SECOND = (registry.key for registry in SEVERAL.decisions[:2])


@pytest.mark.parametrize(
    ("text", "given", "found"),
    [
        ("a,b", {}, {FIRST: ["a", "b"]}),
        ("a,b", {SECOND: "x"}, {SECOND: ["a", "b"]}),
        (f"{SECOND}=a,b", {FIRST: "x"}, {FIRST: "x", SECOND: ["a", "b"]}),
        (f"{SECOND}=a,{FIRST}=b, c", {}, {SECOND: ["a"], FIRST: ["b", "c"]}),
        (f"a,{SECOND}=b", {FIRST: "x"}, {FIRST: ["a"], SECOND: ["b"]}),
        (f"{FIRST}=a,{FIRST}=", {}, {FIRST: ["a"]}),
        ("/tmp/a=b.py", {}, {FIRST: ["/tmp/a=b.py"]}),
    ],
)
def test_policies_go_to_their_decision(text, given, found):
    assert policies(text, given) == found


def test_a_file_is_relative_to_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert policies(f"{SECOND}=./mine.py:Mine", {}) == {SECOND: [f"{tmp_path}/mine.py:Mine"]}


def test_a_decision_that_the_world_does_not_have_is_refused(windlass):
    status, _, err = windlass("run", "--policies", "place=tetrium")
    assert status == 2
    assert err == "windlass: --policies: world 'batch' has no decision 'place', expected one of order\n"


@pytest.mark.parametrize("text", ["order=", "order=,", " , ", ""])
def test_a_decision_without_a_policy_is_refused(windlass, text):
    status, _, err = windlass("run", "--policies", text)
    assert (status, err) == (2, f"windlass: --policies: {text!r} names no policy\n")


def test_the_decision_may_be_said_where_there_is_one_only(windlass):
    status, out, _ = windlass("run", "--policies", "order=easy,fcfs", "--seeds", "1", "--json")
    assert status == 0
    assert [variant["policies"]["order"] for variant in json.loads(out)["variants"]] == ["easy", "fcfs"]
