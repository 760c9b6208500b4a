"""Each package documents its modules, and the architecture page has every package."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "windlass"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def name_of(room: Path) -> str:
    return room.relative_to(SOURCE).as_posix()


def rooms() -> list[Path]:
    """Return all packages except those of policies, to which files may be added freely."""
    found = (file.parent for file in sorted(SOURCE.rglob("__init__.py")))
    return [room for room in found if room != SOURCE and "policies" not in room.parts]


def contents_of(room: Path) -> list[str]:
    """Return the public modules and folders of a package."""
    files = [file.stem for file in room.glob("*.py")] + [
        file.parent.name for file in room.glob("*/__init__.py")
    ]
    return sorted(name for name in files if not name.startswith("_"))


def text_of(room: Path) -> str:
    """Return the docstring of a package and its row on the page."""
    doc = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    row = re.search(rf"^\| `{name_of(room)}/` \|.*$", PAGE, flags=re.MULTILINE)
    return f"{doc}\n{row.group() if row else ''}"


@pytest.mark.parametrize("room", rooms(), ids=name_of)
def test_a_package_names_its_modules(room: Path):
    text = text_of(room)
    missing = [name for name in contents_of(room) if not re.search(rf"(?<!\w){name}(?!\w)", text)]
    assert not missing, f"{name_of(room)}/__init__.py: its docstring does not name {', '.join(missing)}"


def test_the_page_has_every_package():
    for name in contents_of(SOURCE):
        row = f"`{name}/`" if (SOURCE / name).is_dir() else f"`{name}.py`"
        assert f"| {row} |" in PAGE, f"docs/architecture.md: no row for {row}"


def test_every_row_of_the_page_exists():
    for path in re.findall(r"^\| `([\w/]+(?:/|\.py))` \|", PAGE, flags=re.MULTILINE):
        inside_a_decision = [SOURCE / decision / path for decision in ("order/site", "admit", "plan")]
        assert any(each.exists() for each in [SOURCE / path, *inside_a_decision]), (
            f"docs/architecture.md: {path}"
        )


def test_no_module_name_starts_with_an_underscore():
    """Code of a single decision is in a ``lib`` folder, which import-linter protects, not in a ``_module``."""
    hidden = [name_of(file) for file in SOURCE.rglob("*.py") if re.search(r"/_(?!_)", f"/{name_of(file)}")]
    assert not hidden, f"{', '.join(hidden)}: expected a name without _"


@pytest.mark.slow
def test_no_private_name_is_imported():
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("windlass"):
                private = [alias.name for alias in node.names if re.match(r"_(?!_)", alias.name)]
                assert not private, f"{name_of(file)}: imports {', '.join(private)} from {node.module}"


def test_every_lib_is_protected():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    protected = {name for each in settings["contracts"] for name in each.get("protected_modules", ())}
    libs = {name_of(file.parent).replace("/", ".") for file in SOURCE.rglob("lib/__init__.py")}
    assert {f"windlass.{lib}" for lib in libs} == protected
