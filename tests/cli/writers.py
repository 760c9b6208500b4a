"""Commands that write files: their arguments, arguments that change the files, and checks of complete files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from tests.fuzz.bases import EXAMPLES, SERIES, SWF, TABLES

SWEEP = """
name: sweep
workload: {lublin: {jobs: 300, load: 0.9}}
cluster: {processors: [64, 128]}
policies: {order: [fcfs, easy]}
seeds: [1, 2, 3]
"""
PIPELINE = "name: two\ndecode: {every: [1, 3]}\ndetect: [{knn: {least: [0.001, 0.004]}}]\nassociate: [overlap, orb]\n"
COMMAND = (sys.executable, "-m", "windlass")
#: A reproduction that takes no time and prints other rows with ``--quick``.
_PAPER = """
import windlass.cli.reproduce as command
from windlass.cli import main
from windlass_reproductions import Reproduction, Row

class Paper:
    name, title = "tiny", "A paper of one claim"

    def reproduce(self, *, quick, notify):
        notify("all of it", 0.0)
        return Reproduction(tuple(Row(f"{at}", 1.0, float(quick), None) for at in range(2000)))

command.reproductions().find_paper = lambda name: Paper()
main()
"""


def page(file: Path) -> None:
    """Check that a page is complete."""
    text = file.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert text.endswith("</html>\n")


def clip(file: Path) -> None:
    """Check that a clip of one second is complete."""
    about = pytest.importorskip("windlass.plan.profile.clip").about
    assert about(file).frames == 30


def plain(file: Path) -> None:
    """Check that a text is complete: a truncated one has no final newline."""
    text = file.read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert {row.count(",") for row in text.splitlines()} == {text.splitlines()[0].count(",")}


def rows(file: Path) -> None:
    """Check that all rows of a reproduction are of the same run."""
    assert len({row["ours"] for row in json.loads(file.read_text(encoding="utf-8"))}) == 1


def sites(file: Path) -> None:
    """Check that all sites of a cluster have the same number of slots."""
    assert len({each["slots"] for each in yaml.safe_load(file.read_text(encoding="utf-8"))["sites"]}) == 1


def results(folder: Path) -> None:
    """Check that the results folder of a run is complete."""
    assert {each.name for each in folder.iterdir()} == {"jobs.parquet", "metrics.parquet", "scenario.yaml"}
    table(folder / "jobs.parquet")


def contents(place: Path) -> object:
    """Return the bytes of a file, or of all files of a folder by name; None if it does not exist."""
    if place.is_dir():
        return {each.name: each.read_bytes() for each in place.iterdir()}
    return place.read_bytes() if place.exists() else None


def table(file: Path) -> None:
    """Check that a Parquet table is complete; its footer is at the end."""
    assert len(pl.read_parquet(file).columns) > 0


@dataclass(frozen=True, slots=True)
class Writer:
    """A command that writes.

    Parameters
    ----------
    name
        The name in the test's id.
    words
        The command.
    changed
        More arguments, which change what it writes.
    files
        The files that it writes, each with a check that raises if the file is not complete.
    before
        Commands that create its input.
    replaces
        Whether it overwrites existing files. Otherwise they are removed before the command runs.
    program
        The program that runs it.
    needs
        A required module.
    same
        Files and folders that are byte-identical after two runs with the same arguments.
    """

    name: str
    words: tuple[str, ...]
    changed: tuple[str, ...]
    files: tuple[tuple[str, Callable[[Path], None]], ...]
    before: tuple[tuple[str, ...], ...] = ()
    replaces: bool = True
    program: tuple[str, ...] = COMMAND
    needs: str = "windlass"
    same: tuple[str, ...] = ()

    def check(self, folder: Path) -> None:
        """Check that the files exist and are complete."""
        for name, whole in self.files:
            whole(folder / name)


#: What `slurm log` queries from a Slurm with accounting: its configuration and ended jobs; more with each run.
_SCONTROL = "echo AccountingStorageType = accounting_storage/slurmdbd\n"
_SACCT = """
for job in $(seq 500); do echo "$job|1714564800|1714564805|1714564865|4|10|ann|batch|COMPLETED|a"; done
case "$*" in *--duplicates*) echo "7|1714564800|1714564801|1714564803|4|10|ann|batch|REQUEUED|a" ;; esac
"""
_CLIP = ("plan", "clip", "c.mp4", "--truth", "c.csv", "--seconds", "1", "--size", "160x96", "--density", "2")
_FORECAST = ("--freq", "10min", "--season", "1h", "--test", "1h", "--models", "naive,seasonal-naive")
WRITERS = (
    Writer(
        "run",
        ("run", "scenario.yaml", "--out", "out", "--report", "r.html", "--force"),
        ("--seeds", "4-6"),
        (("out", results), ("r.html", page)),
        same=("out",),
    ),
    Writer(
        "forecast",
        ("forecast", "s.csv", *_FORECAST, "--report", "r.html"),
        ("--launch", "30min"),
        (("r.html", page),),
    ),
    Writer("admit", ("admit", "evaluate", "t.parquet", "--report", "r.html"), ("--within", "5"), (("r.html", page),)),
    Writer(
        "cluster",
        ("cluster", "from-wan", "w.csv", "--regions", "aws:a,aws:b", "--out", "o.yaml"),
        ("--slots", "7"),
        (("o.yaml", sites),),
        same=("o.yaml",),
    ),
    Writer(
        "reproduce",
        ("reproduce", "tiny", "--out", "pages"),
        ("--quick",),
        (("pages/tiny.json", rows), ("pages/tiny.html", page)),
        program=(sys.executable, "-c", _PAPER),
        same=("pages/tiny.json", "pages/tiny.html"),
    ),
    Writer("clip", _CLIP, ("--seed", "2"), (("c.mp4", clip), ("c.csv", plain)), needs="cv2"),
    Writer(
        "profile",
        ("plan", "profile", "p.yaml", "c.mp4", "--truth", "c.csv", "--out", "p.parquet", "--report", "r.html"),
        ("--cache", "5MB"),
        (("p.parquet", table), ("r.html", page)),
        before=(_CLIP,),
        needs="cv2",
    ),
    Writer(
        "record",
        ("agent", "record", "--seconds", "1", "--every", "0.2", "--out", "a.parquet"),
        (),
        (("a.parquet", table),),
        replaces=False,
    ),
    Writer(
        "slurm log",
        ("slurm", "log", "--out", "l.csv"),
        ("--duplicates",),
        (("l.csv", plain),),
        program=("env", f"PATH=bin{os.pathsep}{os.environ['PATH']}", *COMMAND),
        same=("l.csv",),
    ),
)  # fmt: skip
#: Commands that write nothing leave no files either.
READERS = tuple(
    Writer(" ".join(words[:2] if words[0] in ("plan", "admit") else words[:1]), words, (), ())
    for words in (
        ("list",),
        ("trace", "log.swf"),
        ("validate", "scenario.yaml"),
        ("run", "scenario.yaml"),
        ("check", "easy"),
        ("place", "job.yaml"),
        ("forecast", "s.csv", *_FORECAST),
        ("admit", "evaluate", "t.parquet"),
        ("plan", "solve", "q.yaml", "--cluster", "h.yaml", "--policy", "refined,cascade"),
    )
)


def prepared(folder: Path) -> None:
    """Write the input of the commands."""
    (folder / "scenario.yaml").write_text(SWEEP, encoding="utf-8")
    (folder / "s.csv").write_text(SERIES, encoding="utf-8")
    (folder / "w.csv").write_text(TABLES["wan"], encoding="utf-8")
    (folder / "p.yaml").write_text(PIPELINE, encoding="utf-8")
    (folder / "log.swf").write_text(SWF, encoding="utf-8")
    for name, of in (("job", "fleet-job"), ("q", "plan/queries"), ("h", "plan/hierarchy")):
        text = (EXAMPLES / f"{of}.yaml").read_text(encoding="utf-8")
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    (folder / "bin").mkdir()
    for name, script in (("scontrol", _SCONTROL), ("sacct", _SACCT)):
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
        (folder / "bin" / name).chmod(0o755)
    rng = np.random.default_rng(1)
    ready = np.repeat(rng.random(60) * (rng.random(60) < 0.2), 5)
    columns = {"at": np.arange(300.0), "busy": np.clip(ready + 0.1, 0, 1), "cpu_ready": ready}
    columns |= {f"metric {at}": rng.normal(size=300) + ready for at in range(3)}
    pl.DataFrame(columns).write_parquet(folder / "t.parquet")
