"""The verdict in words."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tests.report.made import outcome, random_outcome, results
from tests.verdict.test_judge import LOG, longer
from windlass.report.cut_work import change_sentence, cut_share, input_sentence
from windlass.report.sentence import leaders, point_sentence, sentences
from windlass.results import RECORDED, Results, VariantResult
from windlass.results.verdict import (
    Comparison,
    ConfidenceInterval,
    PointVerdict,
    Verdict,
    judge,
    parse_requirements,
)
from windlass.results.verdict.evidence import NoInterval, PairedEvidence
from windlass.results.verdict.judge import BrokenRequirement
from windlass.results.verdict.sign_flip import SignFlip


def verdict_sentences(made: Results, by: str | None = None, require: str | None = None) -> tuple[str, ...]:
    return sentences(judge(made, by, () if require is None else parse_requirements(require)))


def varied(outcome, seed):
    """With the mean wait about the same: each job waits longer or less long, at random."""
    later = np.random.default_rng(seed).normal(0.0, 60.0, len(outcome.jobs))
    jobs = outcome.jobs.with_columns(pl.col("start_s") + later - later.mean() + 0.01 * (seed + 1))
    wait = float((jobs["start_s"] - jobs["submit_s"]).mean())
    return replace(outcome, jobs=jobs, metrics=replace(outcome.metrics, mean_wait_s=wait))


def test_two_equal_policies_are_equal():
    (line,) = verdict_sentences(results(("easy", [LOG]), ("twin", [LOG])))
    assert line == "easy and twin have the same mean wait: 11.32 min."


def test_policies_that_equal_the_best_are_named_with_it():
    slow = ("slow", [longer(LOG, 300.0)])
    line = verdict_sentences(results(slow, ("a", [LOG]), ("b", [LOG]), ("c", [LOG])))[0]
    assert line.startswith("a, b and c have the lowest mean wait: 11.32 min, ")
    assert " less than slow; 95 % confidence interval " in line
    line = verdict_sentences(results(*((f"a{number}", [LOG]) for number in range(7)), slow))[0]
    assert line.startswith("a0 and 6 others have the lowest mean wait: ")
    line = verdict_sentences(results(("a", [LOG]), ("b", [LOG]), ("near", [varied(LOG, 1)])))[0]
    assert line.startswith(
        "a and b have the lowest mean wait: 679.3 s, 0.02000 s (< 0.01 %) less than near; "
    )


def test_means_that_differ_by_rounding_are_equal():
    rounded = replace(LOG, metrics=replace(LOG.metrics, mean_wait_s=LOG.metrics.mean_wait_s * (1 + 1e-13)))
    line = verdict_sentences(results(("a", [rounded]), ("b", [LOG])))[0]
    assert line == "a and b have the same mean wait: 11.32 min."
    apart = replace(LOG, metrics=replace(LOG.metrics, mean_wait_s=LOG.metrics.mean_wait_s * (1 + 1e-8)))
    assert verdict_sentences(results(("a", [apart]), ("b", [LOG])))[0].startswith(
        "b has the lowest mean wait: "
    )


def test_a_lead_that_is_not_significant_is_reported_with_the_jobs_that_would_suffice():
    found = ConfidenceInterval(60_840.0, -5400.0, 127_080.0, 20)
    comparison = Comparison("mean_wait_s", (82_210.0, 21_370.0), 1, (found, None), "blocks", 300)
    point = PointVerdict("", ("fcfs", "easy"), comparison)
    assert point_sentence(Verdict("mean_wait_s", -1, (point,)), point) == (
        "easy has the lowest mean wait: 5.936 h, 16.90 h (74 %) less than fcfs; 300 jobs are too few to rule out "
        "chance (95 % confidence interval −1.500 to 35.30 h, n = 20 blocks); about 360 might suffice (the width of "
        "the interval falls with 1/√n)."
    )
    close = replace(found, low=-608_400.0, high=730_080.0)
    line = point_sentence(
        Verdict("mean_wait_s", -1, (point,)),
        replace(point, comparison=replace(comparison, against=(close, None))),
    )
    assert line.endswith("; even 100 times as many jobs would hardly suffice.")
    over = replace(comparison, against=(replace(found, count=5), None), over="seeds")
    line = point_sentence(Verdict("mean_wait_s", -1, (point,)), replace(point, comparison=over))
    assert "; 5 seeds are too few to rule out chance (" in line
    assert "; about 6 might suffice (" in line


SIGNS = SignFlip(20, 0, 20, math.nan, unanimous=True)
FEW = NoInterval("few", 11.4, 400.0)
WIDE = ConfidenceInterval(60_840.0, -5400.0, 127_080.0, 10)


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (
            PairedEvidence(None, SIGNS, FEW),
            "fcfs is worse in 20 of 20 blocks, which rules out chance; no confidence interval, as the 300 jobs are "
            "worth about 11 independent ones, and 400 are required.",
        ),
        (
            PairedEvidence(WIDE, SIGNS),
            "fcfs is worse in 20 of 20 blocks, which rules out chance; 95 % confidence interval −1.500 to 35.30 h, "
            "n = 10 blocks.",
        ),
        (
            PairedEvidence(replace(WIDE, low=1800.0), SIGNS),
            "95 % confidence interval 0.5000 to 35.30 h, n = 10 blocks.",
        ),
        (
            PairedEvidence(None, SignFlip(13, 5, 20, 0.4), FEW),
            "300 jobs are too few to rule out chance (fcfs is worse in 13 and better in 5 of 20 blocks); no confidence "
            "interval, as the 300 jobs are worth about 11 independent ones, and 400 are required (about 11,000 jobs "
            "like these).",
        ),
        (
            PairedEvidence(None, SignFlip(15, 5, 20, 0.4), NoInterval("correlated", 500.0, 400.0)),
            "300 jobs are too few to rule out chance (fcfs is worse in 15 of 20 blocks); no confidence interval, as "
            "neighbouring blocks are correlated.",
        ),
        (
            PairedEvidence(None, SignFlip(3, 1, 20, 0.6), NoInterval("rare", 4, 16)),
            "300 jobs are too few to rule out chance (fcfs is worse in 3 and better in 1 of 20 blocks); no confidence "
            "interval, as jobs differ in only 4 of 20 blocks, and 16 are required.",
        ),
    ],
)
def test_the_sentence_has_the_signs_and_why_there_is_no_interval(evidence, expected):
    comparison = Comparison(
        "mean_wait_s", (82_210.0, 21_370.0), 1, (evidence.interval, None), "blocks", 300, (evidence, None)
    )
    point = PointVerdict("", ("fcfs", "easy"), comparison)
    line = point_sentence(Verdict("mean_wait_s", -1, (point,)), point)
    assert line == f"easy has the lowest mean wait: 5.936 h, 16.90 h (74 %) less than fcfs; {expected}"


def test_shares_differ_by_percentage_points():
    comparison = Comparison("utilisation", (0.5, 0.25), 0, (None, None), "nothing")
    point = PointVerdict("", ("a", "b"), comparison)
    line = point_sentence(Verdict("utilisation", 1, (point,)), point)
    assert line.startswith(
        "a has the highest utilisation: 50 %, 25 percentage points more than b; one run cannot"
    )


def test_names_with_commas_are_quoted():
    (line,) = verdict_sentences(results(("easy, pot", [LOG]), ("easy, jsq", [LOG])))
    assert line.startswith("'easy, pot' and 'easy, jsq' have the same mean wait")


def test_the_sentence_names_the_winner_and_its_lead():
    line = verdict_sentences(results(("slow", [longer(LOG, 200.0)]), ("fast", [LOG])))[0]
    assert line.startswith("fast has the lowest mean wait: ")
    assert " less than slow; 95 % confidence interval " in line
    assert line.endswith(", n = 10 blocks.")


def test_the_sentence_lists_variants_that_do_not_differ_from_the_best():
    made = results(
        ("slow", [longer(LOG, 300.0)]), ("a", [LOG]), ("b", [varied(LOG, 0)]), ("c", [varied(LOG, 1)])
    )
    line = verdict_sentences(made)[0]
    assert line.startswith("a has the lowest mean wait: ")
    assert " less than b; 400 jobs are too few to rule out chance (b is worse in " in line
    assert "; no confidence interval, as the 400 jobs are worth about " in line
    assert "; c (" in line
    assert ") is not significantly worse either; " in line
    assert line.endswith("slow is significantly worse than a.")


def test_a_variant_that_is_worse_in_most_seeds_is_not_reported_as_equally_good():
    made = results(
        *(
            (
                name,
                [
                    outcome([0.0] * 3, [wait] * 3, [9.0 + seed] * 3, seed=seed)
                    for seed, wait in enumerate(waits)
                ],
            )
            for name, waits in {"a": (1.0, 2.0, 6.0), "b": (2.0, 1.0, 9.0), "c": (5.0, 90.0, 7.0)}.items()
        )
    )
    assert "; c (34 s) is worse in 3 of 3 seeds, but not significantly." in verdict_sentences(made)[0]


def test_variants_beyond_the_first_few_are_counted():
    alike = [("a0", [LOG]), *((f"a{number}", [varied(LOG, number)]) for number in range(1, 7))]
    slow = [(f"s{number}", [longer(LOG, 300.0)]) for number in range(5)]
    line = verdict_sentences(results(*alike, *slow))[0]
    assert "; 5 others are not significantly worse either; 5 others are significantly worse than a0." in line
    made = tuple(
        VariantResult(f"{name}, load={load}", (), tuple(runs), f"load={load}")
        for load in (1, 2)
        for name, runs in alike
    )
    assert verdict_sentences(Results("", "", made))[0].startswith(
        "Lowest mean wait at 2 points: a0 or one of 6 others at 2"
    )


def test_one_run_of_few_jobs_does_not_show_significance():
    few = random_outcome(30, seed=1)
    line = verdict_sentences(results(("slow", [longer(few, 300.0)]), ("fast", [few])))[0]
    assert line.startswith("fast has the lowest mean wait: ")
    assert line.endswith("one run cannot show whether the difference is statistically significant.")


def test_ruled_out_variants_are_listed_with_the_reason():
    made = results(("fast", [LOG]), ("slow", [longer(LOG, 200.0)]), ("slower", [longer(LOG, 400.0)]))
    first, *rest = verdict_sentences(made, require="mean_wait>=1*slow")
    assert first.startswith("slow has the lowest mean wait: ")
    assert any(line.startswith("Ruled out: fast, whose mean wait of ") for line in rest)
    first, *_ = verdict_sentences(made, require="mean_wait<0")
    expected = "No variant meets all requirements; fast is the closest, with a mean wait of "
    assert first.startswith(expected)
    first, *_ = verdict_sentences(made, require="mean_wait<0,median_wait<0,mean_wait<=1*fast")
    assert first == "No variant meets all requirements; fast violates the fewest, 2 of 3."


def test_metrics_in_which_the_winner_is_worse_are_listed():
    jobs = LOG.jobs
    wait = (jobs["start_s"] - jobs["submit_s"]).to_numpy() / 4
    wait[7] = 86_400.0
    unfair = outcome(jobs["submit_s"].to_list(), wait.tolist(), [600.0] * 400)
    first, *rest = verdict_sentences(results(("unfair", [unfair]), ("fair", [LOG])))
    assert first.startswith("unfair")
    assert any(
        "longest wait 24 h, compared with" in line and "for fair (in these runs; " in line for line in rest
    )


def test_the_winner_is_compared_with_the_recorded_schedule():
    lines = verdict_sentences(
        results(("recorded", [longer(LOG, 500.0)]), ("easy", [LOG]), ("fcfs", [longer(LOG, 200.0)]))
    )
    assert lines[0].startswith("easy has the lowest mean wait")
    assert "less than fcfs" in lines[0]
    assert " Compared with the recorded schedule, easy is better by " in lines[0]


def test_a_variant_equal_to_the_recorded_schedule_is_neither_better_nor_worse():
    lines = verdict_sentences(results(("recorded", [LOG]), ("easy", [LOG]), ("fcfs", [longer(LOG, 200.0)])))
    assert lines[0].endswith(" Compared with the recorded schedule, easy is equally good.")


def test_requirements_are_mentioned_only_if_there_are_some():
    verdict = judge(results(("easy", [LOG]), ("fcfs", [longer(LOG, 200.0)])))
    (point,) = verdict.points
    means = (point.comparison.means[0], math.nan)
    alone = replace(point, comparison=replace(point.comparison, means=means))
    assert "of the variants that have one: " in point_sentence(verdict, alone)
    broken = BrokenRequirement(1, parse_requirements("max_wait<=1")[0], "max_wait_s", 9.0, 1.0)
    ruled = replace(alone, broken=(broken,))
    expected = "easy is the only variant that meets all requirements: mean wait "
    assert point_sentence(verdict, ruled).startswith(expected)
    several = replace(ruled, names=("easy", "fcfs", "sjf"))
    means = replace(ruled.comparison, means=(*ruled.comparison.means, math.nan))
    line = point_sentence(verdict, replace(several, comparison=means))
    assert "of the variants that meet all requirements: " in line


def test_a_sweep_counts_the_points_at_which_each_variant_wins():
    slow = longer(LOG, 200.0)
    runs = [("a", "load=1", LOG), ("b", "load=1", slow), ("a", "load=2", LOG), ("b", "load=2", LOG)]
    made = tuple(VariantResult(f"{name}, {point}", (), (run,), point) for name, point, run in runs)
    first, *rest = verdict_sentences(Results("", "", made))
    assert first.startswith("Lowest mean wait at 2 points: a at 1, a or b at 1 (where several are named, ")
    assert [line.partition(": ")[0] for line in rest] == ["load=1", "load=2"]


def test_one_variant_has_its_metric_and_no_variant_no_sentence():
    assert verdict_sentences(results(("a", [LOG]))) == ("a: mean wait 11.32 min.",)
    assert verdict_sentences(results()) == ()


@pytest.mark.parametrize(
    ("without", "expected"),
    [("same", "the answer is the same: fast"), ("other", "THE ANSWER CHANGES: slow, not fast")],
)
def test_the_sentence_on_cut_work_states_whether_the_answer_changes(without, expected):
    slow = longer(LOG, 200.0)
    verdict = judge(results(("fast", [LOG]), ("slow", [slow])))
    runs = [LOG, slow] if without == "same" else [slow, LOG]
    other = judge(results(("fast", [runs[0]]), ("slow", [runs[1]])))
    line = input_sentence(0.33, verdict, other)
    assert line.startswith("33 % of the work is cut because jobs are stopped at their requested time; ")
    assert expected in line


def test_a_less_clear_answer_is_not_reported_as_a_change():
    verdict = judge(results(("fast", [LOG]), ("slow", [longer(LOG, 200.0)])))
    line = input_sentence(0.33, verdict, judge(results(("fast", [LOG]), ("slow", [LOG]))))
    assert "without cutting, the answer is fast or slow, not fast." in line


def test_without_cut_work_there_is_no_sentence():
    assert input_sentence(0.0, None, None) == ""
    assert cut_share(results(("a", [replace(LOG, cut_share=0.5), LOG]))) == 0.5


@pytest.mark.parametrize(
    ("waits", "expected"),
    [
        (
            (30.0, 60.0),
            "future, which knows more than a real policy can and cannot win, has 30 s (50 %) less.",
        ),
        (
            (0.0, 60.0),
            "future, which knows more than a real policy can and cannot win, has 1.000 min (100 %) less.",
        ),
        (
            (60.0, 60.0),
            "future, which knows more than a real policy can and cannot win, has the same mean wait.",
        ),
        (
            (90.0, 60.0),
            "future, which knows more than a real policy can and cannot win, has 30 s (50 %) more, which is no "
            "bound here.",
        ),
    ],
)
def test_a_variant_that_knows_the_future_is_a_bound_and_does_not_win(waits, expected):
    made = [
        VariantResult(
            name, (), (replace(LOG, metrics=replace(LOG.metrics, mean_wait_s=wait)),), bound=name == "future"
        )
        for name, wait in zip(("future", "easy", "fcfs"), (*waits, 120.0), strict=True)
    ]
    verdict = judge(Results("", "", tuple(made)))
    (point,) = verdict.points
    assert (point.names[point.comparison.best], point.bounds, point.compared) == ("easy", {0}, 2)
    line = sentences(verdict)[0]
    assert line.startswith("easy has the lowest mean wait: 1.000 min, 1.000 min (50 %) less than fcfs; ")
    assert line.endswith(f". {expected}")


@pytest.mark.parametrize(
    ("waits", "expected"),
    [
        (
            {"ends": 30.0, "starts": 90.0, "all": 30.0},
            "3 variants know more than a real policy can and cannot win: ends and all have 30 s (50 %) less; starts "
            "is worse, so it is no bound here.",
        ),
        (
            {"ends": 60.0, "starts": 90.0, "all": 70.0},
            "3 variants know more than a real policy can and cannot win: ends has the same mean wait; starts and all "
            "are worse, so they are no bounds here.",
        ),
        (
            {"ends": 70.0, "starts": 90.0},
            "2 variants know more than a real policy can and cannot win: all are worse, so none is a bound here.",
        ),
    ],
)
def test_several_bounds_are_one_sentence_and_those_at_the_same_distance_are_together(waits, expected):
    made = [
        VariantResult(
            name,
            (),
            (replace(LOG, metrics=replace(LOG.metrics, mean_wait_s=wait)),),
            bound=name in waits,
        )
        for name, wait in {**waits, "easy": 60.0, "fcfs": 120.0}.items()
    ]
    line = sentences(judge(Results("", "", tuple(made))))[0]
    assert line.endswith(f". {expected}")


def test_the_recorded_schedule_is_a_baseline_only_with_its_own_site_and_arrivals():
    made = results(("recorded", [longer(LOG, 500.0)]), ("easy", [LOG]), ("fcfs", [longer(LOG, 200.0)]))
    assert any("recorded schedule" in line for line in verdict_sentences(made))
    elsewhere = tuple(replace(variant, own=False) for variant in made.variants)
    assert not any(
        "recorded schedule" in line for line in verdict_sentences(replace(made, variants=elsewhere))
    )


def test_leaders_that_change_without_cutting_are_in_the_first_sentence():
    slow = longer(LOG, 200.0)
    fast, other, same = (
        judge(results(("fast", [one]), ("slow", [two])))
        for one, two in ((LOG, slow), (slow, LOG), (LOG, LOG))
    )
    assert change_sentence(fast, other) == (
        "If jobs are not stopped at their requested time, slow may lead in mean wait, not fast."
    )
    assert "fast or slow may lead" in change_sentence(fast, same)
    assert change_sentence(fast, fast) == change_sentence(fast, None) == ""


def test_another_best_without_cutting_is_reported_if_none_is_significantly_worse():
    one, other = (
        judge(results(("a", [varied(LOG, first)]), ("b", [varied(LOG, second)])))
        for first, second in ((1, 2), (2, 1))
    )
    assert leaders(one.points[0]) == leaders(other.points[0]) == "a or b"
    assert change_sentence(one, other) == (
        "If jobs are not stopped at their requested time, b has the lowest mean wait, not a."
    )
    assert "; without cutting, b has the lowest mean wait, not a. b has " in input_sentence(0.3, one, other)
    assert change_sentence(one, one) == ""


def at(name: str, field: str, value: float, *waits: float) -> VariantResult:
    """A variant at a point of a sweep, with a mean wait for each seed."""
    made = tuple(
        outcome([0.0, 1.0], [wait, wait], [9.0 + seed] * 2, seed=seed) for seed, wait in enumerate(waits)
    )
    return VariantResult(f"{name}, {field}={value}", (), made, f"{field}={value}")


def test_a_variant_that_is_worse_in_all_seeds_is_not_named_as_best():
    made = [
        at(name, "load", load, *waits)
        for load in (1, 2)
        for name, waits in (("a", (10.0, 20.0, 60.0)), ("b", (11.0, 90.0, 400.0)))
    ]
    first = verdict_sentences(Results("", "", tuple(made)))[0]
    assert first == "Lowest mean wait at 2 points: a at 2; the lead is not significant at 2 of them."


def test_counts_are_whole():
    none, one = (replace(LOG, metrics=replace(LOG.metrics, starved=count)) for count in (2.0, 1.0))
    (line, *_) = verdict_sentences(results(("a", [none]), ("b", [one])), by="starved")
    assert line.startswith("b has the lowest number of starved jobs: 1, 1 (50 %) less than a; ")


def test_the_recorded_schedule_is_compared_also_if_it_cannot_be_tested():
    few = random_outcome(30, seed=1)
    lines = verdict_sentences(results(("easy", [longer(few, 300.0)]), (RECORDED, [few])))
    assert " Compared with the recorded schedule, easy is worse by " in lines[0]
    assert lines[0].endswith(", and one run cannot show whether this is statistically significant.")
