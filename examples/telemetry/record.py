"""Make bursty contention on this machine while ``windlass agent record`` records it.

    python examples/telemetry/record.py --pattern tune --seconds 1300 --out tune.parquet

Bursts of CPU hogs start at random, one hog after the other (a ramp). Some hogs have a cgroup quota, if this user may
create groups. Many bursts belong to a job that fetches, writes and reads files and allocates memory before it computes;
others start without a precursor. A light background load runs all the time. The patterns differ in the interval, the
length and the size of bursts, and in the share with a precursor: tune a policy on one, and judge it on another.

The pattern ``service`` is another kind of load: requests at a rate that rises and falls, see ``service.py``.

The script stops all processes that it starts, by process ID, also on Ctrl-C and SIGTERM; hogs also end on their own. It
removes its groups. A job takes at most --memory bytes, and --disk bytes in a temporary folder.
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
import service

from windlass.engines.linux.files import GroupError
from windlass.engines.linux.groups import JobGroups, detect_groups

#: The number of the group of hogs under a quota.
LIMITED = 1
PAGE, BLOCK = 4096, 1 << 20


@dataclass(frozen=True)
class Pattern:
    """The law of bursts, in seconds and shares.

    ``gap``: mean time from one burst to the next. ``last``: time at the height. ``ramp``: time from hog to hog.
    ``hogs``: the largest number of hogs. ``announced``: share of bursts with a precursor. ``limited``: share of bursts
    under a quota. ``lead``: length of a precursor, in which a job reads and allocates.
    """

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
    """The running processes of this script, and the time at which each must be stopped."""

    until: dict[int, float] = field(default_factory=dict)
    processes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, kind: str, seconds: float, *more: str) -> int:
        """Start a process of this file that loads the machine for ``seconds``; return its ID."""
        command = [sys.executable, __file__, "--act", kind, "--seconds", str(seconds), *more]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.processes[process.pid] = process
        self.until[process.pid] = time.monotonic() + seconds + 5.0
        return process.pid

    def reap(self) -> None:
        """Forget ended processes, and stop overdue ones."""
        for pid, process in list(self.processes.items()):
            if process.poll() is None and time.monotonic() > self.until[pid]:
                process.kill()
            if process.poll() is not None:
                del self.processes[pid], self.until[pid]

    def stop(self) -> None:
        """Stop all processes."""
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait()
        self.processes.clear()


@contextmanager
def limited_group() -> Iterator[JobGroups | None]:
    """Create a group for hogs under a quota, and remove it at the end; yield None, with a message, if that fails."""
    try:
        groups = detect_groups(name=f"windlass-record-{os.getpid()}")
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
    """Compute for ``seconds``."""
    end, value = time.monotonic() + seconds, 1.0
    while time.monotonic() < end:
        for _ in range(20_000):
            value = value * 1.0000001 + 1e-9


def fetched(server: socket.socket, size: int) -> Iterator[bytes]:
    """Yield ``size`` bytes, a block at a time, received over the loopback."""
    with socket.create_connection(server.getsockname()) as sender, server.accept()[0] as receiver:
        block = os.urandom(BLOCK // 8)
        for _ in range(size // len(block)):
            sender.sendall(block)
            yield receiver.recv(len(block), socket.MSG_WAITALL)


def prepare(seconds: float, folder: Path, disk: int, memory: int) -> None:
    """Fetch a file, write it, read it again and allocate memory, as a job does before it computes."""
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
                # Written pages cause a page fault each, as in a real program.
                held.append(bytearray(b"\1") * min(16 * BLOCK, max(0, memory - sum(map(len, held)))))
            time.sleep(0.001)
    with path.open("rb") as file:
        while file.read(BLOCK) and time.monotonic() < end:
            time.sleep(0.001)
    time.sleep(max(0.0, end - time.monotonic()))
    path.unlink()


def hum(seconds: float) -> None:
    """Compute for a twentieth of the time, in short steps."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        burn(0.01)
        time.sleep(0.19)


class Burst:
    """One burst: its processes, each with its start (s from the beginning of the burst) and length."""

    def __init__(self, pattern: Pattern, rng: random.Random, cores: int) -> None:
        lasts, ramp = rng.uniform(*pattern.last), rng.uniform(*pattern.ramp)
        # From fewer hogs than cores, which cause no waits, to many.
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
    """Load the machine for ``seconds``."""
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


def serve(seconds: float, seed: str, started: Started) -> None:
    """Load the machine with a service for ``seconds``."""
    begun = time.monotonic()
    for process in range(service.PROCESSES):
        started.start("answer", seconds, "--process", str(process), "--draws", seed)
    jobs = sorted(service.batch_jobs(random.Random(f"{seed}:jobs"), seconds))
    while time.monotonic() < begun + seconds:
        while jobs and time.monotonic() >= begun + jobs[0][0]:
            started.start("burn", jobs.pop(0)[1])
        started.reap()
        time.sleep(0.05)
    started.stop()


def small(path: Path) -> None:
    """Reduce a recording to four bytes per number and compress it; times keep eight bytes."""
    table = pl.read_parquet(path)
    kept = [pl.col(name).cast(pl.Float64 if name == "at" else pl.Float32) for name in table.columns]
    table.select(kept).write_parquet(path, compression="zstd", compression_level=19)


def act(options: argparse.Namespace) -> None:
    """Run the load of a started process."""
    if options.act == "burn":
        burn(options.seconds)
    elif options.act == "hum":
        hum(options.seconds)
    elif options.act == "answer":
        cores = os.cpu_count() or 1
        service.answer(options.draws, options.process, options.seconds, cores, time.monotonic(), burn)
    else:
        prepare(options.seconds, Path(options.folder), options.disk, options.memory)


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pattern", choices=[*sorted(PATTERNS), "service"], default="tune")
    parser.add_argument("--seconds", type=float, default=1300.0, help="length of the recording (s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the bursts")
    parser.add_argument("--out", type=Path, help="Parquet file to write")
    parser.add_argument("--disk", type=int, default=128 * BLOCK, help="bytes that a job writes")
    parser.add_argument("--memory", type=int, default=256 * BLOCK, help="bytes that a job allocates")
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--process", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--draws", default="", help=argparse.SUPPRESS)
    parser.add_argument("--act", choices=("answer", "burn", "hum", "prepare"), help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _stop(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


def main(arguments: list[str]) -> int:
    """Record while the machine is loaded; return the exit status of the recorder."""
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
            # The pattern is part of the seed, so that two patterns do not use the same draws.
            draws = f"{options.pattern}:{options.seed}"
            if options.pattern == "service":
                serve(options.seconds, draws, started)
            else:
                load(
                    PATTERNS[options.pattern], options.seconds, random.Random(draws), Path(folder), options.disk,
                    options.memory, started,
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
