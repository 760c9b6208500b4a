"""A load scales arrivals, and compared variants run the same jobs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.experiment.workloads.load import factor_to, faster, offered_load
from windlass.model import InputError, JobTable

GAPS = st.lists(st.integers(0, 10**6), min_size=2, max_size=30)


def table(gaps: list[int]) -> JobTable:
    count = len(gaps)
    return JobTable.of(np.cumsum(gaps), 1.0 + np.arange(count), 1 + np.arange(count) % 7)


@given(gaps=GAPS, factor=st.floats(0.01, 100.0))
def test_gaps_are_divided_and_nothing_else_changes(gaps, factor):
    jobs = table(gaps)
    found = faster(jobs, factor)
    np.testing.assert_allclose(np.diff(found.submit) * factor, np.diff(jobs.submit), rtol=1e-6, atol=1e-3)
    assert (np.diff(found.submit) >= 0).all()
    assert found.submit[0] == jobs.submit[0]
    for column in ("job", "run", "procs", "request"):
        assert getattr(found, column).tolist() == getattr(jobs, column).tolist()


@given(gaps=GAPS, load=st.floats(0.01, 10.0))
def test_arrivals_are_scaled_to_the_load(gaps, load):
    jobs = table(gaps)
    if jobs.submit[0] == jobs.submit[-1]:
        assert np.isnan(offered_load(jobs, 8))
        with pytest.raises(InputError, match="submitted at more than one instant"):
            factor_to(load, jobs, 8)
        return
    assert offered_load(faster(jobs, factor_to(load, jobs, 8)), 8) == pytest.approx(load, rel=1e-6)


def test_jobs_without_work_cannot_be_scaled_to_a_load():
    with pytest.raises(InputError, match="expected jobs with run times"):
        factor_to(0.5, JobTable.of([0, 9], [0, 0], [1, 1]), 4)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    jobs = JobTable.of(submit=[0, 10, 20, 30, 100], run=[50, 40, 30, 20, 10], procs=[1, 8, 2, 4, 3])
    path = tmp_path / "log.csv"
    frame = pl.DataFrame({name: getattr(jobs, name) for name in ("submit", "run", "procs")})
    frame.write_csv(path)
    return path


def scenario(log: Path, **more: object):
    tree = {"workload": {"trace": str(log)}, "policies": {"order": ["fcfs", "easy"]}} | more
    return make_scenario(tree)


def submits(results, variant: int) -> list[float]:
    return results.variants[variant].outcomes[0].jobs["submit_s"].to_list()


def test_a_load_scales_the_arrivals_of_a_log_with_a_note(log):
    found = run(scenario(log, load="x2"))
    assert submits(found, 0) == [0, 5, 10, 15, 50]
    assert found.notes()[-1] == "arrivals are 2 times as fast: offered load 1.35 instead of 0.675"
    found = run(scenario(log, load=0.3375))
    assert submits(found, 0) == pytest.approx([0, 20, 40, 60, 200])


def test_a_factor_on_jobs_of_one_instant_is_said_to_change_nothing(tmp_path):
    path = tmp_path / "burst.csv"
    path.write_text("submit,run,procs\n5,10,1\n5,20,2\n")
    found = run(scenario(path, load=["x1", "x2"]))
    assert submits(found, 0) == submits(found, -1)
    notes = [note for note in found.notes() if "load" in note]
    assert notes == ["load x2 changes nothing, because all jobs are submitted at one instant"]


def test_a_load_refers_to_the_site_of_its_variant(log):
    found = run(scenario(log, load=0.675, cluster={"processors": [8, 16]}))
    assert submits(found, 0) == pytest.approx([0, 10, 20, 30, 100])
    assert submits(found, -1) == pytest.approx([0, 5, 10, 15, 50])


def test_each_size_runs_the_jobs_that_fit_it(log):
    found = run(scenario(log, cluster={"processors": [8, 3]}))
    jobs = {variant.at[0].value: variant.outcomes[0].jobs["job"].to_list() for variant in found.variants}
    assert jobs == {8: [1, 2, 3, 4, 5], 3: [1, 3, 5]}
    assert [note for note in found.notes() if "left out" in note] == [
        "2 jobs request more than 3 processors and are left out, the first: job 2 (8)"
    ]
    alike = run(scenario(log, cluster={"processors": [8, 3]}, workload={"trace": str(log), "widest": 3}))
    assert {len(variant.outcomes[0].jobs) for variant in alike.variants} == {3}


def test_a_single_site_keeps_all_jobs_that_fit(log):
    found = run(scenario(log, cluster={"processors": 4}))
    assert len(found.variants[0].outcomes[0].jobs) == 4
    assert len(run(scenario(log)).variants[0].outcomes[0].jobs) == 5


def test_no_job_is_left_out_if_all_fit_every_site(log):
    found = run(scenario(log, cluster={"processors": [8, 16, None]}))
    assert {len(variant.outcomes[0].jobs) for variant in found.variants} == {5}
    assert not any("left out" in note for note in found.notes())


def test_widest_requires_a_trace():
    with pytest.raises(InputError, match="skip_bad_lines, columns, widest, ran and shake are for a trace"):
        make_scenario({"workload": {"lublin": {"jobs": 5}, "widest": 4}, "policies": {"order": "easy"}})
