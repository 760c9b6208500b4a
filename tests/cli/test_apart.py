"""What a library writes to standard error by itself goes to a file, and one line says which."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
SCRIPT = """
import logging, os, sys
before = logging.StreamHandler(sys.stderr)
from windlass.cli.stderr_capture import errors_apart
with errors_apart("Ray", {wanted}):
    os.write(2, b"*** a stack\\n")
    print("ours", file=sys.stderr)
    before.stream.write("of a handler that was there\\n")
    before.flush()
    {more}
print("after", file=sys.stderr)
"""


def said(folder, wanted=True, more="pass"):
    """The lines on standard error, and what is in the file that one of them names."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(wanted=wanted, more=more)],
        capture_output=True,
        text=True,
        env={
            "TMPDIR": str(folder),
            "PYTHONPATH": str(SOURCE),
            "PATH": "/usr/bin:/bin",
        },
    )
    lines = done.stderr.splitlines()
    named = [re.search(r"is in (\S+\.log)", line) for line in lines]
    return lines, [Path(found[1]).read_text() for found in named if found]


LOG = "*** a stack\nof a handler that was there\n"


def test_one_line_says_where_it_is(tmp_path):
    lines, logs = said(tmp_path)
    assert lines[0] == "ours"
    assert re.fullmatch(r"windlass: output of Ray on standard error is in \S+/windlass\.\S+\.log", lines[1])
    assert lines[2:] == ["after"]
    assert logs == [LOG]


@pytest.mark.parametrize("end", ["os.abort()", "os._exit(1)", "os.kill(os.getpid(), 9)"])
def test_a_process_that_is_aborted_says_it_too(tmp_path, end):
    lines, logs = said(tmp_path, more=end)
    assert lines[0] == "ours"
    assert lines[1].endswith("; it may explain why this command ended")
    assert len(lines) == 2
    assert logs == [LOG]


def test_where_there_is_nothing_nothing_is_said_or_left(tmp_path):
    script = 'from windlass.cli.stderr_capture import errors_apart\nwith errors_apart("Ray"):\n    pass\n'
    for end in ("", "    import os; os._exit(0)\n"):
        done = subprocess.run(
            [sys.executable, "-c", script + end],
            capture_output=True,
            text=True,
            env={
                "TMPDIR": str(tmp_path),
                "PYTHONPATH": str(SOURCE),
                "PATH": "/usr/bin:/bin",
            },
        )
        assert (done.stdout, done.stderr) == ("", "")
        assert list(tmp_path.iterdir()) == []


def test_it_is_left_alone_where_it_is_not_wanted(tmp_path):
    lines, _ = said(tmp_path, wanted=False)
    assert lines == ["*** a stack", "ours", "of a handler that was there", "after"]
