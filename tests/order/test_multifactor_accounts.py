"""Slurm's multifactor with users in accounts, and with QOS, against a tree walked as documented."""

from __future__ import annotations

import itertools
import math
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.plain import Plain
from tests.oracles.workloads import CHECK, Case, busy
from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.model import InputError, JobTable, Owners
from windlass.order.site import POLICIES
from windlass.order.site.lib.accounts import users_by_account
from windlass.order.site.ownership import placed
from windlass.order.site.policies.queue import Queue
from windlass.order.site.priorities.multifactor import Multifactor
from windlass.sim import replay

FAIR = {"weight_age": 0, "weight_job_size": 0, "weight_fairshare": 1, "accounts": True}
#: Account and what they have had, of each user of an account.
tree = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([0, 0, 1, 2, 3, 4, 6, 12])), min_size=1, max_size=9
)


def factors(members: list[tuple[int, float]], **weights: object) -> list[float]:
    """Return Windlass's factor of a job of each user."""
    members = sorted(members)
    group = [account for account, _ in members]
    owners = Owners.of(len(members), user=range(len(members)), group=group)
    numbers, found = Multifactor(**(FAIR | weights)).placed(owners, ())
    assert found.user.tolist() == list(range(len(members)))
    view = SimpleNamespace(
        now=0.0,
        submit=np.zeros(len(members)),
        procs=np.ones(len(members)),
        processors=1,
        owner=np.array([found.user, found.group, found.queue]),
        used=np.array([float(had) for _, had in members]),
        given=numbers,
    )
    return [-float(Multifactor.score(view, row)) for row in range(len(members))]


def children(members: list[tuple[int, float]]) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for account, had in sorted(members):
        found.setdefault(account, []).append(float(had))
    return found


def walk_fair_tree(members: list[tuple[int, float]]) -> list[float]:
    """Fair Tree, depth first: siblings by level fair share, the greatest first; those of a tie as one family."""
    of = children(members)
    whole = sum(map(sum, of.values()))

    def level(share: float, use: float, parent: float) -> float:
        return math.inf if use == 0 else share / (use / parent)

    accounts = {account: level(1 / len(of), sum(used), whole) for account, used in of.items()}
    rank, found = len(members), {}
    for tied in sorted(set(accounts.values()), reverse=True):
        family = [
            (round(level(1 / len(of[account]), had, sum(of[account])), 9), account, number)
            for account in of
            if math.isclose(accounts[account], tied) or accounts[account] == tied
            for number, had in enumerate(of[account])
        ]
        if any((account, number) in found for _, account, number in family):
            continue
        for share in sorted({entry[0] for entry in family}, reverse=True):
            same = [entry[1:] for entry in family if entry[0] == share]
            found |= dict.fromkeys(same, rank / len(members))
            rank -= len(same)
    return [found[account, number] for account in of for number in range(len(of[account]))]


@CHECK
@given(members=tree)
def test_fair_tree_factors_follow_the_documentation(members):
    assert factors(members) == pytest.approx(walk_fair_tree(members))


@CHECK
@given(members=tree, dampening=st.sampled_from([1.0, 3.0]))
def test_the_classic_factor_uses_effective_use(members, dampening):
    of = children(members)
    whole = sum(map(sum, of.values()))
    wanted = []
    for used in of.values():
        for had in used:
            actual, parent = (had / whole, sum(used) / whole) if whole else (0.0, 0.0)
            effective = actual + (parent - actual) * (1 / len(used))
            share = 1 / len(of) * (1 / len(used))
            wanted.append(2 ** (-effective / share / dampening))
    assert factors(members, fair_tree=False, dampening=dampening) == pytest.approx(wanted)


def test_users_of_the_account_with_less_use_go_first():
    # Account 0 had 6, and its users 1 and 5; account 1 had 7, and its users 0 and 7.
    assert factors([(0, 1), (0, 5), (1, 0), (1, 7)]) == [1.0, 0.75, 0.5, 0.25]


def test_a_user_of_two_accounts_is_two_users():
    owners = Owners.of(5, user=[0, 0, 1, 0, -1], group=[1, 0, 1, 1, 0])
    found, account = users_by_account(owners)
    assert found.user.tolist() == [1, 0, 2, 1, -1]
    assert account.tolist() == [0, 1, 1, 2]
    assert len(account) == found.entries
    empty, none = users_by_account(Owners.of(0))
    assert (len(empty.user), none.tolist()) == (0, [0])


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_users_of_all_small_logs_are_numbered_by_account_and_then_by_user(jobs):
    for whose in itertools.product(itertools.product((-1, 0, 2), (-1, 0, 1)), repeat=jobs):
        user, group = zip(*whose, strict=True)
        found, account = users_by_account(Owners.of(jobs, user=user, group=group))
        members = sorted({(of, user_number) for user_number, of in whose if user_number >= 0})
        accounts = sorted({of for of, _ in members})
        numbers = [members.index((of, user_number)) if user_number >= 0 else -1 for user_number, of in whose]
        unknown = [len(accounts)] if min(user) < 0 else []
        assert found.user.tolist() == numbers
        assert account.tolist() == [accounts.index(of) for of, _ in members] + unknown
        assert found.group.tolist() == list(group)


@pytest.mark.parametrize("fair_tree", [True, False])
def test_accounts_has_no_effect_without_accounts_in_the_log(fair_tree):
    case = busy(3, jobs=150)
    owners = Owners.of(150, user=np.random.default_rng(1).integers(-1, 4, 150))
    weights = {"weight_age": 10.0, "fair_tree": fair_tree}
    found = []
    for more in ({}, {"accounts": True}):
        policy, numbered = placed_policy({"multifactor": weights | more}, owners)
        found.append(replay(*case, policy, owners=numbered).start.tolist())
    assert found[0] == found[1]
    assert found[0] == replay(*case, Queue({"multifactor": weights}), owners=owners).start.tolist()


def placed_policy(priority: object, owners: Owners, backfill: str = "easy", queues: tuple[str, ...] = ()):
    return placed(Queue(priority, backfill), owners, queues)


@pytest.mark.matrix(0)
@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
def test_compiled_python_and_pickled_policies_agree(backfill):
    case, rng = busy(5), np.random.default_rng(7)
    columns = (rng.integers(-1, high, len(case.jobs)) for high in (6, 3, 2))
    weights = FAIR | {"weight_age": 0.2, "half_life": 60.0, "weight_qos": 0.3, "qos": "a=1,b=4"}
    policy, owners = placed_policy(
        {"multifactor": weights}, Owners.of(len(case.jobs), *columns), backfill, ("a", "b")
    )

    class WithHalfLife(Plain):
        half_life = policy.half_life

    ways = policy, WithHalfLife(policy), pickle.loads(pickle.dumps(policy))
    found = [replay(*case, way, owners=owners).start.tolist() for way in ways]
    assert found[0] == found[1] == found[2]
    assert found[0] != replay(*case, Queue({"multifactor": weights}, backfill), owners=owners).start.tolist()


def test_jobs_of_a_higher_qos_go_first(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "submit,run,procs,user,queue\n0,50,4,a,low\n1,10,4,b,low\n2,10,4,c,high\n3,10,4,d,other\n"
    )
    weights = {"weight_age": 0, "weight_job_size": 0, "weight_fairshare": 0, "weight_qos": 9}

    def starts(**more: object) -> list[float]:
        order = {"priority": {"multifactor": weights | more}, "backfill": "none"}
        found = run(make_scenario({"workload": {"trace": str(path)}, "policies": {"order": order}}))
        return found.variants[0].outcomes[0].jobs["start_s"].to_list()

    assert starts() == [0, 50, 60, 70]
    assert starts(qos="high=5") == [0, 60, 50, 70]
    assert starts(qos="low=1 other=3, high=2") == [0, 70, 60, 50]


def test_accounts_of_a_log_have_equal_shares(tmp_path):
    """Ann and Bob of one account had much between them, and Carl alone less than both and more than either."""
    path = tmp_path / "log.csv"
    rows = ("0,30,4,ann,lab", "0,30,4,bob,lab", "0,40,4,carl,one", "1,5,4,ann,lab", "2,5,4,carl,one")
    path.write_text("submit,run,procs,user,group\n" + "\n".join(rows) + "\n")

    def last(accounts: bool) -> list[float]:
        weights = FAIR | {"accounts": accounts, "half_life": 1e12}
        order = {"priority": {"multifactor": weights}, "backfill": "none"}
        tree = {"workload": {"trace": str(path)}, "policies": {"order": order}}
        return run(make_scenario(tree)).variants[0].outcomes[0].jobs["start_s"].to_list()[3:]

    flat, nested = last(False), last(True)
    assert flat[0] < flat[1]
    assert nested[1] < nested[0]


@pytest.mark.parametrize("qos", ["high", "high=", "=3", "high=-1", "high=nan", "a=1 b=x"])
def test_invalid_qos_priorities_are_rejected(qos):
    with pytest.raises(InputError, match="expected a name and a priority of 0 or more, as in high=100"):
        POLICIES.make("queue", np.random.default_rng(1), priority={"multifactor": {"qos": qos}})


def test_a_policy_without_placed_parameters_is_unchanged():
    case = Case(JobTable.of([0], [1], [1]), 1)
    owners = Owners.of(len(case.jobs), user=[0])
    policy = Queue("sjf")
    assert placed(policy, owners, ()) == (policy, owners)
