"""Changes of how results are judged: gains and verdicts turned round, tolerances dropped."""

from tests.mutants.mutant import Mutant

OURS = ("tests/papers/test_verdicts.py",)
ASAX, PRONTO, SCALE = "papers/asax/verdicts.py", "papers/pronto/verdicts.py", "papers/autoscaler/verdicts.py"
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
    Mutant(ASAX, "difference.mean + difference.half < 0.0", "difference.mean - difference.half < 0.0", OURS),
    Mutant(ASAX, "ours.mean() <= times * theirs.mean()", "ours.mean() >= times * theirs.mean()", OURS),
    Mutant(ASAX, "ours.mean() >= times * theirs.mean()", "ours.mean() >= theirs.mean()", OURS),
    Mutant(
        PRONTO, "return bool(change.mean() + half < 0.0)", "return bool(change.mean() - half < 0.0)", OURS
    ),
    Mutant(PRONTO, "return bool(change.mean() < 0.0)", "return bool(change.mean() > 0.0)", OURS),
    Mutant(
        PRONTO, "sure.over_shifted[0] > 0.0 and sure.over_chance[0] > 0.0", "sure.over_shifted[0] > 0.0", OURS
    ),
    Mutant(SCALE, "errors[name] * (1.0 - lead) <= error", "errors[name] * (1.0 - lead) >= error", OURS),
    Mutant(SCALE, "theirs / factor <= ours <= theirs * factor", "ours <= theirs * factor", OURS),
)
