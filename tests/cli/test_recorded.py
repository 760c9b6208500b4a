"""The recorded schedule on the command line; metric names are checked before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

from windlass.results import RECORDED


def swf(path: Path, waits: list[float]) -> Path:
    lines = [
        f"{row + 1} {60 * row} {wait:g} 100 2 -1 -1 2 200 -1 1 {row % 3} 1 -1 1 1 -1 -1"
        for row, wait in enumerate(waits)
    ]
    path.write_text("; MaxProcs: 4\n" + "\n".join(lines) + "\n")
    return path


def test_recorded_schedule_is_a_variant_and_metric_names_are_checked_first(windlass, tmp_path):
    log = swf(tmp_path / "log.swf", [100.0] * 40)
    status, out, _ = windlass(
        "run", str(log), "--require", "p99_wait<=recorded, users_jain>=0.9*recorded", "--json"
    )
    assert status == 0
    tree = json.loads(out)
    assert tree["variants"][-1]["name"] == RECORDED
    assert any(line.startswith("Fidelity: ") for line in tree["verdict"]["more"])
    drawn = tmp_path / "drawn.yaml"
    drawn.write_text("workload: {lublin: {jobs: 100000000}}\npolicies: {order: [fcfs, easy]}\n")
    for options, said in (
        (["--by", "cost"], "--by: 'cost' is not a metric"),
        (["--require", "cost<=1"], "--require: 'cost' is not a metric"),
    ):
        # The hundred million jobs are never drawn.
        status, out, err = windlass("run", str(drawn), *options)
        assert (status, out) == (2, "")
        assert said in err
    drawn.write_text("workload: {lublin: {jobs: 10}}\npolicies: {order: [fcfs, easy]}\n")
    status, _, err = windlass("run", str(drawn), "--require", "mean_wait<=recorded")
    assert status == 2
    assert "the log has no start times, so there is no row 'recorded'" in err
