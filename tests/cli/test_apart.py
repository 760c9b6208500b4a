"""Standard error of a library goes to a file, and one line names the file."""

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


def run_script(folder, wanted=True, more="pass"):
    """Return the lines on standard error, and the contents of the files that they name."""
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


def test_one_line_names_the_log_file(tmp_path):
    lines, logs = run_script(tmp_path)
    assert lines[0] == "ours"
    assert re.fullmatch(r"windlass: output of Ray on standard error is in \S+/windlass\.\S+\.log", lines[1])
    assert lines[2:] == ["after"]
    assert logs == [LOG]


@pytest.mark.parametrize("end", ["os.abort()", "os._exit(1)", "os.kill(os.getpid(), 9)"])
def test_an_aborted_process_also_names_the_log_file(tmp_path, end):
    lines, logs = run_script(tmp_path, more=end)
    assert lines[0] == "ours"
    assert lines[1].endswith("; it may explain why this command ended")
    assert len(lines) == 2
    assert logs == [LOG]


def test_without_library_output_there_is_no_message_and_no_file(tmp_path):
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


def test_standard_error_is_unchanged_when_capture_is_off(tmp_path):
    lines, _ = run_script(tmp_path, wanted=False)
    assert lines == ["*** a stack", "ours", "of a handler that was there", "after"]
