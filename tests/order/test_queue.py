"""The queue policy: every pair of priority and backfill against definitions, and named pairs."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from tests.oracles.engine import Job, Moment, simulate
from tests.oracles.plain import Plain
from tests.oracles.validator import violations_of
from tests.oracles.workloads import CHECK, Case, busy, cases
from windlass.model import InputError
from windlass.order.site import POLICIES
from windlass.order.site.policies.conservative import Conservative
from windlass.order.site.policies.queue import Queue
from windlass.sim import replay

BACKFILLS = ("none", "easy", "conservative")
WIDEST = '''
class Widest:
    """The widest goes first."""

    name = "widest"

    @staticmethod
    def score(view, row):
        return -view.procs[row]
'''


def _wfp3(job: Job, now: float) -> float:
    return -(((now - job.submit) / max(job.request, 1.0)) ** 3) * job.procs


def _unicep(job: Job, now: float) -> float:
    return -(now - job.submit) / (max(math.log2(job.procs), 0.001) * max(job.request, 1.0))


def _f1(job: Job, now: float) -> float:
    return math.log10(max(job.request, 1.0)) * job.procs + 870.0 * math.log10(max(job.submit, 1.0))


SCORES: dict[str, Callable[[Job, float], float]] = {
    "fcfs": lambda job, now: 0.0,
    "sjf": lambda job, now: job.request,
    "saf": lambda job, now: job.request * job.procs,
    "wfp3": _wfp3,
    "unicep": _unicep,
    "f1": _f1,
}
EXACT = ("fcfs", "sjf", "saf")


def naive(case: Case, priority: str, backfill: str, order: str | None = None) -> list[float]:
    """No backfilling or EASY, written out: the first that do not fit keep those behind from delaying them."""

    def rule(moment: Moment) -> list[Job]:
        queue = sorted(moment.waiting, key=lambda job: SCORES[priority](job, moment.now))
        free, chosen = moment.free, []
        while queue and queue[0].procs <= free:
            chosen.append(queue.pop(0))
            free -= chosen[-1].procs
        if not queue or backfill == "none":
            return chosen
        holders = [(held.expected_end, held.procs) for held in moment.running]
        shadow, spare = math.inf, free
        for end, procs in sorted(holders + [(moment.now + job.request, job.procs) for job in chosen]):
            shadow, spare = end, spare + procs
            if spare >= queue[0].procs:
                break
        spare -= queue[0].procs
        behind = queue[1:]
        if order is not None:
            behind.sort(key=lambda job: SCORES[order](job, moment.now))
        for job in behind:
            before = moment.now + job.request <= shadow
            if job.procs <= free and (before or job.procs <= spare):
                free, spare = free - job.procs, spare - (0 if before else job.procs)
                chosen.append(job)
        return chosen

    return simulate(*case, rule)


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("backfill", ["none", "easy"])
@pytest.mark.parametrize("priority", EXACT)
@CHECK
@given(case=cases())
def test_starts_equal_the_definition(case: Case, priority: str, backfill: str) -> None:
    assert replay(*case, Queue(priority, backfill)).start.tolist() == naive(case, priority, backfill)


@pytest.mark.matrix(0)
@pytest.mark.parametrize("backfill", ["none", "easy"])
@pytest.mark.parametrize("priority", SCORES)
def test_starts_of_a_long_queue_equal_the_definition(priority: str, backfill: str) -> None:
    for seed in range(3):
        case = busy(seed, jobs=200, whole=False)
        assert replay(*case, Queue(priority, backfill)).start.tolist() == naive(case, priority, backfill)


@pytest.mark.matrix(0)
@pytest.mark.parametrize(("priority", "order"), [("fcfs", "sjf"), ("fcfs", "saf"), ("saf", "fcfs")])
@CHECK
@given(case=cases())
def test_jobs_are_backfilled_in_the_order_of_a_second_priority(case: Case, priority: str, order: str) -> None:
    policy = Queue(priority, {"easy": {"order": order}})
    replayed = replay(*case, policy)
    assert replayed.start.tolist() == naive(case, priority, "easy", order)
    assert replayed.start.tolist() == replay(*case, Plain(policy)).start.tolist()


@pytest.mark.matrix(0)
@pytest.mark.parametrize("order", ["sjf", pytest.param("wfp3", marks=pytest.mark.slow)])
def test_jobs_of_a_long_queue_are_backfilled_in_the_order_of_a_second_priority(order: str) -> None:
    cases_ = [busy(seed, jobs=200, whole=False) for seed in range(3)]
    found = [replay(*case, Queue("fcfs", {"easy": {"order": order}})).start.tolist() for case in cases_]
    assert found == [naive(case, "fcfs", "easy", order) for case in cases_]
    assert found != [replay(*case, Queue("fcfs", "easy")).start.tolist() for case in cases_]


@pytest.mark.matrix
@pytest.mark.parametrize(("name", "backfill"), [("fcfs", "none"), ("easy", "easy"), ("conservative",) * 2])
@CHECK
@given(case=cases())
def test_a_policy_name_equals_its_priority_and_backfill(case: Case, name: str, backfill: str) -> None:
    short, pair = replay(*case, POLICIES.find(name)()), replay(*case, Queue("fcfs", backfill))
    assert short.start.tolist() == pair.start.tolist()
    assert short.why.tolist() == pair.why.tolist()


@pytest.mark.matrix(0)
@CHECK
@given(case=cases())
def test_queue_sjf_equals_the_policy_sjf(case: Case) -> None:
    assert (
        replay(*case, Queue("sjf", "none")).start.tolist()
        == replay(*case, POLICIES.find("sjf")()).start.tolist()
    )


@pytest.mark.matrix(0)
@pytest.mark.parametrize("priority", ["sjf", pytest.param("wfp3", marks=pytest.mark.slow)])
@CHECK
@given(case=cases())
def test_conservative_keeps_its_promises_in_any_order(case: Case, priority: str) -> None:
    policy = Plain(Queue(priority, "conservative"))
    replayed = replay(*case, policy)
    assert violations_of(replayed) == []
    promised: dict[int, float] = {}
    for view in policy.views:
        for job, note in zip(view.waiting.job.tolist(), view.waiting.note.tolist(), strict=True):
            if not math.isnan(note):
                assert note <= promised.setdefault(job, note)
                promised[job] = note
    starts = dict(zip(case.jobs.job.tolist(), replayed.start.tolist(), strict=True))
    assert all(starts[job] <= by for job, by in promised.items())


@pytest.mark.matrix(0)
def test_with_exact_requests_priorities_do_not_change_conservative() -> None:
    jobs, processors = busy(3, whole=False)
    exact = type(jobs).of(jobs.submit, jobs.run, jobs.procs, job=jobs.job)
    policies = Conservative(), Queue("sjf", "conservative")
    starts = [replay(exact, processors, policy).start.tolist() for policy in policies]
    assert starts[0] == starts[1]


@pytest.mark.matrix(0)
@pytest.mark.parametrize("backfill", BACKFILLS)
def test_compiled_python_and_pickled_policies_agree(backfill: str) -> None:
    case, policy = busy(5), Queue("sjf", backfill)
    ways = policy, Plain(policy), pickle.loads(pickle.dumps(policy))
    starts = [replay(*case, way).start.tolist() for way in ways]
    assert starts[0] == starts[1] == starts[2]


@pytest.mark.slow
def test_a_user_priority_works_with_every_backfill(tmp_path: Path) -> None:
    path = tmp_path / "widest.py"
    path.write_text(WIDEST)
    for backfill in BACKFILLS:
        policy = POLICIES.make("queue", np.random.default_rng(1), priority=str(path), backfill=backfill)
        assert violations_of(replay(*busy(2), policy)) == []


def test_unknown_backfills_and_priorities_are_rejected() -> None:
    with pytest.raises(InputError, match="backfill is 'eazy', expected one of none, easy, conservative"):
        POLICIES.make("queue", np.random.default_rng(1), backfill="eazy")
    for value, message in (
        (
            {"none": {"order": "sjf"}},
            "backfill: none takes no parameters, expected none, or one of easy with an order",
        ),
        ({"easy": {"ordr": "sjf"}}, r"backfill: easy is {'ordr': 'sjf'}, expected {'order': PRIORITY}"),
        (
            {"easy": {"order": "multifactor"}},
            "order is 'multifactor', expected a priority without parameters",
        ),
        ({"easy": {}, "none": {}}, "expected a name, or {name: {parameter: value}}"),
    ):
        with pytest.raises(InputError, match=message):
            POLICIES.make("queue", np.random.default_rng(1), backfill=value)
    with pytest.raises(
        InputError, match=r"priority: unknown policy 'sjff', expected one of .*did you mean 'sjf'"
    ):
        POLICIES.make("queue", np.random.default_rng(1), priority="sjff")
