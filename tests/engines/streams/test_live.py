"""Queries on real clips over a private Ray of three tiers: planned accuracy, a killed node, and signals."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
pytest.importorskip("cv2", reason="OpenCV is not installed: pip install '.[vision]'")
import psutil

from tests.engines.streams.street import make_street

pytestmark = pytest.mark.slow

#: Timeout (s): a busy machine starts Ray and its actors slowly.
LONG_S = 600
COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup, before the tests, would have it ignored
from windlass.cli import main
main()
"""


class Run:
    """The command, its output, and its processes."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "plan", "run", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.own = psutil.Process(self.process.pid)
        self.lines, self.out = [], []
        self._readers = [
            threading.Thread(target=lambda: self.lines.extend(iter(self.process.stderr.readline, ""))),
            threading.Thread(target=lambda: self.out.append(self.process.stdout.read())),
        ]
        for reader in self._readers:
            reader.start()

    def wait_for(self, found, since=0):
        """Wait until the lines since `since` satisfy a condition; return the number of lines then."""
        until = time.monotonic() + LONG_S
        while not found(self.lines[since:]):
            assert self.process.poll() is None, "".join(self.lines)
            assert time.monotonic() < until, f"it did not come about:\n{''.join(self.lines)}"
            time.sleep(0.1)
        return len(self.lines)

    def raylets(self):
        """Return the raylets of each site."""
        found = {}
        for child in self.own.children(recursive=True):
            command = command_of(child)
            site = re.search(r'"site":\s*"([\w-]+)"', command)
            if "raylet/raylet" in command and site:
                found.setdefault(site[1], []).append(child)
        return found

    def end(self, number=signal.SIGINT):
        """Send a signal; return the status once the output ended and no process is left."""
        assert self.process.poll() is None, "".join(self.lines)
        started = self.own.children(recursive=True)
        commands = " ".join(command_of(child) for child in started)
        self.folder = Path("/tmp") / re.search(r"windlass-ray-\w+", commands)[0]
        self.process.send_signal(number)
        status = self.process.wait(LONG_S)
        for reader in self._readers:
            reader.join(LONG_S)
        _, left = psutil.wait_procs(started, timeout=60)
        for process in left:
            process.kill()
        assert left == []
        return status


def command_of(process):
    """Return its command line; empty for an ended process."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def playing(lines, *names):
    """True if each of these queries had a complete, undisturbed playing."""
    return all(
        any(re.search(rf"{name}: playing \d+: [^;]*planned [\d.]+; 0 frames missed", line) for line in lines)
        for name in names
    )


@pytest.fixture(scope="module")
def street(tmp_path_factory):
    return make_street(tmp_path_factory.mktemp("street"))


def test_four_queries_survive_a_lost_node_with_the_planned_accuracy(street):
    queries, tiers = street
    names = ["q1", "q2", "q3", "q4"]
    run = Run(queries, "--cluster", tiers, "--engine", "ray", "--policy", "fair", "--json")
    try:
        run.wait_for(lambda lines: playing(lines, *names))
        # The cluster with the most components, other than the cameras.
        where = re.findall(r"@(private|cloud)", "".join(run.lines))
        busy = max(("private", "cloud"), key=where.count)
        (victim,) = run.raylets()[busy]
        killed = len(run.lines)
        victim.kill()
        victim_at = time.monotonic()
        planned = run.wait_for(lambda lines: any(f"new plan (node {busy}/" in line for line in lines), killed)
        print(f"a new plan {time.monotonic() - victim_at:.1f} s after the node was killed")
        run.wait_for(lambda lines: playing(lines, *names), planned)
    finally:
        status = run.end()
    assert status == 130, "".join(run.lines)
    assert not run.folder.exists()
    result = json.loads(run.out[0])
    upon = [why for each in result["decisions"] for why in each["upon"]]
    assert any(re.fullmatch(rf"node {busy}/\w+ lost", why) for why in upon)
    assert all("cannot run" not in line for line in result["decisions"][-1]["plan"])
    assert not any(f"@{busy}" in line for line in result["decisions"][-1]["plan"])
    assert any(f"@{busy}" in line for line in result["decisions"][0]["plan"])
    whole = [each for each in result["playings"] if each["undisturbed"] and not each["frames_missed"]]
    assert {each["query"] for each in whole} == set(names)
    for each in whole:
        # A playing is computed like in the profiler: the difference must be far below three points.
        assert each["accuracy_measured"] == pytest.approx(each["accuracy_planned"], abs=0.03), each


def test_an_added_query_is_planned_and_a_removed_one_is_stopped(street, tmp_path):
    import yaml

    queries, tiers = street
    every = yaml.safe_load(queries.read_text())["queries"]
    for each in every:
        each |= {name: str(queries.parent / each[name]) for name in ("clip", "truth", "pipeline")}
    file = tmp_path / "queries.yaml"
    file.write_text(yaml.safe_dump({"queries": every[:1]}))
    run = Run(file, "--cluster", tiers, "--engine", "ray", "--policy", "fair", "--json")
    try:
        first = run.wait_for(lambda lines: playing(lines, "q1"))
        file.write_text("queries: [")
        second = run.wait_for(
            lambda lines: any("the queries stay unchanged" in line for line in lines), first
        )
        file.write_text(yaml.safe_dump({"queries": every[1:2]}))
        run.wait_for(lambda lines: playing(lines, "q2"), second)
    finally:
        status = run.end()
    assert status == 130
    result = json.loads(run.out[0])
    upon = [why for each in result["decisions"] for why in each["upon"] if why.startswith("query")]
    assert upon == ["query q1 added", "query q1 removed", "query q2 added"]


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        signal.SIGKILL,
        # Handled as SIGTERM is.
        pytest.param(signal.SIGINT, marks=pytest.mark.nightly),
        pytest.param(signal.SIGHUP, marks=pytest.mark.nightly),
    ],
)
def test_after_any_signal_no_process_is_left(street, number):
    queries, tiers = street
    run = Run(queries, "--cluster", tiers, "--engine", "ray", "--policy", "fair")
    try:
        run.wait_for(lambda lines: any(": plays " in line for line in lines))
    finally:
        status = run.end(number)
    assert not run.folder.exists()
    if number == signal.SIGKILL:
        assert status == -signal.SIGKILL
        return
    assert status == 130
    assert run.lines[-1].strip() == "windlass: interrupted; what was started is stopped"
