"""Changes of policies that show in views built by hand, or as plain Python alone."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "order/fleet/lib/greedy.py",
        "ends = np.empty(sites + 1)",
        "ends = np.empty(sites - 1)",
        ("tests/fleet/test_within_arrays.py",),
    ),
    Mutant(
        "order/fleet/policies/swag.py",
        "self._options = (float(bool(own_sites)),",
        "self._options = (0.0,",
        ("tests/fleet/test_orders.py::test_what_is_queued_elsewhere_counts_unless_own_sites_alone_do",),
    ),
    Mutant(
        "order/site/compiled.py",
        "max(0, max(least, 1) - len(used))",
        "max(0, max(least, 0) - len(used))",
        ("tests/order/test_compiled_parts.py::test_each_user_of_a_view_has_one_entry_of_use",),
    ),
    Mutant(
        "order/site/policies/easy.py",
        "need = procs[view.queue[started]] + view.owed",
        "need = procs[view.queue[started]] - view.owed",
        ("tests/order/test_easy_views.py",),
    ),
    Mutant(
        "place/policies/delay_scheduling.py",
        "wanted_in_place(sites, ready, False, False, want)",
        "wanted_in_place(sites, ready, True, False, want)",
        ("tests/place/test_delay.py::test_until_the_wait_is_over_tasks_start_where_in_place_has_them",),
    ),
    Mutant(
        "place/view.py",
        "ints(job, np.arange(rows))",
        "ints(None, np.arange(rows))",
        ("tests/place/test_view.py::test_what_is_given_of_a_stage_is_kept",),
    ),
)
