"""Workflows, forms and the citation are valid, and name scripts, extras and suites that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from benchmarks.__main__ import SUITES

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def commands(path: Path) -> list[str]:
    """Return what the jobs of a workflow run."""
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_scripts_and_extras_of_a_workflow_exist(path):
    for command in commands(path):
        for script in re.findall(r"\.ci/\w+", command):
            assert (ROOT / script).is_file()
        for extras in re.findall(r"-e '\.\[([\w,]+)\]'", command):
            assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
        for suites in re.findall(r"for suite in ([\w ]+);", command):
            assert set(suites.split()) <= set(SUITES)


def test_the_workflow_runs_the_test_command_of_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"<!-- test-command -->\n```sh\n.+\n```", text)) == 1
    assert any(
        "test-command" in command for command in commands(ROOT / ".github" / "workflows" / "tests.yml")
    )


def test_forms_have_a_name_a_description_and_a_body():
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    read = {form.name: yaml.safe_load(form.read_text(encoding="utf-8")) for form in forms}
    assert read.pop("config.yml") == {"blank_issues_enabled": True}
    assert read
    assert all({"name", "description", "body"} <= form.keys() for form in read.values())


def test_the_citation_has_the_version_and_the_licence_of_the_package():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["version"], cited["license"]) == (PROJECT["version"], "Apache-2.0")


def test_the_script_collects_every_live_test():
    """It names the folders of live tests, since collecting all tests takes half a minute."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    named = "".join(re.findall(r"^(?:others=|live tests/).*$", script, re.MULTILINE))
    folders = [ROOT / name for name in re.findall(r"tests/[\w/.]+(?=[\s)])", named)]
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    live = r"(?<!@pytest\.mark\.nightly\n)^@pytest\.mark\.live$|^pytestmark = .*mark\.live"
    marked = [path for path, text in texts.items() if re.search(live, text, re.MULTILINE)]
    assert marked
    assert [path for path in marked if not any(path.is_relative_to(folder) for folder in folders)] == []
