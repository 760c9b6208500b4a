"""Run times as policies expect them, against EASY with predictions in plain Python."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.engine import Job, Moment, simulate
from tests.oracles.validator import violations_of
from tests.oracles.workloads import CHECK, Case, busy, cases
from windlass.experiment.worlds.batch.estimates import PROLONGED, ByHistory, exact
from windlass.experiment.worlds.batch.spec import BatchSetting
from windlass.experiment.worlds.batch.world import Batch
from windlass.io.traces import Workload
from windlass.io.traces.groups import Belongings, members_of
from windlass.model import InputError, JobTable
from windlass.order.site import POLICIES
from windlass.sim import replay


def plain_easy(jobs: JobTable, processors: int, users: list[int]) -> list[float]:
    """EASY by predictions, recomputed from the starts so far at each decision."""
    starts: dict[int, float] = {}
    predicted: dict[int, float] = {}
    end_known: dict[int, float] = {}
    held = np.minimum(jobs.run, jobs.request).tolist()

    def predict(row: int, now: float) -> float:
        ended = [(starts[other] + held[other], other) for other in starts if users[other] == users[row]]
        last = [held[other] for end, other in sorted(ended) if end <= now][-2:]
        known = users[row] >= 0 and len(last) == 2
        return min(float(jobs.request[row]), (last[0] + last[1]) / 2) if known else float(jobs.request[row])

    def expected_end(row: int, now: float) -> float:
        end, limit = end_known[row], starts[row] + float(jobs.request[row])
        for more in (*PROLONGED, math.inf):
            if end > now or end == limit:
                break
            end = min(limit, end + more)
        return end

    def rule(moment: Moment) -> list[Job]:
        for job in moment.waiting:
            predicted.setdefault(job.row, predict(job.row, moment.now))
        free, queue, chosen = moment.free, list(moment.waiting), []
        while queue and queue[0].procs <= free:
            chosen.append(queue.pop(0))
            free -= chosen[-1].procs
        if queue:
            holders = [(expected_end(held.row, moment.now), held.procs) for held in moment.running]
            holders += [(moment.now + predicted[job.row], job.procs) for job in chosen]
            shadow, spare = math.inf, free
            for end, procs in sorted(holders):
                shadow, spare = end, spare + procs
                if spare >= queue[0].procs:
                    break
            spare -= queue[0].procs
            for job in queue[1:]:
                before = moment.now + predicted[job.row] <= shadow
                if job.procs <= free and (before or job.procs <= spare):
                    free, spare = free - job.procs, spare - (0 if before else job.procs)
                    chosen.append(job)
        for job in chosen:
            starts[job.row], end_known[job.row] = moment.now, moment.now + predicted[job.row]
        return chosen

    return simulate(jobs, processors, rule)


def replay_by_history(name: str, case: Case, users: list[int]) -> list[float]:
    policy = ByHistory(POLICIES.find(name)(), case.jobs, np.array(users, np.int64), kill=True)
    replayed = replay(*case, policy)
    assert violations_of(replayed) == []
    return replayed.start.tolist()


@CHECK
@given(case=cases(most=20), data=st.data())
def test_easy_by_history_equals_the_definition(case: Case, data: st.DataObject) -> None:
    count = len(case.jobs)
    users = data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=count, max_size=count))
    assert replay_by_history("easy", case, users) == plain_easy(*case, users)


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("seed", range(3))
def test_easy_by_history_equals_the_definition_on_a_long_queue(seed: int) -> None:
    case = busy(seed, jobs=400, whole=seed != 1)
    users = np.random.default_rng(seed).integers(-1, 6, len(case.jobs)).tolist()
    assert replay_by_history("easy", case, users) == plain_easy(*case, users)


def test_exceeded_predictions_grow_up_to_the_request() -> None:
    """Two short jobs, then a long one of the same user: its predicted end is exceeded repeatedly."""
    jobs = JobTable.of([0, 0, 10, 11, 12, 200], [5, 5, 9000, 50, 1, 9], [1, 1, 1, 2, 1, 1], [9000] * 6)
    users = [3, 3, 3, 4, 3, 3]
    case = Case(jobs, 2)
    assert replay_by_history("easy", case, users) == plain_easy(*case, users)
    assert replay(jobs, 2, POLICIES.find("easy")()).end[2] == 9010


@pytest.mark.parametrize("name", ["conservative", "fcfs", "queue"])
def test_every_policy_runs_by_history(name: str) -> None:
    case = busy(7, jobs=300)
    replay_by_history(name, case, (np.arange(len(case.jobs)) % 5).tolist())


@CHECK
@given(case=cases())
def test_perfect_estimates_are_the_run_times(case: Case) -> None:
    known = exact(case.jobs, kill=True)
    found = replay(known, case.processors, POLICIES.find("easy")())
    assert violations_of(found) == []
    assert (found.end - found.start <= case.jobs.request * (1 + 1e-9)).all()


def setting(estimates: str) -> BatchSetting:
    fields = {"workload": {"lublin": {"jobs": 200, "load": 0.9}}, "policies": {"order": "easy"}}
    return BatchSetting.model_validate({**fields, "cluster": {"processors": 16}, "estimates": estimates})


def test_estimates_change_decisions_but_not_the_table() -> None:
    world, waits = Batch(), {}
    drawn = world.workload(setting("requested"), 1)
    of = Belongings(members_of(pl.Series(np.arange(200) % 3)))
    named = Workload(drawn.jobs, drawn.processors, of=of)
    for estimates in ("requested", "perfect", "history"):
        outcome = world.run(setting(estimates), 1, named, lambda share: None)
        waits[estimates] = outcome.metrics.mean_wait_s
        assert outcome.jobs["request_s"].to_list() == drawn.jobs.request.tolist()
    assert len(set(waits.values())) == 3


def test_history_needs_users() -> None:
    world = Batch()
    with pytest.raises(InputError, match="estimates is history, expected a log that names the user"):
        world.run(setting("history"), 1, world.workload(setting("history"), 1), lambda share: None)
