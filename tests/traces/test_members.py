"""Users, groups and queues of jobs, as numbers with names and in the job table."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.io.traces import Trace, to_workload
from windlass.io.traces.groups import members_of

TEXTS = st.lists(st.one_of(st.none(), st.sampled_from(["ann", "bob", "", " ", "10", "9"])), max_size=8)
NUMBERS = st.lists(st.one_of(st.none(), st.integers(-2, 12)), max_size=8)


@given(values=TEXTS)
def test_text_labels_are_kept(values):
    found = members_of(pl.Series(values, dtype=pl.String))
    wanted = [value if value and value.strip() else None for value in values]
    assert (found.labels().to_list() if found else [None] * len(values)) == wanted
    assert found is None or list(found.names) == sorted(set(filter(None, wanted)))


@given(values=NUMBERS)
def test_negative_numbers_are_unknown(values):
    found = members_of(pl.Series(values, dtype=pl.Int64))
    wanted = [None if value is None or value < 0 else str(value) for value in values]
    assert (found.labels().to_list() if found else [None] * len(values)) == wanted
    # By number: 9 is before 10.
    assert found is None or list(found.names) == sorted(set(filter(None, wanted)), key=int)


@given(
    values=st.one_of(NUMBERS, st.lists(st.one_of(st.none(), st.sampled_from(["7", "10", "9"])), max_size=8))
)
def test_numbers_of_the_log_are_kept(values):
    """Negative numbers are unknown, also if written as text."""
    found = members_of(
        pl.Series(values, dtype=pl.Int64 if any(type(each) is int for each in values) else pl.String)
    )
    wanted = [-1 if value is None or int(value) < 0 else int(value) for value in values]
    assert (found.logged().tolist() if found else [-1] * len(values)) == wanted


@given(values=TEXTS.filter(lambda values: any(value in ("ann", "bob") for value in values)))
def test_names_are_numbered_from_one_in_their_order(values):
    found = members_of(pl.Series(values, dtype=pl.String))
    names = sorted({value for value in values if value and value.strip()})
    wanted = [names.index(value) + 1 if value in names else -1 for value in values]
    assert found.logged().tolist() == wanted


def trace(**columns: list) -> Trace:
    rows = {
        "job": [1, 2, 3],
        "submit": [0.0, 20.0, 10.0],
        "run": [5.0, 5.0, 5.0],
        "procs_allocated": [1, 1, 9],
        "procs_requested": [1, 1, 9],
        "request": [5.0, 5.0, 5.0],
    }
    return Trace("log", pl.DataFrame(rows | columns), 4)


def test_members_follow_the_selected_jobs():
    """Job 3 does not fit and is dropped; the other jobs keep their members."""
    found = to_workload(trace(group=["a", "b", "c"], queue=[7, None, 7], wait=[1.0, -1.0, 2.0]))
    assert found.of.group.labels().to_list() == ["a", "b"]
    assert found.of.queue.labels().to_list() == ["7", None]
    assert (found.of.user, found.of.partition, found.users) == (None, None, None)
    assert found.wait[0] == 1.0
    assert found.wait[1] != found.wait[1]


def test_empty_columns_give_no_members():
    found = to_workload(trace(group=[None] * 3, wait=[None] * 3))
    assert (found.of.group, found.wait) == (None, None)


@pytest.mark.parametrize("order", ["easy", ["easy", "fcfs"]])
def test_users_and_queues_are_in_the_job_table_and_the_fairness_metrics(tmp_path, order):
    path = tmp_path / "log.csv"
    path.write_text("submit,run,procs,user,queue\n0,10,2,ann,q1\n0,10,2,bob,q2\n1,10,2,bob,\n")
    found = run(make_scenario({"workload": {"trace": str(path)}, "policies": {"order": order}}))
    (outcome,) = found.variants[0].outcomes
    assert outcome.jobs.select("user", "queue").rows() == [("ann", "q1"), ("bob", "q2"), ("bob", None)]
    metrics = outcome.metrics
    # Slowdowns are 1, 2 and 2.9.
    users, queues = (1.0, (2 + 2.9) / 2), (1.0, 2.0)
    for jain, means in ((metrics.users_jain, users), (metrics.queues_jain, queues)):
        assert jain == pytest.approx(sum(means) ** 2 / (2 * sum(mean**2 for mean in means)))
    assert metrics.groups_jain != metrics.groups_jain
    assert metrics.starved == 0
