"""The work of one task on a worker. Standard library only: these classes are sent to workers by value."""

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
    """The work of a task: it turns inputs into parts for the tasks that read them."""

    @property
    def parts(self) -> int:
        """The number of parts that it writes."""
        ...

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Do the work; return the parts."""
        ...


@dataclass(frozen=True, slots=True)
class Hold:
    """A task without real work: it holds its slot for ``seconds`` and writes parts of these sizes, bytes.

    >>> [len(part) for part in Hold(0.0, (3, 0)).run([])]
    [3, 0]
    """

    seconds: float
    sizes: tuple[int, ...] = ()

    @property
    def parts(self) -> int:
        """The number of parts that it writes."""
        return len(self.sizes)

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Sleep, then return the parts."""
        time.sleep(self.seconds)
        return [bytes(size) for size in self.sizes]


@dataclass(frozen=True, slots=True)
class Call:
    """Calls ``function(inputs, parts)``, which returns that many parts as bytes."""

    function: Callable[[Sequence[bytes], int], Sequence[bytes]]
    parts: int

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Call the function, and check its result."""
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
    """Runs a command line that reads the concatenated inputs from standard input.

    Lines that it writes are assigned to parts by their key (up to the first tab), as in Hadoop streaming.

    >>> Command("tr a-z A-Z", 1).run([b"one\\n", b"two\\n"])
    [b'ONE\\nTWO\\n']
    """

    line: str
    parts: int

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Run the command; a failure raises RuntimeError with the last line of its standard error."""
        done = subprocess.run(
            shlex.split(self.line), input=b"".join(inputs), capture_output=True, check=False
        )
        if done.returncode != 0:
            errors = done.stderr.decode(errors="replace").strip().splitlines()
            raise RuntimeError(
                f"{self.line!r} failed with status {done.returncode}{': ' if errors else ''}{''.join(errors[-1:])}"
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
    """Makes an input of ``size`` bytes."""

    size: int
    parts: int = 1

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Return zero bytes."""
        return [bytes(self.size)]


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Reads a file on the worker's machine."""

    path: str
    parts: int = 1

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Return the file's content."""
        return [Path(self.path).read_bytes()]


@dataclass(frozen=True, slots=True)
class Keep:
    """Stores its input where it runs, for input that moves ahead of its task."""

    parts: int = 1

    def run(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Return the concatenated inputs."""
        return [b"".join(inputs)]
