"""Changes of what is said of merging up a tree, of admission in the simulator, and of who is ahead."""

from tests.mutants.mutant import Mutant

MERGING, SIMULATED = "windlass_reproductions/pronto/merging.py", "windlass_reproductions/pronto/simulated.py"
VERDICT, JUDGING = "admit/evaluation/verdict.py", "admit/evaluation/judging.py"
VARIANTS, COMPARED = "admit/evaluation/variants.py", "cli/admit/compared.py"


def of(file: str, *tests: str) -> tuple[str, ...]:
    """Tests of a file of tests, by what comes after ``test_``."""
    return tuple(f"tests/{file}.py::test_{test}" for test in tests)


ORDER = of("reproductions/test_pronto_merging", "a_quarter_of_the_nodes_falls_silent_halfway")
SEES = of("reproductions/test_pronto_merging", "a_node_s_data_vary_in_the_directions_it_sees")
VARY = of("reproductions/test_pronto_merging", "data_have_the_reported_share_of_noise")
WORST = of("reproductions/test_pronto_merging", "errors_are_the_largest_of_directions_and_singular_values")
EXACT = of("reproductions/test_pronto_merging", "without_noise_the_tree_matches_the_svd")
ROWS = of("reproductions/test_pronto_merging", "rows_report_mean_and_largest_distance_and_the_noise")
TRUE_RATES = of("reproductions/test_pronto_merging", "settings_are_the_documented_ones")
NAMED = of("reproductions/test_pronto_merging", "invalid_settings_are_refused")
LITTLE = of("reproductions/test_pronto_rows", "merging_must_stay_within_its_limit")
LINE = of("reproductions/test_pronto_simulated", "values_between_two_rungs_are_interpolated_per_seed")
SAME = of("reproductions/test_pronto_simulated", "differences_are_paired_by_seed")
TABLE = of(
    "reproductions/test_pronto_simulated",
    "a_table_compares_each_policy_with_none_and_an_equal_threshold",
)
STAYS = of("reproductions/test_pronto_simulated", "a_fixed_threshold_is_not_a_rung")
ONCE = of("reproductions/test_pronto_simulated", "each_rung_is_added_once")
ASKED = of("reproductions/test_pronto_simulated", "arguments_override_the_scenario")
LOWER = of("reproductions/test_pronto_simulated", "an_interval_has_its_lower_end_first")
LADDER = of("reproductions/test_pronto_simulated", "the_ladder_is_the_documented_one")
FIGURES = of("reproductions/test_pronto_simulated", "contenders_have_the_metrics_of_the_runs")
PRINTED = of("reproductions/test_pronto_simulated", "tables_are_printed_after_each_seed")
COMMAND = of("reproductions/test_pronto_simulated", "the_command_applies_its_options")
NONE = of("reproductions/test_pronto_simulated", "a_table_without_the_always_policy_is_refused")
BOTH = of("admit/test_verdict", "verdicts_change_at_their_bounds")
WAYS = of("admit/test_evaluation", "each_verdict_is_printed_with_the_rule")
FORMS = of(
    "admit/test_evaluation", "forewarn_is_compared_with_the_best_pronto_and_pronto_with_the_best_baseline"
)
APART = of("admit/test_evaluation", "nodes_judged_separately_and_together_have_the_same_signals")
KNOWN = of("admit/test_evaluation", "the_warm_up_that_two_recordings_share_counts_once")

MUTANTS = (
    Mutant(MERGING, "noise = _DIM * self.noise**2", "noise = self.noise**2", TRUE_RATES),
    Mutant(MERGING, "(0.49 ** np.arange(_RANK))", "(0.7 ** np.arange(_RANK))", TRUE_RATES),
    Mutant(
        MERGING, "product((0.02, 0.05, 0.1), (1.0, 0.9)", "product((0.02, 0.05, 0.1), (1.0, 1.0)", TRUE_RATES
    ),
    Mutant(MERGING, "LIMIT = 0.05", "LIMIT = 0.5", LITTLE),
    Mutant(MERGING, "exactly(max(distances))", "exactly(min(distances))", LITTLE),
    Mutant(MERGING, 'whole("blocks", setting.blocks, 2)', 'whole("blocks", setting.blocks, 1)', NAMED),
    Mutant(MERGING, "1 <= setting.sees <= _RANK", "1 <= setting.sees <= 2 * _RANK", NAMED),
    Mutant(MERGING, "* 0.7 ** np.arange(_RANK)", "* 0.5 ** np.arange(_RANK)", SEES),
    Mutant(MERGING, "rng.permutation(_RANK)[: setting.sees]", "np.arange(_RANK)[: setting.sees]", SEES),
    Mutant(MERGING, "rng.permutation(_RANK)[: setting.sees]", "rng.permutation(_RANK)", SEES),
    Mutant(MERGING, "data += setting.noise *", "data += 2.0 * setting.noise *", VARY),
    Mutant(MERGING, "silent = setting.nodes // 4", "silent = setting.nodes // 2", ORDER),
    Mutant(MERGING, "[setting.blocks // 2 if node < silent", "[setting.blocks // 2 if node > silent", ORDER),
    Mutant(MERGING, "if end == now)", "if end <= now)", ORDER),
    Mutant(MERGING, "if now < setting.blocks:", "if now <= setting.blocks:", ORDER),
    Mutant(MERGING, "_DIM, _RANK, _BLOCK, setting.forget)", "_DIM, _RANK, _BLOCK)", EXACT),
    Mutant(MERGING, "setting.fan_out, _DIM, _RANK, setting.forget)", "setting.fan_out, _DIM, _RANK)", EXACT),
    Mutant(MERGING, "ages = setting.blocks - 1 -", "ages = blocks - 1 -", EXACT),
    Mutant(MERGING, "data * np.repeat(setting.forget**ages, _BLOCK)", "data", EXACT),
    Mutant(MERGING, "- 1.0).max()", "- 1.0).min()", WORST),
    Mutant(MERGING, "distance(top.basis, left[:, :_RANK])", "distance(top.basis, top.basis)", WORST),
    Mutant(MERGING, "max(each.singular for each", "min(each.singular for each", ROWS),
    Mutant(MERGING, "replace(setting, nodes=nodes)", "setting", ROWS),
    Mutant(MERGING, "np.random.default_rng([seed, 7])", "np.random.default_rng([seeds[0], 7])", ROWS),
    Mutant(MERGING, "{np.mean(distances):.4f}", "{max(distances):.4f}", ROWS),
    Mutant(SIMULATED, "(0.02, 0.035, 0.05, 0.065, 0.08)", "(0.02, 0.05, 0.08)", LADDER),
    Mutant(SIMULATED, "for downtime in LADDER]", "for downtime in LADDER[1:]]", ONCE),
    Mutant(SIMULATED, "[each for each in rungs if each not in listed]", "rungs", ONCE),
    Mutant(SIMULATED, '"seeds": [seed],', '"seeds": tree.get("seeds", [seed]),', ONCE),
    Mutant(SIMULATED, "if tasks is not None:", "if tasks is None:", ASKED),
    Mutant(SIMULATED, '{**tree.get("workload", {}), "tasks": tasks}', '{"tasks": tasks}', ASKED),
    Mutant(SIMULATED, "if sizes is not None:", "if sizes is None:", ASKED),
    Mutant(SIMULATED, '(chosen["dispatch"].label, own[0].point)', "(own[0].point,)", FIGURES),
    Mutant(SIMULATED, "each.p99_response_s for", "each.mean_response_s for", FIGURES),
    Mutant(SIMULATED, "each.rejected_tasks / each.tasks", "each.rejected_tasks / 1e4", FIGURES),
    Mutant(SIMULATED, ", right=np.nan)", ")", LINE),
    Mutant(SIMULATED, "(float(each.rejected[seed]),", "(float(each.rejected.mean()),", LINE),
    Mutant(SIMULATED, "float(each.p99[seed]))", "float(each.p99.mean()))", LINE),
    Mutant(SIMULATED, "100.0 * (ours / reference - 1.0)", "100.0 * (1.0 - reference / ours)", SAME),
    Mutant(SIMULATED, "100.0 * (ours / reference - 1.0)", "100.0 * (ours / reference.mean() - 1.0)", SAME),
    Mutant(SIMULATED, "if each.policy == NONE", "if each.policy != NONE", TABLE),
    Mutant(SIMULATED, "if none is None:", "if none is not None:", NONE),
    Mutant(SIMULATED, "rungs = [none, *(", "rungs = [*(", TABLE),
    Mutant(
        SIMULATED, 'each.policy == THRESHOLD and "downtime=" in each.label', "each.policy == THRESHOLD", STAYS
    ),
    Mutant(SIMULATED, "{each.p99.mean():.2f}", "{each.p99.max():.2f}", TABLE),
    Mutant(SIMULATED, "{100 * each.rejected.mean():.1f}", "{each.rejected.mean():.1f}", TABLE),
    Mutant(SIMULATED, '"" if each is none else', '"" if False else', TABLE),
    Mutant(SIMULATED, '"" if each in rungs else', '"" if each is none else', TABLE),
    Mutant(SIMULATED, "at_share(each.rejected, rungs)", "at_share(none.rejected, rungs)", TABLE),
    Mutant(SIMULATED, "if np.isnan(found.mean):", "if False:", TABLE),
    Mutant(
        SIMULATED, "({found.low:+.1f} to {found.high:+.1f})", "({found.high:+.1f} to {found.low:+.1f})", LOWER
    ),
    Mutant(SIMULATED, 'if whole.world.name != "admission":', "if False:", PRINTED),
    Mutant(SIMULATED, "for seed in whole.seeds:", "for seed in whole.seeds[:1]:", PRINTED),
    Mutant(SIMULATED, "seed, options.tasks, options.sizes)", "seed, None, options.sizes)", COMMAND),
    Mutant(SIMULATED, "seed, options.tasks, options.sizes)", "seed, options.tasks)", COMMAND),
    Mutant(VERDICT, "if onsets < FEWEST:", "if onsets <= FEWEST:", BOTH),
    Mutant(VERDICT, "if low > 0.0:", "if low >= 0.0:", BOTH),
    Mutant(VERDICT, "False if high < TOLERANCE else None", "False if high < 0.0 else None", BOTH),
    Mutant(VERDICT, "False if high < TOLERANCE else None", "False", BOTH),
    Mutant(VERDICT, "TOLERANCE = 0.05", "TOLERANCE = 0.5", WAYS),
    Mutant(JUDGING, "difference(judged.hits, best.hits,", "difference(best.hits, judged.hits,", WAYS),
    Mutant(JUDGING, "if each.candidate.downtime == downtime]", "]", FORMS),
    Mutant(JUDGING, "return max(own, key=", "return min(own, key=", FORMS),
    Mutant(
        JUDGING,
        "return _compared(judged, _of(found, CandidateRole.PRONTO))",
        "return against_best(judged, found)",
        FORMS,
    ),
    Mutant(
        JUDGING,
        "(([node], [up]) for node, up in zip(nodes, ups, strict=True))",
        "(([node], [up]) for node, up in zip(nodes, ups[::-1], strict=False))",
        APART,
    ),
    Mutant(VARIANTS, "if not any(_same(part, other) for other in kept):", "if True:", KNOWN),
    Mutant(VARIANTS, "np.array_equal(one.ready, other.ready, equal_nan=True)", "True", KNOWN),
    Mutant(COMPARED, '"the best Pronto", against_pronto(', '"the best Pronto", against_best(', FORMS),
    Mutant(COMPARED, "if judged.candidate.role is not CandidateRole.PRONTO:", "if True:", FORMS),
)
