"""docs/add-a-part.md: its part is saved as the page says, and run in the example of colocated jobs and tasks."""

import re

import pytest
import yaml

from tests.docs.test_documents import ROOT, blocks
from windlass.model import InputError
from windlass.runner import run
from windlass.scenario import make_scenario

PAGE = "docs/add-a-part.md"
NODES, NIGHTS = 48, 3


@pytest.fixture
def example(tmp_path):
    """The example with fewer tasks and no outages, over some three days."""
    (code,) = blocks(PAGE, "python")
    assert len([line for line in code.splitlines() if line.strip()]) < 40
    (tmp_path / "backup.py").write_text(code, encoding="utf-8")
    tree = yaml.safe_load((ROOT / "examples/colocated.yaml").read_text(encoding="utf-8"))
    del tree["cluster"]["outages"]
    tree["workload"] = {
        "batch": {"lublin": {"jobs": 40, "load": 0.2}},
        "tasks": {"tasks": 20_000, "load": 0.0005},
    }
    tree["policies"] = {"order": "easy", "dispatch": "jsq"}
    return tree


def outcome(tree, folder):
    return run(make_scenario(tree, folder=folder)).variants[0].outcomes[0]


def test_the_page_s_part_runs_beside_jobs_and_tasks(example, tmp_path):
    (said,) = blocks(PAGE, "yaml")
    without = outcome(example, tmp_path)
    beside = outcome(example | yaml.safe_load(said), tmp_path)
    (note,) = (note for note in beside.notes if note.startswith("backup"))
    held = int(re.fullmatch(r"backup: held ([\d,]+) core hours", note)[1].replace(",", ""))
    # One core of four, for two hours each night, wherever one is idle.
    assert 0 < held <= NODES * 2 * 10
    assert not [note for note in without.notes if note.startswith("backup")]
    # By themselves tasks are slowed by it too, so that what jobs cost them is not more than before.
    assert beside.metrics.mean_task_response_s > without.metrics.mean_task_response_s
    assert beside.metrics.added_job_wait_s == 0.0


def test_parts_of_a_scenario_are_files(example, tmp_path):
    with pytest.raises(
        InputError, match=r"parts.*part 0 is 'backup', expected a file such as backup.py:Backup"
    ):
        make_scenario(example | {"parts": ["backup"]}, folder=tmp_path)
    with pytest.raises(InputError, match=r"parts: .*backup.py has no parameter 'shares'"):
        outcome(example | {"parts": [{"backup.py": {"shares": 1}}]}, tmp_path)
