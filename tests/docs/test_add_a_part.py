"""docs/add-a-part.md: its part is saved as documented, and run in the example of colocated jobs and tasks."""

import re

import pytest
import yaml

from tests.docs.test_documents import ROOT, blocks
from windlass.drive import drive
from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.model import InputError, JobTable
from windlass.model.timetable import NodeTimetable
from windlass.order.site.policies.fcfs import Fcfs
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.site.part import SitePart

PAGE = "docs/add-a-part.md"
NODES, NIGHTS = 48, 3


@pytest.fixture
def example(tmp_path):
    """The example with fewer tasks and no outages, over some three days."""
    code, builds = blocks(PAGE, "python")
    assert len([line for line in code.splitlines() if line.strip()]) < 40
    (tmp_path / "backup.py").write_text(code, encoding="utf-8")
    (tmp_path / "builds.py").write_text(builds, encoding="utf-8")
    tree = yaml.safe_load((ROOT / "examples/colocated.yaml").read_text(encoding="utf-8"))
    del tree["cluster"]["outages"]
    tree["workload"] = {
        "batch": {"lublin": {"jobs": 40, "load": 0.2}},
        "tasks": {"tasks": 20_000, "load": 0.0005},
    }
    tree["policies"] = {"order": "easy", "dispatch": "jsq"}
    return tree


def outcome(tree, folder):
    return run(make_scenario(tree, folder=folder)).variants[0].outcomes[0]


def test_the_part_of_the_page_runs_with_jobs_and_tasks(example, tmp_path):
    yaml_text = blocks(PAGE, "yaml")[0]
    without = outcome(example, tmp_path)
    coupled = outcome(example | yaml.safe_load(yaml_text), tmp_path)
    (note,) = (note for note in coupled.notes if note.startswith("backup"))
    held = int(re.fullmatch(r"backup: held ([\d,]+) core hours", note)[1].replace(",", ""))
    # One core of four, for two hours each night, wherever one is idle.
    assert 0 < held <= NODES * 2 * 10
    assert not [note for note in without.notes if note.startswith("backup")]
    # The part slows tasks as well.
    assert coupled.metrics.mean_task_response_s > without.metrics.mean_task_response_s
    assert coupled.metrics.added_job_wait_s == 0.0


def test_a_part_with_jobs_is_a_kind_of_load(example, tmp_path):
    loads = yaml.safe_load(blocks(PAGE, "yaml")[2])["loads"]
    tree = {
        "world": "cluster", "seconds": 86_400, "sites": {"iowa": {"nodes": [{"count": 2, "cores": 4}]}},
        "loads": {"batch": {"rigid": {"lublin": {"jobs": 120, "load": 0.7}}}} | loads,
        "policies": {"order": ["easy", "fcfs"]},
    }  # fmt: skip
    outcomes = [each.outcomes[0] for each in run(make_scenario(tree, folder=tmp_path)).variants]
    tables = [each.jobs.filter(each.jobs["kind"] == "part job") for each in outcomes]
    assert tables[0]["submit_s"].equals(tables[1]["submit_s"])
    assert not tables[0]["start_s"].equals(tables[1]["start_s"])
    for found, table in zip(outcomes, tables, strict=True):
        assert table["job"].to_list() == list(range(1, 201))
        assert set(table["load"]) == {"builds"}
        assert (table["start_s"] >= table["submit_s"]).all()
        assert found.metrics.part_jobs == 200
        assert found.metrics.mean_part_response_s == pytest.approx(
            (table["end_s"] - table["submit_s"]).mean()
        )
        # At no time do batch jobs and builds have more cores than there are.
        rows = [(row["start_s"], row["end_s"], row["procs"] or 1) for row in found.jobs.iter_rows(named=True)]
        held = [sum(cores for start, end, cores in rows if start <= now < end) for now, _, _ in rows]
        assert max(held) <= 8


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            '{"submit_s": [1.0], "end_s": [2.0]}',
            "loads.own: the table of jobs has no numbers in column start_s",
        ),
        (
            '{"submit_s": [5.0], "start_s": [1.0], "end_s": [2.0]}',
            "loads.own: a job that is submitted at 5 s ends at 2 s, expected later",
        ),
    ],
)
def test_a_table_of_jobs_that_cannot_be_used_is_refused(table, message, tmp_path):
    code = f"""
import polars as pl
from windlass.sim.part import Quiet

class Own(Quiet):
    name = "own"

    def __init__(self, ledger, site, number):
        ledger.join(site, number)

    def jobs(self):
        return pl.DataFrame({table})
"""
    (tmp_path / "own.py").write_text(code, encoding="utf-8")
    tree = {
        "world": "cluster", "seconds": 60, "sites": {"iowa": {"nodes": [{"count": 1, "cores": 4}]}},
        "loads": {"own": {"part": "own.py:Own"}, "web": {"tasks": {"tasks": 10}}},
    }  # fmt: skip
    with pytest.raises(InputError, match=message):
        run(make_scenario(tree, folder=tmp_path))


def test_the_part_of_the_page_is_a_load_of_a_cluster(example, tmp_path):
    tree = {
        "world": "cluster",
        "seconds": 3 * 86_400,
        "sites": {"iowa": {"nodes": [{"count": NODES, "cores": 4}]}, "oslo": {"nodes": [{"count": 2, "cores": 4}]}},
        "loads": {"batch": {"rigid": {"lublin": {"jobs": 900, "load": 0.3}}}, "web": {"tasks": {"tasks": 20_000}}},
    }  # fmt: skip
    loads = yaml.safe_load(blocks(PAGE, "yaml")[1])["loads"]
    scenario = make_scenario(tree | {"loads": tree["loads"] | loads}, folder=tmp_path)
    found = run(scenario).variants[0].outcomes[0]
    (note,) = (note for note in found.notes if note.startswith("nightly"))
    held = int(re.fullmatch(r"nightly@iowa: held ([\d,]+) core hours", note)[1].replace(",", ""))
    assert 0 < held <= NODES * 2 * 2
    cores = {each.name: each.value for each in found.series}
    assert cores["cores of nightly at iowa"].max() > NODES / 2
    assert "cores of nightly at oslo" not in cores
    # The arrivals of the other loads are the same without it.
    others = run(make_scenario(tree)).variants[0].outcomes[0]
    assert others.jobs["submit_s"].to_list() == found.jobs["submit_s"].to_list()
    # A saved run names the file by its full path.
    assert str(tmp_path / "backup.py") in scenario.as_run


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("backup", "part is 'backup', expected a file such as backup.py:Backup"),
        ({"backup.py": {"site": 1}}, "part: site is set by the world, remove it"),
        ({"backup.py": {"shares": 1}}, r"loads.nightly: .*backup.py has no parameter 'shares'"),
    ],
)
def test_errors_of_a_part_in_a_cluster_name_the_load(example, tmp_path, part, message):
    tree = {
        "world": "cluster",
        "seconds": 60,
        "sites": {"iowa": {"processors": 4}},
        "loads": {"nightly": {"part": part}},
    }
    with pytest.raises(InputError, match=message):
        run(make_scenario(tree, folder=tmp_path))


@pytest.mark.parametrize(("kill", "hours"), [(False, 6), (True, 4)])
def test_the_part_takes_idle_cores_returns_them_and_leaves_vacated_nodes(kill, hours):
    found = {}
    exec(blocks(PAGE, "python")[0], found)
    day, ledger = found["DAY"], Ledger([[4, 4, 4]], parts=2)
    # The first night all cores are held; the second all are idle, and a node goes in the middle of it, or comes back.
    jobs = JobTable.of(submit=[0, 2 * day + 10_000], run=[day + 3600, 10], procs=[12, 12 - 4 * kill])
    outage = (
        NodeTimetable.outage(1, 2 * day + 3600, None, cores=4, kill=True) if kill else NodeTimetable.none()
    )
    backup, policy = found["Backup"](ledger, 0, 1, share=0.25), Fcfs()
    cluster = Coupled([Outages(outage, ledger), SitePart(jobs, policy, ledger), backup], ledger)
    _, done, yaml_text = drive(cluster, {"order": policy})
    assert yaml_text == f"held {hours} core hours"
    # The last job, which wants all cores, starts on arrival: everything was returned.
    assert done.start.tolist() == [0.0, 2 * day + 10_000]
    assert ledger.nodes.held.sum() == 0


def test_parts_of_a_scenario_are_files(example, tmp_path):
    with pytest.raises(
        InputError, match=r"parts.*part 0 is 'backup', expected a file such as backup.py:Backup"
    ):
        make_scenario(example | {"parts": ["backup"]}, folder=tmp_path)
    with pytest.raises(InputError, match=r"parts: .*backup.py has no parameter 'shares'"):
        outcome(example | {"parts": [{"backup.py": {"shares": 1}}]}, tmp_path)
