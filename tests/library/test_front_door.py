"""The functions of the library return the documented results, which equal those of the command."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import windlass
from windlass.experiment.experiment import Experiment, Folder, without_cutting
from windlass.experiment.scenario import make_scenario
from windlass.experiment.worlds.batch import jobs
from windlass.io.traces import read_trace

ROOT = Path(__file__).parents[2]
LOG = ROOT / "examples" / "log.swf"
DRAWN = {"workload": {"lublin": {"jobs": 60}}, "policies": {"order": ["fcfs", "easy"]}}


def test_a_notebook_cell_of_six_lines_shows_the_verdict_and_the_table(monkeypatch):
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    cell = page.split("```python\n")[1].split("```")[0]
    lines = [line for line in cell.splitlines() if line]
    assert len(lines) <= 6
    monkeypatch.chdir(ROOT)
    space = {}
    exec("\n".join(lines[:-1]), space)
    table = eval(lines[-1], space)
    assert isinstance(table, pl.DataFrame)
    assert table["variant"].to_list()[:3] == ["fcfs", "sjf", "easy"]
    results = space["results"]
    shown = results._repr_html_()
    assert results.verdict is not None
    assert "<table" in shown
    assert results.sentences[0].split()[0] in shown


def test_every_public_name_exists_and_is_listed():
    for name in windlass.__all__:
        assert getattr(windlass, name) is not None
    assert set(windlass.__all__) <= set(dir(windlass))
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = windlass.no_such_name


def test_importing_the_package_imports_no_simulator():
    code = "import sys, windlass; assert not {'numba', 'polars', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_library_and_the_command_give_the_same_numbers(tmp_path, monkeypatch, capsys):
    file = tmp_path / "scenario.yaml"
    file.write_text(json.dumps(DRAWN))
    results = windlass.run(file, seeds=[1, 2])
    from windlass.cli import command

    monkeypatch.setattr(sys, "argv", ["windlass", "run", str(file), "--seeds", "1,2", "--json"])
    with pytest.raises(SystemExit) as ended:
        command()
    assert ended.value.code in (0, None)
    printed = json.loads(capsys.readouterr().out)
    table = results.table()
    assert printed["verdict"]["sentence"] == results.sentences[0]
    for row, variant in enumerate(printed["variants"]):
        assert table["variant"][row] == variant["name"]
        assert table["mean_wait_s"][row] == pytest.approx(variant["metrics"]["mean_wait_s"], rel=1e-12)


def test_policies_are_given_by_decision_and_fields_make_a_sweep():
    results = windlass.run(DRAWN, {"order": ["sjf"]}, fields={"cluster.processors": [128, 256]}, check=False)
    assert results.table()["variant"].to_list() == ["sjf, processors=128", "sjf, processors=256"]


def test_a_schedule_of_one_policy_has_a_row_per_job():
    jobs = windlass.simulate(LOG, "fcfs", processors=64)
    assert len(jobs) == len(windlass.load_log(LOG))
    # First come, first served: in order of submission, no job starts before an earlier one.
    starts = jobs.sort("submit_s", maintain_order=True)["start_s"].to_list()
    assert starts == sorted(starts)


def test_policies_lists_each_policy_with_its_decision():
    found = windlass.policies()
    assert set(found["decision"]) == {
        "admit", "dispatch", "order.fleet", "order.site", "place", "plan", "scale", "share"
    }  # fmt: skip
    assert found.filter(pl.col("policy") == "conservative")["decision"].to_list() == ["order.site"]
    assert found["summary"].str.len_chars().min() > 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: windlass.load_log("missing.swf"), "missing.swf: no such file"),
        (lambda: windlass.run("missing.swf"), "missing.swf"),
        (lambda: windlass.run(DRAWN, ["esay"]), "did you mean 'easy'"),
        (lambda: windlass.run(DRAWN, fields={"cluster.procs": 3}), "cluster.procs"),
        (lambda: windlass.run(DRAWN, by="no_metric"), "no_metric"),
        (lambda: windlass.run(DRAWN, jobs=0), "run: jobs is 0, expected a whole number of at least 1"),
        (lambda: windlass.run(DRAWN, fields={1: 2}), "run: fields has the key 1, expected a name"),
        (
            lambda: windlass.simulate("scenario.yaml"),
            "simulate: scenario.yaml is a scenario file, expected a log",
        ),
        (
            lambda: windlass.simulate(LOG, fields={"cluster.processors": [64, 128]}),
            "simulate: fields make 2 variants, expected one",
        ),
        (lambda: Experiment("log.swf"), "Experiment: str given, expected a scenario"),
        (lambda: windlass.run(DRAWN, resume=True), "force and resume need the argument out"),
        (lambda: windlass.run(make_scenario(DRAWN), ["easy"]), "already has policies"),
        (lambda: windlass.run(["a list"]), "run: list given, expected a path"),
    ],
)
def test_the_error_is_one_line(call, message):
    with pytest.raises(windlass.InputError) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_interrupted_experiment_resumes_without_repeating_runs(tmp_path):
    scenario = make_scenario({**DRAWN, "seeds": [1, 2]})
    out = tmp_path / "out"

    def interrupt(progress):
        if progress.done >= 2:
            raise KeyboardInterrupt

    first = Experiment(scenario, folder=Folder(out), check=False)
    with pytest.raises(KeyboardInterrupt):
        first.run(interrupt)
    finished, total = first.unfinished()
    assert (total, out.exists()) == (4, False)
    assert 1 <= finished <= 3
    seen = []
    again = Experiment(scenario, folder=Folder(out, resume=True), check=False)
    results = again.run(lambda progress: seen.append(progress.done))
    assert min(seen) == finished
    assert again.unfinished() is None
    whole = Experiment(scenario, check=False).run()
    assert results.jobs().equals(whole.jobs())
    assert pl.read_parquet(out / "jobs.parquet").equals(whole.jobs())


def test_an_experiment_without_finished_runs_leaves_no_files(tmp_path):
    out = tmp_path / "out"

    def interrupt(progress):
        raise KeyboardInterrupt

    experiment = Experiment(make_scenario(DRAWN), folder=Folder(out), check=False)
    with pytest.raises(KeyboardInterrupt):
        experiment.run(interrupt)
    assert experiment.unfinished() is None
    assert list(tmp_path.glob(".out.partial")) == []


def test_a_report_is_one_html_file(tmp_path):
    results = windlass.run(DRAWN, check=False)
    page = results.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "easy" in page
    assert page.startswith("<!doctype html>")


def test_without_cutting_disables_kills_at_the_requested_time():
    scenario = make_scenario(DRAWN)
    other = without_cutting(scenario)
    assert [each.name for each in other.variants] == [each.name for each in scenario.variants]
    field = scenario.world.setting.options["--no-kill"]
    part, name = field.rsplit(".", 1) if "." in field else ("", field)

    def value(setting):
        for each in filter(None, part.split(".")):
            setting = getattr(setting, each)
        return getattr(setting, name)

    assert [value(each.setting) for each in other.variants] == [False] * len(other.variants)
    swept = make_scenario({**DRAWN, **({part: {name: [True, False]}} if part else {name: [True, False]})})
    assert without_cutting(swept) is None


def test_one_policy_and_one_seed_need_no_list(tmp_path):
    results = windlass.run(DRAWN, "sjf", seeds=3, check=False)
    assert results.table()["variant"].to_list() == ["sjf"]
    assert results.metrics()["seed"].to_list() == [3]
    results.save(str(tmp_path / "tables"))
    assert (tmp_path / "tables" / "jobs.parquet").is_file()


def test_a_log_is_found_from_another_folder_and_bad_lines_can_be_skipped(tmp_path, monkeypatch):
    (tmp_path / "jobs.csv").write_text("submit,run,procs\n0,60,4\n5,x,2\n9,30,2\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(windlass.InputError, match="line 3"):
        windlass.load_log("jobs.csv")
    log = windlass.load_log("jobs.csv", skip_bad_lines=True)
    monkeypatch.chdir("/")
    results = windlass.run(log, ["fcfs"], fields={"cluster.processors": 8}, check=False)
    assert results.jobs()["submit_s"].to_list() == [0.0, 9.0]


def test_a_log_is_read_once_for_the_runs_with_and_without_cutting(tmp_path, monkeypatch):
    file = tmp_path / "jobs.csv"
    file.write_text("submit,run,procs,request\n" + "".join(f"{at},90,{at % 4 + 1},60\n" for at in range(9)))
    read = []

    def counted(*given):
        read.append(given)
        return read_trace(*given)

    monkeypatch.setattr(jobs, "read_trace", counted)
    results = windlass.run(windlass.load_log(file), ["fcfs", "easy"])
    assert results.answer.uncut is not None
    assert len(read) == 1
