"""``windlass slurm``: what is wrong is said in a line, before anything is done."""

import sys

import pytest

from windlass.cli import main


@pytest.fixture
def refused(monkeypatch, capsys, tmp_path):
    """The command with these arguments, which ends with a status and one line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def call(*arguments, status=2):
        monkeypatch.setattr(sys, "argv", ["windlass", "slurm", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr().err
        assert stop.value.code == status, said
        assert said.count("\n") == 1
        return said

    return call


@pytest.mark.parametrize(
    ("policies", "said"),
    [
        ("share=asax", "no policy of order given, expected order=POLICY"),
        ("order=easy,share=asxa", "did you mean 'asax'?"),
        ("place=tetrium", "decision 'place' cannot be driven on Slurm, expected one of order"),
        ("order=esay", "did you mean 'easy'?"),
        ("order=easy,order=fcfs", "order is given twice"),
        ("order=", "unknown policy ''"),
        ("./none.py", "no such file"),
    ],
)
def test_policies_that_slurm_cannot_be_driven_by(refused, policies, said):
    assert said in refused("drive", "--policies", policies)


def test_a_look_takes_some_time(refused):
    assert "--look is 0.0, expected a finite number above 0" in refused(
        "drive", "--policies", "order=easy", "--look", "0"
    )


def test_a_configuration_that_is_not_there(refused):
    assert "--conf: none.conf: no such file" in refused(
        "drive", "--policies", "order=easy", "--conf", "none.conf"
    )


def test_nothing_is_stopped_that_was_not_started(refused, tmp_path):
    assert "nothing was stopped" in refused("down")
    (tmp_path / "windlass.json").write_text('{"nodes": 1}')
    assert "windlass.json: cannot be read" in refused("down", "--dir", ".")


def test_slurm_that_is_not_installed_is_said(refused, monkeypatch):
    monkeypatch.setattr("windlass.engines.slurm.host.program", lambda name: None)
    assert "munged, slurmctld" in refused("up")
    assert "apt-get install slurm-wlm munge" in refused("up")


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr("windlass.engines.slurm.cluster.missing", lambda: "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--nodes", "0"], "--nodes is 0, expected at least 1"),
        (["--cpus", "-1"], "--cpus is -1, expected at least 1"),
        (["--dir", "/tmp/" + "x" * 80], "has 85 characters, expected at most 70"),
        (["--dir", "/tmp/a b"], "expected a path of characters that slurm.conf can hold"),
    ],
)
def test_a_private_slurm_that_cannot_be(refused, installed, arguments, said):
    assert said in refused("up", *arguments)


def test_a_folder_with_other_things_in_it_is_left_alone(refused, installed, tmp_path, monkeypatch):
    import tempfile

    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        open(f"{folder}/mine", "w").close()
        assert "is not empty, and `windlass slurm up` did not make it" in refused("up", "--dir", folder)
