"""Threads and files of a machine made of files: starting and ending threads, and the limit of open files."""

import math
import os
import resource
import shutil

import pytest

from tests.engines.linux.telemetry.conftest import values
from tests.engines.linux.telemetry.test_groups import SECOND
from windlass.engines.linux.telemetry import tasks
from windlass.engines.linux.telemetry.proc_file import ProcFile
from windlass.engines.linux.telemetry.tasks import TasksSource


def test_started_and_ended_threads_are_counted_per_second(machine):
    source = TasksSource(machine.roots)
    for thread in (1, 2, 3):
        machine.thread(1, thread, waited=0, ran=0)
    # A process that cannot be read yet.
    (machine.root / "proc" / "9" / "task").mkdir(parents=True)
    first = values(source, math.nan)
    assert (first["tasks.processes"], first["tasks.threads"]) == (1.0, 3.0)
    assert all(math.isnan(first[f"tasks.{name}"]) for name in ("waited", "limited", "ran", "come", "gone"))
    shutil.rmtree(machine.root / "proc" / "1")
    for thread in (5, 6):
        machine.thread(5, thread, waited=SECOND, ran=9 * SECOND)
    found = values(source, 4.0)
    assert found == {
        # Each new thread counts from its start, and runs at most as long as the step.
        "tasks.waited": 0.5, "tasks.limited": 0.0, "tasks.ran": 2.0, "tasks.processes": 1.0, "tasks.threads": 2.0,
        "tasks.come": 0.5, "tasks.gone": 0.75,
    }  # fmt: skip
    still = values(source, 0.0)
    assert math.isnan(still["tasks.waited"])
    assert still["tasks.threads"] == 2.0
    machine.thread(5, 5, waited=3 * SECOND, ran=10 * SECOND)
    assert values(source, 2.0)["tasks.waited"] == 1.0
    source.close()
    shutil.rmtree(machine.root / "proc" / "5")
    assert all(map(math.isnan, values(source, 1.0).values()))


@pytest.mark.parametrize("most", [0, 10])
def test_an_ended_thread_of_a_running_process_is_removed(machine, most):
    source = TasksSource(machine.roots, most)
    for thread in (1, 2):
        machine.thread(1, thread, waited=SECOND)
    values(source, math.nan)
    path = machine.root / "proc/1/task/2/schedstat"
    # An open file of an ended thread cannot be read; here it is empty.
    path.write_text("")
    machine.thread(1, 1, waited=2 * SECOND)
    found = values(source, 1.0)
    assert (found["tasks.gone"], found["tasks.threads"], found["tasks.waited"]) == (1.0, 1.0, 1.0)


def test_new_threads_are_searched_only_in_active_processes(machine):
    source = TasksSource(machine.roots, 0)
    machine.thread(1, 1, waited=0, ran=5)
    values(source, math.nan)
    machine.thread(1, 2, waited=0, ran=5)
    assert values(source, 1.0)["tasks.threads"] == 1.0
    machine.thread(1, 1, waited=1, ran=5)
    assert values(source, 1.0)["tasks.threads"] == 2.0
    machine.thread(1, 3, waited=0, ran=5)
    machine.thread(1, 1, waited=1, ran=6)
    assert values(source, 1.0)["tasks.threads"] == 3.0


@pytest.mark.parametrize(
    ("soft", "hard", "kept", "raised_to"),
    [
        (1024, 4096, 4096 - 128, (4096, 4096)),
        (4096, 4096, 4096 - 128, None),
        (1024, resource.RLIM_INFINITY, 65_536 - 128, (65_536, resource.RLIM_INFINITY)),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, 65_536 - 128, None),
        (100_000, 200_000, 65_536 - 128, None),
        (1024, 200_000, 65_536 - 128, (65_536, 200_000)),
        (100, 100, 0, None),
    ],
)
def test_the_limit_of_open_files_follows_the_system(monkeypatch, soft, hard, kept, raised_to):
    given = []
    monkeypatch.setattr(tasks.resource, "getrlimit", lambda what: (soft, hard))
    monkeypatch.setattr(tasks.resource, "setrlimit", lambda what, limits: given.append(limits))
    assert tasks._allowed() == kept
    assert given == ([] if raised_to is None else [raised_to])


def test_the_soft_limit_applies_if_it_cannot_be_raised(monkeypatch):
    def refuses(what, limits):
        raise ValueError("not allowed")

    monkeypatch.setattr(tasks.resource, "getrlimit", lambda what: (1024, 4096))
    monkeypatch.setattr(tasks.resource, "setrlimit", refuses)
    assert tasks._allowed() == 1024 - 128


def test_a_file_of_any_length_is_read_completely_and_again(tmp_path):
    path = tmp_path / "long"
    path.write_bytes(bytes(range(256)) * 700)
    file = ProcFile(path)
    before = len(os.listdir("/proc/self/fd"))
    assert file.read() == path.read_bytes()
    path.write_bytes(b"short")
    assert file.read() == b"short"
    assert len(os.listdir("/proc/self/fd")) == before + 1
    file.close()
    file.close()
    assert len(os.listdir("/proc/self/fd")) == before
    path.unlink()
    assert file.read() is None
    assert file.why == "No such file or directory"
    path.write_bytes(b"again")
    assert (file.read(), file.why) == (b"again", "")
    del file
    assert len(os.listdir("/proc/self/fd")) == before
