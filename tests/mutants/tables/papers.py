"""Changes of how results are judged: gains and verdicts turned round, tolerances dropped."""

from tests.mutants.mutant import Mutant

OURS = ("tests/papers/test_verdicts_turn.py",)
SEEDS, PRONTO, SCALE = "papers/verdicts.py", "papers/pronto/verdicts.py", "papers/autoscaler/verdicts.py"
ROWS, RUNS, LAWS = "papers/tetrium/rows.py", "papers/tetrium/runs.py", "papers/swag/laws.py"
LIVE, BOUNDS = "papers/sim_vs_live/verdicts.py", "papers/swag/bounds.py"

MUTANTS = (
    Mutant(ROWS, "found.mean >= paper - CLOSE", "found.mean <= paper - CLOSE", OURS),
    Mutant(ROWS, "found.mean >= paper - CLOSE", "found.mean >= -CLOSE", OURS),
    Mutant(RUNS, "100.0 * (1.0 - ours / theirs)", "100.0 * (ours / theirs - 1.0)", OURS),
    Mutant(RUNS, "100.0 * (1.0 - ours / theirs)", "100.0 * (1.0 - theirs / ours)", OURS),
    Mutant(LAWS, "        gain >= wanted,\n", "        gain <= wanted,\n", OURS),
    Mutant(BOUNDS, "return 1.0 - self.least / self.srpt", "return self.least / self.srpt", OURS),
    Mutant(BOUNDS, "return self.swag / self.least - 1.0", "return self.least / self.swag - 1.0", OURS),
    Mutant(BOUNDS, "min(one, other), least)", "max(one, other), least)", OURS),
    Mutant("papers/rosella/examples.py", "late > 1.5 * early and", "late < 1.5 * early and", OURS),
    Mutant("papers/rosella/examples.py", "ours == said,", "ours != said,", OURS),
    Mutant(LIVE, "return self.same == self.jobs", "return self.same > 0", OURS),
    Mutant(LIVE, "<= within * abs(real)", ">= within * abs(real)", OURS),
    Mutant(SEEDS, "if found.high < 0.0:", "if found.low < 0.0:", OURS),
    Mutant(SEEDS, "return False if found.low >= 0.0 else None", "return False", OURS),
    Mutant(SEEDS, "if found.high <= 0.0:", "if found.high >= 0.0:", OURS),
    Mutant(SEEDS, "return is_at_most(-ours, -theirs, times)", "return is_at_most(ours, theirs, times)", OURS),
    Mutant(PRONTO, "lower(ours[known] / theirs[known],", "lower(theirs[known] / ours[known],", OURS),
    Mutant(PRONTO, "return lower(ours**2, theirs**2)", "return lower(theirs**2, ours**2)", OURS),
    Mutant(
        PRONTO, "sure.over_shifted[0] > 0.0 and sure.over_chance[0] > 0.0", "sure.over_shifted[0] > 0.0", OURS
    ),
    Mutant(SCALE, "errors[name] * (1.0 - lead) <= error", "errors[name] * (1.0 - lead) >= error", OURS),
    Mutant(SCALE, "theirs / factor <= ours <= theirs * factor", "ours <= theirs * factor", OURS),
)
