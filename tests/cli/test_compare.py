"""``windlass compare``: two saved runs of the same jobs."""

import json
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]
LOG = ROOT / "examples" / "log.swf"


@pytest.fixture
def compare(windlass):
    """Runs `windlass compare`; before it, a run in a folder by `compare.run`."""

    def run(out, *options, target=LOG):
        status, _, err = windlass("run", str(target), *options, "--out", out, "--no-check")
        assert status == 0, err

    def of(*words):
        return windlass("compare", *words)

    of.run = run
    return of


def waits(folder, variant):
    table = pl.read_parquet(Path(folder) / "jobs.parquet").filter(pl.col("variant") == variant)
    return dict(zip(table["job"], table["start_s"] - table["submit_s"], strict=True))


def test_both_directions_report_the_same_difference(compare):
    compare.run("a", "--policies", "fcfs")
    compare.run("b", "--policies", "easy")
    status, out, err = compare("a", "b")
    assert (status, err) == (0, "")
    first, second = (sum(waits(*each).values()) / 400 for each in (("a", "fcfs"), ("b", "easy")))
    assert out.startswith(f"B's mean wait is {100 * (1 - second / first):.0f} % less than A's: ")
    back = compare("b", "a")[1]
    assert back.startswith(f"B's mean wait is {100 * (first / second - 1):.0f} % more than A's: ")
    trees = [json.loads(compare(*each, "--json")[1]) for each in (("a", "b"), ("b", "a"))]
    metrics = [{each["metric"]: each for each in tree["variants"][0]["metrics"]} for tree in trees]
    for name, found in metrics[0].items():
        other = metrics[1][name]
        assert (found["a"], found["b"]) == (other["b"], other["a"])
        assert found["difference"] == -other["difference"]
        assert (found["significant"], found["worse_by"]) == (other["significant"], other["worse_by"])
    assert metrics[0]["mean_wait_s"]["better"] == "b"
    assert trees[0]["fields"] == [{"field": "policies.order", "a": "fcfs", "b": "easy"}]


def test_the_verdict_is_that_of_one_run(compare, windlass):
    compare.run("a", "--policies", "fcfs,easy")
    whole = json.loads(windlass("run", str(LOG), "--policies", "fcfs,easy", "--no-check", "--json")[1])
    (fcfs, _) = whole["verdict"]["points"][0]["worse_than_best_by"]
    tree = json.loads(compare("a", "a", "--a", "easy", "--b", "fcfs", "--json")[1])
    wait = next(each for each in tree["variants"][0]["metrics"] if each["metric"] == "mean_wait_s")
    for name in ("worse_in", "pairs_counted", "sign_flip_p", "no_interval"):
        assert wait[name] == fcfs[name]


def test_a_run_is_equal_to_itself_and_to_its_repetition(compare):
    compare.run("a", "--policies", "fcfs,easy")
    compare.run("b", "--policies", "fcfs,easy")
    for other in ("a", "b"):
        lines = compare("a", other)[1].splitlines()
        assert lines[0] == "B and A are equal: all 12 metrics are the same, under fcfs and easy."
        assert lines[1] == "The scenarios are the same. 400 jobs are compared."


def test_jobs_are_paired_by_identifier(compare):
    compare.run("a", "--policies", "easy")
    compare.run("b", "--policies", "easy", "--procs", "40")
    out = compare("a", "b")[1]
    first, second = waits("a", "easy"), waits("b", "easy")
    common = first.keys() & second.keys()
    left = len(first) - len(common)
    assert left > 0
    assert f"{len(common)} jobs are compared; {left} jobs only in A are not compared." in out
    assert "The scenarios differ in cluster.processors (none in A, 40 in B)." in out
    tree = json.loads(compare("a", "b", "--json")[1])["variants"][0]
    wait = next(each for each in tree["metrics"] if each["metric"] == "mean_wait_s")
    assert wait["a"] == pytest.approx(sum(first[job] for job in common) / len(common))
    assert wait["b"] == pytest.approx(sum(second[job] for job in common) / len(common))
    assert "utilisation" not in {each["metric"] for each in tree["metrics"]}


def test_another_load_of_the_same_log_has_the_same_jobs(compare):
    compare.run("a", "--policies", "easy")
    compare.run("b", "--policies", "easy", "--set", "load=x1.5")
    out = compare("a", "b")[1]
    assert out.startswith("B's mean wait is ")
    assert " more than A's: " in out.splitlines()[0]
    assert "400 jobs are compared; their times of submission differ." in out


def test_several_variants_are_counted_and_have_a_sentence_each(compare):
    compare.run("a", "--policies", "fcfs,easy")
    compare.run("b", "--policies", "fcfs,easy", "--procs", "48")
    lines = compare("a", "b", "--by", "p95_wait")[1].splitlines()
    assert lines[0].startswith("B's p95 wait, compared with A's, is ")
    assert lines[1].startswith("fcfs: B's p95 wait is ")
    assert lines[2].startswith("easy: B's p95 wait is ")


def test_seeds_are_pairs_of_a_drawn_workload(compare):
    scenario = Path("drawn.yaml")
    text = "workload: {lublin: {jobs: 200, load: 0.9}}\npolicies: {order: easy}\nseeds: [1, 2, 3]\n"
    text += "cluster: {processors: %d}\n"
    for name, processors in (("a", 64), ("b", 128)):
        scenario.write_text(text % processors)
        compare.run(name, target=scenario)
    compare.run("c", "--seeds", "3-5", target=scenario)
    compare.run("d", "--seeds", "7", target=scenario)
    status, out, err = compare("b", "c")
    assert (status, err) == (0, "")
    assert out.startswith("B and A are equal: ")
    assert "The scenarios differ in seeds ([1, 2, 3] in A, [3, 4, 5] in B). 200 jobs are compared." in out
    status, out, err = compare("b", "d")
    assert (status, out) == (2, "")
    assert "no common seed: b has 1, 2, 3 and d has 7; run both with the same seeds" in err


@pytest.mark.slow
def test_other_logs_and_worlds_are_rejected_in_one_line(compare, tmp_path):
    compare.run("a", "--policies", "easy")
    other = Path("other.swf")
    rows = [line.split() for line in LOG.read_text().splitlines() if not line.startswith(";")]
    for row in rows:
        row[4] = row[7] = str(1 + int(row[4]) % 3)
    other.write_text("; MaxProcs: 64\n" + "\n".join(" ".join(row) for row in rows) + "\n")
    compare.run("b", "--policies", "easy", target=other)
    status, out, err = compare("a", "b")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "a and b did not run the same jobs: " in err
    assert "other.swf; expected runs of the same log" in err
    compare.run("c", target=ROOT / "examples" / "fleet-order.yaml")
    assert "c one of 'fleet', expected the same world" in compare("a", "c")[2]


@pytest.mark.parametrize("name", ["jobs.parquet", "metrics.parquet", "scenario.yaml"])
def test_a_damaged_folder_is_rejected_in_one_line(compare, name):
    compare.run("a", "--policies", "easy")
    compare.run("b", "--policies", "easy")
    file = Path("b") / name
    whole = file.read_bytes()
    for damaged in (whole[: len(whole) // 2], b""):
        file.write_bytes(damaged)
        status, out, err = compare("a", "b")
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert f"b/{name}" in err
    pl.DataFrame({"x": [1]}).write_parquet(file)
    assert compare("a", "b")[0] == 2
    file.unlink()
    status, out, err = compare("a", "b")
    assert (status, out) == (2, "")
    assert f"folder without {name}" in err


def test_variants_without_a_common_name(compare):
    compare.run("a", "--policies", "fcfs,easy")
    compare.run("b", "--policies", "sjf,conservative")
    status, _, err = compare("a", "b")
    assert status == 2
    assert (
        "no variant of the same name: a has fcfs, easy, and b has sjf, conservative; name one of each" in err
    )
    assert compare("a", "b", "--a", "easy", "--b", "conservative")[0] == 0
    assert "did you mean" in compare("a", "b", "--a", "eassy", "--b", "sjf")[2]
    assert "is not a metric of this world" in compare("a", "a", "--by", "nothing")[2]
