"""The driving loop, on an engine with a list of due decisions."""

import pytest

from windlass.agent.stop import Stop
from windlass.drive import EngineStoppedError, drive
from windlass.model import InputError, PolicyError


class Listed:
    """An engine with given decisions, which then ends or raises ``stuck``; it rejects an answer of None."""

    def __init__(self, due, stuck=""):
        self.due, self.stuck, self.acted, self.closed = list(due), stuck, [], 0

    def wait(self):
        if self.due:
            return self.due.pop(0)
        if self.stuck:
            raise PolicyError(self.stuck)
        return None

    def view(self, decision):
        return f"view of {decision} after {len(self.acted)}"

    def act(self, decision, answer):
        if answer is None:
            raise PolicyError("answered nothing")
        self.acted.append((decision, answer))

    def result(self):
        return self.acted

    def close(self):
        self.closed += 1


class FixedAnswer:
    def __init__(self, name, answer):
        self.name, self.answer, self.saw = name, answer, []

    def decide(self, view):
        self.saw.append(view)
        return self.answer


def test_each_decision_goes_to_its_own_policy():
    engine, one, two = Listed(["order", "place", "order"]), FixedAnswer("one", 1), FixedAnswer("two", 2)
    logged = []
    run = drive(engine, {"order": one, "place": two}, lambda *each: logged.append(each))
    assert run == [("order", 1), ("place", 2), ("order", 1)]
    assert one.saw == ["view of order after 0", "view of order after 2"]
    assert two.saw == ["view of place after 1"]
    assert logged == [
        ("order", "view of order after 0", 1),
        ("place", "view of place after 1", 2),
        ("order", "view of order after 2", 1),
    ]
    assert engine.closed == 1


def test_a_stop_ends_the_run_before_the_next_decision_and_closes_the_engine():
    engine, policy, stop = Listed(["order"] * 3), FixedAnswer("one", 1), Stop()

    def log(*_):
        if len(engine.acted) == 2:
            stop.notify()

    with pytest.raises(EngineStoppedError):
        drive(engine, {"order": policy}, log, stop)
    # The decision of the moment of the stop is carried out, and the policy is not called for another one.
    assert (engine.acted, len(policy.saw), engine.closed) == ([("order", 1)] * 2, 2, 1)


@pytest.mark.parametrize(
    ("given", "listed"),
    [({}, "none"), ({"order": FixedAnswer("fcfs", 1), "share": FixedAnswer("asax", 1)}, "'order', 'share'")],
)
def test_a_decision_without_a_policy_is_an_error(given, listed):
    engine = Listed(["place"])
    message = f"policies: no policy for the decision 'place', which is due; policies are given for: {listed}"
    with pytest.raises(InputError, match=f"^{message}$"):
        drive(engine, given)
    assert engine.closed == 1


def test_the_policy_of_an_invalid_answer_is_named():
    with pytest.raises(PolicyError, match=r"^policy 'two' answered nothing$"):
        drive(Listed(["order", "place"]), {"order": FixedAnswer("one", 1), "place": FixedAnswer("two", None)})


@pytest.mark.parametrize(
    ("due", "named"), [(["order", "place"], "'two'"), (["place", "order"], "'one'"), ([], "'one' or 'two'")]
)
def test_work_left_waiting_names_the_last_called_policy(due, named):
    with pytest.raises(PolicyError, match=rf"^policy {named} leaves 3 jobs waiting$"):
        drive(
            Listed(due, "leaves 3 jobs waiting"),
            {"order": FixedAnswer("one", 1), "place": FixedAnswer("two", 2)},
        )


def test_a_single_policy_is_named_before_its_first_call():
    with pytest.raises(PolicyError, match=r"^policy 'one' leaves 3 jobs waiting$"):
        drive(Listed([], "leaves 3 jobs waiting"), {"order": FixedAnswer("one", 1)})
