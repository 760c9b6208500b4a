"""Examples, defaults and links of the documents are correct."""

import re
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from windlass.experiment.scenario import load_scenario, make_scenario
from windlass.experiment.worlds.colocated.spec import ColocatedSetting
from windlass.experiment.worlds.fleet.jobs import FixedSpec, JobsSpec
from windlass.experiment.worlds.fleet.sites import AlikeSites, DrawnSites, SiteDropsSpec
from windlass.experiment.worlds.outages import DrawnOutages
from windlass.policy.registry import decisions

ROOT = Path(__file__).parents[2]


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_the_example_policy_equals_the_page():
    code = blocks("docs/add-a-policy.md", "python")[0]
    example = (ROOT / "examples" / "narrowest.py").read_text(encoding="utf-8")
    without_docstrings = [line for line in example.splitlines() if '"""' not in line and line.strip()]
    assert [line for line in code.splitlines() if '"""' not in line and line.strip()] == without_docstrings


def test_the_library_example_of_the_readme_prints_a_verdict(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    (code,) = blocks("README.md", "python")
    exec(code, {})
    assert "mean wait" in capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda path: path.name)
def test_examples_are_valid(path):
    assert load_scenario(path).variants


def test_the_scenario_of_the_tutorial_has_12_variants():
    import yaml

    (code,) = blocks("docs/tutorial.md", "yaml")
    assert len(make_scenario(yaml.safe_load(code)).variants) == 12


def test_the_scenarios_of_three_pages_are_valid():
    import yaml

    found = [code for page in ("scenarios", "queue", "elastic") for code in blocks(f"docs/{page}.md", "yaml")]
    # User files do not exist here: a policy replaces the first, a priority the other.
    whole = [code.replace("[fcfs, ./mine.py]", "[fcfs, sjf]").replace("./mine.py", "saf") for code in found]
    counts = [len(make_scenario(yaml.safe_load(code)).variants) for code in whole]
    assert counts == [2, 3, 2, 9, 1, 4]


def test_the_examples_of_dispatch_run(capsys):
    exec(blocks("docs/dispatch.md", "python")[0], {})
    assert capsys.readouterr().out
    import yaml

    assert len(make_scenario(yaml.safe_load(blocks("docs/dispatch.md", "yaml")[0])).variants) == 3


def test_the_examples_of_fleet_print_the_documented_output(capsys):
    shared: dict[str, object] = {}
    for code in blocks("docs/fleet.md", "python"):
        exec(code, shared)
        documented = re.findall(r"^print\(.*\)  # ([\d\[].*)$", code, flags=re.MULTILINE)
        printed = capsys.readouterr().out.splitlines()
        assert printed[: len(documented)] == documented


def test_the_scenarios_of_fleet_are_valid():
    import yaml

    counts = [len(make_scenario(yaml.safe_load(code)).variants) for code in blocks("docs/fleet.md", "yaml")]
    assert counts == [5, 2, 2]


def test_the_scenarios_and_defaults_of_colocated_are_correct():
    import yaml

    scenarios = [yaml.safe_load(code) for code in blocks("docs/colocated.md", "yaml")]
    assert [len(make_scenario(tree).variants) for tree in scenarios] == [4, 1]
    least = {
        "cluster": {"nodes": 2, "cores": 4},
        "workload": {"batch": {"lublin": {}}},
        "policies": {"order": "easy", "dispatch": "jsq"},
    }
    setting = ColocatedSetting.model_validate(least)
    page = (ROOT / "docs" / "colocated.md").read_text(encoding="utf-8")
    for name, documented in re.findall(r"^\| `([\w.]+)` \| ([\d.]+);", page, flags=re.MULTILINE):
        assert attrgetter(name)(setting) == float(documented), name
    assert f"`load` ({setting.workload.tasks.load})" in page
    assert f"a share `kill` ({DrawnOutages(every=1, last=1).kill})" in page


def test_the_example_of_colocated_prints_the_documented_output(capsys):
    (code,) = blocks("docs/colocated.md", "python")
    exec(code, {})
    documented = re.findall(r"^print\(.*\)  # (.*)$", code, flags=re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == documented


def test_the_example_of_place_gives_the_documented_times():
    names: dict[str, Any] = {}
    exec(blocks("docs/place.md", "python")[0], names)
    assert round(names["plan"].transfer_s, 2) == 15.71
    assert round(names["plan"].compute_s, 2) == 28.57


def test_the_example_of_share_prints_the_documented_output(capsys):
    exec(blocks("docs/share.md", "python")[0], {})
    assert capsys.readouterr().out == "50\n"


def test_the_example_of_plan_prints_the_documented_output(capsys):
    (code,) = blocks("docs/plan.md", "python")
    exec(code, {})
    assert capsys.readouterr().out.splitlines() == re.findall(
        r"^print\(.*\)  # (.*)$", code, flags=re.MULTILINE
    )


def test_the_defaults_on_the_fleet_page_match_the_fields():
    specs = {
        "alike": [AlikeSites],
        "drawn": [DrawnSites, JobsSpec],
        "fixed": [FixedSpec],
        "drops": [SiteDropsSpec],
    }
    page = (ROOT / "docs" / "fleet.md").read_text(encoding="utf-8")
    for row, documented in re.findall(r"^\| `(\w+)` \|(.*)\|$", page, flags=re.MULTILINE):
        fields = specs[row].pop(0).model_fields if row in specs else {}
        for field, value in re.findall(r"`(\w+)`(?: s)? \(([\d.]+)[,)]", documented) if fields else ():
            assert fields[field].default == float(value), f"{row}.{field}"
    assert not any(specs.values())


@pytest.mark.parametrize("page", ["add-a-policy.md", "architecture.md"])
def test_pages_list_when_each_decision_is_called(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for registry in decisions():
        row = rf"^\| \[?`{re.escape(registry.decision)}`.*\| {re.escape(registry.upon)} \|"
        assert re.search(row, text, flags=re.MULTILINE), registry.decision


def test_relative_links_exist():
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
