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
        ("tests/fleet/test_orders.py::test_the_backlog_of_other_sites_counts_unless_own_sites_is_set",),
    ),
    Mutant(
        "order/site/compiled.py",
        "max(0, max(least, 1) - len(used))",
        "max(0, max(least, 0) - len(used))",
        ("tests/order/test_compiled_parts.py::test_each_user_of_a_view_has_one_entry_of_use",),
    ),
    Mutant(
        "order/site/policies/easy.py",
        "need = procs[view.queue[head]] + view.owed",
        "need = procs[view.queue[head]] - view.owed",
        ("tests/order/test_easy_views.py",),
    ),
    Mutant(
        "place/policies/delay_scheduling.py",
        "wanted_in_place(sites, ready, False, False, want)",
        "wanted_in_place(sites, ready, True, False, want)",
        ("tests/place/test_delay.py::test_before_the_wait_ends_tasks_start_as_in_place",),
    ),
    Mutant(
        "place/view.py",
        "ints(job, np.arange(rows))",
        "ints(None, np.arange(rows))",
        ("tests/place/test_view.py::test_given_columns_of_a_stage_are_kept",),
    ),
)
