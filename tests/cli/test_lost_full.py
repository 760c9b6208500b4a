"""A disk that fills up at any moment: the old or the new files are intact, and one line names the file."""

import os
import random
import re
import subprocess

import pytest

from tests.cli.writers import COMMAND, SWEEP, WRITERS, contents, prepared
from tests.disks import PAGE, filled, names, small_disk

FULL = "No space left on device"
RUN = ("run", "s.yaml", "--out", "disk/out", "--report", "disk/r.html", "--force")
MORE = ((), ("--seeds", "4-6"))
#: Commands that are not left to the nightly tests: the others write their files in the same way.
EVERY_DAY = ("run", "record")


def only_line(err):
    """Return the error, which is the last line."""
    (line,) = (each for each in err.splitlines() if each.startswith("windlass: "))
    assert err.endswith(f"{line}\n")
    return line


def free_sizes(rng, most):
    """Return amounts of free space, bytes: from 0 in growing steps to more than `most`."""
    found, least = [0, PAGE], 8 * PAGE
    while least < most:
        found.append(int(least * rng.uniform(1.0, 1.3)))
        least = int(1.3 * least)
    return [*found, 2 * most]


@pytest.mark.slow
def test_a_run_on_a_full_disk_leaves_the_old_or_the_new_results(windlass, tmp_path):
    """With growing free space, the run fails at the first cell, a later cell, the tables or the page, or succeeds."""
    (tmp_path / "s.yaml").write_text(SWEEP)
    with small_disk(tmp_path / "disk", 2**26) as disk:
        whole = []
        for more in MORE:
            assert windlass(*RUN, *more)[0] == 0
            whole.append(contents(disk / "out"))
        needs = sum(map(len, whole[0].values())) + (disk / "r.html").stat().st_size
        named, resumed = set(), 0
        for turn, free in enumerate(free_sizes(random.Random(1), needs)):
            more, before = MORE[turn % 2], contents(disk / "out")
            with filled(disk, free):
                status, _, err = windlass(*RUN, *more)
            tables = contents(disk / "out")
            assert tables in (before, whole[turn % 2])
            page = (disk / "r.html").read_text(encoding="utf-8")
            assert (page[:15], page[-8:]) == ("<!doctype html>", "</html>\n")
            assert names(disk) <= {"out", "r.html", ".out.partial"}
            if status == 0:
                named.add("nothing")
                assert tables == whole[turn % 2]
                assert "windlass: " not in err
                continue
            line = only_line(err)
            assert (status, FULL in line) == (2, True), err
            (file,) = re.findall(r"(disk/\.out\.partial|disk/out|disk/r\.html)", line)
            named.add(file)
            # Only finished cells are saved, as after a killed run.
            kept = names(disk / ".out.partial") - {"run.json"} if (disk / ".out.partial").exists() else set()
            assert all(re.fullmatch(r"\d+-\d+", each) for each in kept)
            assert ("of 12 runs are saved; the same command with --resume continues" in err) is bool(kept)
            assert (disk / ".out.partial").exists() is bool(kept)
            if kept:
                resumed += 1
                assert windlass(*RUN, *more, "--resume")[0] == 0
                assert contents(disk / "out") == whole[turn % 2]
        assert named == {"disk/.out.partial", "disk/out", "disk/r.html", "nothing"}
        assert resumed > 0
        assert names(disk) == {"out", "r.html"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "writer",
    [
        pytest.param(each, id=each.name, marks=[] if each.name in EVERY_DAY else [pytest.mark.nightly])
        for each in WRITERS
    ],
)
def test_a_command_on_a_full_disk_keeps_the_existing_files(tmp_path, writer):
    pytest.importorskip(writer.needs)
    with small_disk(tmp_path / "disk", 2**26) as disk:
        prepared(disk)

        def run_writer(*words):
            command = [*writer.program, *words]
            return subprocess.run(command, cwd=disk, capture_output=True, text=True, errors="replace")

        for words in (*writer.before, writer.words):
            assert run_writer(*words).returncode == 0
        writer.check(disk)
        if not writer.replaces:
            for name, _ in writer.files:
                (disk / name).unlink()
        there = names(disk)
        for free in (0, PAGE):
            before = {name: contents(disk / name) for name, _ in writer.files}
            with filled(disk, free):
                done = run_writer(*writer.words, *writer.changed)
                if free and done.returncode == 0:
                    # Everything that it writes fits into the free space.
                    continue
                assert done.returncode == 2, done.stderr
                line = only_line(done.stderr)
                named = [name for name, _ in writer.files if name.partition("/")[0] in line]
                assert named, line
                # The first of two files may have fitted, and then it is complete as well.
                assert [contents(disk / name) for name in named] == [before[name] for name in named]
                assert names(disk) == there
            if writer.replaces:
                writer.check(disk)
        assert run_writer(*writer.words, *writer.changed).returncode == 0
        writer.check(disk)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("run", "s.yaml", "--json"), ("run", "s.yaml", "--csv"), ("run", "s.yaml"), ("list",)]
)
def test_a_full_standard_output_is_reported(tmp_path, words):
    (tmp_path / "s.yaml").write_text(SWEEP)
    with small_disk(tmp_path / "disk", 16 * PAGE) as disk, filled(disk), open(disk / "out", "wb") as file:
        done = subprocess.run(
            [*COMMAND, *words], cwd=tmp_path, stdout=file, stderr=subprocess.PIPE, text=True
        )
        assert done.returncode == 2
        assert only_line(done.stderr) == f"windlass: standard output: {FULL}"
        assert os.fstat(file.fileno()).st_size == 0


def test_a_failed_run_without_saved_cells_leaves_no_files(windlass, tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    name = 'mine'\n\n    def decide(self, view):\n        raise ValueError('no')\n"
    )
    for _ in range(2):
        status, _, err = windlass("run", "--policies", "./mine.py", "--seeds", "1", "--out", "out")
        assert (status, "raised ValueError: no" in err) == (2, True)
        # Python may keep the policy's bytecode.
        assert names(tmp_path) - {"__pycache__"} == {"mine.py"}
