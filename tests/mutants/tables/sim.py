"""Changes of the simulated cluster."""

from tests.mutants.mutant import Mutant

EVENTS, LANE, LOOP = "sim/workers/events.py", "sim/workers/low_priority.py", "sim/workers/loop.py"
LATE = ("tests/dispatch/test_decentralised.py::test_each_scheduler_learns_as_a_plain_one[shaky-told-2-0.0]",)
USE = ("tests/order/test_multifactor.py::test_what_users_have_had_is_as_added_up_by_hand",)
PARTITIONS = ("tests/worlds/test_partitions.py::test_each_is_what_a_site_of_its_own_would_be",)
HEAP = ("tests/sim/test_heap.py",)

MUTANTS = (
    Mutant(LOOP, "        if scheduler != sender:\n", "        if scheduler == sender:\n", LATE),
    Mutant(EVENTS, "seconds = now - line.started", "seconds = now - line.since", LATE),
    Mutant("sim/events/heap.py", "heap.sequence[slot] < sequence", "heap.sequence[slot] > sequence", HEAP),
    Mutant("sim/events/heap.py", "if child + 1 < last and", "if child + 1 > last and", HEAP),
    Mutant("sim/site/moves.py", "(1.0 - kept) * half / LN_2", "(1.0 - kept) * half", USE),
    Mutant("experiment/worlds/batch/partitions.py", "rows = ~stray & ~wide", "rows = ~wide", PARTITIONS),
)
