"""What each decision is worth, where variants leave decisions out."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.report import ablation_tables
from windlass.report.ablation import cell, interaction_lines
from windlass.report.ablation_section import section
from windlass.report.html_fragments import NOTHING
from windlass.results import HIGHER, LOWER, SOMETIMES, Choice, Outcome, Results, VariantResult
from windlass.results.verdict import ablation, judge
from windlass.results.verdict.ablation import Effect
from windlass.results.verdict.paired import ConfidenceInterval, paired_interval


@dataclass(frozen=True)
class Made:
    absent: float = field(metadata={**LOWER, **SOMETIMES})
    wait_s: float = field(metadata=LOWER)
    accuracy: float = field(metadata=HIGHER)
    jobs: int


def variant(out, waits, accuracy=0.5, point="", **other):
    """Two decisions, ``order`` and ``share``; ``out`` are those that are left out."""
    policies = {"order": "easy", "share": "pairs", **other}
    choices = tuple(
        Choice(decision, "none" if decision in out else policy, "", decision in out)
        for decision, policy in policies.items()
    )
    metrics = [Made(math.nan, wait, accuracy, 3) for wait in waits]
    outcomes = tuple(Outcome(seed, each, pl.DataFrame(), 8) for seed, each in enumerate(metrics))
    return VariantResult(", ".join([policies["order"], *out]), choices, outcomes, point)


WHOLE, NO_ORDER, NO_SHARE, NEITHER = (
    [10.0, 12.0, 14.0],
    [15.0, 16.0, 20.0],
    [11.0, 13.0, 15.2],
    [30.0, 31.0, 34.0],
)


def results(*variants):
    return Results("made", "", tuple(variants))


def four():
    return results(
        variant((), WHOLE), variant(("order",), NO_ORDER), variant(("share",), NO_SHARE, 0.4),
        variant(("order", "share"), NEITHER),
    )  # fmt: skip


def test_effects_are_paired_differences_of_metrics_with_a_direction():
    (found,) = ablation(four())
    assert found.base == "easy"
    assert found.left_out == (("order",), ("share",), ("order", "share"))
    assert [effect.metric for effect in found.effects[0]] == ["wait_s", "accuracy"]
    wait, accuracy = found.effects[1]
    assert (wait.whole, wait.without) == (12.0, pytest.approx(13.0667, abs=1e-3))
    differences = [one - other for one, other in zip(NO_SHARE, WHOLE, strict=True)]
    expected = paired_interval(pl.Series(differences).to_numpy())
    assert (wait.difference.low, wait.difference.high) == pytest.approx((expected.low, expected.high))
    assert wait.significant
    assert wait.change == pytest.approx(13.0667 / 12.0 - 1.0, abs=1e-4)
    assert accuracy.change == pytest.approx(-0.2)


def test_an_interaction_is_what_both_change_beyond_the_sum():
    (found,) = ablation(four())
    (beyond,) = [each for each in found.interactions if each.metric == "wait_s"]
    rows = zip(WHOLE, NO_ORDER, NO_SHARE, NEITHER, strict=True)
    differences = [both - one - other + whole for whole, one, other, both in rows]
    assert beyond.decisions == ("order", "share")
    assert beyond.beyond.mean == pytest.approx(sum(differences) / 3)
    line, count = interaction_lines(found)
    assert count == (
        "1 pair of decisions, 1 interaction on metrics: 1 significant, 0 with an interval that includes 0, "
        "0 exactly 0. Without any interaction, about 0 of these 1 would be significant by chance."
    )
    assert line.startswith(
        f"order and share interact: without both, wait is {100.0 * beyond.beyond.mean / 12.0:.0f} % higher"
    )


def test_decisions_without_an_interaction_have_no_sentence():
    sums = [one + other - whole for whole, one, other in zip(WHOLE, NO_ORDER, NO_SHARE, strict=True)]
    sums[0] += 0.5
    sums[1] -= 0.5
    found = ablation(results(*four().variants[:3], variant(("order", "share"), sums)))
    assert [line.split(": ")[1].split(". ")[0] for line in interaction_lines(found[0])] == [
        "0 significant, 1 with an interval that includes 0, 0 exactly 0"
    ]


def test_a_decision_that_changes_nothing_has_interactions_of_exactly_0():
    waits = ([0.1, 0.2], [0.1, 0.2], [0.3, 0.7], [0.3, 0.7])
    outs = ((), ("order",), ("share",), ("order", "share"))
    (found,) = ablation(results(*map(variant, outs, waits)))
    assert interaction_lines(found) == [
        "1 pair of decisions, 1 interaction on metrics: 0 significant, 0 with an interval that includes 0, 1 exactly 0."
    ]


@pytest.mark.parametrize("joint", [0.0, 4.0])
def test_an_interaction_of_drawn_runs_is_found_if_there_is_one(joint):
    """About 95 of 100 intervals over ten seeds cover the joint effect."""
    rng, cover, exclude = np.random.default_rng(7), 0, 0
    for _ in range(100):
        whole, one, other = rng.gamma(4.0, 10.0, 10), rng.normal(9.0, 3.0, 10), rng.normal(-5.0, 2.0, 10)
        both = whole + one + other + rng.normal(joint, 2.0, 10)
        waits = (whole, whole + one, whole + other, both)
        outs = ((), ("order",), ("share",), ("order", "share"))
        (found,) = ablation(results(*map(variant, outs, (each.tolist() for each in waits))))
        (beyond,) = [each.beyond for each in found.interactions if each.metric == "wait_s"]
        cover += beyond.low <= joint <= beyond.high
        exclude += beyond.excludes_zero
    assert 88 <= cover <= 100
    assert exclude == 100 - cover if joint == 0.0 else exclude > 95


def test_only_variants_of_the_same_policies_and_point_are_compared():
    other = variant((), WHOLE, order="fcfs")
    assert ablation(results(other, variant(("share",), NO_SHARE))) == ()
    # Without `order`, it does not matter which policy the variant would have.
    found = ablation(results(other, variant(("order",), NO_ORDER)))
    assert [each.base for each in found] == ["fcfs"]
    assert (
        ablation(results(variant((), WHOLE, point="load=1"), variant(("share",), NO_SHARE, point="load=2")))
        == ()
    )
    assert ablation(results(variant((), WHOLE), variant((), NO_SHARE, order="fcfs"))) == ()


WORSE = ConfidenceInterval(1.0, 0.5, 1.5, 5)


@pytest.mark.parametrize(
    ("better", "whole", "without", "shown"),
    [
        (-1, 4.0, 5.0, "+25% ✓"), (-1, 4.0, 3.0, "−25% ✗"), (1, 0.5, 0.4, "−20% ✓"), (1, 0.5, 0.6, "+20% ✗"),
        (-1, 0.0, 0.0, "0"), (-1, 100.0, 109.96, "+10% ✓"), (-1, 100.0, 109.94, "+9.9% ✓"),
        (-1, 0.0, 2.0, "+∞ ✓"), (1, -2.0, -1.0, "+50% ✗"), (-1, 1.0, math.nan, "–"), (-1, 0.0, math.nan, "–"),
    ],
)  # fmt: skip
def test_a_cell_has_the_change_and_whether_the_decision_helps(better, whole, without, shown):
    assert cell(Effect("m", better, whole, without, WORSE)) == shown
    unsure = ConfidenceInterval(1.0, -0.5, 2.5, 5)
    assert cell(Effect("m", better, whole, without, unsure)) == shown.split(" ")[0]
    assert cell(Effect("m", better, whole, without, None)) == shown.split(" ")[0]


def test_the_table_fits_a_narrow_terminal_and_marks_what_is_significant():
    console = Console(width=60, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    for part in ablation_tables(four()):
        console.print(part)
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= 60
    text = " ".join(lines)
    assert "What each decision is worth" in text
    assert "% ✓" in text


def test_several_tables_at_one_point_name_the_variant_that_makes_all_decisions():
    found = results(
        variant((), WHOLE), variant((), NO_SHARE, order="sjf"),
        variant(("order",), NO_ORDER),
        variant((), WHOLE, point="load=2"), variant(("order",), NO_ORDER, point="load=2"),
    )  # fmt: skip
    parts = [str(part) for part in ablation_tables(found)]
    titles = [part for part in parts if part.startswith("What each decision is worth")]
    assert titles == [f"What each decision is worth ({name})" for name in ("easy", "sjf", "load=2")]
    page = section(found).html
    assert [page.count(f"<h2>{each}</h2>") for each in titles] == [1, 1, 1]


def test_a_bound_has_no_table_of_what_decisions_are_worth_to_it():
    bound = replace(variant((), NO_SHARE, order="clairvoyant"), bound=True)
    found = results(variant((), WHOLE), bound, variant(("order",), NO_ORDER))
    assert [each.base for each in ablation(found)] == ["easy"]
    assert [str(part) for part in ablation_tables(found)][1] == "What each decision is worth"


def test_the_section_of_the_page_has_values_and_is_absent_without_variants_that_leave_decisions_out():
    page = section(four()).html
    assert "What each decision is worth" in page
    assert "12 with it, 17 without it" in page
    assert "<li>order and share interact" in page
    assert section(results(variant((), WHOLE))) == NOTHING


def test_the_verdict_is_about_the_first_metric_that_applies():
    assert judge(four()).metric == "wait_s"


def test_a_cluster_tells_what_stands_in():
    tree = {
        "world": "cluster", "seconds": 600, "seeds": [1, 2],
        "sites": {"iowa": {"nodes": [{"count": 2, "cores": 4}]}},
        "loads": {"web": {"tasks": {"tasks": 300, "load": 0.5}}},
        "policies": {"dispatch": "jsq"}, "without": [[], ["dispatch"], ["dispatch", "order"]],
    }  # fmt: skip
    found = run(make_scenario(tree))
    choices = [[choice.decision for choice in each.choices if choice.stands_in] for each in found.variants]
    assert choices == [[], ["dispatch"], ["order", "dispatch"]]
    (table,) = ablation(found)
    assert table.left_out == (("dispatch",), ("order", "dispatch"))
    assert {effect.metric for effect in table.effects[0]} == {"mean_task_response_s", "p99_task_response_s"}


def test_without_place_an_order_of_staged_jobs_goes_too_and_the_variant_is_compared():
    tree = {
        "world": "cluster", "seconds": 600,
        "sites": {"iowa": {"nodes": [{"count": 2, "cores": 4}]}},
        "loads": {"etl": {"staged": {"drawn": {"jobs": 2, "tasks": 4}}}},
        "policies": {"order": {"staged": "swag"}}, "without": [[], "place"],
    }  # fmt: skip
    (table,) = ablation(run(make_scenario(tree)))
    assert table.left_out == (("place",),)


ORDER_ALONE, SHARE_ALONE = [12.0, 13.0, 16.0], [21.0, 23.0, 25.0]


def with_alone():
    """With two decisions, to leave one out is to make the other one alone; a third tells them apart."""
    third = {"scale": "thrifty"}
    return results(
        variant((), WHOLE, **third), variant(("order",), NO_ORDER, **third), variant(("share",), NO_SHARE, **third),
        variant(("share", "scale"), ORDER_ALONE, **third), variant(("order", "scale"), SHARE_ALONE, **third),
        variant(("order", "share", "scale"), NEITHER, **third),
    )  # fmt: skip


def test_a_decision_alone_is_compared_with_no_decision():
    (found,) = ablation(with_alone())
    assert found.alone == ("order", "share")
    assert found.left_out == (("order",), ("share",), ("order", "share", "scale"))
    wait = found.alone_effects[0][0]
    assert (wait.whole, wait.without) == (sum(ORDER_ALONE) / 3, sum(NEITHER) / 3)
    differences = [none - alone for none, alone in zip(NEITHER, ORDER_ALONE, strict=True)]
    expected = paired_interval(pl.Series(differences).to_numpy())
    assert (wait.difference.low, wait.difference.high) == pytest.approx((expected.low, expected.high))


def test_a_decision_interacts_with_all_others_if_it_is_worth_less_alone():
    (found,) = ablation(with_alone())
    beyond = {each.decisions[0]: each.beyond.mean for each in found.interactions if each.metric == "wait_s"}
    rows = zip(WHOLE, NO_ORDER, ORDER_ALONE, NEITHER, strict=True)
    expected = [none - alone - without + whole for whole, without, alone, none in rows]
    assert beyond == {"order": pytest.approx(sum(expected) / 3), "share": pytest.approx(beyond["share"])}
    assert all(each.decisions[1] == "all others" for each in found.interactions)


def test_without_a_variant_of_no_decision_there_is_no_table_of_decisions_alone():
    (found,) = ablation(results(*with_alone().variants[:-1]))
    assert (found.alone, found.alone_effects) == ((), ())
    assert len(found.left_out) == 4


def test_decisions_alone_have_a_table_in_the_terminal_and_on_the_page():
    console = Console(width=120, record=True)
    for part in ablation_tables(with_alone()):
        console.print(part)
    shown = console.export_text()
    assert "What each decision is worth alone" in shown
    first, alone = shown.split("What each decision is worth alone")
    # Without all three decisions: 10 + 12 + 14 became 30 + 31 + 34.
    assert "+164%" in first
    (head,) = [line.split() for line in first.splitlines() if line.startswith("without ")]
    assert head == ["without", "order", "share", "all"]
    # Alone, `order` makes 31.67 s out of 13.67 s where it is left out, and `share` out of 23 s.
    assert "+132%" in alone
    assert "+38%" in alone
    html = section(with_alone()).html
    assert "<h3>What each decision is worth alone</h3>" in html
    assert "+132%" in html.split("worth alone")[1]
    assert "worth alone" not in section(four()).html


def test_a_variant_of_few_decisions_does_not_make_others_with_the_same_policy_an_ablation():
    other = variant((), SHARE_ALONE, order="easy", share="asax", scale="reactive")
    found = ablation(results(*with_alone().variants, other))
    assert [each.base for each in found] == ["easy"]
    assert found[0].left_out == (("order",), ("share",), ("order", "share", "scale"))
