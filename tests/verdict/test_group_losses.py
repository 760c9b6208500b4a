"""The groups that wait longer under the best variant."""

from dataclasses import replace

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.report.made import outcome, results
from windlass.report.group_sentence import losses_sentence
from windlass.results import RECORDED
from windlass.results.group_losses import group_losses
from windlass.results.verdict import judge


def of_users(waits, users):
    made = outcome(range(len(waits)), waits, [9.0] * len(waits))
    return replace(made, jobs=made.jobs.with_columns(pl.Series("user", users)))


WAITS = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 99), st.sampled_from("abc")), min_size=2, max_size=20
)


@given(WAITS)
def test_losses_are_the_users_whose_mean_wait_is_longer(jobs):
    first, second, users = (list(each) for each in zip(*jobs, strict=True))
    made = results(("one", [of_users(first, users)]), ("two", [of_users(second, users)]))
    found = group_losses(made, judge(made), "user")
    assert found is not None
    best, other = (first, second) if sum(first) <= sum(second) else (second, first)
    assert found.best == ("one" if best is first else "two")
    means = {
        user: [sum(w for w, u in zip(waits, users, strict=True) if u == user) for waits in (best, other)]
        for user in users
    }
    assert {each.group for each in found.losses} == {user for user, (own, ref) in means.items() if own > ref}
    assert found.groups == len(means)


def test_the_recorded_schedule_is_the_reference():
    users = ["a", "b"]
    made = results(
        ("fcfs", [of_users([9.0, 9.0], users)]),
        ("easy", [of_users([1.0, 4.0], users)]),
        (RECORDED, [of_users([5.0, 2.0], users)]),
    )
    line = losses_sentence(group_losses(made, judge(made), "user"))
    assert line == "Under easy, the mean wait of 1 of 2 users is longer than under recorded: b (4 s, +2 s)."


def test_one_variant_has_no_reference():
    made = results(("fcfs", [of_users([9.0, 9.0], ["a", "b"])]))
    assert group_losses(made, judge(made), "user") is None
    assert losses_sentence(None) == ""
