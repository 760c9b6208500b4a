"""An agent and an aggregator, ended at random times or on a full disk: their saved state is complete."""

from __future__ import annotations

import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.kills import PRINTED, kills

pytest.importorskip("uvicorn", reason="the extra `agent` is not installed")
pytest.importorskip("prometheus_client", reason="the extra `agent` is not installed")
if not os.path.exists("/proc/self/task"):
    pytest.skip("no /proc of Linux here", allow_module_level=True)

from tests.disks import filled, names, small_disk
from tests.engines.kubernetes.served import environment
from tests.engines.linux.agent.conftest import SECRET, ask, seen
from tests.engines.starts import AGENT, Starts
from windlass.admit.saving import load_aggregator
from windlass.agent.envelope import digest, opened
from windlass.agent.node import as_message, load_node
from windlass.agent.options import Address
from windlass.engines.linux.telemetry.observer import Observer
from windlass.engines.slurm.daemons import wait_until

pytestmark = pytest.mark.slow
PATIENCE = 300.0
#: Number of ends of each, by each signal in turn; WINDLASS_KILLS sets more, and prints them.
KILLS = kills()
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
#: Exit statuses by signal, of a running and of a starting service.
STATUSES = {
    signal.SIGKILL: (-signal.SIGKILL,),
    signal.SIGTERM: (0, -signal.SIGTERM),
    signal.SIGINT: (0, 130),
}
LAST = {0: "stopped", 130: "windlass: interrupted"}
METRICS = Observer(time.monotonic, time.time).names
NO_ROOM = "state: the file cannot be written: No space left on device"


class Service:
    """A service that runs until it is ended, with its state file and its output."""

    def __init__(self, starts: Starts, folder: Path, output: Path, *words: str) -> None:
        self.starts, self.state, self.file = starts, folder / "state", output
        self.words = ["agent", *words, "--listen", "127.0.0.1:0", "--save-every", "0.05"]
        self.words += ["--state", str(self.state)]
        self.file.touch()
        self._before, self.pid = 0, 0

    @property
    def output(self) -> str:
        """The output since its start."""
        return self.file.read_text()[self._before :]

    def stamp(self) -> tuple[int, int]:
        """Return a stamp that changes whenever its state is saved."""
        if not self.state.exists():
            return 0, 0
        found = self.state.stat()
        return found.st_ino, found.st_mtime_ns

    def start(self) -> None:
        self._before = len(self.file.read_text())
        self.pid = self.starts.start(self.words, self.file)

    def wait(self, look: Callable[[], bool]) -> None:
        assert wait_until(look, PATIENCE), self.output

    def end(self, by: signal.Signals) -> int:
        os.kill(self.pid, by)
        status = self.starts.status()
        assert status in STATUSES[by], self.output
        assert "Traceback" not in self.output
        assert "put aside" not in self.output
        if status in LAST:
            assert self.output.splitlines()[-1].endswith(LAST[status])
        return status


@pytest.fixture
def starts() -> Iterator[Starts]:
    with Starts({**environment(), "WINDLASS_TOKEN": SECRET}, AGENT) as found:
        yield found


def agent_checked(state: Path) -> None:
    """Check that a file is a valid state of an agent."""
    envelope = opened(state.read_bytes())
    envelope.check("agent", digest(METRICS))
    load_node("forewarn", len(METRICS), envelope.part("node") or b"")


def printed(what: str, ends: Counter[tuple[str, int]], capsys: pytest.CaptureFixture[str]) -> None:
    if PRINTED:
        with capsys.disabled():
            print(f"\n{what}, ended {KILLS} times:")
            for (name, status), times in sorted(ends.items()):
                print(f"  {name}, status {status}: {times}")


def test_the_state_of_an_agent_is_complete_after_any_end(starts, tmp_path, capsys):
    rng, ends = np.random.default_rng(18), Counter()
    agent = Service(starts, tmp_path, tmp_path / "said", "run", "--every", "0.05", "--policy", "forewarn")
    for number in range(KILLS):
        before = agent.stamp()
        agent.start()
        if number % 4:
            # Most runs are ended only after they have started work.
            agent.wait(lambda before=before: agent.stamp() != before)
        time.sleep(float(rng.uniform(0.0, 0.3)))
        by = SIGNALS[number % len(SIGNALS)]
        ends[by.name, agent.end(by)] += 1
        if agent.state.exists():
            agent_checked(agent.state)
        assert {each for each in names(tmp_path) if not each.startswith(".")} <= {"state", "said"}
    before = agent.stamp()
    agent.start()
    agent.wait(lambda: agent.stamp() != before)
    assert agent.end(signal.SIGTERM) == 0
    printed("agent run", ends, capsys)


def children(state: Path) -> set[str]:
    """Return the nodes in an aggregator's state."""
    if not state.exists():
        return set()
    return set(load_aggregator(opened(state.read_bytes()).part("aggregator") or b"").children)


def test_no_saved_node_of_an_aggregator_is_lost_after_any_end(starts, tmp_path, capsys):
    rng, ends = np.random.default_rng(19), Counter()
    learned = seen("pronto", steps=100, dim=len(METRICS)).learned()
    assert learned is not None
    message = as_message(learned, "pronto", digest(METRICS)).seal()
    top = Service(starts, tmp_path, tmp_path / "said", "aggregate")

    def send(name: str) -> None:
        """Send a learned state to the aggregator."""
        top.wait(lambda: "agents known" in top.output)
        port = int(re.findall(r"http://127\.0\.0\.1:(\d+), ", top.output)[0])
        known = int(re.findall(r", (\d+) agents known", top.output)[0])
        assert known == len(children(top.state))
        assert ask(Address("127.0.0.1", port), f"/nodes/{name}", "PUT", message, SECRET).status == 204

    for number in range(KILLS):
        before, kept = top.stamp(), children(top.state)
        top.start()
        if number % 4:
            send(f"n{number}")
        if number % 4 > 1:
            top.wait(lambda before=before: top.stamp() != before)
        time.sleep(float(rng.uniform(0.0, 0.3)))
        by = SIGNALS[number % len(SIGNALS)]
        status = top.end(by)
        ends[by.name, status] += 1
        after = children(top.state)
        assert kept <= after
        if number % 4 and (number % 4 > 1 or status == 0):
            assert f"n{number}" in after
    printed("agent aggregate", ends, capsys)


def test_an_agent_on_a_full_disk_reports_it_and_keeps_running_and_its_state(starts, tmp_path):
    with small_disk(tmp_path / "disk", 2**23) as disk:
        agent = Service(starts, disk, tmp_path / "said", "run", "--every", "0.05", "--policy", "forewarn")
        agent.start()
        agent.wait(agent.state.exists)
        assert agent.end(signal.SIGTERM) == 0
        before = agent.state.read_bytes()
        with filled(disk):
            agent.start()
            agent.wait(lambda: agent.output.count(NO_ROOM) > 1)
            assert agent.end(signal.SIGINT) == 0
            assert agent.state.read_bytes() == before
            assert names(disk) == {"state"}
        stamp = agent.stamp()
        agent.start()
        agent.wait(lambda: agent.stamp() != stamp)
        assert agent.end(signal.SIGTERM) == 0
        agent_checked(agent.state)
        assert names(disk) == {"state"}
