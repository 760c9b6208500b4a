"""In which order coupled parts are moved, when a cluster gives up, and how a loop is run, by parts that keep notes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from windlass.model import InputError
from windlass.sim import coupled
from windlass.sim.coupled import Coupled, SinglePart
from windlass.sim.nodes import Ledger
from windlass.sim.part import Due, Loop, Quiet
from windlass.sim.status import ALL_DONE, FULL, PAUSED, POLICY_DUE, REACHED


class Noted:
    """A part with a timetable of its own, which notes each step that it is taken through."""

    def __init__(
        self,
        name: str,
        notes: list[Any],
        times: list[float],
        *,
        asks: tuple[str, ...] = (),
        drops: tuple[str, ...] = (),
        ledger: Ledger | None = None,
        never_ends: bool = False,
    ) -> None:
        self.name, self.notes, self.times, self.asks, self.drops = name, notes, list(times), asks, drops
        self.ledger, self.never_ends, self.still = ledger, never_ends, False

    def horizon(self) -> float:
        return self.times[0] if self.times else np.inf

    def advance(self, until: float) -> float:
        self.notes.append((self.name, "advance", until))
        return min(until, self.horizon())

    def alter(self, now: float) -> None:
        self.notes.append((self.name, "alter", now))

    def settle(self, now: float) -> None:
        self.notes.append((self.name, "settle", now))

    def decide(self, now: float) -> list[Due]:
        self.notes.append((self.name, "decide", now))
        if not self.times or self.times[0] > now:
            return []
        self.times.pop(0)
        if self.ledger is not None:
            self.ledger.hold(0, 0, 1)
        return [Due(self, each) for each in self.asks]  # type: ignore[arg-type]

    def wants(self, decision: str) -> bool:
        return decision not in self.drops

    def view(self, decision: str) -> str:
        return f"{self.name} {decision}"

    def act(self, decision: str, answer: Any) -> None:
        self.notes.append((self.name, "act", decision, answer))
        if self.ledger is not None:
            self.ledger.hold(0, 0, 1)

    def ended(self) -> bool:
        return not self.times and not self.never_ends

    def waits(self) -> bool:
        return self.still

    def stuck(self) -> Exception:
        return RuntimeError(f"{self.name} is stuck")

    def result(self) -> str:
        return f"result of {self.name}"


def test_within_an_instant_parts_are_moved_altered_settled_and_asked_in_their_order() -> None:
    notes: list[Any] = []
    ledger = Ledger([[9]], parts=1)
    ledger.watch(0)
    first = Noted("first", notes, [2.0, 5.0], asks=("a", "b", "c"), drops=("b",))
    second = Noted("second", notes, [2.0], asks=("d",), ledger=ledger)
    cluster = Coupled([first, second], ledger)
    asked = []
    while (decision := cluster.wait()) is not None:
        # Waiting again changes nothing.
        assert cluster.wait() == decision
        asked.append((decision, cluster.view(decision)))
        cluster.act(decision, len(asked))
    assert asked == [
        ("a", "first a"),
        ("c", "first c"),
        ("d", "second d"),
        ("a", "first a"),
        ("c", "first c"),
    ]
    both = lambda what, now: [("first", what, now), ("second", what, now)]  # noqa: E731
    assert notes == [
        *both("advance", 2.0),
        *both("alter", 2.0),
        ("first", "decide", 2.0),
        ("first", "act", "a", 1),
        ("first", "act", "c", 2),
        ("second", "decide", 2.0),
        # What it took is noticed at once, and again after its answer.
        *both("settle", 2.0),
        ("second", "act", "d", 3),
        *both("settle", 2.0),
        *both("advance", 5.0),
        *both("alter", 5.0),
        ("first", "decide", 5.0),
        ("first", "act", "a", 4),
        ("first", "act", "c", 5),
        ("second", "decide", 5.0),
    ]
    assert cluster.wait() is None
    assert cluster.result() == ("result of first", "result of second")
    assert ledger.nodes.held.tolist() == [[2]]


def test_a_part_by_itself_is_not_held_up() -> None:
    notes: list[Any] = []
    alone = SinglePart(Noted("alone", notes, [3.0]))
    assert alone.wait() is None
    assert notes[0] == ("alone", "advance", np.inf)
    assert alone.result() == "result of alone"
    assert Coupled([Noted("alone", [], [])]).wait() is None


def test_of_parts_that_cannot_go_on_the_first_that_has_not_ended_says_why() -> None:
    parts = [Noted(name, [], [], never_ends=name != "a") for name in "abc"]
    with pytest.raises(RuntimeError, match="b is stuck"):
        Coupled(parts).wait()


class Standing(Quiet):
    """Something happens so many times at one instant, and then later once more."""

    def __init__(self, times: int) -> None:
        self.left = times

    def horizon(self) -> float:
        return 1.0 if self.left > 1 else 2.0 if self.left else np.inf

    def decide(self, now: float) -> tuple[()]:
        self.left -= now >= self.horizon()
        return ()

    def ended(self) -> bool:
        return self.left == 0


@pytest.mark.parametrize("times", [11, 12, 13])
def test_so_often_may_something_happen_at_one_instant(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "_MANY", 10)
    # The last of them is at 2 s; at 1 s the first is none too many, and ten may follow it.
    cluster = Coupled([Standing(times), Quiet()])
    if times <= 12:
        assert cluster.wait() is None
    else:
        with pytest.raises(InputError, match=r"time stands still at 1\.0 s: 10 times"):
            cluster.wait()


def test_what_happens_at_other_instants_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "_MANY", 3)
    # Three times at each instant.
    times = [float(each // 3) for each in range(60)]
    assert Coupled([Noted("often", [], times), Quiet()]).wait() is None


class Greedy(Quiet):
    """Changes its row in each of so many rounds of settling."""

    def __init__(self, ledger: Ledger, rounds: int) -> None:
        self.ledger, self.left, self.held = ledger, rounds, 0
        ledger.watch(0)

    def horizon(self) -> float:
        return 4.0 if self.left else np.inf

    def alter(self, now: float) -> None:
        self.settle(now)

    def settle(self, now: float) -> None:
        if self.left:
            self.left -= 1
            self.ledger.hold(0, 0, 1 if self.held == 0 else -1)
            self.held = 1 - self.held

    def ended(self) -> bool:
        return self.left == 0


@pytest.mark.parametrize("rounds", [1, 10, 11])
def test_settling_ends_after_as_many_rounds(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "_MANY", 10)
    ledger = Ledger([[1]], parts=1)
    cluster = Coupled([Greedy(ledger, rounds), Quiet()], ledger)
    if rounds <= 10:
        assert cluster.wait() is None
    else:
        with pytest.raises(InputError, match=r"time stands still at 4\.0 s"):
            cluster.wait()


class Ticking(Quiet):
    """Goes on for ever, a second at a time, and counts; it lets another part wait at some of its instants."""

    def __init__(self, beside: Noted, goes_on: tuple[int, ...]) -> None:
        self.now, self.beside, self.goes_on = 0, beside, goes_on

    def horizon(self) -> float:
        return self.now + 1.0

    def advance(self, until: float) -> float:
        self.now = int(until)
        self.beside.still = self.now not in self.goes_on
        return until


@pytest.mark.parametrize(
    ("goes_on", "last"),
    [
        # Looks are at 10, 20, …; more than 30 instants in vain are those up to the fourth look.
        ((), 40),
        # Between looks nobody notices that it goes on; at a look all before it count no more.
        ((15,), 40),
        ((10,), 50),
        ((20, 30), 70),
    ],
)
def test_after_so_many_instants_in_vain_a_cluster_gives_up(
    goes_on: tuple[int, ...], last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coupled, "_MANY", 30)
    monkeypatch.setattr(coupled, "_CHECK_EVERY", 10)
    waiting = Noted("waiting", [], [], never_ends=True)
    ticking = Ticking(waiting, goes_on)
    with pytest.raises(RuntimeError, match="waiting is stuck"):
        Coupled([Quiet(), waiting, ticking]).wait()  # type: ignore[list-item]
    assert ticking.now == last


def test_while_one_part_goes_on_another_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "_MANY", 30)
    monkeypatch.setattr(coupled, "_CHECK_EVERY", 10)
    waiting, busy = (
        Noted("waiting", [], [500.0], never_ends=False),
        Noted("busy", [], [float(each) for each in range(1, 400)]),
    )
    ticking = Ticking(waiting, ())
    ticking.horizon = lambda: ticking.now + 1.0 if ticking.now < 420 else np.inf  # type: ignore[method-assign]
    assert Coupled([waiting, busy, ticking]).wait() is None  # type: ignore[list-item]
    assert waiting.ended()


def test_a_quiet_part_does_nothing() -> None:
    part = Quiet()
    assert (part.horizon(), part.advance(3.0), part.decide(3.0), part.wants("x")) == (np.inf, 3.0, (), False)
    assert (part.alter(1.0), part.settle(1.0), part.result()) == (None, None, None)  # type: ignore[func-returns-value]
    assert (part.ended(), part.waits()) == (True, False)
    for call in (lambda: part.view("x"), lambda: part.act("x", None), part.stuck):
        with pytest.raises(NotImplementedError):
            call()


@pytest.mark.parametrize(
    ("statuses", "time", "returned", "steps"),
    [
        ([REACHED], 5.0, REACHED, []),
        ([POLICY_DUE], 5.0, POLICY_DUE, []),
        ([PAUSED, PAUSED, REACHED], 5.0, REACHED, ["tell", "tell"]),
        ([FULL, PAUSED, FULL, POLICY_DUE], 5.0, POLICY_DUE, ["grow", "tell", "grow"]),
        ([ALL_DONE], 5.0, ALL_DONE, ["tell"]),
        ([PAUSED, ALL_DONE], 5.0, ALL_DONE, ["tell", "tell"]),
        # Where nothing holds it up, that nothing happens any more is its end.
        ([REACHED], np.inf, REACHED, ["tell"]),
        ([FULL, REACHED], np.inf, REACHED, ["grow", "tell"]),
    ],
)
def test_a_loop_makes_room_and_tells(
    statuses: list[int], time: float, returned: int, steps: list[str]
) -> None:
    asked, done, left = [], [], list(statuses)

    def run(address: int, until: float, most: int) -> int:
        asked.append((address, until, most))
        return left.pop(0)

    handle: Any = SimpleNamespace(address=77)
    loop = Loop(run, handle, 9, lambda: done.append("tell"), lambda: done.append("grow"))
    assert loop.until(time) == returned
    assert asked == [(77, time, 9)] * len(statuses)
    assert done == steps


def test_of_its_end_a_loop_tells_once_and_again_if_it_went_on() -> None:
    told: list[int] = []
    left = [ALL_DONE, ALL_DONE, PAUSED, PAUSED, ALL_DONE, ALL_DONE]
    loop = Loop(
        lambda *_: left.pop(0), SimpleNamespace(address=1), 9, lambda: told.append(len(left)), lambda: None
    )  # type: ignore[arg-type]
    assert [loop.until(1.0) for _ in range(4)] == [ALL_DONE] * 4
    # What comes just after the end is not told either; from then on it goes on.
    assert told == [5, 2, 1]
