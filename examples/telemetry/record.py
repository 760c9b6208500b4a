"""Make bursty contention on this machine while ``windlass agent record`` records it.

    python examples/telemetry/record.py --pattern tune --seconds 1300 --out tune.parquet

Bursts of CPU hogs come at random: one hog after the other (a ramp), some of them under a cgroup quota where this user
may make groups. Many bursts are a job's, which fetches, writes and reads files and takes memory before it computes;
others come without any sign. A light hum goes on all the time. The patterns differ in how often, how long, how many,
and how many announce themselves: what is tuned on one is to be judged by another.

Everything that it starts it stops, by process id, also on Ctrl-C and SIGTERM; hogs end by themselves besides. Its
groups are removed. A job takes at most --memory bytes, and --disk bytes in a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from windlass.engines.linux.files import GroupError
from windlass.engines.linux.groups import JobGroups, found

#: The group in which limited hogs are.
LIMITED = 1
PAGE, BLOCK = 4096, 1 << 20


@dataclass(frozen=True)
class Pattern:
    """How bursts come: seconds from one to the next (mean), at their height, and from hog to hog; hogs at most; and the
    shares of bursts that announce themselves, and whose hogs are limited. ``lead``: how long they read and allocate."""

    gap: float
    last: tuple[float, float]
    ramp: tuple[float, float]
    hogs: int
    announced: float
    limited: float
    lead: tuple[float, float]


PATTERNS = {
    "tune": Pattern(28.0, (5.0, 25.0), (0.0, 3.0), 6, 0.6, 0.2, (2.0, 7.0)),
    "judge": Pattern(22.0, (4.0, 35.0), (0.0, 4.0), 8, 0.5, 0.3, (1.0, 9.0)),
    "short": Pattern(18.0, (3.0, 12.0), (0.0, 3.0), 8, 0.5, 0.2, (1.0, 9.0)),
}


@dataclass
class Started:
    """What runs of ours, with the time at which each is to be stopped."""

    until: dict[int, float] = field(default_factory=dict)
    processes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, kind: str, seconds: float, *more: str) -> int:
        """Start a process of this file that loads the machine for so long; its id."""
        command = [sys.executable, __file__, "--act", kind, "--seconds", str(seconds), *more]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.processes[process.pid] = process
        self.until[process.pid] = time.monotonic() + seconds + 5.0
        return process.pid

    def reap(self) -> None:
        """Forget who has ended, and stop who should have."""
        for pid, process in list(self.processes.items()):
            if process.poll() is None and time.monotonic() > self.until[pid]:
                process.kill()
            if process.poll() is not None:
                del self.processes[pid], self.until[pid]

    def stop(self) -> None:
        """Stop all, by their ids."""
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait()
        self.processes.clear()


@contextmanager
def limited_group() -> Iterator[JobGroups | None]:
    """A group for hogs under a quota, removed at the end; None, which is said, where none can be made."""
    try:
        groups = found(name=f"windlass-record-{os.getpid()}")
        groups.create(LIMITED)
    except GroupError as error:
        print(f"no quotas: {error}", file=sys.stderr)
        yield None
        return
    try:
        yield groups
    finally:
        groups.release_all()


def burn(seconds: float) -> None:
    """Compute."""
    end, value = time.monotonic() + seconds, 1.0
    while time.monotonic() < end:
        for _ in range(20_000):
            value = value * 1.0000001 + 1e-9


def fetched(server: socket.socket, size: int) -> Iterator[bytes]:
    """So many bytes, a block at a time, over the loopback."""
    with socket.create_connection(server.getsockname()) as sender, server.accept()[0] as receiver:
        block = os.urandom(BLOCK // 8)
        for _ in range(size // len(block)):
            sender.sendall(block)
            yield receiver.recv(len(block), socket.MSG_WAITALL)


def prepare(seconds: float, folder: Path, disk: int, memory: int) -> None:
    """Fetch a file, write it and read it again, and take memory, as a job does before it computes."""
    end, held, written = time.monotonic() + seconds, [], 0
    path = folder / f"{os.getpid()}.input"
    with path.open("wb") as file, socket.create_server(("127.0.0.1", 0)) as server:
        for block in fetched(server, disk):
            if time.monotonic() > end:
                break
            file.write(block)
            written += len(block)
            if written % (16 * BLOCK) == 0:
                file.flush()
                os.fsync(file.fileno())
                # Pages that are written cost a fault each, as a program's own do.
                held.append(bytearray(b"\1") * min(16 * BLOCK, max(0, memory - sum(map(len, held)))))
            time.sleep(0.001)
    with path.open("rb") as file:
        while file.read(BLOCK) and time.monotonic() < end:
            time.sleep(0.001)
    time.sleep(max(0.0, end - time.monotonic()))
    path.unlink()


def hum(seconds: float) -> None:
    """Compute a twentieth of the time, in short steps."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        burn(0.01)
        time.sleep(0.19)


class Burst:
    """One burst: when each of its processes starts, s from its beginning, drawn at once."""

    def __init__(self, pattern: Pattern, rng: random.Random, cores: int) -> None:
        lasts, ramp = rng.uniform(*pattern.last), rng.uniform(*pattern.ramp)
        # From fewer hogs than cores, which nobody waits for, to many.
        hogs = rng.randint(1, max(pattern.hogs, cores + 1))
        lead = rng.uniform(*pattern.lead) if rng.random() < pattern.announced else 0.0
        self.limited = rng.random() < pattern.limited
        self.starts: list[tuple[float, str, float]] = [(0.0, "prepare", lead)] if lead else []
        self.starts += [(lead + ramp * hog, "burn", lasts + rng.uniform(0.0, 2.0)) for hog in range(hogs)]


def load(
    pattern: Pattern,
    seconds: float,
    rng: random.Random,
    folder: Path,
    disk: int,
    memory: int,
    started: Started,
) -> None:
    """Load the machine for so long."""
    cores, begun = os.cpu_count() or 1, time.monotonic()
    queue: list[tuple[float, str, float, bool]] = []
    next_burst = begun + rng.expovariate(1.0 / pattern.gap)
    started.start("hum", seconds)
    with limited_group() as groups:
        if groups is not None:
            groups.limit(LIMITED, 0.5)
        while time.monotonic() < begun + seconds:
            now = time.monotonic()
            if now >= next_burst:
                burst = Burst(pattern, rng, cores)
                queue += [
                    (next_burst + after, kind, lasts, burst.limited) for after, kind, lasts in burst.starts
                ]
                next_burst += rng.expovariate(1.0 / pattern.gap)
            for start in [each for each in queue if each[0] <= now]:
                queue.remove(start)
                _, kind, lasts, limited = start
                more = ("--folder", str(folder), "--disk", str(disk), "--memory", str(memory))
                pid = started.start(kind, lasts, *more)
                if limited and kind == "burn" and groups is not None:
                    with suppress(GroupError):
                        groups.take(LIMITED, lambda pid=pid: {pid})
            started.reap()
            time.sleep(0.05)
        started.stop()


def small(path: Path) -> None:
    """Keep four bytes a number, packed: what a reader needs. Times keep eight, as seconds since 1970 need them."""
    table = pl.read_parquet(path)
    kept = [pl.col(name).cast(pl.Float64 if name == "at" else pl.Float32) for name in table.columns]
    table.select(kept).write_parquet(path, compression="zstd", compression_level=19)


def act(options: argparse.Namespace) -> None:
    """What a process that was started does."""
    if options.act == "burn":
        burn(options.seconds)
    elif options.act == "hum":
        hum(options.seconds)
    else:
        prepare(options.seconds, Path(options.folder), options.disk, options.memory)


def parsed(arguments: list[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pattern", choices=sorted(PATTERNS), default="tune")
    parser.add_argument("--seconds", type=float, default=1300.0, help="how long")
    parser.add_argument("--seed", type=int, default=1, help="of bursts")
    parser.add_argument("--out", type=Path, help="the Parquet file")
    parser.add_argument("--disk", type=int, default=128 * BLOCK, help="bytes that a job writes")
    parser.add_argument("--memory", type=int, default=256 * BLOCK, help="bytes that a job takes")
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--act", choices=("burn", "hum", "prepare"), help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _stop(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


def main(arguments: list[str]) -> int:
    """Record while the machine is loaded; the exit status of the recorder."""
    options = parsed(arguments)
    if options.act:
        act(options)
        return 0
    if options.out is None:
        sys.exit("record.py: --out is missing, expected the file to write")
    signal.signal(signal.SIGTERM, _stop)
    started = Started()
    command = [sys.executable, "-m", "windlass", "agent", "record", "--every", "1"]
    command += ["--seconds", str(options.seconds), "--out", str(options.out)]
    recorder = subprocess.Popen(command)
    try:
        with tempfile.TemporaryDirectory() as folder:
            # Of the pattern, too: with one seed alone, two patterns would begin with the same draws on another scale.
            rng = random.Random(f"{options.pattern}:{options.seed}")
            load(
                PATTERNS[options.pattern], options.seconds, rng, Path(folder), options.disk, options.memory,
                started,
            )  # fmt: skip
        status = recorder.wait(timeout=60.0)
    except KeyboardInterrupt:
        recorder.send_signal(signal.SIGINT)
        status = recorder.wait(timeout=60.0)
    finally:
        started.stop()
        if recorder.poll() is None:
            recorder.kill()
    if options.out.is_file():
        small(options.out)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
