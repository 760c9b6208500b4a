"""The engine of streams on a clock with another origin: all results are shifted by the origin only."""

import pytest

from tests.engines.streams.cases import CAMERA, CLOUD, PRIVATE, TIERS, feed
from tests.engines.streams.test_decided import Chosen, RecordingStreams
from windlass.drive import drive
from windlass.engines.streams.chain_lifecycle import Patience
from windlass.engines.streams.engine import LiveStreams

QUICK = Patience(rest=1.0, longest_rest=8.0, start=6.0, quiet=4.0, boundary=2.0, drain=1.5, steady=3.0)
MISHAPS = [
    (4.25, "dies", CLOUD), (9.0, "comes", CLOUD), (14.5, "fails", 0), (21.0, "silences", 0), (33.0, "dies", CAMERA),
    (37.5, "comes", CAMERA), (45.0, "hangs", 0), (46.0, "fails", 1), (80.0, "dies", PRIVATE),
]  # fmt: skip


def course(begins):
    """Return the results of a run of 90 s, with times since its start."""
    executor = RecordingStreams([(begins + at, what, which) for at, what, which in MISHAPS])
    executor.time = begins
    polled, lines, policy = [], [], Chosen(0, 1, 0, 2)

    def feeds(now):
        polled.append(now)
        return [feed("a"), *([feed("b")] if 10.0 <= now < 60.0 else [])]

    engine = LiveStreams(
        TIERS, feeds, executor, lambda own, found: len(found) / own.frames, seconds=90.0, patience=QUICK,
        notify=lines.append,
    )  # fmt: skip
    result = drive(engine, {"plan": policy})
    playings = [
        (each.query, each.number, each.accuracy, each.planned, each.missed, each.undisturbed, each.label)
        for each in result.playings
    ]
    late = [each.late.mean() if len(each.late) else -1.0 for each in result.playings]
    times = {
        "asked": polled,
        "views": [view.now for view in policy.views],
        "decided": [time for each in result.decisions for time in (each.noticed, each.at)],
        "orders": [order[0] - begins for order in executor.orders],
        "zeros": [order.zero - begins for _, order in executor.launched],
        "late": late,
        "ended": [executor.time - begins],
    }
    orders, upon = [order[1:] for order in executor.orders], [each.upon for each in result.decisions]
    return times, (lines, playings, orders, upon, result.failures)


@pytest.mark.parametrize("begins", [4096.0, -64.0])
def test_the_origin_of_the_clock_changes_nothing(begins):
    (times, events), (later_times, later) = course(0.0), course(begins)
    assert later == events
    assert later_times.keys() == times.keys()
    for name, expected in times.items():
        # The clock is exact to nanoseconds, and orders are recorded to the millisecond.
        assert later_times[name] == pytest.approx(expected, abs=2e-3), name
    assert len(events[1]) > 15
    assert events[4] >= 2
    assert times["ended"] == pytest.approx([90.0])
    # The engine polls the queries about once a second, first at the start.
    assert times["asked"][0] == 0.0
    assert all(0.999 < b - a < 2.0 for a, b in zip(times["asked"], times["asked"][1:], strict=False))
    assert {0.0, 10.0} <= {round(at) for at in times["zeros"]}


@pytest.mark.parametrize(
    ("mishap", "stopped"),
    # A chain has five minutes to become ready, and one minute between frames; the last frame came at 9.6 s.
    [((0.0, "hangs", 0), 300.0), ((10.0, "silences", 0), 69.6)],
)
def test_the_default_patience_is_the_documented_one(mishap, stopped):
    executor = RecordingStreams([mishap])
    engine = LiveStreams(
        TIERS, lambda now: [feed("a")], executor, lambda own, found: 0.0, seconds=stopped + 1.0
    )
    result = drive(engine, {"plan": Chosen(0)})
    assert [order[:2] for order in executor.orders if order[1] != "play"] == [
        (0.0, "launch"), (stopped, "stop"), (pytest.approx(stopped + 0.5, abs=2e-3), "launch"),
    ]  # fmt: skip
    assert result.failures == 1


def test_a_run_without_a_duration_continues_until_interrupted():
    class Interrupted(RecordingStreams):
        def poll(self, timeout):
            if self.time > 1e4:
                raise KeyboardInterrupt
            self.time += 1000.0
            return []

    executor = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        drive(LiveStreams(TIERS, lambda now: [], executor, lambda own, found: 0.0), {"plan": Chosen(0)})
    assert executor.time > 1e4
    assert executor.closed == 1
