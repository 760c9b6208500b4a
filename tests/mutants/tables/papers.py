"""Changes of how results are judged: gains and verdicts turned round, tolerances dropped."""

from tests.mutants.mutant import Mutant

OURS = ("tests/papers/test_verdicts_turn.py",)
SEEDS, PRONTO, SCALE = "papers/verdicts.py", "papers/pronto/verdicts.py", "papers/autoscaler/verdicts.py"
RUNS, LAWS = "papers/tetrium/runs.py", "papers/swag/laws.py"
TETRIUM, CLASSES = "papers/tetrium/verdicts.py", "papers/tetrium/classes.py"
OF_TETRIUM = ("tests/papers/test_tetrium_verdicts.py",)
LIVE, BOUNDS = "papers/sim_vs_live/verdicts.py", "papers/swag/bounds.py"
SET, JUDGED = "papers/swag/settings.py", "papers/judged.py"
EXAMPLES, GROWTH = "papers/rosella/examples.py", "papers/rosella/growth.py"
LEARNING, TABLE = "papers/rosella/learning.py", "papers/rosella/table.py"
ROSELLA, GRID = ("tests/papers/test_rosella_rows.py",), ("tests/papers/test_rosella_grid.py",)
POINTS = ("tests/papers/test_judged.py",)
SWAG = ("tests/papers/test_swag_rows.py",)

MUTANTS = (
    Mutant(
        TETRIUM,
        "found.mean - found.half_width >= paper - rounded",
        "found.mean - found.half_width <= paper - rounded",
        OURS,
    ),
    Mutant(
        TETRIUM,
        "found.mean - found.half_width >= paper - rounded",
        "found.mean >= paper - rounded",
        OF_TETRIUM,
    ),
    Mutant(TETRIUM, "False if found.mean + found.half_width < paper - rounded else None", "False", OURS),
    Mutant(TETRIUM, "return is_lower(first, last)", "return is_lower(last, first)", OF_TETRIUM),
    Mutant(TETRIUM, "interval(last - first)", "interval(first - last)", OF_TETRIUM),
    Mutant(TETRIUM, "if len(set(verdicts)) == 1 else None", "if True else None", OF_TETRIUM),
    Mutant(TETRIUM, "<= digit / 2 * (1.0 + 1e-9)", "<= digit", OF_TETRIUM),
    Mutant(CLASSES, "if both.sum() > 1 else None", "if both.sum() > 0 else True", OF_TETRIUM),
    Mutant(
        "papers/tetrium/ours.py",
        "return max(float(chain.mean()),",
        "return min(float(chain.mean()),",
        OF_TETRIUM,
    ),
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
    Mutant(JUDGED, "if self.unanimous and True in verdicts:", "if self.unanimous and False:", POINTS),
    Mutant(JUDGED, "if self.unanimous and None in verdicts:", "if self.unanimous and False:", POINTS),
    Mutant(JUDGED, "math.copysign(far, limit - mean)", "math.copysign(far, mean - limit)", POINTS),
    Mutant(
        JUDGED, "self.low <= least and most <= self.high,", "self.low <= most and least <= self.high,", POINTS
    ),
    Mutant(JUDGED, "told = told[~np.isnan(told)]", "told = np.nan_to_num(told)", SWAG),
    Mutant(
        BOUNDS,
        "float(1.0 - self.least.mean() / self.srpt.mean())",
        "float(self.least.mean() / self.srpt.mean())",
        OURS,
    ),
    Mutant(BOUNDS, "return self.swag / self.least - 1.0", "return self.least / self.swag - 1.0", OURS),
    Mutant(BOUNDS, "min(one, other, key=np.mean), least)", "max(one, other, key=np.mean), least)", OURS),
    Mutant(EXAMPLES, "half = len(done.waiting) // 2", "half = 0", ROSELLA),
    Mutant(EXAMPLES, "slow.mean() ** choices", "slow.mean() * choices", ROSELLA),
    Mutant(EXAMPLES, "        slowest / 2,\n", "        slowest,\n", ROSELLA),
    Mutant(EXAMPLES, "        reckoned / 2,\n", "        0.0,\n", ROSELLA),
    Mutant(
        EXAMPLES,
        "judged = is_stable(growths, two) if reckoned is None",
        "judged = is_stable(growths, two) if True",
        ROSELLA,
    ),
    Mutant(EXAMPLES, "printed(over(ll.there), 1.0, 1.0)", "printed(over(ll.there), 1.0, 2.0)", ROSELLA),
    Mutant(EXAMPLES, "over(sq.there - ll.there)", "over(ll.there - sq.there)", ROSELLA),
    Mutant(
        EXAMPLES,
        "printed(over(late), round(exact, 1), 0.1,",
        "printed(over(late), round(exact, 1), 2.0,",
        ROSELLA,
    ),
    Mutant(GROWTH, "over(longest[:, -1] - longest[:, 0])", "over(longest[:, 0] - longest[:, -1])", ROSELLA),
    Mutant(GROWTH, "float(allowed) + _SLACK,", "2.0 * float(allowed) + _SLACK,", ROSELLA),
    Mutant(GROWTH, "over(slopes[0] - slopes[1])", "over(slopes[1] - slopes[0])", ROSELLA),
    Mutant(LEARNING, "over(rosella - halo)", "over(halo - rosella)", ROSELLA),
    Mutant(LEARNING, "over(found[0.1] - found[0.0])", "over(found[0.1] - 1.05 * found[0.0])", ROSELLA),
    Mutant(LEARNING, "[2] - fit(sizes.astype(np.float64), own)[2]", "[2] - 0.0", ROSELLA),
    Mutant(
        LEARNING, "over(np.polyfit(loads, found.T, 1)[0])", "over(-np.polyfit(loads, found.T, 1)[0])", ROSELLA
    ),
    Mutant(
        TABLE, "return 1.0 - self.rosella / self.sparrow", "return 1.0 - self.sparrow / self.rosella", ROSELLA
    ),
    Mutant(TABLE, "low=_BELOW_SPARROW - _PERCENT / 2", "low=0.0", ROSELLA),
    Mutant(TABLE, "        unanimous=True,\n", "", ROSELLA),
    Mutant(TABLE, "if each.says_something)", "if each.rosella.any())", ROSELLA),
    Mutant(TABLE, "best = min((_of(cells, learner, load)", "best = max((_of(cells, learner, load)", ROSELLA),
    Mutant(
        TABLE,
        "over(ours.values - _BEHIND * best.values)",
        "over(best.values - _BEHIND * ours.values)",
        ROSELLA,
    ),
    Mutant(
        "papers/rosella/grid.py",
        "over(self.ours - CLOSE * self.best)",
        "over(self.ours - 2.0 * self.best)",
        GRID,
    ),
    Mutant("papers/rosella/grid.py", "np.ptp(each.place.speeds.speeds) > 0.0", "each.ours.any()", GRID),
    Mutant(
        "papers/rosella/grid.py",
        "rivals[ROSELLA.label], rivals[SPARROW.label]",
        "rivals[SPARROW.label], rivals[ROSELLA.label]",
        GRID,
    ),
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
