"""The order of steps of coupled parts, when a cluster gives up, and how a loop runs, by parts that log their steps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from windlass.model import InputError
from windlass.sim import coupled
from windlass.sim.coupled import Coupled, SinglePart
from windlass.sim.ledger import Ledger
from windlass.sim.part import Due, Loop, Quiet
from windlass.sim.status import ALL_DONE, FULL, PAUSED, POLICY_DUE, REACHED


class LoggingPart:
    """A part with its own timetable that logs each of its steps."""

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

    def concerns(self) -> None:
        return None

    def entries(self) -> None:
        return None

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


def test_steps_of_an_instant_visit_the_parts_in_order() -> None:
    notes: list[Any] = []
    ledger = Ledger([[9]], parts=1)
    ledger.watch(0)
    first = LoggingPart("first", notes, [2.0, 5.0], asks=("a", "b", "c"), drops=("b",))
    second = LoggingPart("second", notes, [2.0], asks=("d",), ledger=ledger)
    cluster = Coupled([first, second], ledger)
    decisions = []
    while (decision := cluster.wait()) is not None:
        # Waiting again changes nothing.
        assert cluster.wait() == decision
        decisions.append((decision, cluster.view(decision)))
        cluster.act(decision, len(decisions))
    assert decisions == [
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


def test_a_single_part_advances_without_stops() -> None:
    notes: list[Any] = []
    alone = SinglePart(LoggingPart("alone", notes, [3.0]))
    assert alone.wait() is None
    assert notes[0] == ("alone", "advance", np.inf)
    assert alone.result() == "result of alone"
    assert Coupled([LoggingPart("alone", [], [])]).wait() is None


def test_the_first_unfinished_stuck_part_raises() -> None:
    parts = [LoggingPart(name, [], [], never_ends=name != "a") for name in "abc"]
    with pytest.raises(RuntimeError, match="b is stuck"):
        Coupled(parts).wait()


class Repeating(Quiet):
    """A part with many events at one instant, and one more later."""

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
def test_too_many_events_at_one_instant_are_an_error(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "_MANY", 10)
    # The last of them is at 2 s; at 1 s the first is none too many, and ten may follow it.
    cluster = Coupled([Repeating(times), Quiet()])
    if times <= 12:
        assert cluster.wait() is None
    else:
        with pytest.raises(InputError, match=r"time stands still at 1\.0 s: 10 times"):
            cluster.wait()


def test_the_limit_counts_events_of_one_instant_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "_MANY", 3)
    # Three times at each instant.
    times = [float(each // 3) for each in range(60)]
    assert Coupled([LoggingPart("often", [], times), Quiet()]).wait() is None


class Greedy(Quiet):
    """A part that changes its row in each of `rounds` rounds of settling."""

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
def test_too_many_rounds_of_settling_are_an_error(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "_MANY", 10)
    ledger = Ledger([[1]], parts=1)
    cluster = Coupled([Greedy(ledger, rounds), Quiet()], ledger)
    if rounds <= 10:
        assert cluster.wait() is None
    else:
        with pytest.raises(InputError, match=r"time stands still at 4\.0 s"):
            cluster.wait()


class Ticking(Quiet):
    """An endless part with an event per second; it makes another part wait at most instants."""

    def __init__(self, other: LoggingPart, goes_on: tuple[int, ...]) -> None:
        self.now, self.other, self.goes_on = 0, other, goes_on

    def horizon(self) -> float:
        return self.now + 1.0

    def advance(self, until: float) -> float:
        self.now = int(until)
        self.other.still = self.now not in self.goes_on
        return until


@pytest.mark.parametrize(
    ("goes_on", "last"),
    [
        # Checks are at 10, 20, …; more than 30 idle instants are found at the fourth check.
        ((), 40),
        # Progress between checks is not seen; progress at a check resets the count.
        ((15,), 40),
        ((10,), 50),
        ((20, 30), 70),
    ],
)
def test_a_cluster_gives_up_after_too_many_idle_instants(
    goes_on: tuple[int, ...], last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coupled, "_MANY", 30)
    monkeypatch.setattr(coupled, "_CHECK_EVERY", 10)
    waiting = LoggingPart("waiting", [], [], never_ends=True)
    ticking = Ticking(waiting, goes_on)
    with pytest.raises(RuntimeError, match="waiting is stuck"):
        Coupled([Quiet(), waiting, ticking]).wait()  # type: ignore[list-item]
    assert ticking.now == last


def test_a_part_may_wait_while_another_makes_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "_MANY", 30)
    monkeypatch.setattr(coupled, "_CHECK_EVERY", 10)
    waiting, busy = (
        LoggingPart("waiting", [], [500.0], never_ends=False),
        LoggingPart("busy", [], [float(each) for each in range(1, 400)]),
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
def test_a_loop_grows_arrays_and_reports(
    statuses: list[int], time: float, returned: int, steps: list[str]
) -> None:
    decisions, done, left = [], [], list(statuses)

    def run(address: int, until: float, most: int) -> int:
        decisions.append((address, until, most))
        return left.pop(0)

    handle: Any = SimpleNamespace(address=77)
    loop = Loop(run, handle, 9, lambda: done.append("tell"), lambda: done.append("grow"))
    assert loop.until(time) == returned
    assert decisions == [(77, time, 9)] * len(statuses)
    assert done == steps


def test_a_loop_reports_its_end_once_and_again_after_progress() -> None:
    reports: list[int] = []
    left = [ALL_DONE, ALL_DONE, PAUSED, PAUSED, ALL_DONE, ALL_DONE]
    loop = Loop(
        lambda *_: left.pop(0), SimpleNamespace(address=1), 9, lambda: reports.append(len(left)), lambda: None
    )  # type: ignore[arg-type]
    assert [loop.until(1.0) for _ in range(4)] == [ALL_DONE] * 4
    # The step just after the end is not reported either; afterwards the loop continues.
    assert reports == [5, 2, 1]
