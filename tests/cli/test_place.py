"""``windlass place`` and ``windlass cluster from-wan`` on the command line."""

import json
import sys

import pytest
import yaml
from typer.testing import CliRunner

from windlass.cli import main
from windlass.cli.app import app
from windlass.model import InputError

JOB = "stages: [{task_s: 2, task_bytes: 1.0e8, ratio: 0.5, input: {a: 20, b: 30}}, {task_s: 1, tasks: 8, parents: [0]}]"
SITES = "sites: [{name: a, slots: 40, up: 5.0e9, down: 5.0e9}, {name: b, slots: 10, up: 1.0e9, down: 1.0e9}]"
HEAD = "src_region,src_tier,dst_region,dst_tier,throughput_bits_per_s\n"
WAN = HEAD + "aws:a,PREMIUM,aws:b,PREMIUM,8e9\naws:b,PREMIUM,aws:a,PREMIUM,4e9\n"


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Call the command in a folder with a job, sites and a matrix."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(JOB)
    (tmp_path / "sites.yaml").write_text(SITES)
    (tmp_path / "wan.csv").write_text(WAN)
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


def error_line(result) -> str:
    """Return the one-line error of a rejected call."""
    assert isinstance(result.exception, InputError), result.output
    assert "\n" not in str(result.exception)
    return str(result.exception)


def test_the_table_lists_tasks_and_transfers(call):
    result = call("place", "job.yaml", "--cluster", "sites.yaml", "--explain")
    assert result.exit_code == 0
    for text in ("Stage 1, map", "Stage 2, shuffle", "from b", "transfer", "takes longest", "between sites"):
        assert text in result.output


def test_json_counts_every_task_and_moved_byte(call):
    result = call("place", "job.yaml", "--cluster", "sites.yaml", "--json")
    answer = json.loads(result.output)
    first, second = answer["stages"]
    assert sum(first["tasks"].values()) == 50
    assert sum(second["tasks"].values()) == 8
    assert answer["moved_bytes"] == sum(amount for stage in (first, second) for *_, amount in stage["moves"])
    assert answer["total_s"] == pytest.approx(
        sum(stage["transfer_s"] + stage["compute_s"] for stage in (first, second))
    )


def test_placement_respects_the_limits_of_pairs(call, tmp_path):
    """A plan that knows the limit of a slow pair avoids that pair."""
    slots = [
        "{name: a, slots: 4, up: 1.0e9, down: 1.0e9}",
        "{name: b, slots: 40, up: 1.0e9, down: 1.0e9}",
        "{name: c, slots: 36, up: 1.0e9, down: 1.0e9}",
    ]
    free, slow = 1.0e9, 1.0e6
    pair = [[free, slow, free], [free, free, free], [free, free, free]]
    (tmp_path / "job.yaml").write_text("stages: [{task_s: 5, task_bytes: 1.0e8, input: {a: 80}}]")
    (tmp_path / "sites.yaml").write_text(f"sites: [{', '.join(slots)}]\npair: {pair}")
    answer = json.loads(call("place", "job.yaml", "--cluster", "sites.yaml", "--json").output)
    assert answer["stages"][0]["tasks"]["b"] <= 1
    assert answer["stages"][0]["tasks"]["c"] > 30
    assert answer["total_s"] < 40


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("job", "sites", "fragments"),
    [
        ("stages: [{task_s: -1, input: {a: 1}}]", SITES, ("job.yaml", "stages.0.task_s", "-1")),
        ("stages: [{task_s: .nan, input: {a: 1}}]", SITES, ("job.yaml", "stages.0.task_s", "nan")),
        ("stages: [{task_s: 1, input: {mars: 1}}]", SITES, ("job.yaml", "stage 1", "'mars'", "a, b")),
        ("stages: [{task_s: 1, input: {a: -3}}]", SITES, ("job.yaml", "input", "-3")),
        ("stages: [{task_s: 1, input: {a: 1}, colour: red}]", SITES, ("job.yaml", "colour", "red")),
        ("stages: []", SITES, ("job.yaml", "stages")),
        ("[1, 2]", SITES, ("job.yaml", "list")),
        ("stages: [", SITES, ("job.yaml", "line 1", "YAML")),
        (JOB, SITES.replace("40", "-40"), ("sites.yaml", "sites.0.slots", "-40")),
        (JOB, SITES.replace("5.0e9", ".inf"), ("sites.yaml", "sites.0.up", "inf")),
        (JOB, SITES + "\npair: [[1, 2], [-3, 1]]", ("sites.yaml", "pair", "-3")),
        (JOB, SITES + "\npair: [[1, 2]]", ("sites.yaml", "pair", "(1, 2)")),
        (JOB, "sites: []", ("sites.yaml", "sites")),
        (JOB, "drawn: {sites: 3}\n" + SITES, ("sites.yaml", "one of 'sites'")),
        (
            JOB,
            "measured: {throughput: no.csv, regions: [aws:a, aws:b], slots: [1]}",
            ("sites.yaml", "no.csv", "cannot be read"),
        ),
        (
            JOB,
            "measured: {throughput: wan.csv, regions: [aws:a, aws:z], slots: [1]}",
            ("sites.yaml", "wan.csv", "'aws:z'"),
        ),
    ],
)
def test_bad_input_is_a_one_line_error(call, tmp_path, job, sites, fragments):
    (tmp_path / "job.yaml").write_text(job)
    (tmp_path / "sites.yaml").write_text(sites)
    line = error_line(call("place", "job.yaml", "--cluster", "sites.yaml"))
    for part in fragments:
        assert part in line


def test_input_that_no_site_can_read_is_an_error(call, tmp_path):
    (tmp_path / "sites.yaml").write_text(SITES.replace("slots: 10, up: 1.0e9", "slots: 0, up: 0"))
    assert "no site can read it" in error_line(call("place", "job.yaml", "--cluster", "sites.yaml"))


@pytest.mark.parametrize("arguments", [("no.yaml",), ("job.yaml", "--cluster", "no.yaml")])
def test_a_missing_file_is_named(call, arguments):
    assert "no.yaml: no such file" in error_line(call("place", *arguments))


def test_the_error_for_a_job_without_sites_names_the_parameter(call):
    assert error_line(call("place", "job.yaml")).startswith("cluster: job.yaml names no sites")


def test_the_error_on_the_command_line_names_the_option(call, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["windlass", "place", "job.yaml"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err.startswith("windlass: --cluster: job.yaml names no sites")


def test_wrong_input_exits_with_status_2_and_no_standard_output(call, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["windlass", "place", "no.yaml"])
    with pytest.raises(SystemExit) as stop:
        main()
    captured = capsys.readouterr()
    assert stop.value.code == 2
    assert captured.out == ""
    assert captured.err.count("\n") == 1


def test_from_wan_writes_a_cluster_that_place_accepts(call, tmp_path):
    result = call(
        "cluster", "from-wan", "wan.csv", "--regions", "aws:a,aws:b", "--slots", "4,8", "--out", "made.yaml"
    )
    assert result.exit_code == 0
    made = yaml.safe_load((tmp_path / "made.yaml").read_text())
    assert [(site["name"], site["slots"], site["up"]) for site in made["sites"]] == [
        ("aws:a", 4, 1e9),
        ("aws:b", 8, 0.5e9),
    ]
    (tmp_path / "job.yaml").write_text("stages: [{task_s: 1, task_bytes: 1.0e6, input: {'aws:a': 50}}]")
    answer = json.loads(call("place", "job.yaml", "--cluster", "made.yaml", "--json").output)
    assert sum(answer["stages"][0]["tasks"].values()) == 50


def test_the_matrix_is_relative_to_the_cluster_file(call, tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "sites.yaml").write_text(
        "measured: {throughput: ../wan.csv, regions: [aws:a, aws:b], slots: [2]}"
    )
    (tmp_path / "job.yaml").write_text("stages: [{task_s: 1, input: {'aws:a': 5}}]")
    assert call("place", "job.yaml", "--cluster", "far/sites.yaml", "--json").exit_code == 0


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (("no.csv", "--regions", "aws:a,aws:b"), ("no.csv", "cannot be read")),
        (("wan.csv", "--regions", "aws:a,aws:q"), ("wan.csv", "'aws:q'")),
        (("wan.csv", "--regions", "aws:a"), ("regions", "two different")),
        (("wan.csv", "--regions", "aws:a,aws:b", "--slots", "1,2,3"), ("slots", "3 numbers for 2")),
        (("wan.csv", "--regions", "aws:a,aws:b", "--slots", "-1"), ("--slots", "'-1'")),
        (("wan.csv", "--regions", "aws:a,aws:b", "--machines", "-2"), ("--machines", "-2")),
        (("wan.csv", "--regions", "aws:a,aws:b", "--machines", "nan"), ("--machines", "nan")),
        (("wan.csv", "--regions", "aws:a,aws:b", "--prices", "no.csv"), ("no.csv", "cannot be read")),
    ],
)
def test_from_wan_errors_are_one_line(call, arguments, fragments):
    line = error_line(call("cluster", "from-wan", *arguments, "--out", "made.yaml"))
    for part in fragments:
        assert part in line


@pytest.mark.parametrize("bits", ["nan", "-5", "fast"])
def test_from_wan_names_line_field_and_value_of_a_bad_measurement(call, tmp_path, bits):
    (tmp_path / "wan.csv").write_text(HEAD + f"aws:a,PREMIUM,aws:b,PREMIUM,{bits}\n")
    line = error_line(
        call("cluster", "from-wan", "wan.csv", "--regions", "aws:a,aws:b", "--out", "made.yaml")
    )
    assert f"wan.csv, line 2: throughput_bits_per_s is '{bits}'" in line


def test_from_wan_into_a_missing_folder_is_an_error(call):
    line = error_line(
        call("cluster", "from-wan", "wan.csv", "--regions", "aws:a,aws:b", "--out", "no/made.yaml")
    )
    assert "--out" in line
