"""The record of which tests execute which line, made by running two tests with the plugin."""

import os
import subprocess
import sys

import pytest

from tests.mutants.reach import ROOT, read_reach
from tests.mutants.rooms import SOURCE

TESTS = """
from windlass.model.values import whole
from windlass.order.site.policies.fcfs import Fcfs


def test_plain():
    assert whole("x", 3, 1) == 3


def test_compiled():
    assert Fcfs.select.ready()
"""


@pytest.mark.slow
def test_lines_and_kernels_are_those_of_the_test_that_ran_them(tmp_path):
    (tmp_path / "test_two.py").write_text(TESTS)
    record = tmp_path / "record"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutants.reach", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--rootdir", str(tmp_path), str(tmp_path / "test_two.py")],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "WINDLASS_RECORD_REACH": "1", "WINDLASS_REACH_FOLDER": str(record)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    reach = read_reach(record)
    assert {test.rpartition("::")[2] for test in reach.seconds} == {"test_plain", "test_compiled"}
    lines = (SOURCE / "model" / "values.py").read_text().splitlines()
    body = next(number for number, line in enumerate(lines, 1) if line.startswith("def whole"))
    found = {
        test.rpartition("::")[2]
        for at in range(body + 1, body + 40)
        for test in reach.line("model/values.py", at)
    }
    assert found == {"test_plain"}
    (kernel,) = [name for name in reach.kernels if name.startswith("order/site/policies/fcfs.py::")]
    assert {test.rpartition("::")[2] for test in reach.kernels[kernel]} == {"test_compiled"}


def test_there_is_no_record_in_an_empty_folder(tmp_path):
    assert read_reach(tmp_path) is None
