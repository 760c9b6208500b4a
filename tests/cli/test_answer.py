"""The verdict, tables and CSV that ``windlass run`` prints."""

import csv
import io
import json
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
TWO = "workload: {lublin: {jobs: 60}}\npolicies: {order: [fcfs, easy]}\nseeds: [1, 2, 3]\n"
TWIN = "from windlass.order.site.policies.easy import Easy\nclass Twin(Easy):\n    name = 'twin'\n"


def swf(path: Path, over: bool) -> str:
    """Write 150 jobs on 4 processors; each requests less time than it runs if `over`, and more otherwise."""
    lines = [
        f"{number} {number * 7} 0 {10 + 13 * number % 50} {1 + number % 4} -1 -1 {1 + number % 4} "
        f"{5 if over else 100} -1 1 {number % 3} 1 -1 -1 -1 -1 -1"
        for number in range(1, 151)
    ]
    path.write_text("; MaxProcs: 4\n" + "\n".join(lines) + "\n")
    return str(path)


def test_two_equal_policies_are_said_to_be_equal(windlass, tmp_path):
    log = swf(tmp_path / "log.swf", over=False)
    (tmp_path / "twin.py").write_text(TWIN)
    status, out, _ = windlass("run", log, "--policies", "easy,./twin.py")
    assert status == 0
    assert out.startswith(
        "easy and twin have the same mean wait: 21.46 min. Compared with the recorded schedule, "
    )


def test_the_first_line_is_the_verdict_and_is_in_the_json(windlass, tmp_path):
    (tmp_path / "two.yaml").write_text(TWO)
    _, out, _ = windlass("run", "two.yaml", "--by", "slowdown")
    _, text, _ = windlass("run", "two.yaml", "--by", "slowdown", "--json")
    verdict = json.loads(text)["verdict"]
    assert out.splitlines()[0] == verdict["sentence"]
    assert verdict["by"] == "mean_bounded_slowdown"
    (point,) = verdict["points"]
    assert point["paired_over"] == "seeds"
    assert {each["variant"] for each in point["worse_than_best_by"]} == {"fcfs", "easy"}


def test_the_report_begins_with_the_verdict(windlass, tmp_path):
    (tmp_path / "two.yaml").write_text(TWO)
    _, out, _ = windlass("run", "two.yaml", "--report", "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert out.splitlines()[0].partition(";")[0].replace(" %", "\N{NO-BREAK SPACE}%") in page
    assert page.index('class="answer"') < page.index("<h2>Metrics</h2>")


def test_many_killed_jobs_trigger_a_second_run_without_kills(windlass, tmp_path):
    log = swf(tmp_path / "log.swf", over=True)
    _, out, _ = windlass("run", log, "--policies", "fcfs,easy", "--json")
    verdict = json.loads(out)["verdict"]
    assert verdict["cut_share"] > 0.5
    assert any("because jobs are stopped at their requested time; " in line for line in verdict["more"])
    assert verdict["without_cutting"] is not None
    # With the cut, both have the same mean.
    assert verdict["without_cutting"][0]["best"] == "easy"
    change = "If jobs are not stopped at their requested time, easy may lead in mean wait, not fcfs or easy."
    assert change in verdict["sentence"]
    _, out, _ = windlass("run", log, "--policies", "fcfs,easy", "--json", "--no-check")
    assert json.loads(out)["verdict"]["without_cutting"] is None
    _, out, _ = windlass("run", log, "--policies", "fcfs,easy", "--json", "--no-kill")
    assert json.loads(out)["verdict"]["cut_share"] == 0


def test_one_seed_of_a_drawn_workload_is_reported_in_the_first_line(windlass, tmp_path):
    (tmp_path / "two.yaml").write_text(TWO)
    said = "The workload was drawn once, with one seed"
    assert said in windlass("run", "two.yaml", "--seeds", "1")[1].splitlines()[0]
    assert said not in windlass("run", "two.yaml", "--seeds", "1,2")[1]
    log = swf(tmp_path / "log.swf", over=False)
    assert said not in windlass("run", log, "--policies", "fcfs,easy")[1]


def test_shaken_copies_of_a_log_are_compared_over_seeds(windlass, tmp_path):
    log = swf(tmp_path / "log.swf", over=False)
    shaken = ("run", log, "--policies", "fcfs,easy", "--set", "workload.shake=30")
    first = windlass(*shaken, "--seeds", "1-4")[1].splitlines()[0]
    assert "n = 4 seeds" in first
    assert first.endswith("Seeds are shaken copies of one log; other logs may differ more.")
    assert "The workload was drawn once, with one seed" in windlass(*shaken)[1].splitlines()[0]


def test_csv_has_a_row_per_variant_and_seed(windlass, tmp_path):
    (tmp_path / "two.yaml").write_text(TWO)
    _, out, err = windlass("run", "two.yaml", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["variant"], row["seed"]) for row in rows] == [
        (name, seed) for name in ("fcfs", "easy") for seed in "123"
    ]
    _, text, _ = windlass("run", "two.yaml", "--json")
    first = json.loads(text)["variants"][0]["seeds"][0]
    assert float(rows[0]["mean_wait_s"]) == first["mean_wait_s"]
    assert "mean wait" in err


def test_output_fits_80_columns(windlass, tmp_path, monkeypatch):
    """The whole output in a pipe of 80 columns: each sentence is one line, and a wide table is split."""
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "two.yaml").write_text(TWO)
    _, out, _ = windlass("run", "two.yaml")
    table = out.partition("\n\n")[2]
    assert max(map(len, table.splitlines())) <= 80
    assert out == (GOLDEN / "two-policies-80.txt").read_text(encoding="utf-8")


def test_wide_prints_one_table(windlass, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "two.yaml").write_text(TWO)
    _, out, _ = windlass("run", "two.yaml", "--wide")
    table = out.partition("\n\n")[2]
    assert table.count("variant") == 1
    assert "max" in table
    assert all(line == line.rstrip() or len(line) < 400 for line in table.splitlines())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--require", "p99_wait"], "--require: 'p99_wait' is not a requirement, expected METRIC OP VALUE"),
        (["--require", "p99_wait<=2*sjf"], "'sjf' is neither a number"),
        (["--require", "cost<=2"], "--require: 'cost' is not a metric"),
        (["--by", "wait"], "--by: 'wait' is ambiguous, expected one of mean_wait"),
        (["--by", "jobs"], "--by: 'jobs' is not a metric"),
        (["--json", "--csv"], "--csv: --json is also given"),
    ],
)
def test_wrong_options_are_a_one_line_error(windlass, tmp_path, options, message):
    (tmp_path / "two.yaml").write_text(TWO)
    status, out, err = windlass("run", "two.yaml", *options)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_a_sweep_over_sizes_begins_with_the_smallest_that_suffices(windlass, tmp_path):
    log = swf(tmp_path / "log.swf", over=False)
    _, out, _ = windlass("run", log, "--policies", "easy,fcfs", "--procs", "4,3")
    lines = out.splitlines()
    # The recorded schedule has no waits, so no smaller size keeps them.
    assert lines[0].startswith(
        "No size of the sweep keeps the mean wait within today's under easy: the largest, 4 proc"
    )
    assert lines[1].startswith("37 jobs wider than 3 processors would be refused at that size (")
    assert "Lowest mean wait, and margin over the second" in lines
    _, text, _ = windlass("run", log, "--policies", "easy,fcfs", "--procs", "4,3", "--json")
    verdict = json.loads(text)["verdict"]
    (easy, _) = verdict["sizes"]
    assert (verdict["sentence"], easy["smallest"], easy["today"]) == (lines[0], None, "recorded")
    assert [(each["size"], each["refused_jobs"], each["keeps"]) for each in easy["sizes"]] == [
        (3, 37, False),
        (4, 0, False),
    ]
    (matrix,) = verdict["matrices"]
    assert matrix["rows"] == {"field": "cluster.processors", "values": [4, 3]}
    assert [cell["point"] for (cell,) in matrix["cells"]] == ["processors=4", "processors=3"]


def test_from_five_points_on_the_matrix_replaces_the_sentences_of_points(windlass, tmp_path):
    log = swf(tmp_path / "log.swf", over=False)
    for loads, sentences in (("x1,x2,x3,x4", True), ("x1,x2,x3,x4,x5", False)):
        _, out, _ = windlass("run", log, "--policies", "easy,fcfs", "--set", f"load={loads}")
        assert any(line.startswith("load=x2: ") for line in out.splitlines()) == sentences
        assert any(line.startswith("Lowest mean wait at ") for line in out.splitlines())


def test_waits_per_user_are_printed_as_a_table_csv_and_json(windlass, tmp_path):
    log = swf(tmp_path / "log.swf", over=False)
    arguments = ("run", log, "--policies", "easy", "--per", "user")
    _, out, _ = windlass(*arguments)
    assert "Starved: jobs that waited longer than 1 d." in out.splitlines()
    _, text, _ = windlass(*arguments, "--json")
    per = json.loads(text)["per"]
    assert (per["division"], {row["user"] for row in per["rows"]}) == ("user", {"0", "1", "2"})
    _, text, _ = windlass(*arguments, "--csv")
    assert len(list(csv.DictReader(io.StringIO(text)))) == len(per["rows"]) == 6
    status, out, err = windlass("run", log, "--policies", "easy", "--per", "partition")
    assert (status, "Starved: " in out) == (0, False)
    assert "note: --per partition: the jobs have no partition, expected one of " in err
    status, _, err = windlass("run", log, "--per", "users")
    assert status != 0
    assert "--per: unknown division 'users', expected one of user, group, queue, partition, size" in err
