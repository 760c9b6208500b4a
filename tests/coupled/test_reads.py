"""A part that reads others at instants of its own is not called at theirs."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.model import InputError
from windlass.sim.coupled import Coupled
from windlass.sim.part import Concerns, Part, Quiet


class Clock(Quiet):
    """A part with events at given times, which notes when it is called."""

    def __init__(self, *times: float, parts: tuple[Part, ...] = (), reads: tuple[Part, ...] = ()) -> None:
        self._left, self._concerns = list(times), Concerns(parts=parts, reads=reads)
        self.reached, self.called = -np.inf, list[float]()

    def concerns(self) -> Concerns:
        return self._concerns

    def horizon(self) -> float:
        return self._left[0] if self._left else np.inf

    def advance(self, until: float) -> float:
        self.reached = until
        return until

    def decide(self, now: float) -> tuple[()]:
        self.called.append(now)
        while self._left and self._left[0] <= now:
            self._left.pop(0)
        return ()

    def ended(self) -> bool:
        return not self._left


class Reader(Clock):
    """Notes how far the part that it reads has advanced."""

    def __init__(self, other: Clock, *times: float, also: tuple[Part, ...] = ()) -> None:
        super().__init__(*times, reads=(other, *also))
        self._other, self.found = other, list[float]()

    def decide(self, now: float) -> tuple[()]:
        self.found.append(self._other.reached)
        return super().decide(now)


def test_a_reader_finds_the_present_and_is_called_at_its_own_instants_only() -> None:
    other = Clock(1.0, 2.0, 4.0, 6.0)
    reader = Reader(other, 3.0, 4.0)
    Coupled([other, reader]).wait()
    assert set(reader.called) - {-np.inf} <= {
        1.0,
        3.0,
        4.0,
    }  # 1.0 is the first instant, which concerns all parts
    assert [at for at in reader.called if at > 1.0] == [3.0, 4.0]
    assert reader.found[-2:] == [3.0, 4.0]
    assert {1.0, 2.0, 3.0, 4.0, 6.0} <= set(other.called)


def test_what_a_read_part_reads_is_called_in_turn() -> None:
    last = Clock(1.0, 50.0)
    middle = Reader(last, 1.0, 50.0)
    mate = Clock(1.0, 50.0, parts=(middle,))
    reader = Reader(middle, 1.0, 20.0)
    Coupled([last, middle, mate, reader]).wait()
    assert all(20.0 in each.called for each in (last, middle, mate, reader))
    # The instants of the others do not concern the reader.
    assert 50.0 not in reader.called
    assert 50.0 in mate.called


def test_a_part_that_is_read_must_be_listed() -> None:
    with pytest.raises(InputError, match="part 0 reads a part that is not among the coupled ones"):
        Coupled([Reader(Clock(1.0), 2.0)])
