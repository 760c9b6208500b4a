"""A machine made of files, which tests change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from windlass.engines.linux.telemetry.source import Roots

STAT = """cpu  {user} 0 10 {idle} 5 0 0 0 0 0
cpu0 {user} 0 10 {idle} 5 0 0 0 0 0
cpu1 0 0 0 {idle} 0 0 0 0 0 0
intr {switches} 0 0
ctxt {switches}
btime 1
processes 40
procs_running 3
procs_blocked 1
softirq 90 0 10 6 20 30 0 12 11 1 2
"""
DISK = "   8       0 {name} {reads} 0 16 4 {writes} 0 32 8 {flight} {busy} 12 0 0 0 0 0 0\n"
DEVICE = "  {name}: {rx} 2 0 0 0 0 0 0 {tx} 3 0 0 0 0 0 0\n"


@dataclass
class Machine:
    """Its files, under one folder."""

    root: Path

    @property
    def roots(self) -> Roots:
        return Roots(self.root / "proc", self.root / "cgroup")

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def stat(self, user: int = 10, idle: int = 100, switches: int = 50) -> None:
        self.write("proc/stat", STAT.format(user=user, idle=idle, switches=switches))

    def thread(self, pid: int, tid: int, waited: int, ran: int = 0) -> None:
        """A thread, with its times in ns."""
        self.write(f"proc/{pid}/task/{tid}/schedstat", f"{ran} {waited} 1\n")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "proc").mkdir()
    (tmp_path / "cgroup").mkdir()
    return Machine(tmp_path)


def values(source, seconds: float) -> dict[str, float]:
    """The metrics of a source, by name."""
    found = source.read(seconds)
    assert len(found) == len(source.names) == len(set(source.names))
    return dict(zip(source.names, found, strict=True))
