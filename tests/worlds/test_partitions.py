"""Jobs are bound to their partitions, and each partition behaves as a separate site."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.experiment.worlds.batch.world import Batch
from windlass.model import InputError, JobTable
from windlass.order.site import POLICIES
from windlass.sim import replay

PARTS = {"batch": 6, "gpu": 3}


def jobs(count: int = 90) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "submit": np.cumsum(rng.integers(0, 20, count)),
            "run": rng.integers(1, 60, count),
            "procs": rng.integers(1, 8, count),
            "partition": rng.choice(["batch", "gpu", "debug", None], count, p=[0.5, 0.3, 0.1, 0.1]),
            "user": [f"user{number % 3}" for number in range(count)],
        }
    )


def scenario(tmp_path: Path, table: pl.DataFrame | None = None, parts: object = None, **more: object):
    path = tmp_path / "log.csv"
    (jobs() if table is None else table).write_csv(path)
    listed = [{"name": name, "processors": count} for name, count in PARTS.items()]
    tree = {
        "cluster": {"partitions": listed if parts is None else parts},
        "workload": {"trace": str(path)},
        "policies": {"order": ["easy", "sjf"]},
    }
    return make_scenario(tree | more)


@pytest.mark.parametrize("order", ["easy", "sjf", "conservative"])
def test_each_partition_equals_a_separate_site(tmp_path, order):
    found = run(scenario(tmp_path, policies={"order": order})).variants[0].outcomes[0]
    numbered = jobs().with_row_index("job", offset=1)
    done = {job: start for job, start in found.jobs.select("job", "start_s").rows()}
    seen = 0
    for name, processors in PARTS.items():
        own = numbered.filter((pl.col("partition") == name) & (pl.col("procs") <= processors))
        table = JobTable.of(own["submit"], own["run"], own["procs"], job=own["job"].cast(pl.Int64))
        alone = replay(table, processors, POLICIES.find(order)())
        assert [done[job] for job in table.job.tolist()] == alone.start.tolist()
        seen += len(own)
    assert (len(done), found.processors) == (seen, 9)


def test_jobs_that_are_left_out_are_noted(tmp_path):
    found = run(scenario(tmp_path))
    table = jobs()
    stray = table.filter(~pl.col("partition").is_in(list(PARTS)) | pl.col("partition").is_null())
    wide = table.filter(pl.col("procs") > pl.col("partition").replace_strict(PARTS, default=99))
    notes = [note for note in found.notes() if "partition" in note]
    assert notes[0].startswith(
        f"{len(stray)} jobs are of no configured partition and are left out, the first: job "
    )
    assert notes[1].startswith(
        f"{len(wide)} jobs are wider than their partitions and are left out, the first: job "
    )
    # A job wider than all partitions together would have been dropped earlier.
    assert table["procs"].max() <= 9


def test_reasons_and_names_match_their_jobs(tmp_path):
    outcome = run(scenario(tmp_path)).variants[0].outcomes[0]
    numbered = jobs().with_row_index("job", offset=1).with_columns(pl.col("job").cast(pl.Int64))
    both = outcome.jobs.join(numbered, on="job", suffix="_log")
    assert both["user"].equals(both["user_log"], check_names=False)
    assert both["partition"].equals(both["partition_log"], check_names=False)
    reasons = set(outcome.jobs["why"])
    assert len(reasons) > 1
    assert reasons <= set(POLICIES.find("easy").reasons)
    # Without queues, Jain's index is over partitions.
    assert 0.5 <= outcome.metrics.queues_jain <= 1


def test_a_load_counts_only_the_jobs_that_run(tmp_path):
    found = run(scenario(tmp_path, load=0.5)).variants[0].outcomes[0].jobs
    runs, span = found["end_s"] - found["start_s"], found["submit_s"].max() - found["submit_s"].min()
    assert float((runs * found["procs"]).sum()) / (9 * span) == pytest.approx(0.5)


def test_the_saved_scenario_reproduces_the_metrics(tmp_path):
    first = scenario(tmp_path)
    again = make_scenario(yaml.safe_load(first.as_run))
    assert run(again).metrics().equals(run(first).metrics())


@pytest.mark.parametrize(
    ("parts", "table", "message"),
    [
        ([{"name": "a", "processors": 0}], None, r"cluster\.partitions\.0\.processors"),
        ([{"name": "a", "processors": 1}] * 2, None, "duplicate name in a, a"),
        ([{"name": "a", "processors": 8}], None, "no jobs are left: "),
        (None, jobs().drop("partition"), "jobs name no partition, expected a log that does"),
    ],
)
def test_wrong_partitions_are_rejected(tmp_path, parts, table, message):
    with pytest.raises(InputError, match=message):
        run(scenario(tmp_path, table, parts))


def test_partitions_exclude_processors_and_need_partition_names(tmp_path):
    with pytest.raises(InputError, match="processors cannot be given with partitions"):
        scenario(tmp_path, cluster={"processors": 4, "partitions": [{"name": "a", "processors": 4}]})
    with pytest.raises(InputError, match="jobs name no partition"):
        run(
            make_scenario(
                {
                    "cluster": {"partitions": [{"name": "a", "processors": 4}]},
                    "workload": {"lublin": {"jobs": 5}},
                    "policies": {"order": "easy"},
                }
            )
        )


@pytest.mark.parametrize(
    "order",
    ["easy", {"queue": {"priority": {"multifactor": {"weight_fairshare": 1000}}}}],
    ids=["easy", "multifactor"],
)
def test_the_explanation_of_a_wait_covers_only_its_partition(tmp_path, order):
    made = scenario(tmp_path, policies={"order": order})
    setting = made.variants[0].setting
    workload = Batch().workload(setting, 1)
    table = run(made).variants[0].outcomes[0].jobs
    bound_to = dict(jobs().with_row_index("job", offset=1).select("job", "partition").rows())
    for job, submit, start in table.select("job", "submit_s", "start_s").rows():
        if start - submit < 30:
            continue
        waited = Batch().explainer.waited(setting, 1, workload, job)
        assert (waited.submit, waited.start, waited.processors) == (submit, start, PARTS[bound_to[job]])
        named = {each.job for moment in waited.moments for each in moment.started}
        assert {bound_to[each] for each in named} == {bound_to[job]}
