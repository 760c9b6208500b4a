"""Changes of the simulator's loops and of dispatch policies that only plain worlds beside them notice."""

from tests.mutants.mutant import Mutant

STEP = "tests/dispatch/test_plain_policies.py::test_every_step_equals_the_plain_policy"
CALLS, TIES = "tests/dispatch/test_policy_calls.py", "tests/dispatch/test_ties.py"
FLOOD = "tests/dispatch/test_simulate.py::test_real_tasks_precede_benchmark_tasks_in_full_lanes"
ORDERS, ANSWERS = "tests/fleet/test_plain_orders.py", "tests/fleet/test_answers.py"
LINES = f"{ANSWERS}::test_every_invalid_line_is_rejected_with_its_reason"
RATED = "tests/coupled/test_rated_site.py"
CONCERNS, LIMITS = "tests/coupled/test_concerns.py", "tests/coupled/test_limits.py"
ON_SITES, OF_STEPS = "tests/coupled/test_queries_on_sites.py", "tests/coupled/test_query_steps.py"
COMPILED, TURNS = "tests/sim/test_compiled_answers.py", "tests/coupled/test_turns.py"

MUTANTS = (
    Mutant(
        "dispatch/policies/pot.py",
        "lengths[second] < lengths[first]",
        "lengths[second] <= lengths[first]",
        (f"{STEP}[pot]",),
    ),
    Mutant(
        "dispatch/policies/eps_greedy.py",
        "delay = (lengths[worker] + 1) / floats",
        "delay = lengths[worker] / floats",
        (f"{STEP}[eps-greedy]",),
    ),
    Mutant("dispatch/policies/ucb.py", "max(ints[ARRIVED], 2)", "2", (f"{STEP}[ucb]",)),
    Mutant(
        "dispatch/policies/rosella.py",
        "for _ in range(2, ints[learn.PROBES])",
        "for _ in range(3, ints[learn.PROBES])",
        (f"{STEP}[rosella 2 told]",),
    ),
    Mutant(
        "dispatch/lib/learning.py",
        "rng.uniform(0.5, 1.5, schedulers) * schedulers",
        "rng.uniform(0.5, 1.5, schedulers)",
        (f"{CALLS}::test_schedulers_differ_only_in_their_stream_and_share",),
    ),
    Mutant(
        "sim/workers/low_priority.py",
        "    if line.down != 0 or state.low_count[worker] >= state.settings[0].low_room:\n"
        "        progress.dropped += 1\n",
        "    if line.down != 0 or state.low_count[worker] >= state.settings[0].low_room:\n",
        (f"{FLOOD}[speeds0-50.0-1]",),
    ),
    Mutant(
        "sim/workers/events.py",
        "state.longest[sample] = max(state.longest[sample], state.length[worker])",
        "state.longest[sample] = state.length[worker]",
        (f"{TIES}::test_ties_are_broken_as_in_the_plain_world[0-jsq]",),
    ),
    Mutant(
        "sim/fleet/loop.py",
        "run.jobs_reported += run.groups",
        "run.jobs_reported += 1",
        (f"{ORDERS}::test_random_orders_run_as_in_the_plain_simulation",),
    ),
    Mutant("sim/fleet/answer.py", "(shuffles or stage.begun > 0)", "shuffles", (LINES,)),
    Mutant(
        "sim/fleet/reads.py",
        "wait = max(run.looked + run.look_every, now) - run.looked",
        "wait = now - run.looked",
        ("tests/fleet/test_looks.py::test_reads_start_and_end_at_polls",),
    ),
    Mutant(
        "sim/ledger.py",
        "part = int(np.argmax(nodes.held[late[0]]))",
        "part = int(np.argmin(nodes.held[late[0]]))",
        (f"{RATED}::test_the_part_that_holds_most_of_a_vacated_row_is_named",),
    ),
    Mutant(
        "sim/site/loop.py",
        "if wrong == PAUSED and wanted > site.pools[pool]:",
        "if pool == 0 and wrong == PAUSED and wanted > site.pools[pool]:",
        (f"{COMPILED}::test_a_compiled_answer_beyond_a_pool_is_rejected",),
    ),
    Mutant(
        "sim/instants/loop.py",
        "if part < instants.counts[0].turn and instants.parts[part].decided == 0:",
        "if part < 0 and instants.parts[part].decided == 0:",
        (f"{CONCERNS}::test_a_changed_row_calls_those_that_watch_its_site_at_their_turn",),
    ),
    Mutant(
        "sim/instants/loop.py",
        "        if instants.parts[part].ended == 0:\n            _call(instants, part)\n    return False\n",
        "        if instants.parts[part].ended == 0:\n            pass\n    return False\n",
        (f"{CONCERNS}::test_a_simulation_ends_with_its_work_although_an_endless_part_has_events",),
    ),
    Mutant(
        "sim/instants/state.py",
        "        left += new\n",
        "",
        ("tests/coupled/test_reads.py::test_what_a_read_part_reads_is_called_in_turn",),
    ),
    Mutant(
        "sim/cores.py",
        "if pieces.last_row[taker] != row and pieces.last_cores[taker] > 0:",
        "if pieces.last_row[taker] != row and pieces.last_cores[taker] > 1:",
        ("tests/coupled/test_guests.py::test_wide_hosts_lend_cores_of_several_nodes",),
    ),
    Mutant(
        "sim/nodes.py",
        "if other != part and nodes.most[site, other] >= 0:",
        "if other != part and nodes.most[site, other] > 9:",
        (f"{LIMITS}::test_a_promise_expects_a_part_to_take_what_it_may[easy]",),
    ),
    Mutant(
        "sim/nodes.py",
        "        claimed = min(cores, free_for(nodes, site, part))\n",
        "        claimed = cores\n",
        (f"{LIMITS}::test_a_part_takes_no_more_than_its_limit",),
    ),
    Mutant(
        "sim/nodes.py",
        "for row in range(end - 1, first - 1, -1):",
        "for row in range(first, end):",
        (f"{ON_SITES}::test_cores_of_several_sites_are_not_taken_at_once",),
    ),
    Mutant(
        "sim/queries/part.py",
        "if same_speeds and self._counts.quiet and not owes:",
        "if same_speeds and self._counts.quiet:",
        (f"{ON_SITES}::test_rows_are_given_up_although_the_capacity_is_the_same",),
    ),
    Mutant(
        "sim/queries/part.py",
        "self._call_planner(now if lacks else max(now, clock.planned + self._terms.patience))",
        "self._call_planner(max(now, clock.planned + self._terms.patience))",
        (f"{ON_SITES}::test_a_query_that_lacks_cores_does_not_wait_for_patience",),
    ),
    Mutant(
        "sim/queries/steps.py",
        "max(now, clock.planned + clock.patience) + clock.notice",
        "now + clock.notice",
        (f"{OF_STEPS}::test_queries_next_to_jobs_are_the_same_with_steps_in_python",),
    ),
    Mutant(
        "sim/queries/steps.py",
        "for place in range(counts.changed):",
        "for place in range(0):",
        (f"{OF_STEPS}::test_rows_changed_by_parts_that_settle_before_are_seen",),
    ),
    Mutant(
        "sim/queries/steps.py",
        "return REACHED if until <",
        "return IN_PYTHON if until <",
        (f"{OF_STEPS}::test_changes_that_concern_no_query_need_no_python",),
    ),
    Mutant(
        "sim/queries/cores.py",
        "np.where(most < 0, free, np.minimum(free, most))",
        "free",
        (f"{ON_SITES}::test_a_limit_bounds_cores_and_the_capacity_that_a_planner_sees",),
    ),
    Mutant(
        "sim/queries/cores.py",
        "owed = min(-nodes.idle[row], nodes.held[row, part])",
        "owed = min(-nodes.idle[row], 0)",
        ("tests/sim/test_query_cores.py::test_held_cores_equal_the_plain_version_row_by_row",),
    ),
    Mutant(
        "sim/queries/streams.py",
        "return seconds - crossing if growth > 0.0 else crossing",
        "return crossing",
        ("tests/sim/test_query_streams.py::test_many_streams_equal_the_plain_version_to_the_bit",),
    ),
    Mutant(
        "sim/instances/loads.py",
        "lacking > self._known or came > self._decided",
        "lacking > self._known",
        ("tests/coupled/test_demand.py::test_batch_jobs_of_one_core_are_served_as_vector_jobs_are",),
    ),
    Mutant(
        "sim/instances/lifecycle.py",
        "        counts.cuts += 1\n\n\n@inlined\ndef _too_many",
        "        counts.cuts += 1\n        break\n\n\n@inlined\ndef _too_many",
        ("tests/sim/test_looks.py::test_polls_are_the_same_when_coupled_with_a_passive_part[nasty]",),
    ),
    Mutant(
        "sim/coupled.py",
        "if all(part.waits() for part in left)",
        "if any(part.waits() for part in left)",
        (TURNS,),
    ),
)
