"""The report on instances stacks what running and waiting jobs need below the instances that are paid for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.report.made import random_outcome, results
from tests.report.page import page_of
from tests.report.test_tasks import decoded
from windlass.results import INSTANCES, Series


def test_instances_and_need_are_a_section_of_their_own(tmp_path: Path) -> None:
    edges = np.linspace(0.0, 4000.0, 401)
    series = [
        Series(
            "instances that running jobs need", edges, np.full(400, 2.0), False, INSTANCES, "running jobs"
        ),
        Series(
            "instances that waiting jobs need", edges, np.full(400, 1.5), False, INSTANCES, "waiting jobs"
        ),
        Series("instances paid for", edges, np.full(400, 3.0), False, INSTANCES),
    ]
    page = page_of(results(("thrifty", [replace(random_outcome(20, 1), series=tuple(series))])), tmp_path)
    assert "Instances and need" in page.text()
    assert "Cores of each site" not in page.text()
    found = json.loads(page.scripts["plots"])["instances-0"]
    assert [each["name"] for each in found["data"]] == ["running jobs", "waiting jobs", "instances paid for"]
    assert [decoded(each["y"])[0] for each in found["data"]] == pytest.approx([2.0, 1.5, 3.0])
    assert found["layout"]["yaxis"]["title"]["text"] == "instances"
