"""Each check fails on a policy that violates only its rule, and passes on a valid one."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from tests.checks import broken
from tests.checks.broken import Registry
from windlass.admit.view import Admission
from windlass.experiment.checks import CheckError
from windlass.experiment.checks import place as place_checks
from windlass.experiment.checks import scale as scale_checks
from windlass.experiment.checks.cases import RecordedDecision, Recorder
from windlass.experiment.checks.order import fleet as fleet_checks
from windlass.experiment.checks.order import site as site_checks
from windlass.experiment.checks.suite import ALWAYS, checks_of
from windlass.model import PolicyError
from windlass.order.fleet import JobOrder
from windlass.plan import Plan
from windlass.scale import Totals
from windlass.share.view import Share, Sharing

BASES = {
    "admit": broken.Admits,
    "scale": broken.Scales,
    "plan": broken.Plans,
    "share": broken.Shares,
    "order.site": broken.Orders,
    "order.fleet": broken.OrdersAll,
    "place": broken.Places,
}
#: For each fault: the check that fails, and its message.
COMMON = {
    broken.Needs: ("parameters_have_defaults", "parameter depth has no default"),
    broken.Unseeded: ("seeded", "the same seed gives different decisions"),
    broken.Global: ("seeded", "NumPy's global generator"),
    broken.Forgetful: ("picklable", "a pickled copy decides differently"),
    broken.Touches: ("leaves_the_view_alone", "changes the view"),
}


def checks(decision):
    """The checks of a decision by name, without those that need no cases."""
    return {check.__name__.removeprefix("check_"): check for check in checks_of(decision)[len(ALWAYS) :]}


def registry(decision, *fault, **methods):
    cls = type("Made", (*fault, BASES[decision]), {"name": "made", **methods})
    cls.__module__, cls.__qualname__ = __name__, "Made"
    globals()["Made"] = cls
    return Registry(cls, decision)


@pytest.mark.matrix
@pytest.mark.parametrize("decision", [each for each in BASES if each not in ("order.site", "place")])
def test_a_valid_policy_passes_each_check(decision):
    """For `order.site` and `place`, the registered policies pass in test_policies."""
    for check in checks(decision).values():
        check(registry(decision), "made")


@pytest.mark.matrix
@pytest.mark.parametrize("decision", BASES)
@pytest.mark.parametrize("fault", COMMON, ids=lambda cls: cls.__name__)
def test_each_common_check_fails_on_its_fault(decision, fault):
    if (decision, fault) == ("share", broken.Touches):
        pytest.skip("a view of sharing has nothing that can be changed")
    name, problem = COMMON[fault]
    with pytest.raises(CheckError, match=f"made: .*({problem})"):
        checks(decision)[name](registry(decision, fault), "made")


def answers(decision, when, answer):
    """A policy that returns another answer for views that meet a condition."""

    def decide(self, view):
        self.calls += 1
        return answer(view) if when(view, self) else self.answer(view, odd=False)

    return registry(decision, decide=decide)


INVALID_ANSWERS = [
    (
        "admit",
        "can_be_carried_out",
        lambda view, _: np.isnan(view.metrics).all(),
        lambda view: Admission(None, "why"),
    ),
    ("admit", "can_be_carried_out", lambda view, _: np.isnan(view.busy), lambda view: Admission(True, "")),
    (
        "admit",
        "can_be_carried_out",
        lambda view, _: np.isnan(view.metrics[1]),
        lambda view: Admission(1, "why"),
    ),
    (
        "admit",
        "ignores_the_clock",
        lambda view, _: view.now > 100.0,
        lambda view: Admission(True, "late"),
    ),
    (
        "scale",
        "can_be_carried_out",
        lambda view, _: len(view.history) > 150,
        lambda view: Totals((21, 0, 0), ("why",) * 3),
    ),
    ("scale", "can_be_carried_out", lambda view, _: True, lambda view: Totals((0, 0, 0), ("why", "", "why"))),
    ("plan", "can_be_carried_out", lambda view, _: len(view.queries) > 5, lambda view: Plan((), ())),
    (
        "plan",
        "can_be_carried_out",
        lambda view, _: len(view.queries) == 12,
        lambda view: Plan((0,) * 12, ("why",) * 12),
    ),
    (
        "share",
        "can_be_carried_out",
        lambda view, _: bool(view.running and view.waiting),
        lambda view: Sharing((Share(view.running[0].job, view.waiting[0].job, 10, ""),)),
    ),
    (
        "share",
        "answers_an_empty_view",
        lambda view, _: not view.running,
        lambda view: Sharing((Share(1, 2, 10, "why"),)),
    ),
    (
        "share",
        "answers_an_empty_view",
        lambda view, _: bool(view.running) and not view.waiting,
        lambda view: Sharing((Share(1, 2, 10, "why"),)),
    ),
    (
        "order.fleet",
        "gives_reasons",
        lambda view, _: len(view.job) > 3,
        lambda view: JobOrder(np.arange(len(view.job)), ""),
    ),
]


@pytest.mark.parametrize(("decision", "name", "when", "answer"), INVALID_ANSWERS)
def test_an_invalid_answer_fails_the_check(decision, name, when, answer):
    with pytest.raises(CheckError, match="made: "):
        checks(decision)[name](answers(decision, when, answer), "made")


def test_a_later_change_to_a_view_fails_the_check():
    def look(self, view):
        self.kept.append(view)
        if len(self.kept) == 100:
            self.kept[2].metrics[3] = 99.0

    with pytest.raises(CheckError, match="changes the view"):
        checks("admit")["leaves_the_view_alone"](registry("admit", look=look), "made")


def test_polls_that_change_a_decision_fail_the_check():
    def odd(self, view):
        self.kept += [view.now] * (not view.due)
        return view.due and len(self.kept) > 9

    with pytest.raises(CheckError, match="after calls between two decisions"):
        checks("scale")["polls_change_no_decision"](registry("scale", odd=odd), "made")
    seen = []

    def look(self, view):
        seen.append((view.now, view.look, view.due))

    checks("scale")["polls_change_no_decision"](registry("scale", look=look), "made")
    expected = []
    for step in range(40):
        at = 600.0 * step
        expected += [(at, 10.0, True)] * 2 + [(at + 10.0, 10.0, False), (at + 40.0, 10.0, False)]
    assert seen == expected
    many = answers("scale", lambda view, _: not view.due, lambda view: Totals((99, 0, 0), ("why",) * 3))
    with pytest.raises(PolicyError, match="99 instances"):
        checks("scale")["polls_change_no_decision"](many, "made")


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"jobs": (1, 2), "reasons": ("one",)}, "2 jobs but 1 reasons"),
        ({"jobs": (1,), "reasons": ("",)}, "without a"),
    ],
)
def test_starts_without_a_reason_fail_the_check(monkeypatch, changed, problem):
    answer = SimpleNamespace(jobs=changed["jobs"], reasons=lambda: changed["reasons"])
    seen = RecordedDecision(None, b"", answer)
    monkeypatch.setattr(site_checks, "_starts", lambda recorder, jobs: recorder.decisions.append(seen))
    with pytest.raises(CheckError, match=problem):
        site_checks.check_gives_reasons(registry("order.site"), "made")


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"why": np.array([0])}, "1 reasons for 2 starts"),
        ({"reasons": ("moved", "")}, "without a reason"),
    ],
)
def test_tasks_without_a_reason_fail_the_check(monkeypatch, changed, problem):
    answer = {"starts": np.zeros((2, 4)), "why": np.array([0, 1]), "reasons": ("moved", "stayed")} | changed
    seen = RecordedDecision(None, b"", SimpleNamespace(**answer))
    monkeypatch.setattr(place_checks, "_run", lambda recorder, seed: recorder.decisions.append(seen))
    with pytest.raises(CheckError, match=problem):
        place_checks.check_gives_reasons(registry("place"), "made")


def test_a_placement_that_depends_on_earlier_ones_fails_the_check(monkeypatch):
    """The check asks a new policy for the answer to every seventh view."""
    calls, fault = [], [-1, -1]

    def run(recorder, seed):
        for at in range(15):
            answer = SimpleNamespace(starts=np.zeros(2), moves=np.zeros(2))
            recorder.decisions.append(
                RecordedDecision(None, pickle.dumps(SimpleNamespace(now=float(at))), answer)
            )

    def decide(self, view):
        calls.append(view.now)
        starts, moves = (np.zeros(2) + (view.now == at) for at in fault)
        return SimpleNamespace(starts=starts, moves=moves)

    monkeypatch.setattr(place_checks, "_run", run)
    made = registry("place", decide=decide)
    for at, stateless in (((-1, -1), True), ((7, -1), False), ((-1, 14), False), ((8, 8), True)):
        calls.clear()
        fault[:] = at
        if stateless:
            place_checks.check_stateless(made, "made")
            assert calls == [0.0, 7.0, 14.0]
        else:
            with pytest.raises(CheckError, match="a new policy answers differently at"):
                place_checks.check_stateless(made, "made")


ENDLESS = [
    (place_checks, "_run", "check_no_task_starves", [(seed, seed % 2 == 0) for seed in range(7, 13)]),
    (site_checks, "_starts", "check_no_job_starves", list(range(6, 10))),
    (fleet_checks, "run_ordered", "check_orders_all_jobs", list(range(5, 9))),
]


@pytest.mark.parametrize(("module", "runner", "check", "seeds"), ENDLESS, ids=lambda each: str(each)[-20:])
def test_a_job_that_never_ends_fails_the_check_in_any_run(monkeypatch, module, runner, check, seeds):
    decision = module.__name__.removeprefix("windlass.experiment.checks.")
    calls = []
    if module is not place_checks:
        monkeypatch.setattr(module, "workload", lambda seed: seed)

    def run(*given, drops=None):
        calls.append((given[1], drops) if drops is not None else next(g for g in given if isinstance(g, int)))
        return SimpleNamespace(end=np.array([1.0, np.inf if len(calls) == late else 2.0]))

    monkeypatch.setattr(module, runner, run)
    for late in (0, 1, len(seeds)):
        calls.clear()
        if late:
            with pytest.raises(CheckError, match="a job never ends"):
                getattr(module, check)(registry(decision), "made")
        else:
            getattr(module, check)(registry(decision), "made")
            assert calls == seeds


@pytest.mark.parametrize("fault", ["", "start", "why"])
def test_an_order_site_policy_called_by_hand_must_give_the_simulators_schedule(monkeypatch, fault):
    def starts(policy, jobs):
        by_hand = isinstance(policy, Recorder)
        start = np.array([0.0, 1.0 + (by_hand and fault == "start")])
        # Codes may differ if the reasons are the same.
        reasons = ("a", "b") if by_hand else ("b", "a")
        why = [0, 1] if by_hand else [1, 0]
        return SimpleNamespace(
            start=start, reasons=reasons, why=[0, 0] if by_hand and fault == "why" else why
        )

    monkeypatch.setattr(site_checks, "_starts", starts)
    check = site_checks.check_same_by_decide
    if not fault:
        check(registry("order.site"), "made")
        return
    with pytest.raises(CheckError, match="at other times" if fault == "start" else "other reasons"):
        check(registry("order.site"), "made")


@pytest.mark.parametrize("fault", [None, False, True])
def test_an_order_fleet_policy_called_by_hand_must_give_the_simulators_schedule(monkeypatch, fault):
    def run(case, policy, by_seconds):
        by_hand = isinstance(policy, Recorder)
        return SimpleNamespace(begun=np.array([0.0, float(by_hand and by_seconds is fault)]))

    monkeypatch.setattr(fleet_checks, "run_ordered", run)
    if fault is None:
        fleet_checks.check_same_by_decide(registry("order.fleet"), "made")
        return
    with pytest.raises(CheckError, match="at other times"):
        fleet_checks.check_same_by_decide(registry("order.fleet"), "made")


def test_scale_cases_have_a_growing_history_with_a_jump():
    seen = []
    for view, _ in scale_checks.CASES.decisions(SimpleNamespace(decide=seen.append), 3):
        assert len(view.history) == int(view.now / 600.0) + 1
    assert [view.now for view in seen] == [6000.0 * step for step in range(20)]
    whole = seen[-1].history[:, 0]
    assert 30.0 < whole[100] / whole[99] < 60.0
