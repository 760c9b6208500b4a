"""Changes of what says what a run did or would do."""

from tests.mutants.mutant import Mutant

HEAD = "order/site/reservation.py"
EXPLAINED = "experiment/worlds/batch/explainer.py"
OF_EXPLAINED = ("tests/worlds/test_waited.py",)
OF_CHECK = ("tests/cli/test_check.py",)
OF_VALIDATE = ("tests/cli/test_validate.py",)
OF_PARAMETERS = ("tests/cli/test_parameters.py",)
OF_SLURM = ("tests/cli/test_slurm.py",)

MUTANTS = (
    Mutant(EXPLAINED, "place_of[number] < place", "place_of[number] <= place", OF_EXPLAINED),
    Mutant(EXPLAINED, "left=int(then.free)", "left=int(view.free)", OF_EXPLAINED),
    Mutant(EXPLAINED, "self._before - running", "running - self._before", OF_EXPLAINED),
    Mutant(HEAD, "found[view.waiting.job == first.job] = first.at", "found[:] = first.at", OF_EXPLAINED),
    Mutant("order/site/policies/queue.py", "found[order] = promises(", "found[:] = promises(", OF_EXPLAINED),
    Mutant(
        "order/site/view.py",
        "np.ascontiguousarray(given, dtype=np.int64)[order]",
        "np.ascontiguousarray(given, dtype=np.int64)",
        ("tests/order/test_users.py",),
    ),
    Mutant(
        "experiment/checks/validation.py", "if not is_file or _is_about(cls, registry):", "if True:", OF_CHECK
    ),
    Mutant(
        "experiment/checks/validation.py", "found = lines[-1] if lines else None", "found = None", OF_CHECK
    ),
    Mutant(
        "experiment/inspection.py",
        "(world.workload_key(variant.setting, seed), other)",
        "world.workload_key(variant.setting, seed)",
        OF_VALIDATE,
    ),
    Mutant(
        "experiment/scenario/files.py",
        "for pair in tree.items() for each in pair for file",
        "for each in tree.values() for file",
        OF_VALIDATE,
    ),
    Mutant("cli/policy_notation.py", 'if letter == "," and depth == 0:', 'if letter == ",":', OF_PARAMETERS),
    Mutant(
        "cli/slurm_policies.py",
        ".make(name, np.random.default_rng(1), **parameters)",
        ".make(name, np.random.default_rng(1))",
        OF_SLURM,
    ),
    Mutant(
        "cli/policy_notation.py", "if equals and _DECISION.fullmatch(head) else", "if equals else", OF_SLURM
    ),
    Mutant(
        "experiment/scenario/files.py",
        "else key: resolve_policies(value, folder)",
        "else key: value",
        OF_PARAMETERS,
    ),
)
