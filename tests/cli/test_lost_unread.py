"""Nobody reads what a command prints to its end, as where `| head` follows: what it writes is there all the same."""

import os
import subprocess

import pytest

from tests.cli.writers import READERS, WRITERS, prepared

UNREAD = (*WRITERS, *READERS)


def unread(program, words, folder):
    """Status and standard error of a command whose standard output nobody reads."""
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
def test_what_a_command_writes_does_not_hang_on_who_reads(tmp_path, writer):
    pytest.importorskip(writer.needs)
    prepared(tmp_path)
    for words in writer.before:
        subprocess.run([*writer.program, *words], cwd=tmp_path, check=True, capture_output=True)
    status, said = unread(writer.program, writer.words, tmp_path)
    assert status == 0, said
    assert "Traceback" not in said
    writer.check(tmp_path)


@pytest.mark.parametrize("shown", [(), ("--csv",), ("--json",)], ids=["table", "csv", "json"])
def test_a_report_is_written_though_nobody_reads_the_table(tmp_path, shown):
    words = ("run", "--policies", "easy", "--seeds", "1", "--report", "r.html", "--out", "out", *shown)
    (run,) = [each for each in WRITERS if each.name == "run"]
    status, said = unread(run.program, words, tmp_path)
    assert status == 0, said
    assert said.splitlines()[-2:] == ["Tables and the scenario as run are in out", "The report is r.html"]
    run.check(tmp_path)
