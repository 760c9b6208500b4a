"""The fair-share policy of the page is short, passes ``windlass check``, and is fair as documented."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.docs.pages import blocks_of
from windlass.cli import main
from windlass.io.traces import read_trace, to_workload
from windlass.model import Owners
from windlass.order.site import POLICIES
from windlass.sim import replay

ROOT = Path(__file__).parents[2]


@pytest.fixture
def file(tmp_path):
    (block,) = [block for block in blocks_of("docs/add-a-policy.md") if block.file == "fair_share.py"]
    assert len([line for line in block.text.splitlines() if line.strip()]) < 30
    (tmp_path / block.file).write_text(block.text)
    return str(tmp_path / block.file)


def test_the_policy_passes_the_checks(file, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["windlass", "check", file, "--json"])
    with pytest.raises(SystemExit) as stop:
        main()
    tree = json.loads(capsys.readouterr().out)
    assert (stop.value.code, tree["policy"], tree["decision"]) == (0, "fair-share", "order.site")
    assert [each["problem"] for each in tree["checks"] if each["problem"]] == []


@pytest.mark.matrix(0)
def test_started_jobs_are_of_the_waiting_user_with_the_fewest_processors(file):
    log = to_workload(read_trace(ROOT / "examples" / "log.swf"))
    jobs, users = log.jobs, log.users
    assert users is not None
    assert len(np.unique(users)) > 5
    policy = POLICIES.make(file, np.random.default_rng(1))
    done = replay(jobs, log.processors, policy, owners=Owners.of(len(jobs), user=users))
    overtaken = 0
    for row in np.argsort(done.start, kind="stable").tolist():
        now = done.start[row]
        # Simultaneous starts may be before or after this one.
        held = {
            int(user): jobs.procs[(users == user) & (done.start < now) & (done.end > now)].sum()
            for user in users
        }
        waits = (jobs.submit <= now) & (done.start > now)
        alone = (done.start == now).sum() == 1
        if alone and waits.any():
            assert held[int(users[row])] <= min(held[int(user)] for user in users[waits])
            overtaken += bool((waits & (np.arange(len(jobs)) < row)).any())
    assert overtaken > 10
