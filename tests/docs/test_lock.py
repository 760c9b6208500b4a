"""``uv.lock`` is complete, has the project's version, and names public hosts only."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = tomllib.loads((ROOT / "uv.lock").read_text())["package"]


def requirements() -> dict[str, str]:
    """Return the specifier of each package that pyproject.toml requires, extras included."""
    lines = [
        *PROJECT["dependencies"],
        *(each for extra in PROJECT["optional-dependencies"].values() for each in extra),
    ]
    found = {}
    for line in lines:
        name, specifier = re.fullmatch(r"([A-Za-z0-9_-]+)(?:\[[^\]]*\])?(.*)", line).groups()
        if name != "windlass":
            found[name.lower()] = specifier
    return found


def test_both_packages_are_locked_at_the_project_version():
    own = {each["name"]: each["version"] for each in LOCK if "editable" in each["source"]}
    assert own == dict.fromkeys(("windlass", "windlass-reproductions"), PROJECT["version"])


def test_each_requirement_is_locked_as_pyproject_states_it():
    (own,) = (each for each in LOCK if each["name"] == "windlass")
    locked = {
        each["name"]: each.get("specifier", "")
        for each in own["metadata"]["requires-dist"]
        if each["name"] != "windlass"
    }
    # uv writes ">=4.9,<5" with its parts in the same order, and names in lower case.
    assert locked == requirements()
    assert set(locked) <= {each["name"] for each in LOCK}


def test_packages_come_from_pypi():
    hosts = set(re.findall(r"https?://([^/\"]+)", (ROOT / "uv.lock").read_text()))
    assert hosts == {"pypi.org", "files.pythonhosted.org"}
