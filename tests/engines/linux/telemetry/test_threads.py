"""Threads and files of a machine made of files: those that come and go, and how many may stay open."""

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


def test_threads_that_come_and_go_are_counted_each_second(machine):
    source = TasksSource(machine.roots)
    for thread in (1, 2, 3):
        machine.thread(1, thread, waited=0, ran=0)
    # A process of which nothing can be read yet.
    (machine.root / "proc" / "9" / "task").mkdir(parents=True)
    first = values(source, math.nan)
    assert (first["tasks.processes"], first["tasks.threads"]) == (1.0, 3.0)
    assert all(math.isnan(first[f"tasks.{name}"]) for name in ("waited", "ran", "come", "gone"))
    shutil.rmtree(machine.root / "proc" / "1")
    for thread in (5, 6):
        machine.thread(5, thread, waited=SECOND, ran=9 * SECOND)
    found = values(source, 4.0)
    assert found == {
        # Each new one counts from its beginning, and runs for no longer than the step was.
        "tasks.waited": 0.5, "tasks.ran": 2.0, "tasks.processes": 1.0, "tasks.threads": 2.0,
        "tasks.come": 0.5, "tasks.gone": 0.75,
    }  # fmt: skip
    still = values(source, 0.0)
    assert math.isnan(still["tasks.waited"])
    assert still["tasks.threads"] == 2.0
    machine.thread(5, 5, waited=3 * SECOND, ran=10 * SECOND)
    assert values(source, 1.0)["tasks.waited"] == 2.0
    source.close()
    shutil.rmtree(machine.root / "proc" / "5")
    assert all(map(math.isnan, values(source, 1.0).values()))


@pytest.mark.parametrize("most", [0, 10])
def test_a_thread_that_ends_in_a_process_that_goes_on_is_gone(machine, most):
    source = TasksSource(machine.roots, most)
    for thread in (1, 2):
        machine.thread(1, thread, waited=SECOND)
    values(source, math.nan)
    path = machine.root / "proc/1/task/2/schedstat"
    # An open file of a thread that has ended cannot be read; here it says nothing.
    path.write_text("")
    machine.thread(1, 1, waited=2 * SECOND)
    found = values(source, 1.0)
    assert (found["tasks.gone"], found["tasks.threads"], found["tasks.waited"]) == (1.0, 1.0, 1.0)


def test_a_new_thread_is_looked_for_where_one_has_run_or_waited(machine):
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
    ("soft", "hard", "kept", "asked"),
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
def test_as_many_files_stay_open_as_the_system_lets(monkeypatch, soft, hard, kept, asked):
    given = []
    monkeypatch.setattr(tasks.resource, "getrlimit", lambda what: (soft, hard))
    monkeypatch.setattr(tasks.resource, "setrlimit", lambda what, limits: given.append(limits))
    assert tasks._allowed() == kept
    assert given == ([] if asked is None else [asked])


def test_files_are_kept_to_the_soft_limit_where_it_cannot_be_raised(monkeypatch):
    def refuses(what, limits):
        raise ValueError("not allowed")

    monkeypatch.setattr(tasks.resource, "getrlimit", lambda what: (1024, 4096))
    monkeypatch.setattr(tasks.resource, "setrlimit", refuses)
    assert tasks._allowed() == 1024 - 128


def test_a_file_of_any_length_is_read_whole_and_again(tmp_path):
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
