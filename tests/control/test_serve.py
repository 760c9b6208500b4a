"""The processes of `windlass serve` and `windlass ui`: how they end, and what a killed one leaves."""

from __future__ import annotations

import itertools
import os
import re
import select
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from tests.control.journals import fill
from tests.control.test_demo import FAILING, SCENARIO
from windlass.control.journal import JournalReader
from windlass.control.pages_process import PagesProcess

#: Limit for a process to end, s.
PATIENCE = 300.0


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Start a command of Windlass, and kill it at the end if it still runs."""
    environment = {name: value for name, value in os.environ.items() if name != "WINDLASS_TOKEN"}
    process = subprocess.Popen(
        [sys.executable, "-m", "windlass", *words], stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def line_with(process: subprocess.Popen[str], text: str) -> str:
    """Return the next line on standard error with a text."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if text in line:
            return line.strip()
    raise AssertionError(f"no line with {text!r} in {lines}")


def url_of(process: subprocess.Popen[str]) -> str:
    return line_with(process, "pages: http").split()[-1]


def fetched(url: str) -> str:
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return answer.read().decode("utf-8")


def child_of(pid: int) -> int:
    """Return the process of the pages."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            command = (status.parent / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue
        if parent == pid and b"windlass.control.web.process" in command:
            return int(status.parent.name)
    raise AssertionError(f"process {pid} has no pages")


def ends(pid: int) -> bool:
    """Wait until a process has ended, and return whether it did."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], PATIENCE)[0])
    finally:
        os.close(handle)


@pytest.fixture
def scenario(tmp_path) -> str:
    file = tmp_path / "small.yaml"
    file.write_text(yaml.safe_dump(SCENARIO))
    return str(file)


@pytest.fixture
def serve_words(tmp_path, scenario) -> tuple[str, ...]:
    journal = str(tmp_path / "journal.db")
    return ("serve", scenario, "--demo", "--listen", "127.0.0.1:0", "--journal", journal)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_engine_and_pages_with_status_0(serve_words, tmp_path, number):
    with started(*serve_words) as process:
        url = url_of(process)
        assert "simulated: small" in fetched(url)
        pages = child_of(process.pid)
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
        assert ends(pages)
    with JournalReader(tmp_path / "journal.db") as reader:
        assert [each.status.state for each in reader.engines()] == ["stopped"]


@pytest.mark.slow
def test_killed_pages_are_restarted_at_the_same_address_and_the_engine_goes_on(serve_words, tmp_path):
    with started(*serve_words) as process:
        url = url_of(process)
        fetched(url)
        for _ in range(2):
            pages = child_of(process.pid)
            os.kill(pages, signal.SIGKILL)
            # The socket is open meanwhile, so the request waits for the next process.
            assert "running" in fetched(f"{url}/health")
            assert child_of(process.pid) != pages
        process.terminate()
        assert process.wait(PATIENCE) == 0
    with JournalReader(tmp_path / "journal.db") as reader:
        assert [each.status.state for each in reader.engines()] == ["stopped"]


@pytest.mark.slow
def test_the_pages_end_when_the_engines_process_is_killed(serve_words):
    with started(*serve_words) as process:
        fetched(url_of(process))
        pages = child_of(process.pid)
        process.kill()
        assert ends(pages)


@pytest.mark.slow
def test_the_journal_of_a_killed_process_is_continued(serve_words, tmp_path):
    with started(*serve_words) as process:
        url = url_of(process)
        assert "running" in fetched(f"{url}/health")
        process.kill()
    file = tmp_path / "journal.db"
    with JournalReader(file) as reader:
        before = reader.events(limit=500).rows
        assert [each.status.state for each in reader.engines()] == ["running"]
    with started(*serve_words, "--speed", "max", "--until-done") as process:
        assert process.wait(PATIENCE) == 0
    with JournalReader(file) as reader:
        assert [each.status.state for each in reader.engines()] == ["ended"]
        assert dict(reader.counts())["events"] > len(before)


@pytest.mark.slow
def test_a_finished_run_ends_with_status_0_and_a_complete_journal(serve_words, tmp_path):
    with started(*serve_words, "--speed", "max", "--until-done") as process:
        assert process.wait(PATIENCE) == 0
    with JournalReader(tmp_path / "journal.db") as reader:
        (seen,) = reader.engines()
        assert (seen.status.state, dict(reader.counts())["decisions"] > 100) == ("ended", True)


@pytest.mark.slow
def test_a_policy_that_raises_is_an_error_of_one_line_at_the_end(tmp_path):
    (tmp_path / "raises.py").write_text(FAILING)
    file = tmp_path / "failing.yaml"
    file.write_text(yaml.safe_dump(SCENARIO | {"policies": {"order": "raises.py"}}))
    journal = str(tmp_path / "journal.db")
    words = ("serve", str(file), "--demo", "--listen", "127.0.0.1:0", "--journal", journal)
    with started(*words, "--speed", "max", "--until-done") as process:
        assert process.wait(PATIENCE) == 2
        assert process.stderr is not None
        last = process.stderr.read().splitlines()[-1]
    assert last.startswith("windlass: policy 'raises'")
    assert "no more" in last


@pytest.mark.slow
def test_without_until_done_the_failure_is_shown_on_health(tmp_path):
    (tmp_path / "raises.py").write_text(FAILING)
    file = tmp_path / "failing.yaml"
    file.write_text(yaml.safe_dump(SCENARIO | {"policies": {"order": "raises.py"}}))
    with started("serve", str(file), "--demo", "--listen", "127.0.0.1:0", "--speed", "max") as process:
        url = url_of(process)
        line_with(process, "demo: failed: policy")
        page = fetched(f"{url}/health")
        assert re.search(r"failed</span>.*no more", page)
        process.terminate()
        assert process.wait(PATIENCE) == 0


@pytest.mark.slow
def test_an_address_in_use_and_a_journal_in_use_are_errors_of_one_line(serve_words):
    with socket.create_server(("127.0.0.1", 0)) as other:
        listen = f"127.0.0.1:{other.getsockname()[1]}"
        words = [each if each != "127.0.0.1:0" else listen for each in serve_words]
        with started(*words) as process:
            assert process.wait(PATIENCE) == 2
            assert process.stderr is not None
            assert "cannot listen" in process.stderr.read().splitlines()[-1]
    with started(*serve_words) as first:
        url_of(first)
        with started(*serve_words) as second:
            assert second.wait(PATIENCE) == 2
            assert second.stderr is not None
            assert "another process writes this journal" in second.stderr.read().splitlines()[-1]


@pytest.mark.slow
def test_ui_shows_a_journal_until_a_signal(tmp_path):
    fill(tmp_path / "journal.db", 60)
    with started("ui", str(tmp_path / "journal.db"), "--listen", "127.0.0.1:0") as process:
        url = url_of(process)
        assert "reason 59" in fetched(f"{url}/decisions")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("ui", "none.db"), "none.db: no such file"),
        (("mcp", "."), ".: is a directory, expected a journal"),
        (("serve",), "pass --demo"),
        (("serve", "none.yaml", "--demo"), "none.yaml: no such file"),
        (("serve", "none.yaml"), "none.yaml: no such file"),
        (("serve", "none.yaml", "--speed", "9"), "--speed: has no effect here, it is for --demo"),
        (("serve", "--demo", "--act"), "--act: has no effect here, it is for a live cluster"),
        (("serve", "--demo", "--speed", "fast"), "--speed: 'fast'"),
        (("serve", "--demo", "--variant", "none"), "--variant: no variant 'none'"),
        (("journal", "export", "none.db", "out.parquet"), "none.db: no such file"),
    ],
)
def test_wrong_usage_is_an_error_of_one_line(words, line, windlass):
    status, _, text = windlass(*words)
    assert status == 2
    assert line in text
    assert text.count("\n") == 1


class Ended:
    """A process that ends as soon as it is polled."""

    pid = 1

    def poll(self) -> int:
        return 1

    def terminate(self) -> None:
        pass

    def wait(self, _: float) -> int:
        return 1


def test_pages_that_end_again_and_again_are_restarted_ever_more_rarely(tmp_path, monkeypatch):
    now, starts = 0.0, []

    def start(self: PagesProcess) -> Ended:
        starts.append(now)
        return Ended()

    monkeypatch.setattr(PagesProcess, "_start", start)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        lines: list[str] = []
        pages = PagesProcess(listening, tmp_path / "journal.db", (), lambda: now, lines.append)
        for tick in range(400):
            now = 0.25 * tick
            pages.poll()
        pages.close()
    gaps = [later - earlier for earlier, later in itertools.pairwise(starts)]
    # The process is polled four times a second.
    delays = [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert len(gaps) >= len(delays) - 1
    assert all(delay <= gap <= delay + 0.25 for gap, delay in zip(gaps, delays, strict=False))
    assert len(lines) == len(starts)


def test_pages_that_cannot_be_started_again_leave_the_engines_running(tmp_path, monkeypatch):
    """A fork that fails for want of memory is tried again after growing delays."""
    now, tries, lines = 0.0, [], []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setattr(PagesProcess, "_start", lambda self: Ended())
        pages = PagesProcess(listening, tmp_path / "journal.db", (), lambda: now, lines.append)

        def start(self: PagesProcess) -> Ended:
            tries.append(now)
            if len(tries) < 4:
                raise BlockingIOError(11, "Resource temporarily unavailable")
            return Ended()

        monkeypatch.setattr(PagesProcess, "_start", start)
        for tick in range(200):
            now = 0.25 * tick
            pages.poll()
            if pages.pid is not None:
                break
        pages.close()
    gaps = [later - earlier for earlier, later in itertools.pairwise(tries)]
    assert (len(tries), gaps) == (4, [2.0, 4.0, 8.0])
    assert (
        "cannot be started: [Errno 11] Resource temporarily unavailable; the next attempt is in 2 s"
        in lines[1]
    )
