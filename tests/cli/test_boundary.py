"""Failures of policies and internal errors: one line names the cause, and standard output stays empty."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import windlass.cli.app
from windlass.cli.error_handling import status_of
from windlass.cli.signals import stopped_by_signals
from windlass.model.errors import ParameterError, Remedy
from windlass.model.text import printable
from windlass.policy.user_code import place_of

SMALL = """
workload: {lublin: {jobs: 30}}
policies: {order: ["./mine.py"]}
seeds: [1, 2]
"""
POLICY = """
import os, sys, subprocess
from windlass.order.site.view import Start


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one}\\n{two}")


class Mine:
    name = "mine"

    def decide(self, view):
        DO
        return Start(tuple(int(job) for job in view.waiting.job[:1] if view.waiting.procs[0] <= view.free), why="first")
"""
#: A statement in decide, at line 15 of the file, and the expected message.
DEEDS = [
    ("raise ValueError('no way')", "line 15) raised ValueError: no way"),
    ("raise Odd('one', 'two')", "line 15) raised Odd: one"),
    ("view.waiting.no_such_thing", "line 15) raised AttributeError: "),
    ("self.decide(view)", "line 15) raised RecursionError: "),
    ("raise StopIteration", "line 15) raised StopIteration"),
    ("raise MemoryError", "line 15) raised MemoryError"),
    ("raise BrokenPipeError", "line 15) raised BrokenPipeError"),
    ("sys.exit()", "line 15) exits (status None)"),
    ("sys.exit(0)", "line 15) exits (status 0)"),
    ("os._exit(0)", "line 15) exits (os._exit(0))"),
    ("raise ValueError('\\x1b[31mred')", "raised ValueError: \\x1b[31mred"),
    ("return 7", "line 14) decided 7, expected a Start"),
    ("return Start((1, 1), why='twice')", "line 14) started a job that does not wait, or the same job twice"),
    ("return Start('abc', why='what')", "line 14) "),
]


def policy(folder: Path, statement: str) -> None:
    (folder / "mine.py").write_text(POLICY.replace("DO", statement))
    (folder / "s.yaml").write_text(SMALL)


def only_line(ended: int, out: str, err: str, status: int = 2) -> str:
    assert (ended, out) == (status, "")
    (line,) = (each for each in err.splitlines() if not each.startswith("Compiling"))
    return line


@pytest.mark.parametrize(("statement", "message"), DEEDS)
def test_a_failing_policy_is_named_with_its_file_and_line(windlass, tmp_path, statement, message):
    policy(tmp_path, statement)
    line = only_line(*windlass("run", "s.yaml", "--json"))
    assert line.startswith(f"windlass: policy 'mine' ({tmp_path}/mine.py, ")
    assert message in line
    assert "\x1b" not in line


@pytest.mark.slow
@pytest.mark.parametrize("statement", [DEEDS[1], DEEDS[6], DEEDS[8]])
def test_a_failing_policy_in_a_worker_process_gives_the_same_line(windlass, tmp_path, statement):
    policy(tmp_path, statement[0])
    line = only_line(*windlass("run", "s.yaml", "--json", "--jobs", "2"))
    assert line.startswith(f"windlass: policy 'mine' ({tmp_path}/mine.py, ")
    assert statement[1] in line


@pytest.mark.slow
def test_the_error_of_a_killed_worker_names_its_cell(windlass, tmp_path):
    policy(tmp_path, "os.kill(os.getpid(), 9)")
    line = only_line(*windlass("run", "s.yaml", "--json", "--jobs", "2"), status=1)
    assert "worker process died (killed or out of memory) while running 'mine, seed" in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import sys\nsys.exit(0)", "line 2: cannot be imported: SystemExit: 0"),
        ("x = 1\nimport no_such_thing", "line 2: cannot be imported: ModuleNotFoundError"),
        ("def (", "cannot be imported: SyntaxError"),
        (
            "class Mine:\n    name = 'mine'\n    def __init__(self):\n        raise ValueError('never')\n"
            "    def decide(self, view): ...",
            "line 4) raised ValueError: never",
        ),
    ],
)
def test_a_policy_file_that_cannot_be_imported_is_named(windlass, tmp_path, text, message):
    policy(tmp_path, "pass")
    (tmp_path / "mine.py").write_text(text)
    line = only_line(*windlass("run", "s.yaml"))
    assert f"{tmp_path}/mine.py" in line
    assert message in line


@pytest.mark.matrix(0)
def test_policy_output_goes_to_standard_error(tmp_path):
    policy(
        tmp_path,
        "print('talk'); os.system('echo of a child'); os.write(1, b'straight\\n'); sys.__stdout__.flush()",
    )
    text = "print('while imported')\n" + (tmp_path / "mine.py").read_text()
    (tmp_path / "mine.py").write_text(text)
    command = [sys.executable, "-m", "windlass", "run", "s.yaml", "--json", "--no-check"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert list(json.loads(done.stdout)["variants"][0]["policies"]) == ["order"]
    for message in ("talk", "of a child", "straight", "while imported"):
        assert message in done.stderr.splitlines()


@pytest.mark.slow
def test_policy_output_in_a_worker_process_goes_to_standard_error(tmp_path):
    policy(tmp_path, "print('talk', flush=True)")
    command = [sys.executable, "-m", "windlass", "run", "s.yaml", "--json", "--no-check", "--jobs", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["variants"][0]["metrics"]) > 1
    assert "talk" in done.stderr.splitlines()


def failing(error):
    def app(**_):
        raise error

    return app


def test_an_internal_error_is_one_line_that_names_the_traceback_file(windlass, monkeypatch):
    monkeypatch.setattr(windlass_app(), "commands", lambda: failing(KeyError("\x1bwhat")))
    status, out, err = windlass("list")
    (line,) = err.splitlines()
    assert (status, out) == (3, "")
    assert "KeyError: '\\x1bwhat'" in line
    file = Path(line.rpartition("is in ")[2])
    assert "in app\n    raise error" in file.read_text()
    file.unlink()
    monkeypatch.setenv("WINDLASS_TRACEBACK", "1")
    status, _, err = windlass("list")
    assert status == 3
    assert err.startswith("Traceback")
    assert err.splitlines()[-1].endswith("its traceback is above")


def windlass_app():
    return sys.modules["windlass.cli.app"]


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (MemoryError(), 2, "windlass: not enough memory\n"),
        (
            OSError(40, "Too many levels of symbolic links", "a\nb"),
            2,
            "windlass: a\\nb: Too many levels of symbolic links\n",
        ),
    ],
)
def test_errors_of_the_system_are_not_internal_errors(capsys, error, status, message):
    assert status_of(error) == status
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    ("parameter", "option"),
    [("out", "--out"), ("live", "--engine"), ("job", "JOB"), ("--report", "--report"), ("a_b", "--a-b")],
)
def test_a_parameter_error_names_the_option(capsys, parameter, option):
    error = ParameterError(parameter, "7, expected 8", Remedy("force", "goes"), Remedy("resume", "stays"))
    assert str(error) == f"{parameter}: 7, expected 8; force=True goes, resume=True stays"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert status_of(error) == 2
    assert capsys.readouterr().err == f"windlass: {option}: 7, expected 8; --force goes, --resume stays\n"


@pytest.mark.slow
def test_a_full_standard_output_is_an_error(tmp_path):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "windlass", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env={**os.environ})
    assert (done.returncode, done.stderr) == (2, "windlass: standard output: No space left on device\n")


def test_control_characters_are_escaped():
    assert printable("a\x07\u202eb\x9b31m") == "a\\x07\\u202eb\\x9b31m"
    assert printable("Zürich, 東京 🙂") == "Zürich, 東京 🙂"
    assert place_of(windlass.cli.app) == ""


PLANNER = """
import sys


class Mine:
    name = "mine"

    def decide(self, view):
        print("talk")
        DO
"""


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("return None", "line 8) did not return a plan: AttributeError"),
        ("1 / 0", "line 10) raised ZeroDivisionError"),
        ("sys.exit(0)", "line 10) exits (status 0)"),
    ],
)
def test_a_failing_planner_is_named_with_its_file_and_line(windlass, tmp_path, statement, message):
    (tmp_path / "mine.py").write_text(PLANNER.replace("DO", statement))
    examples = Path(__file__).parents[2] / "examples" / "plan"
    files = (f"{examples}/queries.yaml", "--cluster", f"{examples}/hierarchy.yaml")
    status, out, err = windlass("plan", "solve", *files, "--policy", "./mine.py", "--json")
    assert (status, out) == (2, "")
    assert err.splitlines()[0] == "talk"
    assert err.splitlines()[1].startswith("windlass: policy 'mine' (")
    assert f"mine.py, {message}" in err.splitlines()[1]


@pytest.fixture
def hangup_ends():
    """SIGHUP has its default effect, also if the tests run under ``nohup``, which ignores it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangup_ends")
def test_a_hangup_of_a_process_without_a_terminal_is_passed_on(monkeypatch):
    reloaded = threading.Event()
    before = signal.getsignal(signal.SIGHUP)
    monkeypatch.setattr(os, "isatty", lambda handle: False)
    with stopped_by_signals(True, on_hangup=reloaded.set):
        os.kill(os.getpid(), signal.SIGHUP)
        assert reloaded.wait(60.0)
    assert signal.getsignal(signal.SIGHUP) is before
    monkeypatch.setattr(os, "isatty", lambda handle: True)
    with pytest.raises(SystemExit), stopped_by_signals(True, report=str, on_hangup=reloaded.clear):
        signal.raise_signal(signal.SIGHUP)
    assert reloaded.is_set()
