"""The first line of ``windlass plan profile``: what the best plan costs, and the cheapest that is nearly as good."""

from windlass.cli.plan.profile_output import best_plans
from windlass.model.queries import Component, QueryPlan


def lead(*plans):
    return best_plans([QueryPlan(accuracy, (Component("a", cores, 0.0),)) for accuracy, cores in plans])


def test_the_cheapest_plan_within_a_tenth_is_named():
    assert lead((1.0, 2.0), (0.9, 0.5), (0.95, 1.0), (0.89, 0.1)).endswith(
        "has 1.000 (F1 of tracks) for 2.000 cores; 90 % of that, 0.900, needs 0.500 cores (25 %)."
    )


def test_without_a_cheaper_plan_that_is_nearly_as_good_it_says_so():
    expected = (
        "The most accurate plan has 0.800 (F1 of tracks) for 2.000 cores; "
        "every plan with fewer cores has less than 90 % of that."
    )
    assert lead((0.8, 2.0), (0.71, 1.0)) == expected
    assert lead((0.8, 2.0), (0.8, 3.0)) == expected


def test_plans_without_accuracy_have_no_best():
    assert (
        lead((0.0, 2.0), (0.0, 1.0)) == "No plan follows any track: the accuracy (F1 of tracks) of each is 0."
    )
