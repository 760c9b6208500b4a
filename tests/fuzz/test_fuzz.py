"""Two thousand cases; each is taken or refused in a line, within 2 GB and 30 s of CPU."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.fuzz import bases
from tests.fuzz.child import judged
from tests.fuzz.nasty import dumped, numbers, put
from tests.fuzz.readers import OTHERS, TABLES
from tests.fuzz.targets import case_of
from windlass.scenario import make_scenario
from windlass.traces import read_trace

ROOT = Path(__file__).parents[2]
SEED, CASES, PER_PROCESS = 20, 2000, 500


def tried(folder: Path, first: int, last: int) -> tuple[Counter[tuple[str, str]], list[str]]:
    """How often what was taken and refused, and whatever else happened; cases that end the process are passed over."""
    counts: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    while first < last:
        command = [sys.executable, "-m", "tests.fuzz.child", str(SEED), str(first), str(last), str(folder)]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, errors="replace", timeout=3600
        )
        lines = done.stdout.splitlines()
        for line in lines:
            if line.startswith("end "):
                _, number, what, found = line.split(" ", 3)
                said = ast.literal_eval(found)
                counts[what, said if said in ("taken", "refused") else "wrong"] += 1
                if said not in ("taken", "refused"):
                    wrong.append(f"case {number} ({what}): {said}")
        if done.returncode == 0:
            break
        last_line = lines[-1] if lines else "nothing was begun"
        wrong.append(f"{last_line}: ended with {done.returncode}: {done.stderr[-300:]}")
        if not last_line.startswith("begin "):
            break
        first = int(last_line.split()[1]) + 1
    return counts, wrong


@pytest.mark.slow
def test_bad_input_is_refused_in_a_line(tmp_path, capsys):
    pytest.importorskip("cv2", reason="pipelines of video are among what is read")
    counts: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    for first in range(0, CASES, PER_PROCESS):
        some, of_these = tried(tmp_path, first, min(first + PER_PROCESS, CASES))
        counts += some
        wrong += of_these
    with capsys.disabled():
        print(f"\n{counts.total()} cases, seed {SEED}")
        for what in sorted({name for name, _ in counts}):
            print(
                f"  {what}:", ", ".join(f"{counts[what, how]} {how}" for how in ("refused", "taken", "wrong"))
            )
    assert not wrong, f"{len(wrong)} cases, the first:\n" + "\n".join(wrong[:40])
    assert counts.total() == CASES
    # Where all is refused, or all is taken, nothing was tried.
    for what in ("log", "table", "read_scenario", "other_yaml"):
        assert counts[what, "refused"] > 20
        assert counts[what, "taken"] > 5


def test_a_case_is_the_same_every_time(tmp_path):
    files = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        case_of(SEED, 3, tmp_path / name)
        files.append({each.name: each.read_bytes() for each in (tmp_path / name).iterdir()})
    assert files[0] == files[1]


@pytest.mark.parametrize("name", sorted(bases.LOGS))
def test_the_logs_that_are_spoiled_were_good(tmp_path, name):
    (tmp_path / "log").write_text(bases.LOGS[name], encoding="utf-8")
    assert len(read_trace(tmp_path / "log", name)) > 0


@pytest.mark.parametrize("name", sorted(TABLES))
def test_the_tables_that_are_spoiled_were_good(tmp_path, name):
    (tmp_path / "a.csv").write_text(bases.TABLES[name], encoding="utf-8")
    assert TABLES[name](tmp_path / "a.csv") is not None


@pytest.mark.parametrize(("text", "read"), OTHERS)
def test_the_files_that_are_spoiled_were_good(tmp_path, text, read):
    if text == bases.PIPELINE:
        pytest.importorskip("cv2", reason="a pipeline of video needs it")
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    assert read(tmp_path / "a.yaml") is not None


@pytest.mark.parametrize("world", sorted(bases.SCENARIOS))
def test_what_is_spoiled_was_good(world):
    tree = yaml.safe_load(dumped(bases.SCENARIOS[world]))
    scenario = make_scenario(tree, "s")
    for variant in scenario.variants:
        scenario.world.workload(variant.setting, 1)
    way = numbers(tree)[0]
    assert put(tree, way, True) != tree


@pytest.mark.parametrize(
    ("status", "out", "err", "verdict"),
    [
        (0, "{}", "", "taken"),
        (2, "", "windlass: no\n", "refused"),
        (2, "", "note: x\nwindlass: no\n", "refused"),
        (2, "", "Usage: windlass\n", "refused"),
        (2, "", "windlass: no\nwindlass: no\n", "2 lines instead of one"),
        (2, "x", "windlass: no\n", "results beside an error"),
        (3, "", "windlass: ours\n", "status 3"),
        (2, "", "Traceback (most recent call last):\nwindlass: x\n", "a traceback"),
        (0, "\x1b[31m", "", "a sign that steers"),
    ],
)
def test_verdicts(status, out, err, verdict):
    assert judged(status, out, err).startswith(verdict)
