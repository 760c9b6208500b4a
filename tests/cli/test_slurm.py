"""``windlass slurm``: errors are one line and come before any action."""

import sys

import pytest

from windlass.cli import main
from windlass.cli.slurm_policies import read_policies


@pytest.fixture
def error_of(monkeypatch, capsys, tmp_path):
    """Run the command with these arguments; check its status and return its one-line error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def call(*arguments, status=2):
        monkeypatch.setattr(sys, "argv", ["windlass", "slurm", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        message = capsys.readouterr().err
        assert stop.value.code == status, message
        assert message.count("\n") == 1
        return message

    return call


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ("share=asax", "no policy of order given, expected order=POLICY"),
        ("order=easy,share=asxa", "did you mean 'asax'?"),
        ("ordr=easy", "cannot be driven on Slurm, expected one of order, share; did you mean 'order'?"),
        ("place=tetrium", "decision 'place' cannot be driven on Slurm, expected one of order"),
        ("order=esay", "did you mean 'easy'?"),
        ("order=easy,order=fcfs", "order is given twice"),
        ("order=", "unknown policy ''"),
        ("./none.py", "no such file"),
        (
            "order=easy,share=pairs(budget=-1)",
            "policies.share: pairs: budget is -1, expected a finite number",
        ),
        (
            "order=easy,share=pairs(budgt=0.05)",
            "policies.share: pairs has no parameter 'budgt', it takes budget",
        ),
        ("order=easy,share=pairs(0.05)", "'0.05' in 'pairs(0.05)' is not a parameter, expected name=value"),
        ("order=easy,share=pairs(budget=0.05", "has an unmatched bracket"),
    ],
)
def test_policies_that_slurm_does_not_support_are_rejected(error_of, policies, message):
    assert message in error_of("drive", "--policies", policies)


@pytest.mark.parametrize(
    ("text", "order", "budget"),
    [
        ("order=easy, share=pairs", "easy", 0.1),
        ("order=easy,share=pairs(budget=0.05)", "easy", 0.05),
        ("share=pairs( worth=0.2, budget=5 ),easy", "easy", 0.05),
        ("queue(priority=sjf,backfill=easy),share=pairs(budget=0.2)", "queue", 0.2),
        ("order=fcfs,share=oracle(budget=0.05)", "fcfs", 0.05),
        ("order=queue(priority=multifactor,backfill=easy),share=pairs(budget=0.3)", "queue", 0.3),
    ],
)
def test_policies_have_the_parameters_of_the_option(text, order, budget):
    found = read_policies(text)
    assert (found["order"].name, found["share"].budget) == (order, budget)


def test_a_polling_interval_of_zero_is_rejected(error_of):
    assert "--look is 0.0, expected a finite number above 0" in error_of(
        "drive", "--policies", "order=easy", "--look", "0"
    )


@pytest.mark.parametrize("patience", ["nan", "-1"])
def test_a_patience_that_is_no_time_is_rejected(error_of, patience):
    assert "--patience is " in error_of("drive", "--policies", "order=easy", "--patience", patience)


def test_a_missing_configuration_file_is_rejected(error_of):
    assert "--conf: none.conf: no such file" in error_of(
        "drive", "--policies", "order=easy", "--conf", "none.conf"
    )


def test_down_stops_only_a_slurm_that_windlass_started(error_of, tmp_path):
    assert "nothing was stopped" in error_of("down")
    (tmp_path / "windlass.json").write_text('{"nodes": 1}')
    assert "windlass.json: cannot be read" in error_of("down", "--dir", ".")


def test_a_missing_slurm_installation_is_reported(error_of, monkeypatch):
    monkeypatch.setattr("windlass.engines.slurm.host.program", lambda name: None)
    assert "munged, slurmctld" in error_of("up")
    assert "apt-get install slurm-wlm munge" in error_of("up")


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr("windlass.engines.slurm.cluster.missing", lambda: "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nodes", "0"], "--nodes is 0, expected at least 1"),
        (["--cpus", "-1"], "--cpus is -1, expected at least 1"),
        (["--dir", "/tmp/" + "x" * 80], "has 85 characters, expected at most 70"),
        (["--dir", "/tmp/a b"], "expected a path of characters that slurm.conf can hold"),
    ],
)
def test_impossible_options_of_a_private_slurm_are_rejected(error_of, installed, arguments, message):
    assert message in error_of("up", *arguments)


def test_a_folder_with_foreign_files_is_rejected(error_of, installed, tmp_path, monkeypatch):
    import tempfile

    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        open(f"{folder}/mine", "w").close()
        assert "is not empty, and `windlass slurm up` did not make it" in error_of("up", "--dir", folder)
