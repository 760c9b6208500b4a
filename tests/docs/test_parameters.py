"""The section "Parameters" of each docstring names parameters of the function or attributes of the class."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: A section's title with its underline, and what follows up to the next title.
SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", re.MULTILINE | re.DOTALL)
Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def documented(docstring: str) -> list[str]:
    """Return the names that the section lists: lines without indentation, several names divided by commas."""
    section = SECTION.search(docstring)
    if section is None:
        return []
    lines = [
        line for line in section.group(1).splitlines() if re.fullmatch(r"\*{0,2}\w+(, \*{0,2}\w+)*", line)
    ]
    return [name.lstrip("*") for line in lines for name in line.split(", ")]


def parameters_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    every = node.args
    starred = [each for each in (every.vararg, every.kwarg) if each is not None]
    return {each.arg for each in (*every.posonlyargs, *every.args, *every.kwonlyargs, *starred)}


def attributes_of(node: ast.ClassDef) -> set[str]:
    """Return a class's fields, its constructor's parameters, and the fields of named tuples made from text."""
    names = {
        each.target.id
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name in ("__init__", "__new__", "of"):
            names |= parameters_of(each)
        elif isinstance(each, ast.FunctionDef) and any(
            isinstance(mark, ast.Name) and "property" in mark.id for mark in each.decorator_list
        ):
            names.add(each.name)
    return names


def mismatches(source: str) -> Iterator[str]:
    """Yield each documented name that does not exist."""
    tree = ast.parse(source)
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        if not isinstance(node, Documented):
            continue
        names = documented(ast.get_docstring(node) or "")
        if isinstance(node, ast.ClassDef):
            bases = [each.id if isinstance(each, ast.Name) else "" for each in node.bases]
            if not set(bases) <= {"Protocol", "NamedTuple", *classes}:
                continue  # It inherits fields from another module.
            known = set().union(
                *(attributes_of(classes[name]) for name in (node.name, *bases) if name in classes)
            )
        else:
            known = parameters_of(node)
        for name in names:
            if name not in known:
                yield f"{node.lineno}: {node.name} has no {name!r}"


ROOMS = sorted(path.name for path in (ROOT / "src/windlass").iterdir() if path.name != "__pycache__")


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_name_parameters_that_exist(room):
    folder = ROOT / "src/windlass" / room
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder] if folder.suffix == ".py" else []
    found = [
        f"{path.relative_to(ROOT)}:{each}"
        for path in files
        for each in mismatches(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_the_check_finds_a_name_that_does_not_exist():
    source = '''
def run(jobs, *, seed):
    """Run.

    Parameters
    ----------
    jobs, seeds
        The jobs; and the seed, s
    *seed
        The seed.

    Returns
    -------
    other
        Not a parameter.
    """
'''
    assert list(mismatches(source)) == ["2: run has no 'seeds'"]
