"""A share of the cases of a matrix is ordinary, the same ones in each run, and all others are slow."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests import conftest
from tests.conftest import mark_beyond_share


class Item:
    """A collected test."""

    def __init__(self, nodeid, *marks, share=()):
        self.nodeid, self.marks, self.share = nodeid, set(marks), share

    def get_closest_marker(self, name):
        return SimpleNamespace(args=self.share) if name in self.marks else None

    def add_marker(self, name):
        self.marks.add(name)


def ordinary(monkeypatch, share, items):
    monkeypatch.setattr(conftest, "EXAMPLES", share)
    mark_beyond_share(items)
    return {item.nodeid for item in items if "slow" not in item.marks}


def cases(count, *marks):
    return [Item(f"tests/test_a.py::test_b[{number}]", *marks) for number in range(count)]


@pytest.mark.parametrize(("count", "kept"), [(1, 1), (3, 1), (4, 2), (10, 3), (100, 30)])
def test_the_share_is_rounded_up_and_the_same_in_any_order(monkeypatch, count, kept):
    found = ordinary(monkeypatch, 0.3, cases(count, "matrix"))
    assert len(found) == kept
    assert ordinary(monkeypatch, 0.3, cases(count, "matrix")[::-1]) == found


def test_all_cases_are_ordinary_where_all_examples_run(monkeypatch):
    assert len(ordinary(monkeypatch, 1.0, cases(10, "matrix"))) == 10


def test_cases_of_other_tests_stay_ordinary_and_each_matrix_has_its_own_share(monkeypatch):
    others = [Item(f"tests/test_a.py::test_c[{number}]", "matrix") for number in range(10)]
    plain = [Item(f"tests/test_a.py::test_d[{number}]") for number in range(10)]
    found = ordinary(monkeypatch, 0.1, [*cases(10, "matrix"), *others, *plain])
    assert sorted({node.partition("[")[0][-1] for node in found}) == ["b", "c", "d"]
    assert len(found) == 12


@pytest.mark.parametrize(("share", "kept"), [(0.3, 2), (0.05, 1), (1.0, 20)])
def test_a_matrix_may_have_a_smaller_share_of_its_own(monkeypatch, share, kept):
    few = [Item(f"tests/test_a.py::test_b[{number}]", "matrix", share=(0.1,)) for number in range(20)]
    assert len(ordinary(monkeypatch, share, few)) == kept
