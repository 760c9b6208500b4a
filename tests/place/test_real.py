"""Measured regions and Facebook's log; skipped where they are not at hand."""

from pathlib import Path

import numpy as np
import pytest

from windlass.cli.cluster import from_wan_command
from windlass.experiment.placement import place_job, read_job
from windlass.experiment.scenario import load_scenario
from windlass.io.traces import read_swim
from windlass.io.traces.wan import read_wan
from windlass.model import InputError

ROOT = Path(__file__).parents[2]
TRACES = ROOT / ".." / "shared" / "traces"
WAN = TRACES / "wan" / "throughput_2022-01.csv"
needs_traces = pytest.mark.skipif(not WAN.exists(), reason="../shared/traces is absent")


@needs_traces
def test_the_measured_matrix_is_read_in_bytes_per_second():
    prices = WAN.with_name("egress_cost_usd_per_gb.csv")
    matrix = read_wan(WAN, ["aws:us-east-1", "gcp:europe-west4", "azure:eastus"], prices)
    between = matrix.throughput[~np.eye(3, dtype=bool)]
    assert (between > 1e7).all()
    assert (between < 1e10).all()
    assert 0 < matrix.price[0, 1] < 1e-9


@needs_traces
def test_an_unknown_region_is_named_with_near_ones():
    with pytest.raises(InputError, match="no region 'aws:us-east-9'; did you mean aws:us-east"):
        read_wan(WAN, ["aws:us-east-9", "aws:us-east-1"])


@needs_traces
def test_a_cluster_file_made_from_measurements_places_a_job(tmp_path):
    sites, job = tmp_path / "sites.yaml", tmp_path / "job.yaml"
    from_wan_command(WAN, "aws:us-east-1,azure:eastus", sites, slots="50", machines=1.0, prices=None)
    job.write_text("stages: [{task_s: 2, task_bytes: 1.0e7, input: {'aws:us-east-1': 300}}]")
    answer = place_job(*read_job(job, sites))
    assert sum(answer.stages[0].tasks.values()) == 300
    assert answer.egress_usd > 0


@needs_traces
def test_ten_minutes_of_the_facebook_log_run_over_ten_regions():
    scenario = load_scenario(ROOT / "examples" / "fleet-facebook.yaml")
    setting = scenario.variants[-1].setting
    swim = setting.workload.swim.model_copy(update={"hours": 1 / 6})
    setting = setting.model_copy(update={"workload": setting.workload.model_copy(update={"swim": swim})})
    workload = scenario.world.workload(setting, 1)
    outcome = scenario.world.run(setting, 1, workload, lambda share: None)
    assert outcome.metrics.jobs > 50
    assert outcome.metrics.wan_bytes > 0
    assert np.isfinite(outcome.metrics.mean_response_s)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\t1\t2\t3\n", "line 1: 4 fields"),
        ("a\t1\t2\tx\t5\t6\n", "line 1"),
        ("a\t1\t2\t-3\t5\t6\n", "line 1: map_input '-3'"),
        ("", "the file is empty"),
    ],
)
def test_a_bad_log_line_is_named(tmp_path, text, problem):
    (tmp_path / "log.tsv").write_text(text)
    with pytest.raises(InputError, match=problem):
        read_swim(tmp_path / "log.tsv")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,b\n", "no column 'src_region' in the first line, found 'a', 'b'$"),
        ("srcregion,b\n", "no column 'src_region' in the first line, found .*; did you mean 'srcregion'\\?$"),
        (
            "src_region,dst_region,throughput_bits_per_s\nx:a,x:b,fast\n",
            "line 2: throughput_bits_per_s is 'fast'",
        ),
        ("src_region,dst_region,throughput_bits_per_s\nx:a,x:b,1\n", "no measurement from x:b to x:a"),
    ],
)
def test_a_bad_matrix_line_is_named(tmp_path, text, problem):
    (tmp_path / "wan.csv").write_text(text)
    with pytest.raises(InputError, match=problem):
        read_wan(tmp_path / "wan.csv", ["x:a", "x:b"])


@pytest.mark.parametrize(
    ("job", "problem"),
    [
        ("stages: []", "stages"),
        ("stages: [{task_s: -1}]", "task_s"),
        ("stages: [{task_s: 1, input: {mars: 3}}]", "no site 'mars'"),
        ("stages: [{task_s: 1, tasks: 3}]", "either input or earlier parents"),
        ("[1]", "expected a job"),
    ],
)
def test_a_bad_job_field_is_named(tmp_path, job, problem):
    (tmp_path / "job.yaml").write_text(job)
    (tmp_path / "sites.yaml").write_text("sites: [{name: a, slots: 1, up: 1, down: 1}]")
    with pytest.raises(InputError, match=problem):
        place_job(*read_job(tmp_path / "job.yaml", tmp_path / "sites.yaml"))
