"""The changes that the mutator makes: each rule by example, and what it leaves alone."""

from pathlib import Path

import pytest

from tests.mutants.changes import Change, changes_of, is_valid, lines_of
from tests.mutants.rooms import ROOMS

_SOURCE = '''"""Docstring 1."""

from __future__ import annotations

LIMIT = 3
RATE = 0.5
TINY = 1e-9


@decorated(size=4)
def total(view: View = 5, least: int = 7) -> dict[int, 3]:
    """Docstring 2."""
    if view.size < least:
        raise ValueError(f"{view.size + 1} is too small")
    view.count += 2
    done = max(view.done, 8) if view.ready and not view.ended else -view.done
    view.note(done, view.count, last=9)
    return done
'''


def _all(tmp_path: Path, source: str = _SOURCE) -> set[tuple[str, str, str]]:
    (tmp_path / "room.py").write_text(source)
    return {(each.kind, each.old, each.new) for each in changes_of(tmp_path / "room.py", tmp_path)}


@pytest.mark.parametrize(
    "change",
    [
        ("comparison", " < ", " >= "),
        ("boundary", " < ", " <= "),
        ("sign", " += ", " -= "),
        ("sign", "-view.done", "(view.done)"),
        ("sign", "not view.ended", "(view.ended)"),
        ("constant", "3", "4"),
        ("constant", "3", "2"),
        ("constant", "0.5", "1.0"),
        ("dropped term", "view.ready and not view.ended", "(view.ready)"),
        ("dropped term", "view.ready and not view.ended", "(not view.ended)"),
        ("dropped term", "max(view.done, 8)", "(view.done)"),
        ("dropped guard", "view.size < least", "False"),
        ("dropped statement", "view.count += 2", "pass"),
        ("dropped statement", "view.note(done, view.count, last=9)", "pass"),
        ("function", "max", "min"),
        ("swapped argument", "done, view.count", "view.count, done"),
        ("ignored parameter", "last=9", ""),
        ("ignored parameter", "least", "(7)"),
        (
            "swapped branches",
            "max(view.done, 8) if view.ready and not view.ended else -view.done",
            "(-view.done) if (view.ready and not view.ended) else (max(view.done, 8))",
        ),
    ],
    ids=lambda change: f"{change[0]}: {change[1]}",
)
def test_each_rule_makes_its_change(change, tmp_path):
    assert change in _all(tmp_path)


def test_texts_annotations_decorators_and_tolerances_are_left_alone(tmp_path):
    constants = {old for kind, old, _ in _all(tmp_path) if kind == "constant"}
    assert constants == {"3", "0.5", "5", "7", "2", "8", "9"}


@pytest.mark.parametrize(
    "source",
    [
        "assert x < 1, 2",
        "for a, b in zip(c, d(), strict=True): ...",
        "if TYPE_CHECKING:\n    x = 1",
        "class Reads(Protocol):\n    y = 2",
    ],
)
def test_assertions_protocols_and_type_checking_are_left_alone(tmp_path, source):
    assert _all(tmp_path, source) == set()


def test_a_change_knows_its_function_and_the_lines_of_its_statement(tmp_path):
    source = "class A:\n    def f(self):\n        return g(\n            1,\n            x < 2,\n        )\n"
    (tmp_path / "room.py").write_text(source)
    found = {each.new: each for each in changes_of(tmp_path / "room.py", tmp_path)}
    change = found[" <= "]
    assert (change.function, change.line, change.first, change.last) == ("A.f", 5, 3, 6)
    assert change.text == "x < 2,"


def test_a_change_is_one_edit_and_names_what_it_expected(tmp_path):
    (tmp_path / "room.py").write_text("é = 1\nx = é + 10\n")
    changes = changes_of(tmp_path / "room.py", tmp_path)
    new = {each.apply("é = 1\nx = é + 10\n".encode()).decode() for each in changes}
    assert new == {
        "é = 2\nx = é + 10\n",
        "é = 0\nx = é + 10\n",
        "é = 1\nx = é - 10\n",
        "é = 1\nx = (é)\n",
        "é = 1\nx = (10)\n",
        "é = 1\nx = é + 11\n",
        "é = 1\nx = é + 9\n",
    }
    with pytest.raises(ValueError, match=r"room.py:1: expected '1' at byte"):
        changes[0].apply(b"something else altogether")


def test_the_same_tree_is_no_change(tmp_path):
    (tmp_path / "room.py").write_text("x = 1\n")
    (change,) = [each for each in changes_of(tmp_path / "room.py", tmp_path) if each.new == "2"]
    assert is_valid(change, tmp_path)
    same = Change("room.py", "constant", "", 1, 1, 1, "x = 1", 4, 5, "1", "0x1")
    assert not is_valid(same, tmp_path)
    assert not is_valid(Change("room.py", "constant", "", 1, 1, 1, "x = 1", 4, 5, "1", "("), tmp_path)


def test_lines_group_the_changes_of_one_line(tmp_path):
    (tmp_path / "room.py").write_text("x = 1\ny = 2\n")
    grouped = dict(lines_of(changes_of(tmp_path / "room.py", tmp_path)))
    assert {key: len(found) for key, found in grouped.items()} == {("room.py", 1): 2, ("room.py", 2): 2}


def test_every_room_has_source_and_tests():
    root = Path(__file__).parents[2]
    for room in ROOMS:
        assert room.files(), room.name
        missing = [each for each in room.tests if not (root / each).exists()]
        assert missing == [], room.name
        assert all(path.is_relative_to(room.root) for path in room.files())
