"""Changes of policies that order jobs."""

from tests.mutants.mutant import Mutant

EASY = "order/site/policies/easy.py"
TIMELINE = "order/site/lib/timeline.py"
POOLS = "order/site/lib/pools.py"
OF_POOLS = ("tests/order/test_pools.py::test_starts_of_a_long_queue_with_pools_equal_the_definition",)
MULTIFACTOR = "order/site/priorities/multifactor.py"
ACCOUNTS = ("tests/order/test_multifactor_accounts.py",)
OF_LINE = ("tests/order/test_timeline.py::test_a_timeline_equals_a_list_of_steps",)
FLEET = "tests/fleet/test_orders.py"
OF_SITE = ("tests/order/test_agreement.py::test_starts_equal_the_definition",)
OF_HEAD = (
    "tests/order/test_promises.py",
    "tests/order/test_agreement.py::test_starts_of_a_long_queue_equal_the_definition",
)
OF_INDEX = ("tests/order/test_long_queue.py",)
OF_SWAG = (f"{FLEET}::test_swag_is_the_printed_algorithm", f"{FLEET}::test_the_worked_example")
OF_REORDERING = (f"{FLEET}::test_reordering_is_the_printed_algorithm_and_never_worsens_the_mean",)
OF_BEST = (
    f"{FLEET}::test_optimal_finds_the_best_order",
    f"{FLEET}::test_the_best_order_sometimes_beats_shortest_first",
)

MUTANTS = (
    Mutant(
        EASY,
        "row = queue[position]\n        ends_before = view.now + view.request[row] <= time",
        "row = queue[position]\n        ends_before = True",
        OF_HEAD,
    ),
    Mutant(EASY, "            extra -= procs[row]\n", "", OF_HEAD),
    Mutant(TIMELINE, " if time >= before or", " if time > before or", OF_LINE),
    Mutant(
        "order/site/queue_index.py",
        "while node <= last >> (FAN_BITS * level):",
        "while node < last >> (FAN_BITS * level):",
        OF_INDEX,
    ),
    Mutant("sim/site/long_queue.py", "changed |= bound > request", "changed = bound > request", OF_INDEX),
    Mutant(
        "order/site/lib/reservations.py",
        "np.nextafter(view.freed_until, np.inf)",
        "view.freed_until",
        OF_SITE,
    ),
    Mutant(
        "order/site/lib/in_order.py",
        "chosen[pick] = places[chosen[pick]]",
        "chosen[pick] = chosen[pick]",
        ("tests/order/test_queue.py::test_queue_sjf_equals_the_policy_sjf",),
    ),
    Mutant(
        "experiment/worlds/batch/estimates.py",
        "return min(request, sum(last) / 2) if known else request",
        "return sum(last) / 2 if known else request",
        ("tests/worlds/test_estimates.py::test_easy_by_history_equals_the_definition_on_a_long_queue",),
    ),
    Mutant(TIMELINE, "line.most[block] -= procs", "line.most[block] -= 0", OF_LINE),
    Mutant(
        "order/site/policies/sjf.py",
        "if procs[queue[best]] > free:",
        "if procs[queue[best]] >= free:",
        OF_SITE,
    ),
    Mutant(
        "order/site/policies/fcfs.py", "procs[queue[count]] <= free", "procs[queue[count]] < free", OF_SITE
    ),
    Mutant(
        "order/fleet/policies/swag.py", "if options[_BACKLOG] != 0.0", "if options[_BACKLOG] == 0.0", OF_SWAG
    ),
    Mutant(
        "order/fleet/policies/reordering.py",
        "queue[site] -= subjobs[job, site]",
        "queue[site] -= 0",
        OF_REORDERING,
    ),
    Mutant(
        "order/fleet/policies/global_srpt.py",
        "found[job] += subjobs[job, site]",
        "found[job] = subjobs[job, site]",
        OF_SWAG,
    ),
    Mutant(
        "order/fleet/policies/optimal.py",
        "if finish <= least[members]:",
        "if finish >= least[members]:",
        OF_BEST,
    ),
    Mutant(
        "order/fleet/lib/finish.py",
        "out[job] = max(out[job], queue / slots[site])",
        "out[job] = queue / slots[site]",
        OF_BEST,
    ),
    Mutant(POOLS, "row) <= free[resource]", "row) < free[resource]", OF_POOLS),
    Mutant(
        EASY,
        "            add(view, extra, row, -1)\n",
        "",
        ("tests/order/test_pools.py::test_starts_with_pools_equal_the_definition",),
    ),
    Mutant(
        "order/site/lib/pool_profile.py",
        "free[resource, size - 1] += requested(view, resource, row)",
        "free[resource, size - 1] += view.procs[row]",
        OF_POOLS,
    ),
    Mutant(
        "sim/site/moves.py", "site.pools[pool] += site.needs", "site.pools[pool] += 0 * site.needs", OF_POOLS
    ),
    Mutant(MULTIFACTOR, "other_use > account_use or level", "other_use >= account_use", ACCOUNTS),
    Mutant(
        MULTIFACTOR,
        "(account_use / total_use - part) / account_users",
        "(account_use / total_use - part)",
        ACCOUNTS,
    ),
    Mutant(MULTIFACTOR, "found += given[_QOS]", "found -= given[_QOS]", ACCOUNTS),
)
