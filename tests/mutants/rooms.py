"""The rooms that samples are drawn from: which source each has, and which tests a change of it must fail."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "windlass"
#: The package next to the library; its files are named with their package ahead.
REPRODUCTIONS = "windlass_reproductions"


def located(file: str) -> Path:
    """Return where a file of a change is: below ``src/windlass``, or in the package of reproductions."""
    return root_of(file) / file


def root_of(file: str) -> Path:
    """Return the folder that a file of a change is relative to."""
    return ROOT / "reproductions" / "src" if file.split("/")[0] == REPRODUCTIONS else SOURCE


@dataclass(frozen=True, slots=True)
class Room:
    """A part of the source.

    Parameters
    ----------
    name
        Its name on the command line.
    source
        Files and folders, relative to ``src/windlass``, or below ``windlass_reproductions``.
    tests
        Tests to run on a change, as pytest takes them, those most likely to fail first.
    without
        Files and folders in ``source`` that are left out.
    """

    name: str
    source: tuple[str, ...]
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()

    @property
    def root(self) -> Path:
        """The folder that the names of its files are relative to."""
        return root_of(self.source[0])

    def files(self) -> list[Path]:
        """Return the room's files, sorted by path."""
        found: set[Path] = set()
        for each in self.source:
            path = located(each)
            found.update(path.rglob("*.py") if path.is_dir() else [path])
        left_out = [located(each) for each in self.without]
        return sorted(path for path in found if not any(path.is_relative_to(each) for each in left_out))


def _tests(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/{name}" for name in names)


def _doctests(*names: str) -> tuple[str, ...]:
    return tuple(f"src/windlass/{name}" for name in names)


#: What needs a real Ray, a GPU library or a network to run at all is left out; live tests exercise it.
ROOMS = (
    Room("plan", ("plan",), (*_tests("plan"), *_doctests("plan")), ("plan/profile",)),
    Room("order", ("order",), (*_tests("order", "fleet"), *_doctests("order"))),
    Room("place", ("place",), (*_tests("place"), *_doctests("place"))),
    Room("scale", ("scale",), (*_tests("scale"), *_doctests("scale")), ("scale/forecast/neural",)),
    Room("share", ("share",), (*_tests("share"), *_doctests("share"))),
    Room("dispatch", ("dispatch",), (*_tests("dispatch"), *_doctests("dispatch"))),
    Room("admit", ("admit",), (*_tests("admit", "sim/test_admission.py"), *_doctests("admit"))),
    Room(
        "sim",
        ("sim",),
        (*_tests("sim", "order", "coupled"), *_doctests("sim")),
        tuple(f"sim/{each}" for each in ("workers", "fleet", "instances", "queries", "shares", "telemetry")),
    ),
    Room("workers", ("sim/workers",), (*_tests("dispatch", "coupled"), *_doctests("sim/workers"))),
    Room("fleet", ("sim/fleet",), (*_tests("fleet", "place"), *_doctests("sim/fleet"))),
    Room("instances", ("sim/instances",), (*_tests("sim", "worlds"), *_doctests("sim/instances"))),
    Room("queries", ("sim/queries",), (*_tests("sim", "worlds"), *_doctests("sim/queries"))),
    Room("shares", ("sim/shares", "sim/telemetry"), (*_tests("sim", "worlds"), *_doctests("sim/shares"))),
    Room(
        "batch",
        ("engines/batch",),
        (
            *_tests("engines/test_batch.py", "engines/test_sharing.py", "engines/test_sharing_mishaps.py"),
            *_tests("engines/test_batch_conformance.py", "engines/test_batch_mishaps.py"),
            *_tests("engines/test_batch_shrinking.py", "engines/test_batch_book.py", "engines/slurm"),
            *_tests("engines/test_owners.py"),
        ),
    ),
    Room(
        "elastic", ("engines/elastic", "engines/kubernetes"), _tests("engines/elastic", "engines/kubernetes")
    ),
    Room("slurm", ("engines/slurm",), _tests("engines/slurm", "engines/test_batch_conformance.py")),
    Room("linux", ("engines/linux", "agent"), _tests("engines/linux")),
    Room(
        "live",
        ("engines/live", "engines/streams", "engines/serve", "engines/address.py", "engines/worker_pool.py"),
        _tests("engines", "fuzz"),
        tuple(f"engines/serve/{name}.py" for name in ("router", "benchmarks", "metrics")),
    ),
    Room(
        "traces",
        ("io/traces",),
        (*_tests("traces", "sim/test_real_logs.py", "worlds"), *_doctests("io/traces")),
    ),
    Room(
        "verdict",
        ("results",),
        (*_tests("verdict", "metrics", "cli"), *_doctests("results")),
        ("results/metrics",),
    ),
    Room(
        "metrics", ("results/metrics",), (*_tests("metrics", "worlds", "sim"), *_doctests("results/metrics"))
    ),
    Room("worlds", ("experiment/worlds",), (*_tests("worlds", "examples"), *_doctests("experiment/worlds"))),
    Room(
        "workloads",
        ("experiment/workloads", "model"),
        (*_tests("model", "worlds"), *_doctests("experiment/workloads", "model")),
    ),
    Room("report", ("report",), (*_tests("report", "cli"), *_doctests("report"))),
    Room(
        "cli",
        (
            *("cli", "io", "policy", "experiment/scenario"),
            *(f"experiment/{name}.py" for name in ("runner", "checkpoint", "recorded")),
        ),
        (*_tests("cli", "saving", "docs"), *_doctests("cli", "io", "policy", "experiment")),
        ("io/traces",),
    ),
    Room(
        "checks",
        ("experiment/checks", "jit"),
        (*_tests("checks", "compiled"), *_doctests("experiment/checks", "jit")),
    ),
    Room("profile", ("plan/profile",), (*_tests("plan/profile", "cli"), *_doctests("plan/profile"))),
    Room("reproductions", (REPRODUCTIONS,), _tests("reproductions")),
)


def room_named(name: str) -> Room:
    """Return the room with this name."""
    for room in ROOMS:
        if room.name == name:
            return room
    raise ValueError(f"unknown room {name!r}, expected one of {', '.join(room.name for room in ROOMS)}")
