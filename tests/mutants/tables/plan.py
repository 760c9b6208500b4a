"""Changes of planners of streaming queries, and of the part that they act in."""

from tests.mutants.mutant import Mutant

GREEDY = "plan/lib/greedy.py"
MERGE = "plan/lib/merge.py"
SEARCH = "plan/lib/search.py"
SHARING = "sim/queries/sharing.py"
OF_GREEDY = (
    "tests/plan/test_greedy.py::test_greedy_equals_the_plain_greedy_with_ties_and_exact_fits[True-False]",
)
OF_GAINS = (
    "tests/plan/test_greedy.py::"
    "test_of_a_query_s_switches_with_equal_efficiency_the_one_with_the_larger_gain_goes_first",
)
OF_RELEASING = (
    "tests/plan/test_greedy.py::"
    "test_a_switch_that_did_not_fit_is_tried_again_after_another_query_releases_its_resource",
)
OF_DOMINANCE = (
    "tests/plan/test_undominated.py::test_undominated_configurations_are_those_of_the_definition",
)
OF_FAIR = ("tests/plan/test_undominated.py::test_fair_shares_choose_the_same_as_among_all",)
OF_PIECES = ("tests/plan/test_merging.py::test_equal_pieces_count_once_at_their_highest_demand",)
OF_MERGING = ("tests/plan/test_merging.py::test_switches_with_peers_equal_those_of_the_plain_version",)
OF_REPAIRS = ("tests/plan/test_search.py::test_repairs_equal_those_of_the_plain_version",)
OF_IMPROVING = ("tests/plan/test_search.py::test_improving_equals_the_plain_version[20]",)
OF_SETTLING = ("tests/plan/test_search.py::test_changes_of_the_running_plan_equal_the_plain_version",)
OF_STORM = ("tests/plan/test_storm.py::test_plans_and_placements_equal_the_plain_version",)
OF_WAYS = ("tests/plan/test_configurations.py::test_every_path_up_the_tree_is_listed_with_its_demand",)
OF_PRICES = ("tests/plan/test_near_optimum.py::test_prices_equal_those_of_the_whole_program",)
OF_TIES = ("tests/plan/test_cascade_options.py::test_ties_are_of_equal_accuracy_and_cost",)
OF_HEIGHTS = (
    "tests/plan/test_cascade_options.py::"
    "test_heights_follow_the_path_if_the_first_component_always_runs_at_the_camera",
    "tests/plan/test_cascade_options.py::test_heights_of_one_component_follow_the_order_of_its_configurations",
)
OF_PROOFS = (
    "tests/plan/test_proof.py::test_nothing_is_proven_that_an_exhaustive_search_contradicts",
    "tests/plan/test_proof.py::test_the_solver_is_called_only_where_the_relaxation_does_not_suffice",
    "tests/plan/test_proof.py::test_the_relaxation_runs_as_many_queries_as_the_plan",
    "tests/plan/test_proof.py::test_of_two_bounds_the_lower_one_holds",
)
OF_SHARED = (
    "tests/plan/test_shared_program.py::test_the_optimum_with_merging_equals_an_exhaustive_search",
    "tests/plan/test_shared_program.py::test_the_largest_demand_of_equal_work_counts_for_each_resource",
)
OF_SHARING = ("tests/sim/test_query_sharing.py::test_rates_and_held_cores_equal_the_plain_version",)
OF_BITS = ("tests/sim/test_query_sharing.py::test_loads_and_speeds_equal_the_plain_version_to_the_bit",)
OF_COURSE = ("tests/sim/test_query_course.py::test_the_time_series_matches_the_running_queries",)

MUTANTS = (
    Mutant(
        MERGE,
        "once[piece] = np.maximum(once[piece], rates) if piece in once else rates",
        "once[piece] = rates",
        OF_PIECES,
    ),
    Mutant(
        MERGE,
        "for piece, rates in pairs if piece >= 0]",
        "for piece, rates in pairs if piece >= 1]",
        OF_PIECES,
    ),
    Mutant(
        MERGE,
        "np.where(needs > 0, needs / capacity, 0.0)",
        "np.where(needs > 1, needs / capacity, 0.0)",
        OF_MERGING,
    ),
    Mutant(
        "plan/lib/compact.py",
        "needs[kept[at], need] <= needs[row, need]",
        "needs[kept[at], need] < needs[row, need]",
        OF_DOMINANCE,
    ),
    Mutant("plan/lib/fair.py", "cost[row] >= cost[best]", "cost[row] > cost[best]", OF_FAIR),
    Mutant(GREEDY, "gained <= gain[i]", "gained >= gain[i]", OF_GAINS),
    Mutant(
        GREEDY, "demand[held, at] > demand[row, at]:", "demand[held, at] < demand[row, at]:", OF_RELEASING
    ),
    Mutant(GREEDY, "gain[j] > gain[i]", "gain[j] < gain[i]", OF_GREEDY),
    Mutant(SEARCH, "if merit < best:", "if merit <= best:", OF_REPAIRS),
    Mutant(SEARCH, "if loss >= least or", "if loss > least or", OF_IMPROVING),
    Mutant("plan/lib/keep.py", "relief / max(loss, 0.01)", "relief / max(loss, 0.02)", OF_SETTLING),
    Mutant(
        "plan/lib/shared_program.py",
        "shared.add(rows, count, -1.0)",
        "shared.add(rows, count, -2.0)",
        OF_SHARED,
    ),
    Mutant("plan/lib/shared_program.py", "if len(piece.needs) == 1:", "if True:", OF_SHARED),
    Mutant("plan/lib/shared_program.py", "(shares == first).all()", "(shares <= first).all()", OF_SHARED),
    Mutant("plan/lib/shared_program.py", "if any(shares[at] > 0.0", "if all(shares[at] > 0.0", OF_SHARED),
    Mutant(GREEDY, "ties, -problem.accuracy[kept]", "-problem.accuracy[kept]", OF_TIES),
    Mutant(GREEDY, "else -height[kept]", "else height[kept]", OF_TIES),
    Mutant("plan/lib/places.py", "(len(below[cluster]), first", "(0, first", OF_HEIGHTS),
    Mutant("plan/lib/places.py", "first.get(cluster, -1))", "0)", OF_HEIGHTS),
    Mutant("plan/configurations.py", "above = before <= hop", "above = before < hop", OF_WAYS),
    Mutant("plan/proof.py", "if theirs > count:", "if theirs >= count:", OF_PROOFS),
    Mutant("plan/proof.py", "[-float(least)]", "[float(least)]", OF_PROOFS),
    Mutant("plan/proof.py", "total >= enough * bound", "total >= bound", OF_PROOFS),
    Mutant("plan/lib/storm.py", "if more <= left:", "if more < left:", OF_STORM),
    Mutant(
        "plan/configurations.py",
        "longest = max(len(plan.components)",
        "longest = min(len(plan.components)",
        OF_WAYS,
    ),
    Mutant("plan/lib/prices.py", "\nABSENT = -4.0", "\nABSENT = -8.0", OF_PRICES),
    Mutant(SHARING, "np.array(own[::-1])", "np.array(own)", OF_BITS),
    Mutant(SHARING, "capacity - load.usage(base)", "capacity - demand", OF_SHARING),
    Mutant(SHARING, "demand + load.usage(extra), capacity)", "demand, capacity)", OF_SHARING),
    Mutant(
        "sim/queries/part.py",
        "self._load.usage(streams.rate)[_UP::step]",
        "self._load.usage(speeds.base)[_UP::step]",
        OF_COURSE,
    ),
)
