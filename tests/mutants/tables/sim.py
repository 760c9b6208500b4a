"""Changes of the simulated cluster."""

from tests.mutants.mutant import Mutant

EVENTS, LANE, LOOP = "sim/workers/events.py", "sim/workers/low_priority.py", "sim/workers/loop.py"
LATE = (
    "tests/dispatch/test_decentralised.py::test_each_scheduler_learns_as_plain_rosella[shaky-known-2-0.0]",
)
USE = ("tests/order/test_multifactor.py::test_the_use_of_users_equals_a_sum_by_hand",)
PARTITIONS = ("tests/worlds/test_partitions.py::test_each_partition_equals_a_separate_site",)
HEAP = ("tests/sim/test_heap.py",)

MUTANTS = (
    Mutant(LOOP, "        if scheduler != sender:\n", "        if scheduler == sender:\n", LATE),
    Mutant(EVENTS, "seconds = now - line.started", "seconds = now - line.since", LATE),
    Mutant("sim/events/heap.py", "heap.sequence[slot] < sequence", "heap.sequence[slot] > sequence", HEAP),
    Mutant("sim/events/heap.py", "if child + 1 < size and", "if child + 1 > size and", HEAP),
    Mutant("sim/site/moves.py", "(1.0 - kept) * half / LN_2", "(1.0 - kept) * half", USE),
    Mutant("experiment/worlds/batch/partitions.py", "rows = ~stray & ~wide", "rows = ~wide", PARTITIONS),
)
