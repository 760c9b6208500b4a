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
def check_policy(windlass, tmp_path):
    """Check a policy with one more line in it; return the status, the JSON tree and standard error."""

    def call(line: str = "pass", text: str = POLICY):
        (tmp_path / "mine.py").write_text(text.replace("{line}", line))
        status, out, err = windlass("check", "mine.py", "--json")
        return status, json.loads(out) if out else None, err

    return call


def failed_checks(tree) -> dict[str, dict[str, object]]:
    return {each["name"]: each for each in tree["checks"] if not each["passed"]}


def test_a_good_policy_passes_all_checks(windlass, check_policy, tmp_path):
    status, tree, _ = check_policy()
    assert (status, tree["passed"], tree["decision"], failed_checks(tree)) == (0, True, "order.site", {})
    status, out, _ = windlass("check", str(tmp_path / "mine.py"))
    assert status == 0
    assert "mine.py: line 4 defines the policy mine of order.site (Which job goes first, at one site?)" in out
    count = len(tree["checks"])
    assert out.splitlines()[-1] == f"{count} of {count} checks passed."
    assert out.count("\nok ") == count


def test_the_failing_line_is_named(windlass, check_policy, tmp_path):
    status, tree, _ = check_policy("view.nonsense")
    found = failed_checks(tree)["seeded"]
    assert status == 1
    assert found["problem"].startswith("AttributeError")
    assert (found["line"], found["code"], found["failed_there"]) == (14, "view.nonsense", True)
    status, out, _ = windlass("check", "mine.py")
    assert status == 1
    assert "mine.py, line 14: view.nonsense" in out


@pytest.mark.matrix
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
def test_forbidden_statements_fail_their_check(check_policy, line, check, problem):
    status, tree, _ = check_policy(line)
    found = failed_checks(tree)[check]
    assert status == 1
    assert problem in found["problem"]
    assert found["line"] > 0


def test_a_failing_docstring_example_is_located(check_policy):
    _, tree, _ = check_policy(text=POLICY.replace("    'mine'", "    'yours'"))
    found = failed_checks(tree)["documented"]
    assert (found["line"], found["code"]) == (7, ">>> Mine.name")


def test_policy_output_goes_to_standard_error(check_policy):
    status, tree, err = check_policy("print('deciding')")
    assert status == 0
    assert tree["passed"]
    assert "deciding" in err


def test_a_built_in_policy_is_checked_by_name(windlass):
    status, out, _ = windlass("check", "fcfs", "--decision", "order.site", "--json")
    assert (status, json.loads(out)["passed"]) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
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
            "--decision: unknown decision 'order', expected one of admit, dispatch, order.fleet, order.site, place,"
            " plan, scale, share; did you mean 'order.site'?",
        ),
    ],
)
def test_a_missing_policy_is_a_one_line_error(windlass, arguments, message):
    status, out, err = windlass("check", *arguments)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith(f"windlass: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_a_file_without_a_policy_is_a_one_line_error(check_policy, text, message):
    status, _, err = check_policy(text=text)
    assert status == 2
    assert len(err.splitlines()) == 1
    assert message in err


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


@pytest.mark.matrix(0)
@pytest.mark.parametrize(
    ("text", "check"),
    [
        (PRIORITY, None),
        (PLAIN, None),
        (PRIORITY.replace("-5.0", "5.0"), "documented"),
        (PLAIN.replace("int(np.argmin(queue_lengths))", "len(queue_lengths)"), "chooses a worker"),
    ],
)
def test_every_form_of_policy_that_run_accepts_is_checked(check_policy, text, check):
    status, tree, _ = check_policy(text=text)
    assert (status, tree["passed"]) == ((0, True) if check is None else (1, False))
    assert check is None or check in failed_checks(tree)


@pytest.mark.matrix(0)
def test_the_decision_of_a_built_in_policy_follows_from_its_file():
    for registry in decisions():
        for name in registry.names():
            file = f"{Path(registry.find(name).__module__.replace('.', '/'))}.py"
            spec = f"{ROOT / 'src' / file}:{registry.find(name).__name__}"
            try:
                decision = decision_of(spec).decision
            except InputError as error:
                decision = str(error)
            assert decision == registry.decision or "decision: " in decision, spec
