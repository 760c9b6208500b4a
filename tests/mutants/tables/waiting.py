"""Changes of what live engines wait for, on which clock, and of arrays that compiled code writes into."""

from tests.mutants.mutant import Mutant

WAKING = ("tests/engines/test_live_waking.py",)
ANNOUNCED = ("tests/engines/streams/test_announced.py",)
CLOCK = ("tests/engines/streams/test_clock.py",)
BY_HAND = ("tests/engines/test_replicas_by_hand.py",)
STATE = ("tests/fleet/test_state.py",)
SETTINGS = ("tests/fleet/test_run_settings.py",)
WORKERS = ("tests/dispatch/test_state_of_workers.py",)

MUTANTS = (
    Mutant("engines/live/engine.py", "self._wake_at - now, _ASK", "self._wake_at, _ASK", WAKING),
    Mutant(
        "engines/streams/part.py",
        "                self._error = error\n                self._news.notify_all()",
        "                self._error = error",
        ANNOUNCED,
    ),
    Mutant(
        "engines/streams/book.py",
        "(place < 0)",
        "(place <= 0)",
        ("tests/engines/streams/test_book_order.py",),
    ),
    Mutant(
        "engines/streams/engine.py", "self._query_source(now - self._zero)", "self._query_source(now)", CLOCK
    ),
    Mutant(
        "engines/serve/replicas.py",
        "if rates is not None and replica.known:",
        "if replica.known:",
        BY_HAND,
    ),
    Mutant(
        "sim/events/heap.py", '{"events": capacity}', '{"events": capacity - 1}', ("tests/sim/test_heap.py",)
    ),
    Mutant("sim/fleet/state.py", "decide_every: float = 0.0", "decide_every: float = 1.0", STATE),
    Mutant("sim/fleet/run.py", "decide_every=decide_every", "decide_every=0.0", SETTINGS),
    Mutant("sim/workers/part.py", "(UNUSED if compiled is None", "(UNUSED if compiled is not None", WORKERS),
)
