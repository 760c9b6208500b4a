"""``windlass what-if`` and ``windlass calibrate``: the answer, as text and as JSON, and what is refused."""

import json
from pathlib import Path

import pytest
import yaml

import windlass as library
from tests.control.test_what_if import journal_of, status

LOG = str(Path(__file__).parents[2] / "examples" / "log.swf")


def test_the_first_line_has_the_best_alternative(windlass):
    code, out, _ = windlass("what-if", LOG, "--at", "50000", "--policies", "sjf", "--procs", "100,40")
    assert code == 0
    assert out.startswith("With easy, 100 processors, the 16 jobs that wait at 50,000 s would start ")
    assert "At present, with easy, 64 processors, they wait" in out


def test_json_has_all_alternatives_and_jobs(windlass):
    words = ("--at", "50000", "--policies", "sjf,queue(priority=saf)", "--policy", "fcfs", "--json")
    answer = json.loads(windlass("what-if", LOG, *words)[1])
    assert [each["policy"] for each in answer["alternatives"]] == ["fcfs", "sjf", "queue(priority=saf)"]
    assert {each["processors"] for each in answer["alternatives"]} == {64}
    present, sjf, _ = answer["alternatives"]
    assert (present["sooner"], present["later"], present["change_s"]) == (0, 0, 0)
    assert 0 < sjf["sooner"] + sjf["later"] <= len(answer["jobs"])


def test_a_journal_has_a_site_and_machines(windlass, tmp_path):
    journal = journal_of(tmp_path / "demo.db", ("iowa", status()), ("osaka", status()))
    code, out, _ = windlass(
        "what-if", str(journal), "--engine", "demo", "--site", "iowa", "--without", "node-0", "--json"
    )
    assert code == 0
    assert [each["processors"] for each in json.loads(out)["alternatives"]] == [8, 4]
    code, _, err = windlass("what-if", str(journal), "--policies", "sjf")
    assert (code, "2 queues (demo:iowa, demo:osaka)" in err) == (2, True)
    for words in (["--at", "5"], ["--policy", "easy"], ["--columns", "submit=a"]):
        code, _, err = windlass("what-if", str(journal), "--site", "iowa", "--policies", "sjf", *words)
        assert (code, "are for a log, and the file is a journal" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "expected an alternative: --policies, --procs or --without"),
        (["--procs", "0"], "--procs is '0', expected numbers of processors such as 64,128"),
        (["--procs", "64,x"], "--procs is '64,x', expected numbers"),
        (["--policies", "none"], "unknown policy 'none'"),
        (["--without", "n1"], "--engine, --site and --without are for a journal, and the file is a log"),
        (["--procs", "9", "--at", "nan"], "--at is nan, expected a time in seconds"),
        (["--procs", ",".join(["9"] * 13)], "13 alternatives, expected at most 12"),
    ],
)
def test_a_bad_question_is_one_line(windlass, words, message):
    code, out, err = windlass("what-if", LOG, *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_file_that_is_named_as_a_journal_is_read_as_one(windlass, tmp_path):
    (tmp_path / "empty.db").touch()
    code, _, err = windlass("what-if", "empty.db", "--policies", "sjf")
    assert (code, "empty.db: not a journal of Windlass" in err) == (2, True)


@pytest.mark.matrix(0)
def test_calibrate_finds_the_missing_processors_and_writes_the_site(windlass, tmp_path):
    jobs = library.simulate(LOG, "easy", processors=56)
    history = jobs.select(
        "job", "procs", submit="submit_s", start="start_s", end="end_s", request="request_s"
    )
    history.write_csv(tmp_path / "history.csv")
    code, out, err = windlass("calibrate", "history.csv", "--procs", "64", "--out", "site.yaml")
    assert code == 0
    assert out.startswith(
        "The fitted site replays within 15 % of the recorded mean wait on the part not fitted"
    )
    assert "56 of 64" in out
    assert "windlass run site.yaml" in err
    assert yaml.safe_load((tmp_path / "site.yaml").read_text())["cluster"] == {"processors": 56}
    tree = json.loads(windlass("calibrate", "history.csv", "--procs", "64", "--share", "0.4", "--json")[1])
    assert tree["close"]
    assert tree["model"]["processors"] == 56
    assert [each["part"] for each in tree["waits"]] == ["fitted", "judged", "fitted", "judged"]
    assert tree["waits"][0]["jobs"] < tree["waits"][1]["jobs"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the log has no waits or start times, expected a log with them"),
        (["--out", "site.txt"], "--out is site.txt, expected a file that ends in .yaml"),
        (["--share", "1"], "Invalid value for '--share'"),
    ],
)
def test_a_log_that_cannot_be_fitted_is_one_line(windlass, words, message):
    code, out, err = windlass("calibrate", LOG, *words)
    assert (code, out) == (2, "")
    assert message in err
