"""``python -m tests.mutants``: draw changes of a room, try them, and print how many the tests notice."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.changes import Change
from tests.mutants.reach import FOLDER, ROOMS_RECORDED, ROOT, read_reach
from tests.mutants.rooms import ROOMS, Room, room_named
from tests.mutants.sample import Result, Trials, draw
from tests.nights import night, of_night


def main() -> int:
    """Parse the command line and run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    commands = parser.add_subparsers(required=True)
    reach = commands.add_parser("reach", help="Record which tests execute what; samples then run only these")
    reach.add_argument("rooms", nargs="*", metavar="ROOM", help="Whose lines are recorded [default: all]")
    reach.set_defaults(run=lambda given: record(chosen(given.rooms)))
    sample = commands.add_parser("sample", help="Draw changes by a seed and try them")
    sample.add_argument("rooms", nargs="*", metavar="ROOM", help="[default: all]")
    sample.add_argument("--changes", type=int, default=30, help="Changes per room [default: 30]")
    sample.add_argument("--seed", type=int, default=None, help="[default: drawn, and printed]")
    sample.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="Trials at a time [default: cores]"
    )
    sample.add_argument("--out", type=Path, help="Write one line of JSON per change to this file")
    sample.add_argument(
        "--least", type=float, default=0.9, help="Least share noticed per room [default: 0.9]"
    )
    sample.set_defaults(run=run_sample)
    again = commands.add_parser(
        "again", help="Try the unnoticed changes of a file that --out wrote once more"
    )
    again.add_argument("file", type=Path)
    again.add_argument("rooms", nargs="*", metavar="ROOM", help="[default: all]")
    again.add_argument("--all", action="store_true", help="Try all changes of the file, noticed ones too")
    again.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="Trials at a time [default: cores]"
    )
    again.add_argument("--out", type=Path, help="Write one line of JSON per change to this file")
    again.add_argument("--tests", nargs="+", help="Run these tests instead of those that execute the change")
    again.set_defaults(run=run_again)
    given = parser.parse_args()
    return int(given.run(given))


def chosen(names: Sequence[str]) -> list[Room]:
    """Return the named rooms; if none is named, all, or those of the night that ``WINDLASS_NIGHT`` numbers."""
    return [room_named(name) for name in names] or of_night(ROOMS, night())


def record(rooms: Sequence[Room] = ROOMS) -> int:
    """Run the ordinary tests with the recording plugin."""
    for old in [*FOLDER.glob("*.json"), *FOLDER.glob("coverage.*")]:
        old.unlink()
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "auto",
        "--dist",
        "loadfile",
        "-p",
        "tests.mutants.reach",
    ]
    names = {"WINDLASS_RECORD_REACH": "1", ROOMS_RECORDED: " ".join(room.name for room in rooms)}
    return subprocess.call(command, cwd=ROOT, env={**os.environ, **names})


def run_sample(given: argparse.Namespace) -> int:
    """Draw and try changes; returns 1 if a room is below the least share."""
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    rooms = chosen(given.rooms)
    print(
        f"seed {seed}, {given.changes} changes per room of {', '.join(room.name for room in rooms)}",
        flush=True,
    )
    pairs = [(room, change) for room in rooms for change in draw(room, given.changes, seed)]
    return try_and_print(pairs, given.jobs, given.out, given.least)


def run_again(given: argparse.Namespace) -> int:
    """Try changes of an earlier sample once more; the source must not have changed since."""
    rows = [json.loads(line) for line in given.file.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if (given.all or row["outcome"] == "unnoticed")]
    rows = [row for row in rows if not given.rooms or row["room"] in given.rooms]
    pairs = [(room_named(row["room"]), Change(**row["change"])) for row in rows]
    return try_and_print(pairs, given.jobs, given.out, 0.0, given.tests)


def try_and_print(
    pairs: list[tuple[Room, Change]],
    jobs: int,
    out: Path | None,
    least: float,
    tests: list[str] | None = None,
) -> int:
    """Try changes, print each as it is done and a table at the end."""
    began = time.monotonic()
    file = out.open("w", encoding="utf-8") if out else None

    def report(result: Result) -> None:
        mark = {"noticed": ".", "unnoticed": "U", "equivalent": "E"}[result.outcome]
        print(
            f"{mark} {result.room} {result.change.describe()} [{result.by}] {result.seconds:.0f} s",
            flush=True,
        )
        if file:
            print(result.as_json(), file=file, flush=True)

    results = Trials(read_reach(), jobs, tests).run(pairs, report)
    if file:
        file.close()
    return print_table(results, time.monotonic() - began, least)


def print_table(results: list[Result], seconds: float, least: float) -> int:
    """Print counts per room; returns 1 if a room's share is too small."""
    below = 0
    print(f"\n{'room':12} {'noticed':>8} {'of':>4} {'share':>6} {'equivalent':>11} {'CPU s':>7}")
    for name in dict.fromkeys(result.room for result in results):
        rows = [result for result in results if result.room == name]
        count = Counter(row.outcome for row in rows)
        judged = count["noticed"] + count["unnoticed"]
        share = count["noticed"] / judged if judged else 1.0
        below += share < least
        took = sum(row.seconds for row in rows)
        print(f"{name:12} {count['noticed']:8} {judged:4} {share:6.0%} {count['equivalent']:11} {took:7.0f}")
    print(f"{seconds:.0f} s in all")
    return int(below > 0)


if __name__ == "__main__":
    sys.exit(main())
