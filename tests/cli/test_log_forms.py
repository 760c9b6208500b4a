"""Logs from pipes and with columns that the user names, on the command line."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

from windlass.cli.column_names import columns_given
from windlass.model import InputError

LOG = "Queued;Length;Weight\n0;60;4\n5;30;8\n"
COLUMNS = ("--columns", "submit=Queued,run=Length", "--columns", "procs=Weight")
PLAIN = "id,submit,run,procs\na,0,60,4\nb,5,30,8\n"


def test_columns_are_named_on_the_command_line(windlass, tmp_path):
    (tmp_path / "jobs.csv").write_text(LOG)
    status, out, err = windlass("run", "jobs.csv", "--policies", "fcfs", "--json", *COLUMNS)
    assert status == 0, err
    assert json.loads(out)["variants"][0]["metrics"]["mean_wait_s"] == 27.5
    assert "columns: submit is 'Queued', run is 'Length', procs_requested is 'Weight'" in " ".join(
        err.split()
    )
    assert json.loads(windlass("trace", "jobs.csv", "--json", *COLUMNS)[1])["jobs"] == 2
    assert windlass("validate", "jobs.csv", *COLUMNS)[0] == 0
    status, _, err = windlass("run", "jobs.csv", "--columns", "submit=Queue")
    assert (status, err.count("\n")) == (2, 1)
    assert (
        "jobs.csv: no column 'Queue' for submit, found 'Queued', 'Length', 'Weight'; did you mean 'Queued'?"
        in err
    )


def test_columns_may_be_in_a_scenario_and_are_explained(windlass, tmp_path):
    (tmp_path / "jobs.csv").write_text(LOG)
    columns = "{submit: Queued, run: Length, procs: Weight}"
    tree = f"workload: {{trace: jobs.csv, columns: {columns}}}\npolicies: {{order: fcfs}}\n"
    (tmp_path / "s.yaml").write_text(tree)
    assert windlass("run", "s.yaml", "--out", "out")[0] == 0
    assert "Job 2 requested 8 of 8" in windlass("explain", "out", "2")[1]
    (tmp_path / "s.yaml").write_text(tree.replace("submit:", "sumbit:"))
    status, _, err = windlass("run", "s.yaml")
    assert (status, err.count("\n")) == (2, 1)
    assert "'sumbit' is no field, expected job, submit, run, " in err
    (tmp_path / "s.yaml").write_text(
        "workload: {lublin: {}, columns: {submit: a}}\npolicies: {order: fcfs}\n"
    )
    assert "columns, widest, ran and shake are for a trace" in windlass("run", "s.yaml")[2]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["submit"], "--columns: 'submit' names no column, expected FIELD=COLUMN as in submit=Start"),
        (["submit="], "--columns: 'submit=' names no column"),
        (["submit=a", "submit=b"], "--columns: submit is given twice"),
    ],
)
def test_invalid_columns_are_one_line_errors(texts, message):
    with pytest.raises(InputError) as caught:
        columns_given(texts)
    assert str(caught.value).startswith(message)


def test_names_of_columns_may_have_commas_and_equals_signs():
    assert columns_given(["submit=a, b=c,run=x=y"]) == {"submit": "a, b=c", "run": "x=y"}


def test_a_named_pipe_is_read_once(windlass, tmp_path):
    pipe = tmp_path / "jobs.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(PLAIN,))
    writer.start()
    status, _, err = windlass("run", "jobs.csv", "--policies", "fcfs,easy", "--out", "out")
    writer.join()
    assert status == 0, err
    assert "the log comes through a pipe and is not saved" in " ".join(err.split())
    assert pl.read_parquet(tmp_path / "out" / "jobs.parquet")["job_id"].to_list() == ["a", "b"] * 2


@pytest.mark.matrix(0)
def test_standard_input_is_read(tmp_path):
    call = [sys.executable, "-m", "windlass"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [*call, "trace", "-", "--json"],
        input=PLAIN.encode(),
        capture_output=True,
        env=environment,
        check=False,
    )
    assert json.loads(done.stdout)["jobs"] == 2, done.stderr
    assert list(tmp_path.iterdir()) == []
    done = subprocess.run(
        [*call, "trace", "-"],
        input=b"submit,run,procs\n0,x,4\n",
        capture_output=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "windlass: standard input, line 2: run is 'x', expected a duration: a number of seconds of 0 or more, 01:02:03 "
        "or 1-02:03:04\n"
    )


def test_the_terminal_is_not_read(windlass, monkeypatch):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    status, _, err = windlass("run", "-")
    assert status == 2
    assert "-: standard input is a terminal, expected a log, as in: zcat log.gz | windlass run -" in " ".join(
        err.split()
    )


def test_an_existing_file_is_read_in_place():
    from windlass.io.traces.pipes import as_file

    assert as_file(Path(__file__)) == Path(__file__)
