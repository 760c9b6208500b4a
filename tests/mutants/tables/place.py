"""Changes of placement policies."""

from tests.mutants.mutant import Mutant

TETRIS, FAIR, REVERSE = "place/policies/tetris.py", "place/lib/fair.py", "place/lib/reverse.py"
PLAIN = "tests/place/test_plain.py"
OF_TETRIS = (f"{PLAIN}::test_tetris_starts_the_highest_scores[1.0-0.8]",)
OF_FAIR = (f"{PLAIN}::test_fair_sharing_gives_each_slot_to_the_job_that_holds_fewest",)
OF_BEST = (f"{PLAIN}::test_best_equals_the_better_of_forward_and_reverse",)

DELAY, GATHER, DECIDE = "place/lib/delay.py", "place/lib/gather.py", "place/lib/decide.py"
DURATIONS, OURS, LEFTOVER = "sim/fleet/durations.py", "place/policies/gather.py", "place/lib/leftover.py"
OF_DELAY = ("tests/place/test_delay.py",)
OF_CREDIT = (
    f"{PLAIN}::test_tetris_counts_links_and_local_reads_by_its_options",
    f"{PLAIN}::test_with_local_reads_tetris_prefers_no_remote_read",
)
OF_TIES = (f"{PLAIN}::test_ties_of_iridium_minimise_the_compute_time",)
OF_GATHER = ("tests/place/test_gather.py",)
OF_DECIDE = ("tests/place/test_decide.py",)
OF_NOTHING = ("tests/place/test_no_bytes.py",)
OF_MEANS = ("tests/fleet/test_durations.py",)
OF_LIVE = ("tests/engines/test_live_durations.py",)

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
    Mutant(DELAY, "        return wait <= 0.0\n", "        return True\n", OF_DELAY),
    Mutant(DELAY, "        ready.plan[row, 0] = FAR\n", "        pass\n", OF_DELAY),
    Mutant(DELAY, "        ready.plan[row, 0] = NEAR\n", "        pass\n", OF_DELAY),
    Mutant(DELAY, "now >= ready.since[row] + wait", "now > ready.since[row] + wait", OF_DELAY),
    Mutant(DELAY, "held[row] + quota[row] <= height", "held[row] + quota[row] < height", OF_DELAY),
    Mutant(DELAY, "held[row] += total_of(ready.running[other]) + here[other]", "held[row] += 0", OF_DELAY),
    Mutant(
        "place/policies/delay_scheduling.py",
        "np.where(started > 0, now, ready.since)",
        "ready.since",
        OF_DELAY,
    ),
    Mutant(TETRIS, "link_part = options.network * link_left", "link_part = link_left", OF_CREDIT),
    Mutant(TETRIS, "aligned += rate[row] / sites.down[y] * link_part", "aligned += 0.0", OF_CREDIT),
    Mutant(FAIR, "work = TIES * max(result[0], TIES)", "work = 0.0", OF_TIES),
    Mutant(FAIR, "TIES = 1e-6", "TIES = 1e5", OF_TIES),
    Mutant(DECIDE, "        room.over[0] = 1\n", "        room.over[0] = 0\n", OF_DECIDE),
    Mutant(
        DECIDE,
        "if sorted_to - place > 1:",
        "if sorted_to - place > 1 and options.keep_sites <= 0:",
        OF_DECIDE,
    ),
    Mutant(DECIDE, "        data[x] = ready.here[row, x]\n", "        data[x] = 0.0\n", OF_NOTHING),
    Mutant(DECIDE, "(sites.up[x] <= 0.0 and ready.here[row, x] > 0)", "False", OF_NOTHING),
    Mutant(DECIDE, "rho, shuffles) if in_bytes else np.inf", "rho, shuffles)", OF_NOTHING),
    Mutant(GATHER, "return took + shuffle.after * shuffle_s", "return took + shuffle_s", OF_GATHER),
    Mutant(GATHER, "(shuffle.begun[x] + share[x] * shuffle.waiting) / tasks", "share[x]", OF_GATHER),
    Mutant(GATHER, "        if took < least:\n", "        if took > least:\n", OF_GATHER),
    Mutant(GATHER, "            group *= 2\n", "            group *= n\n", OF_GATHER),
    Mutant(GATHER, "np.floor(back * busy)", "0.0", OF_GATHER),
    Mutant(GATHER, "max(free[x], least * capacity[x])", "free[x]", OF_GATHER),
    Mutant(OURS, "-ready.left[row] * ready.waiting[row]", "-ready.waiting[row]", OF_GATHER),
    Mutant(LEFTOVER, "return tasks if tasks * size <= most else", "return tasks if True else", OF_GATHER),
    Mutant(LEFTOVER, "            up[source] -= went * size / within\n", "", OF_GATHER),
    Mutant(LEFTOVER, "sites.up_free.copy()", "sites.up.copy()", OF_GATHER),
    Mutant(LEFTOVER, "carried(open_slots[x], size, down[x] * within)", "open_slots[x]", OF_GATHER),
    Mutant(DURATIONS, "in (everywhere, jobs, stages):", "in (everywhere, jobs):", OF_MEANS),
    Mutant(DURATIONS, "in (everywhere, jobs, stages):", "in (everywhere, stages):", OF_MEANS),
    Mutant(DURATIONS, "in (everywhere, jobs, stages):", "in (jobs, stages):", OF_MEANS),
    Mutant("engines/live/book.py", "self.durations.seconds()\n", "jobs.estimate_s\n", OF_LIVE),
    Mutant("engines/live/engine.py", "event.computed - event.read", "event.computed - event.begun", OF_LIVE),
    Mutant(
        "engines/live/transfers.py", "self._book.durations.seconds()", "self._book.jobs.estimate_s", OF_LIVE
    ),
    Mutant("experiment/worlds/fleet/live.py", "estimates=setting.estimates.durations,", "", OF_LIVE),
)
