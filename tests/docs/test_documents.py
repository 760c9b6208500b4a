"""What the documents say is what happens."""

import re
from pathlib import Path

import pytest

from windlass.scenario import load_scenario, make_scenario

ROOT = Path(__file__).parents[2]


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


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


def test_links_lead_somewhere():
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
