"""Options of ``windlass run`` set only the fields that the scenario's world maps them to."""

import json
from pathlib import Path

import pytest

from windlass.cli.overrides import Overrides, overridden
from windlass.experiment.worlds import Setting, World, worlds
from windlass.model import InputError

SEVERAL = next(world for world in worlds() if len(world.decisions) > 1)
GIVEN = {
    "--procs": 64,
    "--format": "swf",
    "--columns": {"submit": "Queued"},
    "--where": "job > 1",
    "--skip-bad-lines": True,
    "--no-kill": True,
}
ARGUMENTS = {
    "--format": ("--format", "swf"),
    "--columns": ("--columns", "submit=Queued"),
    "--procs": ("--procs", "4"),
    "--where": ("--where", "job > 1"),
}


def overrides_of(option: str) -> Overrides:
    """Return the overrides of one command-line option."""
    value = GIVEN[option]
    if isinstance(value, dict):
        value = tuple(f"{field}={column}" for field, column in value.items())
    return Overrides(**{option.strip("-").replace("-", "_"): value})


def at(tree, field: str):
    for name in field.split("."):
        tree = tree[name]
    return tree


def field_of(setting: type[Setting], path: str):
    """Return the type of a setting's field by its dotted name; raise KeyError if it does not exist."""
    first, _, rest = path.partition(".")
    own = setting.model_fields[first].annotation
    return field_of(own, rest) if rest else own


@pytest.mark.parametrize("world", worlds(), ids=lambda world: world.name)
def test_options_set_the_fields_of_the_world(world: World):
    assert set(world.setting.options) <= set(GIVEN)
    for option, field in world.setting.options.items():
        assert field_of(world.setting, field) is not None
        value = False if option == "--no-kill" else GIVEN[option]
        assert at(overridden({"world": world.name}, overrides_of(option)), field) == value


@pytest.mark.parametrize("world", worlds(), ids=lambda world: world.name)
@pytest.mark.parametrize("option", GIVEN)
def test_an_option_without_a_field_in_the_world_is_rejected(world: World, option: str):
    if option in world.setting.options:
        return
    with pytest.raises(InputError) as caught:
        overridden({"world": world.name}, overrides_of(option))
    assert str(caught.value).startswith(f"{option}: world {world.name!r} has no field for it")
    assert str(caught.value).endswith("batch") or "batch, " in str(caught.value)


@pytest.mark.parametrize("option", GIVEN)
def test_a_dispatch_scenario_rejects_batch_options_in_one_line(windlass, option: str):
    scenario = Path(__file__).parents[2] / "examples" / "dispatch.yaml"
    status, out, err = windlass("run", str(scenario), *ARGUMENTS.get(option, (option,)))
    assert (status, out) == (2, "")
    assert err.startswith(f"windlass: {option}: world 'dispatch' has no field for it")
    assert len(err.strip().splitlines()) == 1


def test_an_option_applies_to_each_entry_of_a_sweep():
    tree = {"workload": [{"trace": "a.swf"}, {"trace": "b.swf"}], "cluster": {"processors": [8, 16]}}
    changed = overridden(tree, Overrides(procs=4, where="run > 1"))
    assert changed["cluster"] == {"processors": 4}
    assert [entry["where"] for entry in changed["workload"]] == ["run > 1"] * 2
    assert tree["cluster"] == {"processors": [8, 16]}


def test_options_leave_an_invalid_scenario_unchanged(windlass):
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
def test_policies_are_assigned_to_their_decision(text, given, found):
    assert policies(text, given) == found


def test_a_file_is_relative_to_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert policies(f"{SECOND}=./mine.py:Mine", {}) == {SECOND: [f"{tmp_path}/mine.py:Mine"]}


def test_a_decision_that_the_world_lacks_is_rejected(windlass):
    status, _, err = windlass("run", "--policies", "place=tetrium")
    assert status == 2
    assert err == "windlass: --policies: world 'batch' has no decision 'place', expected one of order\n"


@pytest.mark.parametrize("text", ["order=", "order=,", " , ", ""])
def test_a_decision_without_a_policy_is_rejected(windlass, text):
    status, _, err = windlass("run", "--policies", text)
    assert (status, err) == (2, f"windlass: --policies: {text!r} names no policy\n")


def test_the_only_decision_of_a_world_may_be_named(windlass):
    status, out, _ = windlass("run", "--policies", "order=easy,fcfs", "--seeds", "1", "--json")
    assert status == 0
    assert [variant["policies"]["order"] for variant in json.loads(out)["variants"]] == ["easy", "fcfs"]
