"""The four example workflows have reproducible results, report rising progress and terminate cleanly."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from windlass.engines.linux.job_progress import JobProgress, read
from windlass.engines.linux.members import descendants

FOLDER = Path(__file__).parents[2] / "examples" / "workflows"
NAMES = ("montage", "blast", "stats", "synthetic")
#: Seconds after which a test that would never end fails.
BOUND = 60.0
#: Number of stages of each workflow.
STAGES = {"montage": 4, "blast": 2, "stats": 4, "synthetic": 2}


class Run:
    """A running workflow in its own session."""

    def __init__(self, folder: Path, name: str, *more: str) -> None:
        self.files = folder / f"files{len(list(folder.iterdir()))}"
        self.files.mkdir()
        self.progress_file = folder / f"{self.files.name}.progress"
        command = [
            sys.executable,
            str(FOLDER / f"{name}.py"),
            "--folder",
            str(self.files),
            "--memory",
            "100MB",
            *more,
        ]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=os.environ | {"WINDLASS_PROGRESS": str(self.progress_file)},
        )

    def ended(self) -> str:
        """Wait for a successful exit, and return the last line of output."""
        out, err = self.process.communicate(timeout=BOUND)
        assert (self.process.returncode, err) == (0, "")
        return out.splitlines()[-1]

    def seen(self) -> JobProgress | None:
        """Return the current progress; an existing report is always complete."""
        found = read(self.progress_file)
        assert found.progress is not None or "No such file" in found.why
        return found.progress

    def until(self, done: float) -> None:
        """Wait until the workflow has done a number of tasks, or has ended."""
        while self.process.poll() is None:
            progress = self.seen()
            if progress is not None and progress.done >= done:
                return
            time.sleep(0.002)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Return a function that starts workflows, which are killed after the test."""
    runs: list[Run] = []

    def one(name: str, *more: str) -> Run:
        runs.append(Run(tmp_path, name, *more))
        return runs[-1]

    yield one
    for run in runs:
        for pid in descendants([run.process.pid]):
            os.kill(pid, signal.SIGKILL)
        run.process.communicate(timeout=BOUND)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_result_depends_on_the_seed_and_not_on_the_cores(start: Callable[..., Run], name: str) -> None:
    on = [start(name, "--seconds", "0.3", "--cores", cores).ended() for cores in ("1", "2")]
    assert on[0].startswith(f"{name} checksum ")
    assert len(on[0].split()[-1]) == 32
    assert on[0] == on[1]
    assert start(name, "--seconds", "0.3", "--seed", "2").ended() != on[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_result_is_the_same_on_more_cores_than_the_machine_has(
    start: Callable[..., Run], name: str
) -> None:
    on = {start(name, "--seconds", "2", "--cores", cores).ended() for cores in ("1", "3", "5")}
    assert len(on) == 1
    assert start(name, "--seconds", "3").ended() not in on


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("whole", [True, False], ids=["all", "one"])
def test_a_pause_does_not_change_the_result(start: Callable[..., Run], name: str, whole: bool) -> None:
    expected = start(name, "--seconds", "0.8").ended()
    rng = random.Random(f"{name} {whole}")
    for _ in range(3):
        run = start(name, "--seconds", "0.8")
        run.until(1)
        progress = run.seen()
        assert progress is not None
        run.until(rng.uniform(1, progress.done + progress.left))
        family = sorted(descendants([run.process.pid]))
        paused = family if whole else family[-1:]
        for sign in (signal.SIGSTOP, signal.SIGCONT):
            for pid in paused:
                # A worker may have ended with its stage.
                if run.process.poll() is None and pid in descendants([run.process.pid]):
                    os.kill(pid, sign)
            time.sleep(rng.uniform(0.05, 0.2))
        assert run.ended() == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_progress_rises_and_ends_with_no_tasks_left(start: Callable[..., Run], name: str) -> None:
    run = start(name, "--seconds", "1.5")
    reports: list[JobProgress] = []
    while run.process.poll() is None:
        progress = run.seen()
        if progress is not None and progress not in reports[-1:]:
            reports.append(progress)
        time.sleep(0.001)
    run.ended()
    last = run.seen()
    assert last is not None
    reports.append(last)
    assert (last.left, last.stage, last.stages) == (0, STAGES[name], STAGES[name])
    assert len({each.done + each.left for each in reports}) == 1
    assert all(old.done <= new.done and old.stage <= new.stage for old, new in pairwise(reports))
    # Both sequential and parallel stages are reported.
    assert {each.parallel for each in reports} == {True, False}
    assert len({(each.stage, each.parallel) for each in reports}) <= STAGES[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cores", ["1", "2"])
def test_sigterm_ends_all_processes_and_removes_the_files(
    start: Callable[..., Run], name: str, cores: str
) -> None:
    run = start(name, "--seconds", "20", "--cores", cores)
    run.until(random.Random(f"{name}{cores}").randrange(1, 40))
    family = descendants([run.process.pid])
    terminate(family)
    out, err = run.process.communicate(timeout=BOUND)
    assert (run.process.returncode, out, err) == (143, "", "")
    assert not list(run.files.iterdir())
    assert not {pid for pid in family if alive(pid)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "done", [pytest.param(done, marks=[pytest.mark.nightly] if done % 5 else []) for done in range(30, 50)]
)
def test_sigterm_right_after_a_report_ends_all_processes(start: Callable[..., Run], done: int) -> None:
    """The workflow is between two results, and its processes run until they are signalled."""
    run = start("montage", "--seconds", "20")
    run.until(done)
    family = descendants([run.process.pid])
    terminate(family)
    assert run.process.communicate(timeout=BOUND) == ("", "")
    assert run.process.returncode == 143
    assert not list(run.files.iterdir())
    assert not {pid for pid in family if alive(pid)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_sigterm_while_processes_start_leaves_no_files(start: Callable[..., Run], seed: int) -> None:
    run = start(NAMES[seed % 4], "--seconds", "20", "--cores", "8")
    at_least = random.Random(seed).randrange(2, 9)
    while len(family := descendants([run.process.pid])) < at_least:
        assert run.process.poll() is None
    terminate(family)
    assert run.process.communicate(timeout=BOUND) == ("", "")
    assert run.process.returncode == 143
    assert not list(run.files.iterdir())


def terminate(family: set[int]) -> None:
    """Send SIGTERM to all processes, as a batch system does; some may already have ended."""
    for pid in family:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


@pytest.mark.matrix
@pytest.mark.parametrize("name", NAMES)
def test_a_killed_worker_ends_the_workflow(start: Callable[..., Run], name: str) -> None:
    run = start(name, "--seconds", "10")
    while len(family := descendants([run.process.pid]) - {run.process.pid}) < 2:
        assert run.process.poll() is None
        time.sleep(0.01)
    os.kill(max(family), signal.SIGKILL)
    out, err = run.process.communicate(timeout=BOUND)
    assert run.process.returncode == 1
    # Python 3.13 may add that a buffer of the killed process was ignored.
    assert (out, err.splitlines()[0]) == ("", "a process of this workflow was killed")
    assert not list(run.files.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_processes_end_with_their_killed_parent(start: Callable[..., Run], count: int) -> None:
    """This includes workflows whose processes have just started."""
    run = start("blast", "--seconds", "20")
    while len(family := descendants([run.process.pid])) < count:
        assert run.process.poll() is None
    run.process.kill()
    run.process.communicate(timeout=BOUND)
    for _ in range(6000):
        if not any(alive(pid) for pid in family):
            return
        time.sleep(0.01)
    pytest.fail("processes outlive their parent")


def alive(pid: int) -> bool:
    """Return True if the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--seconds", "0", "--seconds is 0.0, expected above 0"),
        ("--seconds", "nan", "--seconds is nan"),
        ("--cores", "0", "--cores is 0, expected 1 to 1024"),
        ("--memory", "50MB", "--memory is 50000000 bytes, expected at least 100MB"),
        ("--memory", "much", "invalid size value: 'much'"),
        ("--seed", "-1", "--seed is -1"),
    ],
)
def test_the_error_names_the_invalid_option(
    start: Callable[..., Run], option: str, value: str, message: str
) -> None:
    run = start("stats", option, value)
    _, err = run.process.communicate(timeout=BOUND)
    assert run.process.returncode == 2
    assert message in err.splitlines()[-1]


def test_without_the_variable_no_progress_is_written(tmp_path: Path) -> None:
    message = subprocess.run(
        [sys.executable, FOLDER / "blast.py", "--seconds", "0.2", "--folder", tmp_path],
        env={name: value for name, value in os.environ.items() if name != "WINDLASS_PROGRESS"},
        capture_output=True,
        text=True,
    )
    assert message.returncode == 0
    assert not list(tmp_path.iterdir())
