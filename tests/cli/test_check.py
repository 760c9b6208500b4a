"""``windlass check``: a policy's file, check by check, with the line that fails."""

import json
from pathlib import Path

import pytest

from windlass.experiment.checks.validation import decision_of
from windlass.model import InputError
from windlass.policy.registry import decisions

ROOT = Path(__file__).parents[2]
POLICY = '''from windlass.order.site.view import SiteView, Start


class Mine:
    """Starts the head of the queue when it fits.

    >>> Mine.name
    'mine'
    """

    name = "mine"

    def decide(self, view: SiteView) -> Start:
        {line}
        head = view.waiting.job[:1] if view.waiting.procs[0] <= view.free else []
        return Start(tuple(int(job) for job in head), why="head fits")
'''


@pytest.fixture
def checked(windlass, tmp_path):
    """What is said of a policy with one more line in it, as plain values, and the status."""

    def call(line: str = "pass", text: str = POLICY):
        (tmp_path / "mine.py").write_text(text.replace("{line}", line))
        status, out, err = windlass("check", "mine.py", "--json")
        return status, json.loads(out) if out else None, err

    return call


def failing(tree) -> dict[str, dict[str, object]]:
    return {each["name"]: each for each in tree["checks"] if not each["passed"]}


def test_a_good_policy(windlass, checked, tmp_path):
    status, tree, _ = checked()
    assert (status, tree["passed"], tree["decision"], failing(tree)) == (0, True, "order.site", {})
    status, out, _ = windlass("check", str(tmp_path / "mine.py"))
    assert status == 0
    assert "mine.py: line 4 defines the policy mine of order.site (Which job goes first, at one site?)" in out
    count = len(tree["checks"])
    assert out.splitlines()[-1] == f"{count} of {count} checks passed."
    assert out.count("\nok ") == count


def test_the_line_that_fails_is_named(windlass, checked, tmp_path):
    status, tree, _ = checked("view.nonsense")
    found = failing(tree)["seeded"]
    assert status == 1
    assert found["problem"].startswith("AttributeError")
    assert (found["line"], found["code"], found["failed_there"]) == (14, "view.nonsense", True)
    status, out, _ = windlass("check", "mine.py")
    assert status == 1
    assert "mine.py, line 14: view.nonsense" in out


@pytest.mark.parametrize(
    ("line", "check", "problem"),
    [
        ("import sys; sys.exit(0)", "seeded", "SystemExit: 0"),
        ("import os; os._exit(0)", "seeded", "SystemExit: os._exit(0)"),
        ("import numpy; numpy.random.rand()", "seeded", "draws from NumPy's global generator"),
        ("view.waiting.note[0] = 1", "leaves the view alone", "changes the view that it receives"),
        (
            "return Start((0,), why='none')",
            "seeded",
            "started a job that does not wait, or the same job twice",
        ),
    ],
)
def test_what_a_policy_must_not_do(checked, line, check, problem):
    status, tree, _ = checked(line)
    found = failing(tree)[check]
    assert status == 1
    assert problem in found["problem"]
    assert found["line"] > 0


def test_an_example_that_fails_is_found_by_its_line(checked):
    _, tree, _ = checked(text=POLICY.replace("    'mine'", "    'yours'"))
    found = failing(tree)["documented"]
    assert (found["line"], found["code"]) == (7, ">>> Mine.name")


def test_what_a_policy_prints_is_not_in_the_way(checked):
    status, tree, err = checked("print('deciding')")
    assert status == 0
    assert tree["passed"]
    assert "deciding" in err


def test_a_policy_that_ships_is_checked_by_its_name(windlass):
    status, out, _ = windlass("check", "fcfs", "--decision", "order.site", "--json")
    assert (status, json.loads(out)["passed"]) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.py"], "none.py: no such file"),
        (
            ["nothing"],
            "unknown policy 'nothing', expected a name or a file that ends in .py",
        ),
        (
            ["fcfs"],
            "--decision: fcfs is a policy of several decisions, expected one of order.fleet, order.site",
        ),
        (
            ["easy", "--decision", "order"],
            "--decision: unknown decision 'order', expected one of admit, dispatch",
        ),
    ],
)
def test_what_is_not_there_is_one_line(windlass, arguments, said):
    status, out, err = windlass("check", *arguments)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith(f"windlass: {said}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 / 0\n", "mine.py, line 1: cannot be imported: ZeroDivisionError"),
        ("raise SystemExit(0)\n", "mine.py, line 1: cannot be imported: SystemExit: 0"),
        ("x = 1\n", "mine.py: expected one class with a name and decide(), found none"),
        (
            POLICY.replace("from windlass", "SiteView = Start = None  # ", 1),
            "mine.py imports from no package of a decision",
        ),
    ],
)
def test_a_file_that_is_no_policy(checked, text, said):
    status, _, err = checked(text=text)
    assert status == 2
    assert len(err.splitlines()) == 1
    assert said in err


PRIORITY = '''"""A priority."""


class Widest:
    """Jobs that need the most processors go first.

    >>> from types import SimpleNamespace
    >>> Widest.score(SimpleNamespace(procs=[3, 5]), 1)
    -5.0
    """

    name = "widest"

    @staticmethod
    def score(view, row):
        return -1.0 * view.procs[row]
'''
PLAIN = '''"""A dispatch policy in plain Python."""

import numpy as np

from windlass.dispatch import DispatchPolicy


class Shortest(DispatchPolicy):
    """Sends each task to the first worker with the shortest queue.

    >>> Shortest().choose(np.array([3, 1, 1]))
    1
    """

    name = "shortest"

    def arrived(self, now):
        pass

    def choose(self, queue_lengths):
        return int(np.argmin(queue_lengths))

    def completed(self, worker, work, seconds):
        pass
'''


@pytest.mark.parametrize(
    ("text", "check"),
    [
        (PRIORITY, None),
        (PLAIN, None),
        (PRIORITY.replace("-5.0", "5.0"), "documented"),
        (PLAIN.replace("int(np.argmin(queue_lengths))", "len(queue_lengths)"), "chooses a worker"),
    ],
)
def test_what_run_accepts_is_checked(checked, text, check):
    status, tree, _ = checked(text=text)
    assert (status, tree["passed"]) == ((0, True) if check is None else (1, False))
    assert check is None or check in failing(tree)


def test_the_decision_of_every_policy_that_ships_is_told_by_its_file():
    for registry in decisions():
        for name in registry.names():
            file = f"{Path(registry.find(name).__module__.replace('.', '/'))}.py"
            spec = f"{ROOT / 'src' / file}:{registry.find(name).__name__}"
            try:
                told = decision_of(spec).decision
            except InputError as error:
                told = str(error)
            assert told == registry.decision or "decision: " in told, spec
