"""Policies by name and by file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.oracles.validator import violations_of
from tests.oracles.workloads import busy
from windlass.model import InputError, JobTable
from windlass.order.site import POLICIES
from windlass.sim import replay

WIDEST = '''
from windlass.order.site.view import SiteView, Start

class Widest:
    """The widest job that fits goes first."""
    name = "widest"

    def decide(self, view: SiteView) -> Start:
        free, jobs = view.free, []
        for row in (-view.waiting.procs).argsort(kind="stable"):
            if view.waiting.procs[row] <= free:
                free -= view.waiting.procs[row]
                jobs.append(int(view.waiting.job[row]))
        return Start(tuple(jobs), "the widest that fits")
'''

TWO = """
class One:
    name = "one"
    def decide(self, view): ...

class Two:
    name = "two"
    def decide(self, view): ...
"""

NONE = """
from windlass.order.site.policies.easy import Easy

class _Private:
    name = "private"
    def decide(self, view): ...

class NoName:
    def decide(self, view): ...

class NoDecide:
    name = "no decide"
"""

TUNED = """
class Tuned:
    name = "tuned"
    def __init__(self, rng, depth, width=3):
        if depth < 0:
            raise ValueError(f"depth is {depth}, expected 0 or more")
        self.rng, self.depth, self.width = rng, depth, width
    def decide(self, view): ...
"""


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def write_policy(folder: Path, text: str) -> str:
    path = folder / "mine.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def refusal(name: str, **parameters: object) -> str:
    """The message of the InputError, checked to be one line."""
    with pytest.raises(InputError) as caught:
        POLICIES.make(name, rng(), **parameters)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_registered_names_are_sorted_and_match_their_policies() -> None:
    assert {"conservative", "easy", "fcfs", "sjf"} <= set(POLICIES.names())
    assert list(POLICIES.names()) == sorted(POLICIES.names())
    for name in POLICIES.names():
        assert POLICIES.find(name).name == name


def test_a_similar_name_is_suggested() -> None:
    message = refusal("easi")
    assert message.startswith("policies.order: unknown policy 'easi', expected one of conservative, easy")
    assert message.endswith("; did you mean 'easy'?")


def test_an_unrelated_name_gets_no_suggestion() -> None:
    message = refusal("zzz")
    assert "unknown policy 'zzz'" in message
    assert "did you mean" not in message


def test_an_unknown_parameter_is_rejected() -> None:
    assert refusal("easy", depth=3) == "policies.order: easy has no parameter 'depth', it takes none"


def test_parameters_of_a_policy_file_are_checked(tmp_path: Path) -> None:
    spec = write_policy(tmp_path, TUNED)
    generator = rng()
    policy = POLICIES.make(spec, generator, depth=2)
    assert (policy.rng is generator, policy.depth, policy.width) == (True, 2, 3)
    assert refusal(spec, depht=2).endswith(
        "has no parameter 'depht', it takes depth, width; did you mean 'depth'?"
    )
    assert refusal(spec, depth=-1).endswith("depth is -1, expected 0 or more")
    assert "depth" in refusal(spec)
    assert refusal(spec, depth="many").startswith("policies.order: ")


@pytest.mark.parametrize("name", ["rng", "name", "self"])
def test_arguments_of_make_are_not_parameters(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"has no parameter '{name}', it takes depth, width"):
        POLICIES.make(*(write_policy(tmp_path, TUNED), rng()), **{"depth": 1, name: 4})


def test_a_policy_of_ten_lines_runs(tmp_path: Path) -> None:
    policy = POLICIES.make(write_policy(tmp_path, WIDEST), rng())
    jobs = JobTable.of(submit=[0, 0, 0], run=[10, 10, 10], procs=[1, 3, 4])
    replayed = replay(jobs, 4, policy)
    assert replayed.start.tolist() == [10, 10, 0]
    assert replayed.reasons == ("the widest that fits",)
    assert violations_of(replay(*busy(1), policy)) == []


def test_a_class_selects_one_of_two_policies_in_a_file(tmp_path: Path) -> None:
    spec = write_policy(tmp_path, TWO)
    assert refusal(spec).endswith("expected one class with a name and decide(), found One, Two")
    assert POLICIES.find(f"{spec}:Two").name == "two"
    assert refusal(f"{spec}:Three").endswith("expected one class with a name and decide(), found none")


def test_a_file_without_a_policy_is_rejected(tmp_path: Path) -> None:
    assert refusal(write_policy(tmp_path, NONE)).endswith("found none")
    assert refusal(write_policy(tmp_path, "")).endswith("found none")


def test_a_missing_file_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "absent.py"
    assert refusal(str(path)) == f"policies.order: {path}: no such file"
    assert refusal(f"{path}:Mine") == f"policies.order: {path}: no such file"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("class Mine\n    pass\n", "SyntaxError: expected ':' (mine.py, line 1)"),
        ("import nothing_of_that_name\n", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
    ],
)
def test_the_error_of_a_failing_import_names_the_line(tmp_path: Path, text: str, reason: str) -> None:
    spec = write_policy(tmp_path, text)
    assert refusal(spec) == f"{spec}, line 1: cannot be imported: {reason}"
    # The second attempt gives the same error: no partial import is kept.
    assert refusal(spec) == f"{spec}, line 1: cannot be imported: {reason}"


def test_a_two_line_import_error_is_printed_as_one_line(tmp_path: Path) -> None:
    refusal(write_policy(tmp_path, "raise ValueError('one\\ntwo')\n"))


def test_files_of_one_name_do_not_clash(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    first = write_policy(tmp_path / "a", WIDEST)
    second = write_policy(tmp_path / "b", WIDEST.replace('"widest"', '"other"'))
    assert [POLICIES.find(spec).name for spec in (first, second, first)] == ["widest", "other", "widest"]


def test_a_folder_is_not_a_policy_file(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    assert refusal(str(tmp_path / "folder.py")).endswith("no such file")
