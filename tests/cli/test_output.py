"""All commands print through one module, which writes standard JSON."""

import ast
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windlass.cli
from windlass.cli import output
from windlass.model import InputError

SOURCE = Path(windlass.cli.__file__).parent
#: Patterns of printing code, and the modules that may contain them.
PRINTING = {
    r"json\.dumps": {"output.py"},
    r"sys\.stdout\.write": {"output.py"},
    r"rich\.progress": {"progress.py"},
    r"\bConsole\(": {"terminal.py"},
    r"\bPAGE_PREFIX\b": {"output.py", "reproduce.py"},
}
_LONGEST = 200


@pytest.mark.parametrize("pattern", PRINTING)
def test_only_the_output_module_prints(pattern):
    found = {
        file.name for file in SOURCE.rglob("*.py") if re.search(pattern, file.read_text(encoding="utf-8"))
    }
    assert found == PRINTING[pattern]


def test_modules_of_the_command_line_are_short():
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in SOURCE.rglob("*.py")}
    assert not {file: count for file, count in lengths.items() if count > _LONGEST}


@pytest.mark.slow
def test_errors_of_the_library_name_no_command_line_options():
    """Agents, batch systems and the control plane are used only through commands; programs call all other modules."""
    found = [
        f"{file.relative_to(SOURCE.parent)}: {text.value}"
        for file in sorted(SOURCE.parent.rglob("*.py"))
        if not {"cli", "agent", "control", "slurm", "pbs", "htcondor", "holds", "kubernetes"}
        & set(file.relative_to(SOURCE.parent).parts)
        for error in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(error, ast.Raise)
        for text in ast.walk(error)
        if isinstance(text, ast.Constant)
        and isinstance(text.value, str)
        and re.search(r"(?<![\w-])--[a-z]", text.value)
    ]
    assert found == []


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda below: st.lists(below) | st.lists(below).map(tuple) | st.dictionaries(st.text(), below),
)


def plain(tree):
    """A second implementation: write JSON with NaN and infinity, and parse them as null."""

    def no_number(text):
        return None

    return json.loads(json.dumps(tree), parse_constant=no_number)


@given(TREES)
def test_json_has_null_for_nan_and_infinity(tree):
    import contextlib
    import io

    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        output.write_json(tree)
    assert written.getvalue().endswith("\n")

    def refuse(text):
        raise AssertionError(text)

    assert json.loads(written.getvalue(), parse_constant=refuse) == plain(tree)


def test_text_is_raw_in_a_pipe_and_escaped_on_a_terminal(capsys, monkeypatch):
    text = "a,b\n1,\x1b[2J\n"
    output.write_raw(text)
    assert capsys.readouterr().out == text
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    output.write_raw(text)
    assert capsys.readouterr().out == "a,b\n1,\\x1b[2J\n"


def test_lines_are_not_wrapped_in_a_pipe(capsys):
    line = "word " * 100 + "end"
    for wrap in (False, True):
        output.print_lines([line, "two"], wrap=wrap)
        assert capsys.readouterr().out == f"{line}\ntwo\n"
    output.note(line)
    assert capsys.readouterr().err == f"{line}\n"
    output.log_line("a\x1bb")
    assert re.fullmatch(r"\d\d:\d\d:\d\d a\\x1bb\n", capsys.readouterr().err)


@pytest.mark.parametrize("log", [output.log_line, output.log_json])
def test_a_line_of_the_log_is_one_write(monkeypatch, log):
    writes = []

    class Stream(io.StringIO):
        def write(self, text):
            writes.append(text)
            return len(text)

    monkeypatch.setattr("sys.stderr", Stream())
    log("first")
    log("second")
    assert [("first" in text, "second" in text, text.endswith("\n")) for text in writes] == [
        (True, False, True),
        (False, True, True),
    ]


def test_a_report_never_replaces_a_foreign_file(tmp_path):
    report, other = tmp_path / "r.html", tmp_path / "notes.html"
    other.write_text("mine")
    output.check_report(None, ())
    output.write_report(None, "page")
    with pytest.raises(InputError, match=r"^--report: .* was not written by Windlass"):
        output.check_report(other, ())
    output.check_report(report, (other,))
    output.write_report(report, "page")
    assert report.read_text() == "page"
