"""With configured GPUs and memory, jobs wait for them, and the run reports the causes of waits."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import pooled
from tests.oracles.workloads import CHECK
from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.experiment.worlds.batch.explainer import BatchExplainer
from windlass.experiment.worlds.batch.pools import Amounts, pools_of, within
from windlass.experiment.worlds.batch.recorded import LoggedBatch
from windlass.experiment.worlds.batch.spec import BatchSetting
from windlass.io.traces import Workload
from windlass.io.traces.resources import ResourceRequest
from windlass.model import InputError, JobTable
from windlass.model.pools import Pools
from windlass.report.columns import metric_columns
from windlass.report.waiting import moment_lines, waiting_sentences
from windlass.results.metrics.bottleneck import used_shares, wait_causes
from windlass.results.metrics.site import BatchMetrics

GIB = 2.0**30
POLICIES = ("fcfs", "easy", "conservative")


def table(count: int = 120) -> pl.DataFrame:
    rng = np.random.default_rng(8)
    return pl.DataFrame(
        {
            "submit": np.cumsum(rng.integers(0, 12, count)),
            "run": rng.integers(1, 60, count),
            "request": rng.integers(60, 90, count),
            "procs": rng.integers(1, 5, count),
            "gpus": rng.choice([0.0, 0.25, 1.0, 2.0, 4.0], count),
            "memory": rng.integers(1, 9, count) * GIB,
        }
    )


@pytest.fixture
def log(tmp_path: Path) -> Path:
    table().write_csv(tmp_path / "log.csv")
    return tmp_path / "log.csv"


def scenario(log: Path, cluster: dict[str, object], **more: object):
    tree = {"cluster": {"processors": 12} | cluster, "workload": {"trace": str(log)}}
    return make_scenario(tree | {"policies": {"order": list(POLICIES)}} | more)


@pytest.mark.matrix(0)
def test_starts_with_pools_equal_the_definition(log):
    frame = table()
    jobs = JobTable.of(frame["submit"], frame["run"], frame["procs"], frame["request"])
    needs = [(frame["gpus"] * 1000).to_list(), frame["memory"].to_list()]
    pools = Pools.of(("GPUs", "memory"), [5000, int(20 * GIB)], needs)
    found = run(scenario(log, {"gpus": 5, "memory": 20 * GIB}))
    for name, variant in zip(POLICIES, found.variants, strict=True):
        assert variant.outcomes[0].jobs["start_s"].to_list() == pooled.starts_of(name, jobs, 12, pools)


@pytest.mark.matrix(0)
def test_without_scarce_pools_jobs_wait_only_for_processors(log):
    plain, generous, scarce = (run(scenario(log, each)) for each in ({}, {"gpus": 9000}, {"gpus": 4}))
    for one, two in zip(plain.variants, generous.variants, strict=True):
        assert one.outcomes[0].jobs.equals(two.outcomes[0].jobs)
        assert type(one.outcomes[0].metrics) is BatchMetrics
        assert two.outcomes[0].metrics.lacked_gpus == 0
    waits = [[each.outcomes[0].metrics.mean_wait_s for each in found.variants] for found in (plain, scarce)]
    assert all(one < two for one, two in zip(*waits, strict=True))
    found = [each.outcomes[0].metrics for each in scarce.variants]
    assert all(each.lacked_gpus > each.lacked_processors for each in found)
    notes = [note for note in scarce.notes() if note.startswith("under easy, jobs waited")]
    assert len(notes) == 1
    assert notes[0].endswith(": GPUs bind")


@pytest.mark.matrix(0)
def test_all_sites_of_a_sweep_run_the_jobs_of_the_smallest(log):
    found = run(scenario(log, {"gpus": [4, 1], "memory": 16 * GIB}))
    jobs = [variant.outcomes[0].jobs["job"].to_list() for variant in found.variants]
    assert len({tuple(each) for each in jobs}) == 1
    assert len(jobs[0]) == int((table()["gpus"] <= 1).sum())
    assert any(
        "jobs ask for more than 1 GPUs and are left out, the first: job" in each for each in found.notes()
    )


@pytest.mark.matrix(0)
def test_variants_with_and_without_pools_share_one_table(log):
    found = run(scenario(log, {"gpus": [None, 4]}))
    (column,) = [each for each in metric_columns(found) if each.label == "gpu utilisation"]
    # All policies at the first point, then all at the second.
    assert [cell.text == "–" for cell in column.cells] == [True] * 3 + [False] * 3


def test_a_log_without_any_job_that_fits_is_rejected(log):
    with pytest.raises(InputError, match=r"^cluster: no jobs are left: .*120 jobs ask for more than 0.5 GiB"):
        run(scenario(log, {"memory": 0.5 * GIB}))


def test_partitions_have_no_pools(tmp_path):
    table().with_columns(partition=pl.lit("a")).write_csv(tmp_path / "log.csv")
    tree = {
        "cluster": {"partitions": [{"name": "a", "processors": 12}], "gpus": 1},
        "workload": {"trace": str(tmp_path / "log.csv")},
        "policies": {"order": "easy"},
    }
    found = run(make_scenario(tree))
    assert len(found.variants[0].outcomes[0].jobs) == 120
    assert any(note.startswith("GPUs and memory are not modelled") for note in found.notes())


@pytest.mark.parametrize(("gpus", "own"), [(None, True), (6, True), (5, False)])
def test_a_site_smaller_than_the_recorded_peak_is_not_the_recorded_site(gpus, own):
    jobs = JobTable.of(submit=[0, 1], run=[9, 9], procs=[1, 1])
    log = Workload(jobs, 4, logged_processors=4, gpus=ResourceRequest(np.array([2.0, 4.0]), most=6.0))
    tree = {"cluster": {"gpus": gpus}, "workload": {"trace": "log.csv"}, "policies": {"order": "easy"}}
    assert LoggedBatch().own(BatchSetting.model_validate(tree), log) == own


def work(gpus: list[float], memory: list[float] | None = None) -> Workload:
    count = len(gpus)
    jobs = JobTable.of(submit=[0] * count, run=[5] * count, procs=[1] * count)
    return Workload(
        jobs,
        8,
        gpus=ResourceRequest(np.array(gpus), np.nan),
        memory=None if memory is None else ResourceRequest(np.array(memory), np.nan),
    )


@given(st.lists(st.integers(0, 4000), min_size=1, max_size=9))
def test_fractions_of_a_gpu_add_up(thousandths):
    pools = pools_of(work([each / 1000 for each in thousandths]), Amounts(gpus=4))
    assert pools.needs.tolist() == [thousandths]
    assert within(work([4.0]), Amounts(gpus=4)).notes == ()


def test_capacities_round_down_and_needs_round_up():
    pools = pools_of(work([0.0], [100.5]), Amounts(memory=101.5))
    assert (pools.amount.tolist(), pools.needs.tolist()) == ([101], [[101]])
    assert within(work([0.0, 0.0], [101.2, 3.0]), Amounts(memory=101.5)).jobs.job.tolist() == [2]


def test_huge_amounts_are_capped():
    pools = pools_of(work([1e300, 1.0], [np.nan, 1e18]), Amounts(gpus=1e308, memory=math.inf))
    assert (pools.amount >= 2**50).all()
    assert pools.needs[1, 0] == 0


@CHECK
@given(
    st.lists(
        st.tuples(
            st.integers(0, 9), st.integers(0, 6), st.integers(0, 6), st.integers(0, 3), st.integers(0, 3)
        ),
        min_size=1,
        max_size=8,
    )
)
def test_wait_causes_equal_a_count_second_by_second(jobs):
    submit, wait, run_time, one, two = (np.array(column) for column in zip(*jobs, strict=True))
    start = (submit + wait).astype(float)
    end, needs, amount = start + run_time, np.stack([one, two]), np.array([4, 3])
    found = wait_causes(submit.astype(float), start, end, needs, amount)
    counts = dict.fromkeys(("one", "two", "both", "nothing"), 0)
    for row, second in itertools.product(range(len(jobs)), range(20)):
        if not submit[row] <= second < start[row]:
            continue
        held = (start <= second) & (second < end)
        short = needs[:, row] > amount - (needs * held).sum(axis=1)
        counts[
            {(1, 0): "one", (0, 1): "two", (1, 1): "both", (0, 0): "nothing"}[tuple(short.astype(int))]
        ] += 1
    assert found.wait == wait.sum() == sum(counts.values())
    if found.wait:
        parts = [*found.alone, found.several, found.nothing]
        assert np.allclose(parts, np.array(list(counts.values())) / found.wait)
    span = max(end) - min(submit)
    if span:
        assert np.allclose(
            used_shares(start, end, needs, amount, submit.astype(float)), needs @ run_time / (amount * span)
        )


def test_the_explanation_of_a_wait_names_the_missing_resource():
    jobs = JobTable.of(submit=[0, 0, 1, 2], run=[50, 80, 5, 5], procs=[1, 3, 1, 1], job=[1, 2, 3, 4])
    request = ResourceRequest(np.array([1.0, 0.0, 1.0, 0.0]), np.nan)
    setting = BatchSetting.model_validate(
        {"cluster": {"gpus": 1}, "workload": {"lublin": {}}, "policies": {"order": "easy"}}
    )
    waited = BatchExplainer().waited(setting, 1, Workload(jobs, 5, gpus=request), job=3)
    assert (waited.start, waited.beside) == (50.0, ("1 of 1 GPUs",))
    assert [(each.at, each.short) for each in waited.moments] == [
        (1, ("GPUs",)),
        (2, ("processors", "GPUs")),
        (7, ("GPUs",)),
        (50, ()),
    ]
    notes = waiting_sentences(waited)
    assert notes[0] == "Job 3 requested 1 of 5 processors and 1 of 1 GPUs for 5 s."
    assert "For 44 s, it lacked GPUs; for 5 s, it lacked processors and GPUs." in notes
    assert moment_lines(waited)[0].endswith("1 processor stays idle; it lacks GPUs.")
    other = BatchExplainer().waited(setting, 1, Workload(jobs, 4, gpus=request), job=4)
    assert other.beside == ()
    assert all("it lacks" not in line for line in moment_lines(other))
