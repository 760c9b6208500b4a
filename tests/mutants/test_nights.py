"""A night runs a quarter of the nightly checks, and four nights in a row run each of them once."""

from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import leave_out_other_nights
from tests.mutants.__main__ import chosen
from tests.mutants.reach import ROOMS_RECORDED, recorded_files
from tests.mutants.rooms import REPRODUCTIONS, ROOMS, SOURCE, room_named, root_of
from tests.nights import NIGHTS, VARIABLE, night, of_night


class Item:
    """A collected test."""

    def __init__(self, name, mark):
        self.name, self.mark = name, mark

    def get_closest_marker(self, name):
        return self.mark == name or None


@given(count=st.integers(0, 50), first=st.integers(0, 10**6))
def test_four_nights_in_a_row_run_each_part_once_and_equally_many(count, first):
    nights = [of_night(range(count), first + at) for at in range(NIGHTS)]
    assert Counter(part for each in nights for part in each) == Counter(range(count))
    assert max(map(len, nights)) - min(map(len, nights)) <= 1
    assert of_night(range(count), None) == list(range(count))


def test_nightly_tests_of_other_nights_are_left_out_and_all_other_tests_stay(monkeypatch):
    items = [Item(f"{mark}{at}", mark) for at in range(6) for mark in ("nightly", "slow")]
    left_out = []
    hook = SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items))
    monkeypatch.setenv(VARIABLE, "21")
    kept = list(items)
    leave_out_other_nights(SimpleNamespace(hook=hook), kept)
    assert [each.name for each in kept if each.mark == "nightly"] == ["nightly1", "nightly5"]
    assert [each for each in kept if each.mark == "slow"] == [each for each in items if each.mark == "slow"]
    assert Counter([*kept, *left_out]) == Counter(items)
    monkeypatch.delenv(VARIABLE)
    kept = list(items)
    leave_out_other_nights(SimpleNamespace(hook=hook), kept)
    assert kept == items


def test_rooms_are_those_named_or_those_of_the_night(monkeypatch):
    monkeypatch.setenv(VARIABLE, "2")
    assert chosen(["plan"]) == [room_named("plan")]
    assert chosen([]) == list(ROOMS[2::NIGHTS])
    monkeypatch.delenv(VARIABLE)
    assert chosen([]) == list(ROOMS)


@pytest.mark.parametrize("given", ["-1", "1.5", "today"])
def test_a_night_is_a_whole_number(given, monkeypatch):
    monkeypatch.setenv(VARIABLE, given)
    with pytest.raises(ValueError, match=f"WINDLASS_NIGHT is '{given}', expected a whole number"):
        night()


def test_lines_are_recorded_in_the_files_of_the_rooms_that_are_named(monkeypatch):
    monkeypatch.setenv(ROOMS_RECORDED, "plan reproductions")
    rooms = [room_named("plan"), room_named("reproductions")]
    assert recorded_files() == sorted(str(path) for room in rooms for path in room.files())
    monkeypatch.delenv(ROOMS_RECORDED)
    assert recorded_files() == [f"{SOURCE}/*", f"{root_of(REPRODUCTIONS) / REPRODUCTIONS}/*"]
