"""Drawing changes by a seed, and judging a trial."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.mutants import equivalent
from tests.mutants.__main__ import print_table
from tests.mutants.changes import changes_of
from tests.mutants.equivalent import load, reason_of
from tests.mutants.reach import Reach
from tests.mutants.rooms import SOURCE, located, room_named
from tests.mutants.sample import Result, Trials, draw


@pytest.mark.matrix(0)
def test_a_seed_draws_the_same_changes_each_of_another_line():
    room = room_named("verdict")
    drawn = draw(room, 12, 5)
    assert drawn == draw(room, 12, 5)
    assert drawn != draw(room, 12, 6)
    assert len({(each.file, each.line) for each in drawn}) == 12


def test_an_unknown_room_names_those_that_exist():
    with pytest.raises(ValueError, match=r"unknown room 'kitchen', expected one of plan, order"):
        room_named("kitchen")


def test_a_listed_change_needs_no_trial(tmp_path, monkeypatch):
    change = draw(room_named("verdict"), 1, 1)[0]
    listed = {name: getattr(change, name) for name in ("file", "function", "old", "new")}
    listed |= {"line": change.text, "reason": "it means the same"}
    (tmp_path / "verdict.yaml").write_text(json.dumps([listed]))
    monkeypatch.setattr(equivalent, "_FOLDER", tmp_path)
    load.cache_clear()
    try:
        assert reason_of(change) == "it means the same"
        assert reason_of(replace(change, text="another line")) == ""
        result = Trials(None, 1).try_one(room_named("verdict"), change)
        assert (result.outcome, result.by) == ("equivalent", "it means the same")
    finally:
        load.cache_clear()


def test_listed_changes_are_of_lines_that_exist_and_have_reasons():
    gone = []
    for (file, _, line, _, _), reason in load().items():
        assert len(reason) > 10, (file, line)
        lines = {" ".join(text.split()) for text in located(file).read_text(encoding="utf-8").splitlines()}
        if line not in lines:
            gone.append((file, line))
    assert gone == [], "remove these entries from tests/mutants/equivalent_changes"


def test_tests_that_execute_a_line_are_run_quick_ones_first():
    change = draw(room_named("plan"), 1, 1)[0]
    lines = {
        change.file: {change.first: {"tests/plan/a.py::slow", "tests/plan/b.py::quick", "tests/cli/c.py::x"}}
    }
    seconds = {"tests/plan/a.py::slow": 9.0, "tests/plan/b.py::quick": 0.1, "tests/cli/c.py::x": 0.2}
    stages, expected = Trials(Reach(seconds, {}, lines), 1)._stages(room_named("plan"), change)
    assert stages == [["tests/plan/b.py::quick", "tests/plan/a.py::slow"], ["tests/cli/c.py::x"]]
    assert expected == pytest.approx(9.3)


@pytest.mark.slow
def test_a_test_that_waits_for_ever_is_ended():
    code = "\n".join(
        (
            "import threading",
            "from pathlib import Path",
            "from tests.mutants.trial import _Watch",
            "if __name__ == '__main__':",
            "    _Watch(Path.cwd(), wall_s=0.5).pytest_runtest_logstart('a test')",
            "    threading.Event().wait()",
        )
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Timeout (0:00:00.500000)!")


def test_a_line_that_no_test_executes_gets_the_room_s_tests():
    change = draw(room_named("plan"), 1, 1)[0]
    stages, _ = Trials(Reach({}, {}, {change.file: {}}), 1)._stages(room_named("plan"), change)
    assert stages == [list(room_named("plan").tests)]


def test_a_room_below_the_least_share_fails(capsys):
    change = draw(room_named("plan"), 1, 1)[0]
    noticed, missed = (Result("plan", change, outcome, "", 1.0) for outcome in ("noticed", "unnoticed"))
    listed = Result("plan", change, "equivalent", "reason", 0.0)
    assert print_table([noticed] * 9 + [missed, listed], 5.0, 0.9) == 0
    assert "9   10    90%           1" in capsys.readouterr().out
    assert print_table([noticed] * 8 + [missed] * 2, 5.0, 0.9) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "outcome"),
    [
        ("assert SLOWDOWN_THRESHOLD == 10.0", "noticed"),
        ("assert SLOWDOWN_THRESHOLD > 0.0", "unnoticed"),
        # A test that fails without a change, too, shows nothing.
        ("assert SLOWDOWN_THRESHOLD == 0.0", "unnoticed"),
    ],
)
def test_a_change_is_noticed_by_a_test_that_fails_with_it_alone(check, outcome, tmp_path):
    test = tmp_path / "test_threshold.py"
    test.write_text(
        f"from windlass.results.metrics.site import SLOWDOWN_THRESHOLD\n\n\ndef test_it():\n    {check}\n"
    )
    room = room_named("metrics")
    (change,) = (
        each
        for path in room.files()
        for each in changes_of(path, SOURCE)
        if each.text == "SLOWDOWN_THRESHOLD = 10.0"
    )
    result = Trials(None, 1, [str(test)]).try_one(room, change)
    assert result.outcome == outcome
    assert ("test_it" in result.by) == (outcome == "noticed")
