"""Changes of how results are judged: gains and verdicts turned round, tolerances dropped."""

from tests.mutants.mutant import Mutant

OURS = ("tests/reproductions/test_verdicts_turn.py",)
SEEDS, PRONTO, SCALE = (
    "windlass_reproductions/verdicts.py",
    "windlass_reproductions/pronto/verdicts.py",
    "windlass_reproductions/autoscaler/verdicts.py",
)
STATISTICS = "model/statistics.py"
RUNS, LAWS = "windlass_reproductions/tetrium/runs.py", "windlass_reproductions/swag/laws.py"
TETRIUM, CLASSES = "windlass_reproductions/tetrium/verdicts.py", "windlass_reproductions/tetrium/classes.py"
OF_TETRIUM = ("tests/reproductions/test_tetrium_verdicts.py",)
LIVE, BOUNDS = "windlass_reproductions/sim_vs_live/verdicts.py", "windlass_reproductions/swag/bounds.py"
SET, JUDGED = "windlass_reproductions/swag/settings.py", "windlass_reproductions/criteria.py"
EXAMPLES, GROWTH = "windlass_reproductions/rosella/examples.py", "windlass_reproductions/rosella/growth.py"
LEARNING, TABLE = "windlass_reproductions/rosella/learning.py", "windlass_reproductions/rosella/table.py"
ROSELLA, GRID = ("tests/reproductions/test_rosella_rows.py",), ("tests/reproductions/test_rosella_grid.py",)
POINTS = ("tests/reproductions/test_judged.py",)
SWAG = ("tests/reproductions/test_swag_rows.py",)
ASAX, OF_ASAX = "windlass_reproductions/asax/", ("tests/reproductions/test_verdicts.py",)
CASCADE, OF_CASCADE = "windlass_reproductions/cascade/", ("tests/reproductions/test_cascade_rows.py",)
OF_PRONTO = ("tests/reproductions/test_pronto_rows.py",)

MUTANTS = (
    Mutant(TETRIUM, "Interval(found.mean, half), low=least", "Interval(found.mean, half), high=least", OURS),
    Mutant(
        TETRIUM, "Interval(found.mean, half), low=least", "Interval(found.mean, 0.0), low=least", OF_TETRIUM
    ),
    Mutant(TETRIUM, "least = paper - rounded", "least = paper + rounded", OF_TETRIUM),
    Mutant(TETRIUM, "[over(last - first) for", "[over(first - last) for", OF_TETRIUM),
    Mutant(TETRIUM, "interval(last - first)", "interval(first - last)", OF_TETRIUM),
    Mutant(TETRIUM, ", unanimous=True)", ", unanimous=False)", OF_TETRIUM),
    Mutant(TETRIUM, "off = digit / 2 * (1.0 + 1e-9)", "off = digit", OF_TETRIUM),
    Mutant(CLASSES, "(gains[first], gains[last])", "(gains[last], gains[first])", OF_TETRIUM),
    Mutant(
        "windlass_reproductions/tetrium/delay_scheduling.py",
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
    Mutant(
        "windlass_reproductions/swag/runs.py",
        "1.0 - self.responses(name) / self",
        "self.responses(name) / self",
        SWAG,
    ),
    Mutant(BOUNDS, "over(swag / reached - 1.0).low,", "over(swag / reached - 1.0).high,", SWAG),
    Mutant(BOUNDS, "over(swag / least - 1.0).high)", "over(swag / reached - 1.0).high)", SWAG),
    Mutant(BOUNDS, "(Within(found, high=_WITHIN + _PERCENT / 2),)", "(Within(found, high=0.05),)", SWAG),
    Mutant(
        "windlass_reproductions/swag/exact.py",
        "Within(exactly(off), high=0.5)",
        "Within(exactly(off), high=1.5)",
        SWAG,
    ),
    Mutant(SET, 'over(high["SWAG"] - kbytes) for', 'over(kbytes - high["SWAG"]) for', SWAG),
    Mutant(SET, "for end in (first, last)", "for end in (first,)", SWAG),
    Mutant(SET, "for end in (first, last)", "for end in (last,)", SWAG),
    Mutant(SET, "Within(exactly(same), high=_ROUNDING)", "Within(exactly(same), high=0.005)", SWAG),
    Mutant(SET, "below([over(slopes)],", "below([over(-slopes)],", SWAG),
    Mutant(SET, "over(found[last] - found[first])", "over(found[first] - found[last])", SWAG),
    Mutant(JUDGED, "return True if inside else False if outside else None", "return inside", SWAG),
    Mutant(JUDGED, "most <= self.low or least >= self.high,", "most < self.low or least > self.high,", SWAG),
    Mutant(JUDGED, "low=value - digit / 2),),", "low=value - 5 * digit),),", SWAG),
    Mutant(JUDGED, "high=value + digit / 2),),", "high=value + 5 * digit),),", SWAG),
    Mutant(JUDGED, "value - digit / 2, value + digit / 2", "0.0, value + digit / 2", SWAG),
    Mutant(JUDGED, "if self.unanimous and True in verdicts:", "if self.unanimous and False:", POINTS),
    Mutant(JUDGED, "if self.unanimous and None in verdicts:", "if self.unanimous and False:", POINTS),
    Mutant(JUDGED, "math.copysign(far, limit - mean)", "math.copysign(far, mean - limit)", POINTS),
    Mutant(
        JUDGED, "self.low <= least and most <= self.high,", "self.low <= most and least <= self.high,", POINTS
    ),
    Mutant(JUDGED, "known = known[~np.isnan(known)]", "known = np.nan_to_num(known)", SWAG),
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
    Mutant(EXAMPLES, "        derived / 2,\n", "        0.0,\n", ROSELLA),
    Mutant(
        EXAMPLES,
        "judged = is_stable(growths, two) if derived is None",
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
    Mutant(TABLE, "if each.is_stable)", "if each.rosella.any())", ROSELLA),
    Mutant(TABLE, "best = min((_of(cells, learner, load)", "best = max((_of(cells, learner, load)", ROSELLA),
    Mutant(
        TABLE,
        "over(ours.values - _BEHIND * best.values)",
        "over(best.values - _BEHIND * ours.values)",
        ROSELLA,
    ),
    Mutant(
        "windlass_reproductions/rosella/grid.py",
        "over(self.ours - CLOSE * self.best)",
        "over(self.ours - 2.0 * self.best)",
        GRID,
    ),
    Mutant(
        "windlass_reproductions/rosella/grid.py",
        "np.ptp(each.place.speeds.speeds) > 0.0",
        "each.ours.any()",
        GRID,
    ),
    Mutant(
        "windlass_reproductions/rosella/grid.py",
        "rivals[ROSELLA.label], rivals[SPARROW.label]",
        "rivals[SPARROW.label], rivals[ROSELLA.label]",
        GRID,
    ),
    Mutant(
        LIVE, "exactly(self.jobs - self.same), high=0.0", "exactly(self.jobs - self.same), high=2.0", OURS
    ),
    Mutant(LIVE, "exactly(simulated - real), -far, far", "exactly(simulated - real), high=far", OURS),
    Mutant(STATISTICS, ".sum()) / (count - 1))", ".sum()) / count)", OF_ASAX),
    Mutant(STATISTICS, "stdtrit(freedom, (1.0 + level) / 2.0)", "stdtrit(freedom, level)", OF_ASAX),
    Mutant(
        PRONTO,
        "over(ours[known] / reference[known] - 1.0)",
        "over(reference[known] / ours[known] - 1.0)",
        OURS,
    ),
    Mutant(PRONTO, "[over(ours**2 - reference**2) for", "[over(reference**2 - ours**2) for", OURS),
    Mutant(
        PRONTO, "sure.over_shifted[0] > 0.0 and sure.over_chance[0] > 0.0", "sure.over_shifted[0] > 0.0", OURS
    ),
    Mutant(SCALE, "one - other * (1.0 - lead)", "other * (1.0 - lead) - one", OURS),
    Mutant(
        SCALE,
        "exactly(ours), reference / factor, reference * factor)",
        "exactly(ours), high=reference * factor)",
        OURS,
    ),
    Mutant(ASAX + "tables.py", "_LONGER, _BUSIER = 1.1, 1.5", "_LONGER, _BUSIER = 1.2, 1.5", OF_ASAX),
    Mutant(ASAX + "tables.py", "_LONGER, _BUSIER = 1.1, 1.5", "_LONGER, _BUSIER = 1.1, 1.3", OF_ASAX),
    Mutant(
        ASAX + "slurm_results.py", "above([over(used - alone)]", "above([over(used - 0.9 * alone)]", OF_ASAX
    ),
    Mutant(ASAX + "theorem.py", "for part in (most, turned)", "for part in (most,)", OF_ASAX),
    Mutant(CASCADE + "heuristic.py", "is_about(ratios, 0.8, 0.05)", "stays(ratios, 0.85)", OF_CASCADE),
    Mutant(CASCADE + "placement.py", "over(cameras - each)", "over(each - cameras)", OF_CASCADE),
    Mutant(CASCADE + "placement.py", "or len(known) < len(most)", "", OF_CASCADE),
    Mutant(
        CASCADE + "types.py", "over(far[low.name] - far[high.name])", "over(far[low.name] - 2.0)", OF_CASCADE
    ),
    Mutant(
        "windlass_reproductions/pronto/spikes.py", "if blind else above(", "if False else above(", OF_PRONTO
    ),
    Mutant("windlass_reproductions/pronto/spikes.py", "np.zeros_like(actual)", "actual", OF_PRONTO),
    Mutant(PRONTO, "if count < FEW:", "if count < 1:", OF_PRONTO),
    Mutant(
        PRONTO, "Within(between(*sure.recall), low=0.9)", "Within(between(*sure.recall), low=0.0)", OF_PRONTO
    ),
    Mutant(PRONTO, "np.log(last[known] / first[known])", "np.log(first[known] / last[known])", OF_PRONTO),
    Mutant(LIVE, "if abs(apart) >= same:", "if abs(apart) >= 0.0:", OURS),
    Mutant(LIVE, "math.copysign(simulated_apart, simulated_apart * apart)", "abs(simulated_apart)", OURS),
    Mutant(
        "windlass_reproductions/autoscaler/curve_front.py",
        "low=0.0, strict=True)",
        "low=-2.0, strict=True)",
        ("tests/reproductions/test_autoscaler_curve.py::test_a_saving_must_be_large_enough_and_significant",),
    ),
    Mutant(
        "windlass_reproductions/asax/ablation.py",
        "Within(over(percent), -SAME, SAME)",
        "Within(over(percent), -SAME)",
        ("tests/reproductions/test_verdicts.py",),
    ),
    Mutant(
        "windlass_reproductions/asax/ablation.py",
        "100.0 * (ours.of(metric) / base.of(metric) - 1.0)",
        "100.0 * (base.of(metric) / ours.of(metric) - 1.0)",
        ("tests/reproductions/test_verdicts.py",),
    ),
)
