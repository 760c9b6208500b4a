"""Changes of the simulated cluster."""

from tests.mutants.mutant import Mutant

EVENTS, LANE, LOOP = "sim/workers/events.py", "sim/workers/lane.py", "sim/workers/loop.py"
LATE = ("tests/dispatch/test_decentralised.py::test_each_scheduler_learns_as_a_plain_one[shaky-told-2-0.0]",)
HEAP = ("tests/sim/test_heap.py",)

MUTANTS = (
    Mutant(LOOP, "        if scheduler != sender:\n", "        if scheduler == sender:\n", LATE),
    Mutant(EVENTS, "seconds = now - line.started", "seconds = now - line.since", LATE),
    Mutant("sim/events/heap.py", "heap.sequence[slot] < sequence", "heap.sequence[slot] > sequence", HEAP),
    Mutant("sim/events/heap.py", "if child + 1 < last and", "if child + 1 > last and", HEAP),
)
