"""The adversary finds each planted bug, and the table of the documentation lists all of them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adversary.planted import ELASTIC, HTCONDOR, JOBS, PBS, PLANTED
from tests.mutants.trial import copied

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "invariants.md"
#: Seeds within which each bug is found; those that take few are planted in the slow tests, too.
MOST, FEW = 4_000, 60


def rows():
    """Return the planted bugs of the page, with the number of seeds that each took."""
    found = re.findall(
        r"^\| ([^|]+) \| ([\d,]+) \| ([^|\d][^|]*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {name: int(seeds.replace(",", "")) for name, seeds, _ in found}


def seeds_until_found(name, folder):
    """Return how many seeds a copy of the source with the bug takes, and what the search printed."""
    source = copied(folder)
    PLANTED[name].apply(source)
    drivers = {"elastic": ELASTIC, "jobs": JOBS, "pbs": PBS, "htcondor": HTCONDOR}
    driver = next((driver for driver, bugs in drivers.items() if name in bugs), "slurm")
    done = subprocess.run(
        [sys.executable, "-m", "tests.adversary.search", "0", str(MOST), driver],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    first = re.match(r"seed (\d+): ", done.stdout)
    return (int(first[1]) + 1 if done.returncode == 1 and first else None), done.stdout + done.stderr


def test_each_planted_bug_changes_one_place():
    assert {name: bug.found() for name, bug in PLANTED.items() if bug.found() != 1} == {}
    assert len(PLANTED) >= 10


def test_the_page_lists_each_planted_bug():
    assert rows().keys() == PLANTED.keys()
    assert max(rows().values()) <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PLANTED if rows().get(name, MOST) <= FEW][:4])
def test_a_planted_bug_is_found_soon(name, tmp_path):
    seeds, output = seeds_until_found(name, tmp_path)
    assert seeds is not None, output


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_bug_is_found(name, tmp_path):
    seeds, output = seeds_until_found(name, tmp_path)
    assert seeds is not None, output
    print(f"{name}: {seeds:,} seeds: {output.splitlines()[0]}")
