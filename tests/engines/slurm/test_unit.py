"""The systemd unit of the driver, checked without systemd."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from windlass.cli.app import app

UNIT = Path(__file__).parents[3] / "deploy/systemd/windlass-slurm.service"


def settings():
    """Return the last value of each setting of the unit."""
    lines = (line.partition("=") for line in UNIT.read_text().splitlines() if not line.startswith("#"))
    return {name: value for name, equals, value in lines if equals}


def test_options_in_the_unit_exist_in_the_command():
    text = CliRunner().invoke(app, ["slurm", "drive", "--help"], env={"COLUMNS": "200"}).output
    known = set(re.findall(r"--[a-z][a-z-]+", text))
    used = set(re.findall(r" (--[a-z][a-z-]+)", settings()["ExecStart"]))
    assert {"--policies", "--journal", "--metrics", "--log"} <= used <= known


def test_the_unit_lets_the_driver_give_its_queue_back():
    found = settings()
    # Slurm's commands, which run in the same group, must not be ended with the driver.
    assert found["KillMode"] == "mixed"
    # The patience of each command at the end is a minute.
    assert int(found["TimeoutStopSec"]) > 120
    assert (found["Restart"], found["RestartPreventExitStatus"]) == ("always", "2")
    # The folder of the lock, which give-back by root uses too.
    assert (found["RuntimeDirectory"], found["RuntimeDirectoryMode"]) == ("windlass", "0700")


def test_the_unit_is_valid(tmp_path):
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    # systemd-analyze checks that the command exists.
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace(settings()["ExecStart"].split()[0], sys.executable))
    done = subprocess.run([analyze, "verify", "--man=no", str(unit)], capture_output=True, text=True)
    own = [line for line in done.stderr.splitlines() if UNIT.stem in line]
    assert (done.returncode, own) == (0, [])
