"""What a task does on a worker. Standard library only: these classes travel to workers by value."""

from __future__ import annotations

import shlex
import subprocess
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Work(Protocol):
    """What a task does with what it read; the parts that it writes, for the tasks that read them."""

    @property
    def parts(self) -> int:
        """How many parts it writes."""
        ...

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Do it."""
        ...


@dataclass(frozen=True, slots=True)
class Hold:
    """Stands for a task: holds its slot for ``seconds`` and writes parts of so many bytes.

    >>> [len(part) for part in Hold(0.0, (3, 0)).run([])]
    [3, 0]
    """

    seconds: float
    sizes: tuple[int, ...] = ()

    @property
    def parts(self) -> int:
        """How many parts it writes."""
        return len(self.sizes)

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Sleep, then write."""
        time.sleep(self.seconds)
        return [bytes(size) for size in self.sizes]


@dataclass(frozen=True, slots=True)
class Call:
    """Calls ``function(inputs, parts)``, which returns that many parts as bytes."""

    function: Callable[[Sequence[bytes], int], Sequence[bytes]]
    parts: int

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Call it, and check what it returns."""
        written = list(self.function(inputs, self.parts))
        if len(written) != self.parts or not all(isinstance(part, bytes) for part in written):
            kinds = ", ".join(type(part).__name__ for part in written[:3])
            name = getattr(self.function, "__name__", "the function")
            raise ValueError(
                f"{name} returned {len(written)} parts ({kinds} …), expected {self.parts} of bytes"
            )
        return written


@dataclass(frozen=True, slots=True)
class Command:
    """Runs a command line; it reads the inputs from standard input, one after the other.

    Lines that it writes go to the part that their key (up to the first tab) falls in, as in Hadoop streaming.

    >>> Command("tr a-z A-Z", 1).run([b"one\\n", b"two\\n"])
    [b'ONE\\nTWO\\n']
    """

    line: str
    parts: int

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Run it; one that fails raises RuntimeError with what it said."""
        done = subprocess.run(
            shlex.split(self.line), input=b"".join(inputs), capture_output=True, check=False
        )
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise RuntimeError(
                f"{self.line!r} ended with {done.returncode}{': ' if said else ''}{''.join(said[-1:])}"
            )
        if self.parts == 1:
            return [done.stdout]
        parts: list[list[bytes]] = [[] for _ in range(self.parts)]
        for line in done.stdout.splitlines(keepends=True):
            key = line.rstrip(b"\n").partition(b"\t")[0]
            parts[zlib.crc32(key) % self.parts].append(line)
        return [b"".join(lines) for lines in parts]


@dataclass(frozen=True, slots=True)
class Generate:
    """Makes input of so many bytes."""

    size: int
    parts: int = 1

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Make it."""
        return [bytes(self.size)]


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Reads a file that lies at the worker."""

    path: str
    parts: int = 1

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Read it."""
        return [Path(self.path).read_bytes()]


@dataclass(frozen=True, slots=True)
class Keep:
    """Keeps what it read where it runs: input that moves ahead of its task."""

    parts: int = 1

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Join it."""
        return [b"".join(inputs)]
