"""The four workflows: the same result whatever happens to their time, progress that rises, and an orderly end."""

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
#: Tasks of each stage are the same; of ``synthetic`` the first fills blocks of memory, the second works on them.
STAGES = {"montage": 4, "blast": 2, "stats": 4, "synthetic": 2}


class Run:
    """A workflow that runs, in a session of its own."""

    def __init__(self, folder: Path, name: str, *more: str) -> None:
        self.files = folder / f"files{len(list(folder.iterdir()))}"
        self.files.mkdir()
        self.told = folder / f"{self.files.name}.progress"
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
            env=os.environ | {"WINDLASS_PROGRESS": str(self.told)},
        )

    def ended(self) -> str:
        """What it printed last, once it has ended well."""
        out, err = self.process.communicate(timeout=BOUND)
        assert (self.process.returncode, err) == (0, "")
        return out.splitlines()[-1]

    def seen(self) -> JobProgress | None:
        """Its present progress; a report that is there is whole."""
        found = read(self.told)
        assert found.progress is not None or "No such file" in found.why
        return found.progress

    def until(self, done: float) -> None:
        """Wait until it has done so many tasks, or has ended."""
        while self.process.poll() is None:
            progress = self.seen()
            if progress is not None and progress.done >= done:
                return
            time.sleep(0.002)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Starts workflows, and ends what is left of them."""
    runs: list[Run] = []

    def one(name: str, *more: str) -> Run:
        runs.append(Run(tmp_path, name, *more))
        return runs[-1]

    yield one
    for run in runs:
        for pid in descendants([run.process.pid]):
            os.kill(pid, signal.SIGKILL)
        run.process.communicate(timeout=BOUND)


@pytest.mark.parametrize("name", NAMES)
def test_the_result_is_the_same_on_any_cores_and_another_seed_s_is_not(
    start: Callable[..., Run], name: str
) -> None:
    on = [start(name, "--seconds", "0.3", "--cores", cores).ended() for cores in ("1", "2")]
    assert on[0].startswith(f"{name} checksum ")
    assert len(on[0].split()[-1]) == 32
    assert on[0] == on[1]
    assert start(name, "--seconds", "0.3", "--seed", "2").ended() != on[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_result_is_the_same_on_more_cores_than_there_are(start: Callable[..., Run], name: str) -> None:
    on = {start(name, "--seconds", "2", "--cores", cores).ended() for cores in ("1", "3", "5")}
    assert len(on) == 1
    assert start(name, "--seconds", "3").ended() not in on


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("whole", [True, False], ids=["all", "one"])
def test_a_pause_in_the_middle_changes_nothing(start: Callable[..., Run], name: str, whole: bool) -> None:
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
                # A worker may have ended, as its stage has.
                if run.process.poll() is None and pid in descendants([run.process.pid]):
                    os.kill(pid, sign)
            time.sleep(rng.uniform(0.05, 0.2))
        assert run.ended() == expected


@pytest.mark.parametrize("name", NAMES)
def test_progress_rises_and_ends_with_nothing_left(start: Callable[..., Run], name: str) -> None:
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
    # Stages that use one core and those that use all are told apart, and each kind is there.
    assert {each.parallel for each in reports} == {True, False}
    assert len({(each.stage, each.parallel) for each in reports}) <= STAGES[name]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cores", ["1", "2"])
def test_sigterm_ends_all_of_it_and_removes_its_files(
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
@pytest.mark.parametrize("done", range(30, 50))
def test_sigterm_right_after_a_report_ends_all_of_it(start: Callable[..., Run], done: int) -> None:
    """Then the workflow is between two results, and its processes go on until they are told."""
    run = start("montage", "--seconds", "20")
    run.until(done)
    family = descendants([run.process.pid])
    terminate(family)
    assert run.process.communicate(timeout=BOUND) == ("", "")
    assert run.process.returncode == 143
    assert not list(run.files.iterdir())
    assert not {pid for pid in family if alive(pid)}


@pytest.mark.parametrize("seed", range(5))
def test_sigterm_while_processes_start_leaves_none(start: Callable[..., Run], seed: int) -> None:
    run = start(NAMES[seed % 4], "--seconds", "20", "--cores", "8")
    at_least = random.Random(seed).randrange(2, 9)
    while len(family := descendants([run.process.pid])) < at_least:
        assert run.process.poll() is None
    terminate(family)
    assert run.process.communicate(timeout=BOUND) == ("", "")
    assert run.process.returncode == 143
    assert not list(run.files.iterdir())


def terminate(family: set[int]) -> None:
    """To all of them, as a batch system does; some may have ended by the first of these signals."""
    for pid in family:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


@pytest.mark.parametrize("name", NAMES)
def test_a_worker_that_is_killed_ends_the_workflow(start: Callable[..., Run], name: str) -> None:
    run = start(name, "--seconds", "10")
    while len(family := descendants([run.process.pid]) - {run.process.pid}) < 2:
        assert run.process.poll() is None
        time.sleep(0.01)
    os.kill(max(family), signal.SIGKILL)
    out, err = run.process.communicate(timeout=BOUND)
    assert run.process.returncode == 1
    assert (out, err) == ("", "a process of this workflow was killed\n")
    assert not list(run.files.iterdir())


@pytest.mark.parametrize("count", [2, 3])
def test_it_ends_with_a_parent_that_is_killed(start: Callable[..., Run], count: int) -> None:
    """Also one whose processes have only just been started."""
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
    """Whether it runs still; one that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--seconds", "0", "--seconds is 0.0, expected above 0"),
        ("--seconds", "nan", "--seconds is nan"),
        ("--cores", "0", "--cores is 0, expected 1 to 1024"),
        ("--memory", "50MB", "--memory is 50000000 bytes, expected at least 100MB"),
        ("--memory", "much", "invalid size value: 'much'"),
        ("--seed", "-1", "--seed is -1"),
    ],
)
def test_options_that_cannot_be_are_named(
    start: Callable[..., Run], option: str, value: str, said: str
) -> None:
    run = start("stats", option, value)
    _, err = run.process.communicate(timeout=BOUND)
    assert run.process.returncode == 2
    assert said in err.splitlines()[-1]


def test_without_the_variable_nothing_is_told(tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, FOLDER / "blast.py", "--seconds", "0.2", "--folder", tmp_path],
        env={name: value for name, value in os.environ.items() if name != "WINDLASS_PROGRESS"},
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0
    assert not list(tmp_path.iterdir())
