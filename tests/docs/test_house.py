"""Structure of the source: packages, import cycles, class names, and comparisons with policy names."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from windlass.policy.registry import decisions

SOURCE = Path(__file__).parents[2] / "src" / "windlass"
#: Packages at the top, and the one module next to them.
ROOMS, LOOSE = 19, {"drive"}
#: Class names that exist in several modules: policies of several decisions, and the stages that are ready.
SHARED_NAMES = {"Always", "Fcfs", "Optimal", "Ready", "Sjf", "Static"}
#: Most arguments that a call passes by position.
POSITIONAL = 10
#: Arrays that constants may index in the simulator: the flat state of dispatch policies, where records were slower, and
#: the nodes of the winner tree, whose first node is the root.
FLAT = {"ints", "floats", "states", "key", "winner"}
#: Words that are names of policies and of other things.
OTHERWISE = {"none", "always", "queue", "uniform", "random", "static"}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imported(path: Path) -> Iterator[str]:
    """Yield the packages that a module imports, also inside functions."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{each.name}" for each in node.names]
        elif isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("windlass."))


def test_there_are_at_most_19_packages_and_one_top_level_module():
    top = {room_of(path) for path in modules()} - {"__init__", "__main__"}
    loose = {name for name in top if (SOURCE / f"{name}.py").is_file()}
    assert loose == LOOSE
    assert len(top - loose) <= ROOMS


@pytest.mark.slow
def test_packages_have_no_import_cycles():
    onto: dict[str, set[str]] = defaultdict(set)
    for path in modules():
        if room_of(path) not in ("__init__", "__main__"):
            rooms = {each for each in imported(path) if (SOURCE / each).is_dir() or each in LOOSE}
            onto[room_of(path)] |= rooms - {room_of(path)}
    left = dict(onto)
    while free := [room for room, below in left.items() if not below & left.keys()]:
        for room in free:
            del left[room]
    assert left == {}, "these packages import each other in a cycle"


@pytest.mark.slow
def test_no_module_compares_with_a_policy_name():
    names = {name for registry in decisions() for name in registry.names()} - OTHERWISE
    found = set()
    for path in modules():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Compare):
                sides = (node.left, *node.comparators)
                parts = [part for side in sides for part in (side, *getattr(side, "elts", ()))]
                if any(isinstance(part, ast.Constant) and part.value in names for part in parts):
                    found.add(path.relative_to(SOURCE).as_posix())
    assert found == set()


def test_the_module_of_the_run_command_is_short():
    assert len((SOURCE / "cli" / "run.py").read_text(encoding="utf-8").splitlines()) < 100


@pytest.mark.slow
def test_a_public_class_name_exists_once():
    found = Counter(
        node.name
        for path in modules()
        for node in tree_of(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, count in found.items() if count > 1} == SHARED_NAMES


@pytest.mark.slow
def test_no_call_passes_more_than_ten_arguments_by_position():
    found = {
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in modules()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and len(node.args) > POSITIONAL
    }
    assert found == set()


def is_constant(index: ast.expr) -> bool:
    """Whether an index is the name of a module's constant, such as ``RUNNING`` or ``slots.RUNNING``."""
    name = index.attr if isinstance(index, ast.Attribute) else index.id if isinstance(index, ast.Name) else ""
    return name.isupper() and len(name) > 1


def indexed_by_constants(path: Path) -> Iterator[str]:
    """Expressions of a module that index an array by a constant."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Subscript) and isinstance(node.value, (ast.Name, ast.Attribute)):
            array = node.value.attr if isinstance(node.value, ast.Attribute) else node.value.id
            indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if array not in FLAT | {"Annotated"} and any(is_constant(each) for each in indices):
                yield f"{path.relative_to(SOURCE)}:{node.lineno} {ast.unparse(node)}"


def test_the_simulator_indexes_no_array_by_a_constant():
    simulator = [path for path in modules() if room_of(path) == "sim"]
    assert [each for path in simulator for each in indexed_by_constants(path)] == []


def test_the_check_for_constant_indices_finds_them():
    found = [ast.parse(text, mode="eval").body.slice for text in ("counts[RUNNING]", "counts[slots.NOW]")]
    assert all(is_constant(each) for each in found)
    assert not is_constant(ast.parse("counts[row]", mode="eval").body.slice)
