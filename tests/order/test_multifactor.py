"""Slurm's multifactor priority against a naive one, which sums all past use at each decision."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.engine import Job, Moment, simulate
from tests.oracles.plain import Plain
from tests.oracles.validator import violations_of
from tests.oracles.workloads import CHECK, Case, busy, cases
from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.model import InputError, Owners
from windlass.order.site import POLICIES
from windlass.order.site.policies.queue import Queue
from windlass.order.site.priorities.multifactor import Multifactor
from windlass.order.site.view import SiteView
from windlass.sim import replay

#: A part of the weights each way, so that no factor hides another.
SETTINGS = (
    {"weight_age": 0.0, "weight_job_size": 0.0},
    {"weight_age": 0.0, "weight_job_size": 0.0, "fair_tree": False, "half_life": 40.0},
    {"weight_age": 900.0, "weight_fairshare": 300.0, "half_life": 15.0, "max_age": 60.0},
    {
        "weight_fairshare": 2000.0,
        "fair_tree": False,
        "half_life": math.inf,
        "dampening": 3.0,
        "max_age": 30.0,
    },
    {"weight_fairshare": 500.0, "favor_small": True, "half_life": 100.0, "max_age": 200.0},
)


def owners_of(case: Case, seed: int, some_unknown: bool = True) -> list[int]:
    rng = np.random.default_rng([seed, len(case.jobs)])
    return rng.integers(-1 if some_unknown else 0, 4, len(case.jobs)).tolist()


def naive(case: Case, users: list[int], backfill: str, weights: dict[str, float]) -> list[float]:
    """The documentation's formulas, with use as one integral a job, from scratch at each decision."""
    jobs, processors = case
    held = np.minimum(jobs.run, jobs.request).tolist()
    defaults = {
        "weight_age": 1000.0,
        "weight_fairshare": 10000.0,
        "weight_job_size": 1000.0,
        "half_life": 7 * 86400.0,
        "max_age": 7 * 86400.0,
        "fair_tree": True,
        "dampening": 1.0,
        "favor_small": False,
    }
    of = {**defaults, **weights}
    started: dict[int, float] = {}
    everybody = sorted(set(range(max(users) + 1)) | set(users))

    def had(row: int, now: float) -> float:
        """Processor-seconds, each weighed by 2^(-age / half-life)."""
        begin, end = started[row], min(now, started[row] + held[row])
        procs, half = float(jobs.procs[row]), of["half_life"]
        if half == math.inf:
            return procs * (end - begin)
        return procs * half / math.log(2) * (2 ** (-(now - end) / half) - 2 ** (-(now - begin) / half))

    def priority(job: Job, now: float) -> float:
        used = {user: 0.0 for user in everybody}
        for row in started:
            used[users[row]] += had(row, now)
        own, whole = used[users[job.row]], sum(used.values())
        if of["fair_tree"]:
            # Rounding must not rank equal jobs: nearly equal scores count as equal.
            fair = sum(value >= own or math.isclose(value, own, rel_tol=1e-9) for value in used.values())
            fair /= len(used)
        else:
            fair = 2 ** (-(own / whole) / (1 / len(used)) / of["dampening"]) if whole else 1.0
        size = job.procs / processors
        factors = {
            "weight_age": min(1.0, (now - job.submit) / of["max_age"]),
            "weight_fairshare": fair,
            "weight_job_size": 1 - size if of["favor_small"] else size,
        }
        return sum(of[name] * factor for name, factor in factors.items())

    def rule(moment: Moment) -> list[Job]:
        # Sums that differ only by rounding are equal.
        queue = sorted(moment.waiting, key=lambda job: -round(priority(job, moment.now), 6))
        free, chosen = moment.free, []
        while queue and queue[0].procs <= free:
            chosen.append(queue.pop(0))
            free -= chosen[-1].procs
        if queue and backfill == "easy":
            holders = [(each.expected_end, each.procs) for each in moment.running]
            shadow, spare = math.inf, free
            for end, procs in sorted(holders + [(moment.now + job.request, job.procs) for job in chosen]):
                shadow, spare = end, spare + procs
                if spare >= queue[0].procs:
                    break
            spare -= queue[0].procs
            for job in queue[1:]:
                before = moment.now + job.request <= shadow
                if job.procs <= free and (before or job.procs <= spare):
                    free, spare = free - job.procs, spare - (0 if before else job.procs)
                    chosen.append(job)
        started.update({job.row: moment.now for job in chosen})
        return chosen

    return simulate(*case, rule)


def starts(case: Case, users: list[int], policy: object) -> list[float]:
    return replay(*case, policy, owners=Owners.of(len(case.jobs), user=users)).start.tolist()


@pytest.mark.matrix(0)
@pytest.mark.parametrize("backfill", ["none", "easy"])
@pytest.mark.parametrize("weights", SETTINGS, ids=range(len(SETTINGS)))
def test_starts_equal_the_documentation(weights, backfill):
    for seed in range(3):
        case = busy(seed, jobs=120, whole=False)
        users = owners_of(case, seed)
        policy = Queue({"multifactor": weights}, backfill)
        assert starts(case, users, policy) == naive(case, users, backfill, weights)


class WithHalfLife(Plain):
    """A policy called through Python that still provides its half-life."""

    def __init__(self, policy: Queue) -> None:
        super().__init__(policy)
        self.half_life = policy.half_life


@pytest.mark.parametrize(
    "backfill", ["easy", *(pytest.param(name, marks=pytest.mark.slow) for name in ("none", "conservative"))]
)
def test_compiled_python_and_pickled_policies_agree(backfill):
    case = busy(5)
    users, policy = owners_of(case, 5), Queue({"multifactor": SETTINGS[2]}, backfill)
    ways = policy, WithHalfLife(policy), pickle.loads(pickle.dumps(policy))
    found = [starts(case, users, way) for way in ways]
    assert found[0] == found[1] == found[2]


@CHECK
@given(case=cases(), half=st.sampled_from([1.0, 30.0, math.inf]))
def test_the_use_of_users_equals_a_sum_by_hand(case: Case, half: float):
    jobs, users = case.jobs, owners_of(case, 1)
    policy = WithHalfLife(Queue({"multifactor": {"half_life": half}}))
    done = replay(*case, policy, owners=Owners.of(len(jobs), user=users))
    assert violations_of(done) == []
    entries = Owners.of(len(jobs), user=users).entries
    for view in policy.views:
        wanted = np.zeros(entries)
        for row in np.flatnonzero(done.start < view.now).tolist():
            seconds = np.linspace(done.start[row], min(view.now, done.end[row]), 2001)
            weights = np.ones(2001) if half == math.inf else 2.0 ** (-(view.now - seconds) / half)
            wanted[users[row]] += jobs.procs[row] * float(np.trapezoid(weights, seconds))
        np.testing.assert_allclose(view.used, wanted, rtol=1e-4, atol=1e-6)
        _check_owners(view, users, jobs.job.tolist())


def _check_owners(view: SiteView, users: list[int], numbers: list[int]) -> None:
    for some in (view.waiting, view.running):
        assert some.user.tolist() == [users[numbers.index(job)] for job in some.job.tolist()]
        assert (some.group == -1).all()


def test_users_with_less_use_go_first():
    """Of two users the one with less use goes first, although its job arrived last."""
    policy = Queue({"multifactor": {"weight_age": 0, "weight_job_size": 0}}, "none")
    case = Case(type(busy(1).jobs).of([0, 1, 2], [50, 10, 10], [4, 4, 4]), 4)
    assert starts(case, [0, 0, 1], policy) == [0.0, 60.0, 50.0]
    assert starts(case, [0, 0, 0], policy) == [0.0, 50.0, 60.0]


def test_a_scenario_uses_the_users_of_its_log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("submit,run,procs,user\n0,50,4,ann\n1,10,4,ann\n2,10,4,bob\n")
    order = {"priority": {"multifactor": {"weight_age": 0, "weight_job_size": 0}}, "backfill": "none"}
    found = run(make_scenario({"workload": {"trace": str(path)}, "policies": {"order": order}}))
    assert found.variants[0].outcomes[0].jobs["start_s"].to_list() == [0.0, 60.0, 50.0]
    label = "queue(priority=multifactor(weight_age=0, weight_job_size=0), backfill=none)"
    assert found.variants[0].name == label


@pytest.mark.parametrize(
    ("parameters", "weights"),
    [
        ({"weight_age": -1}, "weight_age is -1, expected a number of 0 or more"),
        ({"half_life": 0}, "half_life is 0, expected a number above 0"),
        ({"dampening": math.nan}, "dampening is nan, expected a number above 0"),
        ({"weigth_age": 1}, "multifactor has no parameter 'weigth_age', it takes weight_age"),
    ],
)
def test_invalid_weights_are_rejected(parameters, weights):
    with pytest.raises(InputError, match=weights):
        POLICIES.make("queue", np.random.default_rng(1), priority={"multifactor": parameters})


@pytest.mark.parametrize("priority", [{}, {"sjf": {}, "saf": {}}, {"sjf": 3}, 7])
def test_invalid_priorities_are_rejected(priority):
    with pytest.raises(InputError, match="priority"):
        POLICIES.make("queue", np.random.default_rng(1), priority=priority)


def test_the_compiled_numbers_are_the_weights():
    given = Multifactor(1, 2, 3, 4, 5, False, 6, True).given.tolist()
    assert given == [1, 2, 3, 5, 0, 6, 1]
