"""What the documents say is what happens."""

import importlib
import re
import sys
from pathlib import Path

import pytest

from tests.engines import check
from windlass.checks import check_policy
from windlass.cli import main
from windlass.order.site import POLICIES
from windlass.scenario import load_scenario, make_scenario

ROOT = Path(__file__).parents[2]


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def run_command(monkeypatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["windlass", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code in (0, None)


def test_the_policy_of_the_document_runs_from_a_file_of_its_own(tmp_path, monkeypatch, capsys):
    (tmp_path / "narrowest.py").write_text(blocks("docs/add-a-policy.md", "python")[0])
    monkeypatch.chdir(tmp_path)
    run_command(monkeypatch, "run", "--policies", "easy,./narrowest.py", "--seeds", "1", "--json")
    assert '"policies": {"order": "narrowest"}' in capsys.readouterr().out
    check_policy(POLICIES, "./narrowest.py")


def test_a_file_in_the_folder_is_a_policy(tmp_path, monkeypatch, capsys):
    (tmp_path / "narrowest.py").write_text(blocks("docs/add-a-policy.md", "python")[0])
    folder = importlib.import_module("windlass.order.site.policies")
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    assert "narrowest" in POLICIES.names()
    check_policy(POLICIES, "narrowest")
    run_command(monkeypatch, "run", "--policies", "narrowest", "--seeds", "1", "--json")
    assert '"name": "narrowest"' in capsys.readouterr().out
    sys.modules.pop("windlass.order.site.policies.narrowest", None)


def test_the_example_policy_is_the_document_s():
    code = blocks("docs/add-a-policy.md", "python")[0]
    example = (ROOT / "examples" / "narrowest.py").read_text(encoding="utf-8")
    without_docstrings = [line for line in example.splitlines() if '"""' not in line and line.strip()]
    assert [line for line in code.splitlines() if '"""' not in line and line.strip()] == without_docstrings


def test_the_readme_s_library_example_gives_what_it_says(capsys):
    code = blocks("README.md", "python")[0]
    exec(code, {})
    assert capsys.readouterr().out.strip() == "[ 0. 60.  2.]"


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda path: path.name)
def test_examples_are_valid(path):
    assert load_scenario(path).variants


def test_the_readme_s_scenario_is_valid():
    import yaml

    assert len(make_scenario(yaml.safe_load(blocks("README.md", "yaml")[0])).variants) == 12


def test_dispatch_s_examples_run(capsys):
    exec(blocks("docs/dispatch.md", "python")[0], {})
    assert capsys.readouterr().out
    import yaml

    assert len(make_scenario(yaml.safe_load(blocks("docs/dispatch.md", "yaml")[0])).variants) == 3


def test_the_engine_of_the_document_runs_jobs(capsys):
    executor, example, _ = blocks("docs/add-an-engine.md", "python")
    found: dict = {}
    exec(executor, found)
    exec(example, found)
    said = capsys.readouterr().out.strip()
    assert f"It prints `{said}`." in (ROOT / "docs/add-an-engine.md").read_text(encoding="utf-8")
    run = found["run"]
    check.every_task_ran(run)
    check.no_site_is_over_its_slots(run)
    check.stages_follow_each_other(run)
    check.bytes_add_up(run)


def test_links_lead_somewhere():
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
