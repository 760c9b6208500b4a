"""Each change of the tables is seen by the tests that it names, which pass without it."""

import importlib
from pathlib import Path

import pytest

from tests.mutants.mutant import Mutant
from tests.mutants.trial import FAILED, PASSED, copied, status_of

ROOT = Path(__file__).parents[2]
ROOMS = sorted(path.stem for path in (Path(__file__).parent / "tables").glob("[!_]*.py"))
_FEW = 12


def mutants_of(room: str) -> tuple[Mutant, ...]:
    return importlib.import_module(f"tests.mutants.tables.{room}").MUTANTS


def test_there_are_sixty_and_each_changes_what_is_there_once():
    all_of_them = [mutant for room in ROOMS for mutant in mutants_of(room)]
    assert len(all_of_them) >= 60
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in all_of_them}) == len(all_of_them)
    assert {mutant.name: mutant.found() for mutant in all_of_them if mutant.found() != 1} == {}
    assert [mutant.name for mutant in all_of_them if mutant.old == mutant.new] == []


def test_each_named_test_exists():
    missing = set()
    for node in {test for room in ROOMS for mutant in mutants_of(room) for test in mutant.tests}:
        file, _, name = node.partition("::")
        path, defined = ROOT / file, f"def {name.partition('[')[0]}("
        if not path.exists() or (name and defined not in path.read_text(encoding="utf-8")):
            missing.add(node)
    assert missing == set()


def some() -> list[tuple[str, tuple[Mutant, ...]]]:
    """All of them, a few at a time, so that several processes can share them."""
    return [
        (f"{room} {first + 1}-{first + len(few)}", few)
        for room in ROOMS
        for first, few in (
            (at, mutants_of(room)[at : at + _FEW]) for at in range(0, len(mutants_of(room)), _FEW)
        )
    ]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(("name", "mutants"), some(), ids=[name for name, _ in some()])
def test_each_change_is_seen(name, mutants, tmp_path):
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    status, said = status_of(copied(tmp_path / "unchanged"), tests)
    assert status == PASSED, said
    survived, unheld = [], []
    for number, mutant in enumerate(mutants):
        source = copied(tmp_path / str(number))
        mutant.apply(source)
        status, said = status_of(source, mutant.tests)
        if status not in (PASSED, FAILED):
            unheld.append(f"{mutant.name}: {said}")
        elif status == PASSED and not mutant.survives:
            survived.append(mutant.name)
    explained = sum(bool(mutant.survives) for mutant in mutants)
    print(
        f"{name}: {len(mutants) - len(survived) - explained} killed, {len(survived)} survived, {explained} explained"
    )
    assert unheld == []
    assert survived == []
