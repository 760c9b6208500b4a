"""Logs of batch systems on the command line."""

import json

SACCT = """\
JobID|Submit|Start|End|Timelimit|AllocCPUS|State|User
1|2024-05-01T12:00:00|2024-05-01T12:00:00|2024-05-01T12:10:00|00:20:00|4|COMPLETED|ann
1.batch|2024-05-01T12:00:00|2024-05-01T12:00:00|2024-05-01T12:10:00||4|COMPLETED|
2|2024-05-01T12:01:00|2024-05-01T12:10:00|2024-05-01T12:15:00|00:10:00|8|COMPLETED|bob
3|2024-05-01T12:02:00|2024-05-01T12:15:00|2024-05-01T12:17:00|00:05:00|2|COMPLETED|ann
"""


def test_a_slurm_log_runs_without_conversion(windlass, tmp_path):
    (tmp_path / "sacct.txt").write_text(SACCT)
    status, out, err = windlass("run", "sacct.txt", "--policies", "easy", "--json")
    assert status == 0
    assert json.loads(out)["variants"][0]["metrics"]["mean_wait_s"] == 180
    assert "1 record is of a step of a job and is left out" in err
    assert "times count from 2024-05-01T12:00:00, the first submission" in err


def test_format_overrides_the_detected_log_format(windlass, tmp_path):
    (tmp_path / "log.swf").write_text(SACCT)
    status, _, err = windlass("run", "log.swf", "--policies", "easy", "--json")
    assert (status, err.count("\n")) == (2, 1)
    assert windlass("run", "log.swf", "--format", "sacct", "--policies", "easy", "--json")[0] == 0
    status, out, _ = windlass("trace", "log.swf", "--format", "sacct", "--json")
    assert (status, json.loads(out)["jobs"], json.loads(out)["processors"]) == (0, 3, 8)
    status, out, _ = windlass("trace", "log.swf", "--format", "sacct")
    assert out.startswith("log.swf: 3 jobs within ")
    assert " on 8 processors, a load of " in out.splitlines()[0]
    status, _, err = windlass("trace", "log.swf", "--format", "slurm")
    assert status == 2
    assert "format 'slurm' is unknown, expected swf, csv, parquet, sacct" in err


def test_a_bad_line_is_an_error_or_listed_if_skipped(windlass, tmp_path):
    (tmp_path / "sacct.txt").write_text(SACCT.replace("00:10:00|8", "00:10:00|eight"))
    reason = "AllocCPUS is 'eight', expected a whole number of 0 or more"
    status, _, err = windlass("run", "sacct.txt", "--policies", "easy")
    assert (status, err) == (2, f"windlass: {tmp_path / 'sacct.txt'}, line 4: {reason}\n")
    status, out, _ = windlass("trace", "sacct.txt", "--skip-bad-lines", "--json")
    tree = json.loads(out)
    assert (status, tree["jobs"], tree["bad"]) == (0, 2, [{"line": 4, "reason": reason}])


def test_a_world_without_logs_rejects_a_format(windlass, tmp_path):
    (tmp_path / "a.yaml").write_text("world: dispatch\n")
    status, _, err = windlass("run", "a.yaml", "--format", "sacct")
    assert status == 2
    assert "--format: world 'dispatch' has no field for it" in err
