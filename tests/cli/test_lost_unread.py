"""A command whose output is not read to its end, as with `| head`, still writes its files."""

import os
import subprocess

import pytest

from tests.cli.writers import READERS, WRITERS, prepared

UNREAD = (*WRITERS, *READERS)


def run_unread(program, words, folder):
    """Return the status and standard error of a command whose standard output is not read."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*program, *words], cwd=folder, stdout=writer, stderr=subprocess.PIPE, text=True, errors="replace"
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "writer", UNREAD, ids=[each.name if each.files else f"{each.name}, alone" for each in UNREAD]
)
def test_a_command_writes_its_files_when_its_output_is_not_read(tmp_path, writer):
    pytest.importorskip(writer.needs)
    prepared(tmp_path)
    for words in writer.before:
        subprocess.run([*writer.program, *words], cwd=tmp_path, check=True, capture_output=True)
    status, message = run_unread(writer.program, writer.words, tmp_path)
    assert status == 0, message
    assert "Traceback" not in message
    writer.check(tmp_path)


@pytest.mark.matrix(0)
@pytest.mark.parametrize(
    "shown",
    [
        pytest.param((), id="table"),
        pytest.param(("--csv",), id="csv", marks=pytest.mark.slow),
        pytest.param(("--json",), id="json", marks=pytest.mark.slow),
    ],
)
def test_a_report_is_written_when_the_table_is_not_read(tmp_path, shown):
    words = ("run", "--policies", "easy", "--seeds", "1", "--report", "r.html", "--out", "out", *shown)
    (run,) = [each for each in WRITERS if each.name == "run"]
    status, message = run_unread(run.program, words, tmp_path)
    assert status == 0, message
    assert message.splitlines()[-2:] == ["Tables and the scenario as run are in out", "The report is r.html"]
    run.check(tmp_path)
