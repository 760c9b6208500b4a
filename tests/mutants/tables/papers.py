"""Changes of how results are judged: gains and verdicts turned round, tolerances dropped."""

from tests.mutants.mutant import Mutant

OURS = ("tests/papers/test_verdicts_turn.py",)
SEEDS, PRONTO, SCALE = "papers/verdicts.py", "papers/pronto/verdicts.py", "papers/autoscaler/verdicts.py"
ROWS, RUNS, LAWS = "papers/tetrium/rows.py", "papers/tetrium/runs.py", "papers/swag/laws.py"
LIVE, BOUNDS = "papers/sim_vs_live/verdicts.py", "papers/swag/bounds.py"
SET, JUDGED = "papers/swag/settings.py", "papers/judged.py"
SWAG = ("tests/papers/test_swag_rows.py",)

MUTANTS = (
    Mutant(ROWS, "found.mean >= paper - CLOSE", "found.mean <= paper - CLOSE", OURS),
    Mutant(ROWS, "found.mean >= paper - CLOSE", "found.mean >= -CLOSE", OURS),
    Mutant(RUNS, "100.0 * (1.0 - ours / theirs)", "100.0 * (ours / theirs - 1.0)", OURS),
    Mutant(RUNS, "100.0 * (1.0 - ours / theirs)", "100.0 * (1.0 - theirs / ours)", OURS),
    Mutant(
        LAWS, 'off = high.off("SWAG", high.worse(SRPT))', 'off = high.off("SWAG", high.better(SRPT))', SWAG
    ),
    Mutant(LAWS, 'off = low.off("SWAG", low.better(SRPT))', 'off = low.off("SWAG", low.worse(SRPT))', SWAG),
    Mutant(LAWS, "most = max(offs.values(), key=np.mean)", "most = min(offs.values(), key=np.mean)", SWAG),
    Mutant(LAWS, "Within(over(worse), high=_SWAG + _PERCENT / 2)", "Within(over(worse), high=1.0)", SWAG),
    Mutant(LAWS, "(printed if name == base else at_most)(more", "at_most(more", SWAG),
    Mutant(LAWS, "slowdowns[:, 3] / slowdowns[:, 0] - 1.0", "slowdowns[:, 0] / slowdowns[:, 3] - 1.0", SWAG),
    Mutant("papers/swag/runs.py", "1.0 - self.responses(name) / self", "self.responses(name) / self", SWAG),
    Mutant(BOUNDS, "over(swag / reached - 1.0).low,", "over(swag / reached - 1.0).high,", SWAG),
    Mutant(BOUNDS, "over(swag / least - 1.0).high)", "over(swag / reached - 1.0).high)", SWAG),
    Mutant(BOUNDS, "(Within(found, high=_WITHIN + _PERCENT / 2),)", "(Within(found, high=0.05),)", SWAG),
    Mutant("papers/swag/exact.py", "Within(exactly(off), high=0.5)", "Within(exactly(off), high=1.5)", SWAG),
    Mutant(SET, 'over(high["SWAG"] - told) for', 'over(told - high["SWAG"]) for', SWAG),
    Mutant(SET, "for end in (first, last)", "for end in (first,)", SWAG),
    Mutant(SET, "for end in (first, last)", "for end in (last,)", SWAG),
    Mutant(SET, "Within(exactly(same), high=_ROUNDING)", "Within(exactly(same), high=0.005)", SWAG),
    Mutant(SET, "below([over(slopes)],", "below([over(-slopes)],", SWAG),
    Mutant(SET, "over(found[last] - found[first])", "over(found[first] - found[last])", SWAG),
    Mutant(JUDGED, "return True if inside else False if outside else None", "return inside", SWAG),
    Mutant(JUDGED, "most <= self.low or least >= self.high,", "most < self.low or least > self.high,", SWAG),
    Mutant(JUDGED, "low=value - digit / 2),), f", "low=value - 5 * digit),), f", SWAG),
    Mutant(JUDGED, "high=value + digit / 2),), f", "high=value + 5 * digit),), f", SWAG),
    Mutant(JUDGED, "value - digit / 2, value + digit / 2", "0.0, value + digit / 2", SWAG),
    Mutant(JUDGED, "told = told[~np.isnan(told)]", "told = np.nan_to_num(told)", SWAG),
    Mutant(
        BOUNDS,
        "float(1.0 - self.least.mean() / self.srpt.mean())",
        "float(self.least.mean() / self.srpt.mean())",
        OURS,
    ),
    Mutant(BOUNDS, "return self.swag / self.least - 1.0", "return self.least / self.swag - 1.0", OURS),
    Mutant(BOUNDS, "min(one, other, key=np.mean), least)", "max(one, other, key=np.mean), least)", OURS),
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
