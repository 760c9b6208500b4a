"""A policy with an invalid optional capability fails its check with an error of one line."""

import re

import numpy as np
import pytest

from tests.checks.test_broken import checks, registry
from tests.checks.test_broken_dispatch import dispatching
from windlass.experiment.checks import CheckError
from windlass.experiment.checks.capabilities import require_positive
from windlass.model import InputError, Owners
from windlass.order.site.compiled import STARTS_NONE


def assert_check_fails(decision, check, problem, policies):
    with pytest.raises(CheckError, match=re.escape(problem)) as error:
        checks(decision)[check](policies, "made")
    assert str(error.value).startswith("made: ")
    assert "\n" not in str(error.value)


class Learner:
    """Counts what it observes, and saves the count."""

    def __init__(self):
        super().__init__()
        self.seen = 0

    def observed(self, checkpoint):
        self.seen += 1

    def saved(self):
        return f"seen {self.seen:04d}"

    def restore(self, text):
        if not re.fullmatch(r"seen \d{4}", text):
            raise InputError("what was learned cannot be read")
        self.seen = int(text[5:])


def _fails(self, text):
    raise KeyError("seen")


def _forgets(self, text):
    Learner.restore(self, text)
    self.seen += 1


def _changes(self, text):
    self.seen = int(text[5:] or 0)
    if len(text) < 9:
        raise InputError("what was learned cannot be read")


def _fails_on_half(self, text):
    self.seen = int(text[5:])


LEARNERS = [
    ({"saved": lambda self: 5}, "saved() returns a int, expected text"),
    ({"restore": _fails}, "restore() of the text from saved() raises KeyError: 'seen'"),
    ({"restore": _forgets}, "saved() returns another text after restore()"),
    ({"restore": lambda self, text: None}, "saved() returns another text after restore()"),
    ({"restore": _changes}, "restore() of the first half of the text from saved() changes the policy"),
    ({"restore": _fails_on_half}, "raises a ValueError, expected an InputError"),
]


def test_a_learner_passes_each_check():
    for check in checks("share").values():
        check(registry("share", Learner), "made")


@pytest.mark.parametrize(("methods", "problem"), LEARNERS, ids=range(len(LEARNERS)))
def test_a_faulty_save_or_restore_fails_the_check(methods, problem):
    # The policy lets some jobs share, so that it observes measurements.
    some = {"odd": lambda self, view: True}
    assert_check_fails(
        "share", "saved_state_is_restored", problem, registry("share", Learner, **some, **methods)
    )


@pytest.mark.parametrize(
    ("methods", "problem"),
    [
        ({"observed": 3}, "observed is not a method"),
        ({"saved": lambda self: ""}, "has saved() and no restore()"),
        ({"restore": lambda self, text: None}, "has restore() and no saved()"),
    ],
)
def test_an_incomplete_learner_fails_the_check(methods, problem):
    assert_check_fails("share", "learns", problem, registry("share", **methods))


@pytest.mark.parametrize("idle", [-1.0, np.nan, np.inf, "soon"])
def test_an_invalid_idle_time_fails_the_check(idle):
    assert_check_fails(
        "scale", "idle_is_a_time", f"made: idle is {idle!r}, expected", registry("scale", idle=idle)
    )


@pytest.mark.parametrize("decision", ["place", "plan"])
@pytest.mark.parametrize(
    ("functions", "problem"),
    [
        (3, "functions is not a method"),
        (lambda self: [STARTS_NONE], "functions() returns an object of type list, expected a tuple"),
        (lambda self: (STARTS_NONE, len), "builtin_function_or_method, expected a Kernel"),
    ],
)
def test_functions_that_cannot_be_compiled_ahead_fail_the_check(decision, functions, problem):
    assert_check_fails(decision, "compiled_ahead", problem, registry(decision, functions=functions))


@pytest.mark.parametrize(
    ("decision", "members", "problem"),
    [
        ("order.site", {"select": len}, "select is of type builtin_function_or_method, expected a Kernel"),
        ("order.site", {"select": STARTS_NONE}, "has select, and reasons is None"),
        (
            "order.site",
            {"select": STARTS_NONE, "reasons": "one"},
            "reasons is 'one', expected a tuple of texts",
        ),
        ("order.site", {"pooled": 3}, "pooled is of type int, expected a Kernel"),
        ("order.site", {"given": "many"}, "given is 'many', expected an array of numbers"),
        ("order.site", {"given": np.zeros((2, 2))}, "given has shape (2, 2), expected (k,)"),
        ("order.fleet", {"select": len}, "select is of type builtin_function_or_method, expected a Kernel"),
        ("order.fleet", {"select": STARTS_NONE, "refine": 3}, "refine is of type int, expected a Kernel"),
        ("order.fleet", {"select": STARTS_NONE, "options": 3.0}, "options has shape (), expected (k,)"),
    ],
)
def test_an_invalid_compiled_policy_fails_the_check(decision, members, problem):
    assert_check_fails(decision, "compiled", problem, registry(decision, **members))


@pytest.mark.parametrize("half_life", [0.0, -5, np.nan, "a day", True])
def test_an_invalid_half_life_fails_the_check(half_life):
    problem = f"half_life is {half_life!r}, expected a number above 0"
    assert_check_fails(
        "order.site", "half_life_is_a_time", problem, registry("order.site", half_life=half_life)
    )


def test_any_time_above_0_is_a_valid_half_life():
    for half_life in (None, 1, 0.5, np.inf, np.float64(3.0), np.int64(3)):
        require_positive(half_life, "made", "half_life")


@pytest.mark.parametrize(
    ("promised", "problem"),
    [
        (3, "promised is not a method"),
        (lambda self, view, answer: np.zeros(len(view.waiting.job) + 1), "promised() returns shape (2,)"),
        (lambda self, view, answer: 5.0, "promised() returns shape (), expected (1,)"),
        (
            lambda self, view, answer: np.full(len(view.waiting.job), view.now - 1.0),
            "returns a time before that",
        ),
    ],
)
def test_invalid_promises_fail_the_check(promised, problem):
    assert_check_fails("order.site", "promises", problem, registry("order.site", promised=promised))


@pytest.mark.parametrize(
    ("placed", "problem"),
    [
        (3, "placed is not a method"),
        (lambda self, owners, queues: self, "placed() returns Made, expected a policy and Owners"),
        (lambda self, owners, queues: (3, owners), "placed() returns a policy without decide()"),
        (lambda self, owners, queues: (self, Owners.of(2, user=[0, 1])), "owners of 2 jobs, expected 200"),
    ],
)
def test_an_invalid_result_of_placed_fails_the_check(placed, problem):
    assert_check_fails("order.site", "placed", problem, registry("order.site", placed=placed))


@pytest.mark.parametrize(
    ("check", "members", "problem"),
    [
        ("compiled", {"choosing": STARTS_NONE}, "has choosing and does not derive from CompiledDispatch"),
        ("compiled_ahead", {"functions": 3}, "functions is not a method"),
        ("avoids_absent_workers", {"left": 3}, "left is not a method"),
        ("avoids_absent_workers", {"joined": 3}, "joined is not a method"),
        ("avoids_absent_workers", {"left": lambda self, worker: None}, "chose worker 0, which had left"),
        ("number_of_workers", {"workers": property(lambda self: 5, lambda self, _: None)}, "workers is 5"),
    ],
)
def test_a_dispatcher_with_a_faulty_capability_fails_the_check(monkeypatch, check, members, problem):
    assert_check_fails("dispatch", check, problem, dispatching(monkeypatch, **members))


def test_a_dispatcher_that_avoids_absent_workers_passes(monkeypatch):
    """The dispatcher chooses the first worker that is present."""
    absent = set()
    methods = {
        "chosen": lambda self: min({*range(self.workers)} - absent),
        "left": lambda self, worker: absent.add(worker),
        "joined": lambda self, worker: absent.discard(worker),
    }
    checks("dispatch")["avoids_absent_workers"](dispatching(monkeypatch, **methods), "made")
    assert absent == {1}


class Projects:
    projections = np.zeros(3)
    singular_values = np.array([3.0, 2.0, 1.0])


def test_projections_of_admission_policies_are_checked():
    check = checks("admit")["projections"]
    check(registry("admit", Projects), "made")
    assert_check_fails(
        "admit",
        "projections",
        "have shapes (3,) and (2,)",
        registry("admit", Projects, singular_values=np.ones(2)),
    )
    rising = registry("admit", Projects, singular_values=np.arange(3.0))
    assert_check_fails("admit", "projections", "singular_values are not descending", rising)


def test_the_answer_after_a_restart_is_checked():
    from windlass.admit.view import Admission

    def restart(self):
        self.answer = lambda view, odd: Admission(True, "")

    policies = registry("admit", restart=restart)
    assert_check_fails("admit", "continues_after_restart", "after restart(): ", policies)
    checks("admit")["continues_after_restart"](registry("admit", restart=lambda self: None), "made")


def test_a_policy_without_optional_capabilities_passes():
    for decision in ("order.site", "order.fleet", "place", "plan", "scale", "share", "admit"):
        names = ("compiled", "compiled_ahead", "placed", "promises", "learns", "saved_state_is_restored")
        for name in (*names, "projections", "half_life_is_a_time", "idle_is_a_time"):
            if name in checks(decision):
                checks(decision)[name](registry(decision), "made")
