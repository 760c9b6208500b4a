"""Changes of how nodes decide by themselves, and of how that is judged."""

from tests.mutants.mutant import Mutant

FOREWARN, BUDGET, FEDERATION = "admit/policies/forewarn.py", "admit/lib/thresholds.py", "admit/federation.py"
JUDGING, NODE = ("admit/evaluation/judging.py", "admit/evaluation/node.py")
OURS = ("tests/admit/test_plain.py::test_a_forewarn_node_equals_a_plain_one",)
TAUGHT = ("tests/admit/test_plain.py::test_a_new_node_with_a_lesson_equals_a_plain_one",)
PRONTO = ("tests/admit/test_plain.py::test_a_pronto_node_equals_a_plain_one",)
MOVED = ("tests/admit/test_plain.py::test_a_moved_threshold_equals_a_plain_one_for_each_node",)
SHOWN = (
    "tests/admit/test_evaluation_plain.py::test_a_policy_receives_the_settings_of_its_node_and_every_step",
)
JUDGED = (
    "tests/admit/test_evaluation_plain.py::test_nodes_are_judged_one_after_the_other_without_their_warm_up",
)
CHOSEN = (
    "tests/admit/test_evaluation_plain.py::test_the_variant_with_the_highest_recall_above_chance_is_chosen",
)
NAMED = ("tests/admit/test_evaluation_plain.py::test_invalid_node_telemetry_is_named_in_the_error",)
TREES = ("tests/admit/test_trees_plain.py::test_a_tree_equals_plain_sums_of_matrices",)
STARTS = ("tests/admit/test_trees_plain.py::test_start_affects_one_node_and_refills_its_filter",)
SPIRIT = ("tests/admit/test_trackers_plain.py::test_spirit_starts_with_the_energy_of_the_shared_subspace",)
LESSONS = ("tests/admit/test_states.py::test_lessons_of_zero_steps_have_no_weight",)
GATED = ("tests/admit/test_between.py::test_each_gauge_between_spikes_equals_a_plain_one",)
RESTS = ("tests/admit/test_between.py::test_a_node_in_a_spike_gains_budget_and_its_threshold_stays",)
POWER = ("tests/admit/test_trackers_plain.py::test_the_power_method_multiplies_by_each_block",)
STEPS = (
    "tests/admit/test_trackers_plain.py::"
    "test_the_power_method_takes_a_step_once_it_has_as_many_vectors_as_metrics",
)
ALIKE = ("tests/admit/test_trackers_plain.py::test_trackers_forget_alike",)
LIMITS = ("tests/sim/test_admission.py::test_a_node_that_rejects_is_not_chosen_while_one_accepts",)
PLAIN_LIMITS = ("tests/sim/test_admission.py::test_admission_equals_the_plain_simulation",)
LOAD = ("tests/sim/test_telemetry.py::test_pressure_of_unequal_nodes_is_summed_over_all_tasks",)
OVERLOAD = ("tests/admit/test_overload.py",)
IN_LOOP = (
    "tests/coupled/test_telemetry_plain.py::test_a_policy_in_the_loop_decides_for_instances_as_outside_of_it",
)
RELENTS = ("tests/admit/test_relenting.py::test_it_is_ready_while_no_task_waits_too_long",)
UNBOUND = ("tests/coupled/test_unbound_tasks.py::test_tasks_without_a_node_are_counted",)
COMPILED = ("tests/coupled/test_telemetry_plain.py::test_compiled_telemetry_of_instances_equals_a_plain_one",)
UNIT = ("tests/admit/test_nodes.py::test_weights_of_sum_1_reach_a_threshold_of_1",)

MUTANTS = (
    Mutant(JUDGING, "np.arange(len(up)) * whole_time", "np.arange(len(up)) * blocks", JUDGED),
    Mutant(JUDGING, "within, blocks=whole_time)", "within, blocks=blocks)", JUDGED),
    Mutant(
        JUDGING,
        "AdmitContext(rng, node.metrics.shape[1], node.policy_level",
        "AdmitContext(rng, node.metrics.shape[1], node.level",
        SHOWN,
    ),
    Mutant(NODE, "self.ready[part], level, level,", "self.ready[part], self.level, level,", CHOSEN),
    Mutant(NODE, "if length != steps:", "if False:", NAMED),
    Mutant("admit/evaluation/variants.py", "found.recall - found.by_chance", "found.recall", CHOSEN),
    Mutant(FOREWARN, "_PRIOR_STEPS = 200", "_PRIOR_STEPS = 2000", TAUGHT),
    Mutant(FOREWARN, "strength=20.0", "strength=10.0", OURS),
    Mutant(FOREWARN, "- self.spiked > self.apart", "- self.spiked >= self.apart", OURS),
    Mutant(BUDGET, "state.downtime * (0.5 + state.left[node] / state.most)", "state.downtime", MOVED),
    Mutant(BUDGET, "_SLOW = 0.01", "_SLOW = 0.05", MOVED),
    Mutant(
        "admit/lib/stream.py",
        "self.memory,\n            self.clip,",
        "self.clip,\n            self.memory,",
        PRONTO,
    ),
    Mutant(
        "admit/lib/spikes.py", "alike & held & ~grown, first, 0)", "alike & held & ~grown, first, 1)", PRONTO
    ),
    Mutant("admit/lib/spirit.py", "float(self.held.sum())\n", "0.0\n", SPIRIT),
    Mutant(
        FEDERATION,
        "take(name, merged)\n                self.sent += merged.bytes",
        "take(name, merged)",
        TREES,
    ),
    Mutant(
        "admit/lib/threshold_policy.py",
        "max(now - rule.before[node], 0.0)",
        "now - rule.before[node]",
        GATED,
    ),
    Mutant("admit/lib/threshold_policy.py", "    rule.before[node] = now\n", "", GATED),
    Mutant("admit/lib/spike_gate.py", "if not np.isnan(ready):", "if True:", GATED),
    Mutant("admit/lib/threshold_policy.py", "            add_rest(rule.threshold, node)\n", "", GATED),
    Mutant("sim/telemetry/steps.py", "binding.limits[node] = NO_LIMIT", "pass", IN_LOOP),
    Mutant("sim/telemetry/binding.py", "counts.forced += 1 if", "counts.forced += 0 if", COMPILED),
    Mutant("sim/telemetry/cores.py", "measured and sums.capacity[node] > 0", "measured", COMPILED),
    Mutant("admit/fleet.py", "spikes.ready & ~resting", "spikes.ready", RESTS),
    Mutant("admit/fleet.py", "self.threshold.rest(spikes.total, spikes.ready & resting)", "pass", RESTS),
    Mutant("admit/lib/power.py", "self._sum *= (self._size / size) ** 2", "pass", POWER),
    Mutant("admit/lib/power.py", "dim if block is None", "1 if block is None", STEPS),
    Mutant("admit/lib/trackers.py", "** (2.0 / block)", "** (1.0 / block)", ALIKE),
    Mutant("admit/lib/directions.py", "        self._rows *= self.forget\n", "", ALIKE),
    Mutant(
        "sim/telemetry/gate.py", "lengths[first] < ints[limits + first]", "ints[limits + first] > 0", LIMITS
    ),
    Mutant("sim/telemetry/gate.py", "if lengths[worker] >= ints", "if lengths[worker] > ints", LIMITS),
    Mutant(
        "sim/telemetry/part.py",
        "np.where(answer.reject, 0, answer.limit)",
        "np.where(answer.reject, 0, answer.limit + 1)",
        PLAIN_LIMITS,
    ),
    Mutant("sim/telemetry/pressure.py", "elif began > begin:", "else:", LOAD),
    Mutant("sim/telemetry/pressure.py", "max(state.oldest[node], until - arrival)", "until - begin", LOAD),
    Mutant("admit/view.py", "max(self.wait, self.oldest)", "self.wait", OVERLOAD),
    Mutant("admit/policies/codel.py", "self.interval / math.sqrt(self.count)", "self.interval", OVERLOAD),
    Mutant("admit/policies/breakwater.py", "* excess, 0.5)", "* excess, 0.25)", OVERLOAD),
    Mutant("admit/policies/vegas.py", "self.completed > _PROBE", "self.completed >= _PROBE", OVERLOAD),
    Mutant("admit/policies/gradient.py", "self.long_term *= 0.95", "pass", OVERLOAD),
    Mutant(BUDGET, "state.level[node] - _ROUNDING * abs(state.level[node])", "state.level[node]", UNIT),
    Mutant("admit/fleet.py", "self.spikes.filled[node] = 0", "pass", STARTS),
    Mutant("admit/policies/relenting.py", "unbound.oldest >= self.patience", "unbound.oldest < 0", RELENTS),
    Mutant("sim/telemetry/part.py", " & np.isnan(state.start[tasks])", "", UNBOUND),
    Mutant(
        "admit/shared_model.py",
        "each.plain for each in lessons",
        "lessons[0].plain for each in lessons",
        LESSONS,
    ),
)
