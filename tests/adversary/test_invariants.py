"""The page of invariants names tests that exist, and planted bugs that are tried."""

import re
from pathlib import Path

import pytest

from tests.adversary.planted import PLANTED

ROOT = Path(__file__).parents[2]
ROWS = re.findall(
    r"^\| ([SEKPH]\d+) \| ([^|]+) \| `([^|`]+)` \| ([^|]+) \|$",
    (ROOT / "docs" / "invariants.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_invariants_are_numbered_without_gaps():
    for letter, least in (("S", 10), ("E", 3), ("K", 5), ("P", 5), ("H", 5)):
        numbers = [int(number[1:]) for number, *_ in ROWS if number.startswith(letter)]
        assert len(numbers) >= least
        assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize(("number", "test", "bug"), [(number, *rest) for number, _, *rest in ROWS])
def test_the_named_test_and_bug_exist(number, test, bug):
    file, _, name = test.partition("::")
    assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), number
    assert bug in PLANTED, number
