"""The systemd units of the driver and of the control plane, checked without systemd."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from windlass.cli.app import app

FOLDER = Path(__file__).parents[3] / "deploy/systemd"
UNIT, CONTROL = FOLDER / "windlass-slurm.service", FOLDER / "windlass-control.service"
UNITS = pytest.mark.parametrize("unit", [UNIT, CONTROL], ids=lambda unit: unit.stem)


def settings(unit=UNIT):
    """Return the last value of each setting of a unit."""
    lines = (line.partition("=") for line in unit.read_text().splitlines() if not line.startswith("#"))
    return {name: value for name, equals, value in lines if equals}


def test_options_in_the_unit_exist_in_the_command():
    text = CliRunner().invoke(app, ["slurm", "drive", "--help"], env={"COLUMNS": "200"}).output
    known = set(re.findall(r"--[a-z][a-z-]+", text))
    used = set(re.findall(r" (--[a-z][a-z-]+)", settings()["ExecStart"]))
    assert {"--policies", "--journal", "--metrics", "--log"} <= used <= known


def test_options_in_the_unit_of_the_control_plane_exist_in_the_command():
    text = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200"}).output
    known = set(re.findall(r"--[a-z][a-z-]+", text))
    found = settings(CONTROL)
    used = set(re.findall(r" (--[a-z][a-z-]+)", found["ExecStart"]))
    assert {"--act", "--listen"} == used <= known
    # The defaults of both journals are in the folder of the state.
    assert (found["StateDirectory"], found["Environment"].split()[-1]) == (
        "windlass",
        "XDG_STATE_HOME=/var/lib",
    )


@UNITS
def test_the_unit_lets_the_driver_give_its_queue_back(unit):
    found = settings(unit)
    # Slurm's commands, which run in the same group, must not be ended with the driver.
    assert found["KillMode"] == "mixed"
    # The patience of each command at the end is a minute.
    assert int(found["TimeoutStopSec"]) > 120
    assert (found["Restart"], found["RestartPreventExitStatus"]) == ("always", "2")
    # The folder of the lock, which give-back by root uses too.
    assert (found["RuntimeDirectory"], found["RuntimeDirectoryMode"]) == ("windlass", "0700")


@UNITS
def test_the_unit_is_valid(tmp_path, unit):
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    # systemd-analyze checks that the command exists.
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace(settings(unit)["ExecStart"].split()[0], sys.executable))
    done = subprocess.run([analyze, "verify", "--man=no", str(copy)], capture_output=True, text=True)
    own = [line for line in done.stderr.splitlines() if unit.stem in line]
    assert (done.returncode, own) == (0, [])
