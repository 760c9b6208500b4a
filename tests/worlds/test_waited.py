"""The explanation of a job's wait matches the tables of the run."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.experiment.worlds.batch.explainer import BatchExplainer
from windlass.experiment.worlds.batch.spec import BatchSetting
from windlass.experiment.worlds.batch.world import Batch
from windlass.io.traces import Workload
from windlass.io.traces.groups import Belongings, members_of
from windlass.model import InputError, JobTable
from windlass.results.explanation import WaitExplanation

PROCESSORS = 8
POLICIES = [
    "fcfs",
    "sjf",
    "easy",
    "conservative",
    {"queue": {"priority": "sjf", "backfill": "easy"}},
    {"queue": {"priority": "sjf", "backfill": "conservative"}},
    {"queue": {"priority": "sjf", "backfill": "none"}},
]


def drawn(seed: int, jobs: int = 40) -> JobTable:
    rng = np.random.default_rng(seed)
    run = rng.integers(0, 12, jobs)
    return JobTable.of(
        submit=np.sort(rng.integers(0, 80, jobs)),
        run=run,
        procs=rng.integers(1, PROCESSORS + 1, jobs),
        request=run + rng.integers(0, 9, jobs) * rng.integers(0, 2, jobs),
        job=rng.permutation(jobs) + 100,
    )


def setting(policy: object, **more: object) -> BatchSetting:
    return BatchSetting.model_validate({"workload": {"lublin": {}}, "policies": {"order": policy}} | more)


def explain(
    seed: int, policy: object, job: int, **more: object
) -> tuple[WaitExplanation, dict[str, np.ndarray]]:
    """Return the explanation of a job of a random run, and the columns of that run's table."""
    workload = Workload(drawn(seed), PROCESSORS, of=Belongings(members_of(pl.Series(np.arange(40) % 3))))
    own = setting(policy, **more)
    table = Batch().run(own, 1, workload, lambda share: None).jobs
    columns = {name: table[name].to_numpy() for name in table.columns}
    return BatchExplainer().waited(own, 1, workload, int(columns["job"][job])), columns


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("policy", POLICIES, ids=str)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), row=st.integers(0, 39))
def test_the_explanation_matches_the_job_table(policy, seed, row):
    waited, table = explain(seed, policy, row)
    job = table["job"][row]
    assert (waited.job, waited.submit, waited.start, waited.why) == (
        job,
        table["submit_s"][row],
        table["start_s"][row],
        table["why"][row],
    )
    recorded = {(each.job, moment.at, each.why) for moment in waited.moments for each in moment.started}
    rows = [other for other in range(40) if waited.submit <= table["start_s"][other] <= waited.start]
    meanwhile = {
        (int(table["job"][other]), float(table["start_s"][other]), table["why"][other]) for other in rows
    }
    assert recorded <= meanwhile
    # Decisions after the start, or before the arrival at the same instant, are not explained.
    assert all(at in (waited.submit, waited.start) for _, at, _ in meanwhile - recorded)
    ranks = {int(number): place for place, number in enumerate(table["job"])}
    assert all(each.before == (ranks[each.job] < row) for moment in waited.moments for each in moment.started)


@pytest.mark.parametrize("policy", ["easy", "sjf"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), row=st.integers(0, 39))
def test_idle_processors_and_queue_positions_match_the_table(policy, seed, row):
    waited, table = explain(seed, policy, row)
    submit, start, end, procs = (table[name] for name in ("submit_s", "start_s", "end_s", "procs"))
    seen: list[float] = []
    for moment in waited.moments:
        # A job of length 0 may start and end at this instant, before or after this decision.
        instant = ((start == moment.at) & (end == moment.at)).any() or moment.at in seen
        seen.append(moment.at)
        if instant:
            continue
        holds = (start < moment.at) & (end > moment.at)
        assert moment.idle == PROCESSORS - procs[holds].sum()
        assert moment.running == holds.sum()
        earlier = np.arange(40) < row
        assert moment.place == (earlier & (submit <= moment.at) & (start >= moment.at)).sum()
        assert moment.left == moment.idle - sum(each.procs for each in moment.started)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), row=st.integers(0, 39))
def test_conservative_reserves_on_arrival_and_never_starts_later(seed, row):
    waited, _ = explain(seed, "conservative", row)
    promises = [moment.promise for moment in waited.moments[:-1]]
    assert not any(map(math.isnan, promises))
    assert promises == sorted(promises, reverse=True)
    assert all(waited.start <= promise for promise in promises)
    assert math.isnan(waited.moments[-1].promise)


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("priority", [None, "fcfs"])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), row=st.integers(0, 39))
def test_easy_reserves_for_the_head_and_never_starts_it_later(priority, seed, row):
    policy = "easy" if priority is None else {"queue": {"priority": priority, "backfill": "easy"}}
    waited, _ = explain(seed, policy, row)
    for moment in waited.moments[:-1]:
        started_before = sum(each.before for each in moment.started)
        assert (moment.place == started_before) == (not math.isnan(moment.promise))
        assert not moment.promise < waited.start


@pytest.mark.matrix(0)
def test_a_priority_reserves_for_its_own_head():
    # 8 processors until 10: the shorter job is the head of sjf, although the other arrived first.
    jobs = JobTable.of(submit=[0, 1, 2], run=[10, 9, 5], procs=[8, 8, 8])
    workload = Workload(jobs, PROCESSORS)
    own = setting({"queue": {"priority": "sjf", "backfill": "easy"}})
    second, third = (BatchExplainer().waited(own, 1, workload, job) for job in (2, 3))
    assert third.moments[0].promise == 10.0
    assert math.isnan(second.moments[1].promise)
    assert second.moments[-2].promise == third.start + 5


@pytest.mark.parametrize("estimates", ["history", "perfect"])
@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_the_explanation_uses_the_estimates_of_the_run(estimates, policy):
    for row in range(0, 40, 7):
        waited, table = explain(3, policy, row, estimates=estimates)
        assert waited.start == table["start_s"][row]
        assert waited.request == table["request_s"][row]
        assert waited.expected <= waited.request


def test_the_explanation_lists_ended_jobs():
    jobs = JobTable.of(submit=[0, 0, 1], run=[5, 9, 2], procs=[4, 4, 8])
    waited = BatchExplainer().waited(setting("fcfs"), 1, Workload(jobs, PROCESSORS), 3)
    assert [moment.ended for moment in waited.moments] == [(), (1,), (2,)]


def test_an_unknown_job_is_an_error():
    workload = Workload(JobTable.of(submit=[0, 1, 2], run=[1, 1, 1], procs=[1, 1, 1]), PROCESSORS)
    with pytest.raises(InputError, match="job 4 is not among the 3 of the workload"):
        BatchExplainer().waited(setting("easy"), 1, workload, 4)
