"""Parts that share rows of the ledger: numbers, owners of capacity, and users of idle cores."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.model import InputError
from windlass.sim.ledger import Ledger
from windlass.sim.telemetry.neighbours import CoreChanges, Neighbours


def changes():
    return CoreChanges(np.array([1.0]), np.array([0]), np.array([1]))


def test_the_ledger_issues_the_lowest_number_that_no_part_has():
    ledger = Ledger([[4], [2]], parts=4)
    assert [ledger.join(0), ledger.join(1, 2), ledger.join(0), ledger.join(1)] == [0, 2, 1, 3]
    with pytest.raises(
        InputError, match="part 4 cannot join: the ledger has room for 4; make it with more `parts`"
    ):
        ledger.join(0)


@pytest.mark.parametrize("number", [0, 1])
def test_two_parts_cannot_have_one_number(number):
    # With one number, cores that one part gives back would be taken from the other.
    ledger = Ledger([[4, 4]], parts=2)
    ledger.join(0, number)
    with pytest.raises(
        InputError, match=f"part {number} has joined the ledger already; give each part a number"
    ):
        Neighbours(changes(), ledger, number=number)
    assert ledger.join(0) == 1 - number


def test_parts_without_a_number_hold_cores_of_their_own():
    ledger = Ledger([[4, 4]], parts=2)
    parts = [Neighbours(changes(), ledger) for _ in range(2)]
    for part in parts:
        part.decide(1.0)
    assert ledger.nodes.held[0].tolist() == [1, 1]
    assert ledger.nodes.idle.tolist() == [2, 4]


def test_the_capacity_of_a_row_has_one_owner():
    ledger = Ledger([[4, 4], [2]], parts=1)
    ledger.own([0, 1], "outages")
    with pytest.raises(
        InputError, match="row 1: the capacity is set by outages, instances cannot set it as well"
    ):
        ledger.own([2, 1], "instances")
    # A refusal changes nothing.
    ledger.own([2], "instances")


def test_idle_cores_of_a_row_have_one_user():
    ledger = Ledger([[4, 4]], parts=1)
    ledger.own([0], "outages")
    ledger.use_idle([0, 1], "small tasks")
    with pytest.raises(InputError, match="row 0: the idle cores are used by small tasks, others would use"):
        ledger.use_idle([0], "others")
