"""Changes of placement policies."""

from tests.mutants.mutant import Mutant

TETRIS, FAIR, REVERSE = "place/policies/tetris.py", "place/lib/fair.py", "place/lib/reverse.py"
PLAIN = "tests/place/test_plain.py"
OF_TETRIS = (f"{PLAIN}::test_tetris_starts_what_scores_highest[1.0-0.8]",)
OF_FAIR = (f"{PLAIN}::test_fair_sharing_gives_each_slot_to_the_job_that_holds_fewest",)
OF_BEST = (f"{PLAIN}::test_the_better_of_forward_and_reverse_is_the_better",)

MUTANTS = (
    Mutant(TETRIS, "aligned * (1.0 - options.penalty) - ahead", "aligned - ahead", OF_TETRIS),
    Mutant(TETRIS, "aligned * (1.0 - options.penalty * away) - ahead", "aligned - ahead", OF_TETRIS),
    Mutant(
        TETRIS, "(1.0 / sites.slots[y]) * (open_slots[y] / sites.slots[y])", "1.0 / sites.slots[y]", OF_TETRIS
    ),
    Mutant(TETRIS, "options.srtf * (work[row] / mean_work)", "options.srtf", OF_TETRIS),
    Mutant(TETRIS, "up_free[x] > up_free[source]", "up_free[x] < up_free[source]", OF_TETRIS),
    Mutant(FAIR, "held[row] += total_of(ready.running[other])", "held[row] += 0", OF_FAIR),
    Mutant(FAIR, "if ready.job[other] == ready.job[row]:", "if other == row:", OF_FAIR),
    Mutant(FAIR, "                held[row] += take\n", "", OF_FAIR),
    Mutant(REVERSE, "if forward_s <= reverse_s:", "if forward_s > reverse_s:", OF_BEST),
    Mutant(REVERSE, "                forward_s += after", "                forward_s += 0.0", OF_BEST),
)
