"""Requirements of the operator, parsed from one line."""

import pytest

from windlass.model import InputError
from windlass.results.verdict.require import metric_named, parse_requirements

VARIANTS = ["fcfs", "easy", "recorded", "multi(depth=1, width=2)"]


@pytest.mark.parametrize(
    ("text", "metric", "sign", "factor", "variant"),
    [
        ("p99_wait<=1.1*fcfs", "p99_wait", "<=", 1.1, "fcfs"),
        (" max wait  <  2 h ", "max wait", "<", 7200.0, None),
        ("users.jain >= .9 * recorded", "users.jain", ">=", 0.9, "recorded"),
        ("utilisation>70%", "utilisation", ">", 0.7, None),
        ("mean_wait<=2*3min", "mean_wait", "<=", 360.0, None),
        ("mean_wait<=easy", "mean_wait", "<=", 1.0, "easy"),
        ("mean_wait<=2*multi(depth=1, width=2)", "mean_wait", "<=", 2.0, "multi(depth=1, width=2)"),
        ("mean_wait<=2*multi(depth=1,-width=2)", "mean_wait", "<=", 2.0, "multi(depth=1, width=2)"),
    ],
)
def test_a_requirement_has_a_metric_a_sign_and_a_bound(text, metric, sign, factor, variant):
    (found,) = parse_requirements(text, VARIANTS)
    assert (found.metric, found.sign, found.variant) == (metric, sign, variant)
    assert found.factor == pytest.approx(factor)


def test_requirements_are_separated_by_commas():
    assert [each.metric for each in parse_requirements("a<1, b>2*easy", VARIANTS)] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a requirement, expected METRIC OP VALUE"),
        ("p99_wait", "'p99_wait' is not a requirement, expected METRIC OP VALUE"),
        ("p99_wait=3", "'p99_wait=3' is not a requirement, expected METRIC OP VALUE"),
        ("a<1,", "'' is not a requirement, expected METRIC OP VALUE"),
        ("a<=b<=c", "'a<=b<=c': 'b<=c' is neither"),
        ("a<1, p99_wait<=1.1*sjf", "'p99_wait<=1.1*sjf': 'sjf' is neither a number"),
        ("p99_wait<=3 weeks", "'3 weeks' is neither a number"),
        ("p99_wait<=-3", "'-3' is neither a number"),
    ],
)
def test_the_error_names_the_invalid_requirement(text, message):
    with pytest.raises(InputError) as caught:
        parse_requirements(text, VARIANTS)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("sign", "kept"), [("<=", [True, True, False]), ("<", [True, False, False]), (">=", [False, True, True])]
)
def test_strict_and_inclusive_bounds_are_distinguished(sign, kept):
    (found,) = parse_requirements(f"x{sign}2*easy", VARIANTS)
    assert [found.holds(value, of_variant=5.0) for value in (9.0, 10.0, 11.0)] == kept


def test_unknown_values_violate_a_requirement():
    (found,) = parse_requirements("x<=easy", VARIANTS)
    assert not found.holds(float("nan"), 1.0)
    assert not found.holds(1.0, float("nan"))


METRICS = ["mean_wait_s", "p99_wait_s", "mean_response_s", "mean_bounded_slowdown", "users_jain"]


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("mean_wait", "mean_wait_s"),
        ("mean_wait_s", "mean_wait_s"),
        ("slowdown", "mean_bounded_slowdown"),
        ("p99 wait", "p99_wait_s"),
        ("users.jain", "users_jain"),
        ("Response", "mean_response_s"),
    ],
)
def test_metrics_are_found_by_their_labels(name, metric):
    assert metric_named(name, METRICS, "--by") == metric


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wait", "is ambiguous, expected one of mean_wait, p99_wait"),
        ("cost", "is not a metric of this world"),
        ("", "is not a metric"),
    ],
)
def test_unknown_and_ambiguous_metrics_are_rejected(name, message):
    with pytest.raises(InputError, match=message):
        metric_named(name, METRICS, "--by")
