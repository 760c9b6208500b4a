"""The verdict over several headline metrics."""

import sys
from dataclasses import dataclass, field

import polars as pl
import pytest

from windlass.experiment.answer import answer_to
from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.report.answer import answer_sentences
from windlass.report.headlines import headline_sentences
from windlass.results import (
    COST,
    HEADLINE,
    HIGHER,
    LOWER,
    OF_JOBS,
    OF_TASKS,
    SOMETIMES,
    TRADED,
    Outcome,
    Results,
    VariantResult,
)
from windlass.results.verdict import headlines, judge, judgement, parse_requirements, standings

NAN = float("nan")


@dataclass(frozen=True)
class Loads:
    other_s: float = field(metadata=LOWER)
    wait_s: float = field(metadata={**LOWER, **HEADLINE})
    accuracy: float = field(metadata={**HIGHER, **HEADLINE})
    cost_usd: float = field(metadata={**LOWER, **HEADLINE, **SOMETIMES})
    jobs: int


def variant(name, waits, accuracies, costs, point=""):
    outcomes = tuple(
        Outcome(seed, Loads(1.0, wait, accuracy, cost, 3), pl.DataFrame(), 8)
        for seed, (wait, accuracy, cost) in enumerate(zip(waits, accuracies, costs, strict=True))
    )
    return VariantResult(f"{name}, {point}" if point else name, (), outcomes, point)


def results(*variants):
    return Results("made", "", tuple(variants))


OURS = variant("ours", [10.0, 11.0, 12.0], [0.9, 0.91, 0.89], [5.0, 5.1, 5.2])
PLAIN = variant("plain", [20.0, 21.5, 22.0], [0.9, 0.90, 0.90], [3.0, 3.1, 3.3])
WORST = variant("worst", [30.0, 31.5, 32.0], [0.5, 0.51, 0.50], [9.0, 9.1, 9.3])


def test_a_variant_leads_in_a_metric_unless_it_is_significantly_worse():
    found = headlines(results(OURS, PLAIN, WORST))
    assert [each.metric for each in found] == ["wait_s", "accuracy", "cost_usd"]
    ranked = {each.name: (each.leads, each.behind) for each in standings(found)}
    assert ranked == {
        "ours": (("wait_s", "accuracy"), ("cost_usd",)),
        "plain": (("accuracy", "cost_usd"), ("wait_s",)),
        "worst": ((), ("wait_s", "accuracy", "cost_usd")),
    }


def test_the_sentences_count_metrics_and_name_what_the_leader_trades():
    first, traded, *each = headline_sentences(headlines(results(OURS, PLAIN, WORST)))
    assert first == (
        "Of 3 headline metrics, ours and plain are best or not significantly worse than the best in 2, worst in none."
    )
    assert traded == (
        "ours is significantly worse than the best in cost: 5.100 USD, compared with 3.133 USD for plain."
    )
    assert len(each) == 3
    assert each[0].startswith("ours has the lowest wait: 11 s, 10.17 s (48 %) less than plain")


def test_a_variant_that_leads_everywhere_trades_nothing():
    lines = headline_sentences(headlines(results(OURS, WORST)))
    assert lines[0] == (
        "Of 3 headline metrics, ours is best or not significantly worse than the best in all, worst in none."
    )
    assert len(lines) == 4


def test_with_one_seed_only_the_best_leads():
    one, other = variant("one", [1.0], [0.5], [2.0]), variant("other", [2.0], [0.6], [1.0])
    ranked = standings(headlines(results(one, other)))
    assert [(each.name, each.leads, each.behind) for each in ranked] == [
        ("other", ("accuracy", "cost_usd"), ()), ("one", ("wait_s",), ()),
    ]  # fmt: skip


def test_equal_variants_are_equal():
    pair = [variant(name, [1.0, 2.0], [0.5, 0.6], [3.0, 4.0]) for name in ("one", "other")]
    lines = headline_sentences(headlines(results(*pair)))
    assert lines[0].startswith("Of 3 headline metrics, one and other are best or not significantly worse")
    assert lines[1:] == (
        "one and other have the same wait: 1.500 s.",
        "one and other have the same accuracy: 0.5500.",
        "one and other have the same cost: 3.500 USD.",
    )
    three = headline_sentences(
        headlines(results(*pair, variant("worst", [9.0, 10.0], [0.5, 0.6], [3.0, 4.1])))
    )
    assert three[1].startswith("one and other have the lowest wait: 1.500 s, 8.000 s (84 %) less than worst;")
    assert three[-1].startswith(
        "one and other have the lowest cost: 3.500 USD, 0.05000 USD (1.4 %) less than worst; 2 seeds are too few "
    )


def test_a_metric_that_applies_to_no_variant_is_left_out():
    made = [variant(name, [1.0, 2.0], [0.5, 0.6], [NAN, NAN]) for name in ("one", "other")]
    assert [each.metric for each in headlines(results(*made))] == ["wait_s", "accuracy"]


def test_there_are_no_headlines_of_one_variant_or_of_no_results():
    assert headlines(results(OURS)) == ()
    assert headlines(results()) == ()
    assert headline_sentences(()) == ()


def test_points_of_a_sweep_have_sentences_of_their_own():
    made = [
        variant(name, waits, [0.5, 0.5], [1.0, 1.0], point)
        for point, waits in (("load=1", [1.0, 1.1]), ("load=2", [4.0, 4.1]))
        for name, waits in (("one", waits), ("other", [3.0, 3.1]))
    ]
    lines = headline_sentences(headlines(results(*made)))
    # At 1, 'one' leads in all metrics; at 2, 'other' does.
    assert [sum(line.startswith(f"load={load}: ") for line in lines) for load in (1, 2)] == [4, 4]
    assert "load=1: one has the lowest wait: 1.050 s" in "\n".join(lines)
    assert "load=2: other has the lowest wait: 3.050 s" in "\n".join(lines)


def test_a_variant_that_violates_a_requirement_has_no_standing():
    required = parse_requirements("cost_usd<=4")
    found = headlines(results(OURS, PLAIN, WORST), required)
    assert [each.name for each in standings(found)] == ["plain"]


def test_more_than_four_variants_are_counted():
    made = [variant(f"v{row}", [10.0 + row, 11.0 + row], [0.5, 0.5 + row], [1.0, 1.2]) for row in range(6)]
    line = headline_sentences(headlines(results(*made)))[0]
    assert "2 others in at most " in line


def test_the_first_sentence_of_a_cluster_is_about_all_loads_unless_a_metric_is_chosen():
    tree = {
        "world": "cluster", "seconds": 1800, "begin": 36000, "seeds": [1, 2],
        "sites": {"iowa": {"nodes": [{"count": 2, "cores": 8}]}},
        "loads": {"batch": {"rigid": {"lublin": {"jobs": 1500, "load": 3.0}}}, "web": {"tasks": {"tasks": 200}}},
        "variants": {"plain": {"policies": {"order": "fcfs"}}, "ours": {}},
    }  # fmt: skip
    made = run(make_scenario(tree))
    answer = answer_to(made, None, (), lambda: None)
    assert answer.sentences[0].startswith("Of 3 headline metrics, ")
    assert [each.metric for each in answer.headlines] == [
        "mean_job_wait_s", "mean_task_response_s", "p99_task_response_s",
    ]  # fmt: skip
    chosen = answer_to(made, "p99_task_response_s", (), lambda: None)
    assert chosen.headlines == ()
    assert "p99 task response" in chosen.sentences[0]


def test_each_headline_metric_is_judged_once(monkeypatch):
    judged = []

    def counted(made, by=None, requirements=()):
        judged.append(by)
        return judge(made, by, requirements)

    # The package exports functions with the names of these modules.
    for module in ("headlines", "judgement"):
        monkeypatch.setattr(sys.modules[f"windlass.results.verdict.{module}"], "judge", counted)
    made = results(OURS, PLAIN)
    # The first metric with a direction is not a headline metric here.
    found = judgement(made)
    assert judged == ["wait_s", "accuracy", "cost_usd", None]
    assert (found.verdict.metric, len(found.headlines)) == ("other_s", 3)
    judged.clear()
    assert (judgement(made, "cost").verdict.metric, judgement(made, "cost").headlines) == ("cost_usd", ())
    assert judged == ["cost", "cost"]


def test_the_first_headline_metric_is_the_verdict_where_it_is_the_first_metric():
    @dataclass(frozen=True)
    class Made:
        wait_s: float = field(metadata={**LOWER, **HEADLINE})
        cost_usd: float = field(metadata={**LOWER, **HEADLINE})

    runs = [
        (name, Outcome(1, Made(wait, 9.0 - wait), pl.DataFrame(), 8))
        for name, wait in (("a", 1.0), ("b", 2.0))
    ]
    found = judgement(results(*(VariantResult(name, (), (run,)) for name, run in runs)))
    assert found.verdict is found.headlines[0]
    assert answer_sentences(found)[0].startswith("Of 2 headline metrics, ")


def test_cost_is_answered_with_the_wait_that_it_pays_for():
    @dataclass(frozen=True)
    class Made:
        cost_usd: float = field(metadata={**LOWER, **COST})
        jobs: float
        mean_wait_s: float = field(metadata={**LOWER, **TRADED})
        p95_wait_s: float = field(metadata={**LOWER, **TRADED})

    def made(name, cost, wait, point=""):
        runs = tuple(
            Outcome(seed, Made(cost + 0.01 * seed, 1.0, wait + 0.02 * seed, 9.0), pl.DataFrame(), 8)
            for seed in (1, 2, 3)
        )
        return VariantResult(f"{name}, {point}" if point else name, (), runs, point)

    pair = (("cheap", 1.0, 9.0), ("fast", 4.0, 2.0))
    found = judgement(results(*(made(*each) for each in pair)))
    assert (found.verdict.metric, found.traded.metric) == ("cost_usd", "mean_wait_s")
    first = answer_sentences(found)[0]
    assert first.startswith("cheap has the lowest cost: 1.020 USD, ")
    assert ". fast has the lowest mean wait: 2.040 s, " in first
    assert judgement(results(*(made(*each) for each in pair)), "cost").traded is None
    assert judgement(results(OURS, PLAIN)).traded is None
    swept = judgement(results(*(made(*each, point) for point in ("load=1", "load=2") for each in pair)))
    assert "mean wait" not in answer_sentences(swept)[0]


@pytest.mark.parametrize("better", [LOWER, HIGHER])
def test_a_metric_is_a_headline_only_by_its_metadata(better):
    @dataclass(frozen=True)
    class Made:
        wait_s: float = field(metadata=better)
        other_s: float = field(metadata=better)

    made = [
        VariantResult(name, (), (Outcome(1, Made(1.0, 2.0), pl.DataFrame(), 8),)) for name in ("one", "other")
    ]
    assert headlines(results(*made)) == ()


def test_a_leader_that_is_much_worse_by_few_seeds_is_named_with_its_values():
    rare = variant("rare", [10.0, 11.0, 400.0], [0.9, 0.91, 0.89], [4.9, 5.0, 5.1])
    lines = headline_sentences(headlines(results(OURS, rare)))
    assert lines[0].startswith(
        "Of 3 headline metrics, rare is best or not significantly worse than the best in all"
    )
    assert lines[1] == (
        "Not significant does not mean equal: for rare, wait is 140.3 s, compared with 11 s for ours."
    )
    near = variant("near", [11.0, 11.0, 14.0], [0.9, 0.91, 0.89], [4.9, 5.0, 5.1])
    assert not [
        line
        for line in headline_sentences(headlines(results(OURS, near)))
        if line.startswith("Not significant")
    ]


def test_a_question_about_jobs_is_also_one_about_tasks():
    @dataclass(frozen=True, slots=True)
    class Made:
        mean_job_wait_s: float = field(metadata={**LOWER, **OF_JOBS})
        mean_task_response_s: float = field(metadata={**LOWER, **OF_TASKS})

    def made(name, wait, response):
        runs = tuple(
            Outcome(seed, Made(wait + 0.01 * seed, response + 0.02 * seed), pl.DataFrame(), 8)
            for seed in (1, 2, 3)
        )
        return VariantResult(name, (), runs)

    found = judgement(results(made("easy", 1.0, 9.0), made("fcfs", 4.0, 2.0)))
    first = answer_sentences(found)[0]
    assert first.startswith("easy has the lowest mean job wait: 1.020 s, ")
    assert ". fcfs has the lowest mean task response: 2.040 s, " in first
