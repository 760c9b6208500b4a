"""Draw changes of a room by a seed, try each, and count how many the tests notice."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.mutants.changes import Change, changes_of, is_valid, lines_of
from tests.mutants.equivalent import reason_of
from tests.mutants.reach import Reach
from tests.mutants.rooms import Room
from tests.mutants.trial import NO_TESTS, PASSED, UNKNOWN_TEST, Outcome, copied, in_copy, overwrite, run_trial

#: A trial is killed after this long plus a multiple of what its tests took unchanged, s; a machine may be busy.
_LIMIT_S, _LONGER = 300.0, 5.0
#: Tests outside the room run after the room's own, quickest first, up to this much time, s.
_OTHERS_S = 20.0
_ORDINARY = "not slow and not live"


@dataclass(frozen=True, slots=True)
class Result:
    """A change and what became of it.

    Parameters
    ----------
    room, change
        What was changed.
    outcome
        ``noticed``, ``unnoticed`` or ``equivalent``.
    by
        The test that failed, ``time limit`` or ``import``; for an equivalent change, the reason.
    seconds
        Processor time that the trial took, s.
    """

    room: str
    change: Change
    outcome: str
    by: str
    seconds: float

    def as_json(self) -> str:
        """Return one line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)


def draw(room: Room, count: int, seed: int) -> list[Change]:
    """Return ``count`` changes of a room, each of another line: a line first, then one of its changes, uniformly."""
    generator = random.Random(f"{room.name} {seed}")
    changes = [change for path in room.files() for change in changes_of(path, room.root)]
    lines = list(lines_of(changes))
    generator.shuffle(lines)
    drawn: list[Change] = []
    for _, found in lines:
        if len(drawn) == count:
            break
        generator.shuffle(found)
        drawn += [change for change in found if is_valid(change, room.root)][:1]
    return drawn


class Trials:
    """Tries changes, several at a time.

    Parameters
    ----------
    reach
        Which tests execute what; without it a room's own tests are run.
    jobs
        How many trials run at a time.
    tests
        Tests to run on every change, in place of those that the record or the room names.
    """

    def __init__(self, reach: Reach | None, jobs: int, tests: Sequence[str] | None = None) -> None:
        self._reach, self._jobs, self._tests = reach, jobs, tests
        self._passes: dict[str, bool] = {}
        self._lock = threading.Lock()

    def run(self, pairs: Iterable[tuple[Room, Change]], report: Callable[[Result], None]) -> list[Result]:
        """Try changes and report each as it is done; returns the results in the order of the changes."""

        def one(pair: tuple[Room, Change]) -> Result:
            result = self.try_one(*pair)
            with self._lock:
                report(result)
            return result

        with ThreadPoolExecutor(self._jobs) as pool:
            return list(pool.map(one, pairs))

    def try_one(self, room: Room, change: Change) -> Result:
        """Try one change."""
        reason = reason_of(change)
        if reason:
            return Result(room.name, change, "equivalent", reason, 0.0)
        stages, expected = self._stages(room, change)
        left_out: set[str] = set()
        seconds = 0.0
        while True:
            outcome = self._held(change, stages, expected, sorted(left_out))
            seconds += outcome.seconds
            by = _noticed_by(outcome)
            if by not in outcome.failed or by in left_out or self._passes_unchanged(by):
                break
            left_out.add(by)
        is_noticed = bool(by) and by not in left_out
        by = by if is_noticed else ""
        return Result(room.name, change, "noticed" if is_noticed else "unnoticed", by, seconds)

    def _held(
        self,
        change: Change | None,
        stages: Sequence[Sequence[str]],
        expected: float,
        left_out: Sequence[str] = (),
    ) -> Outcome:
        folder = Path(tempfile.mkdtemp(prefix="windlass-trial-"))
        try:
            source = copied(folder)
            if change is not None:
                path = in_copy(source, change.file)
                overwrite(path, change.apply(path.read_bytes()))
            limit = _LIMIT_S + _LONGER * expected
            outcome = run_trial(source, [s for s in stages if s], limit, _ORDINARY, left_out)
            if outcome.status == UNKNOWN_TEST:
                # A change may rename the cases of a test.
                files = [sorted({test.split("::")[0] for test in stage}) for stage in stages]
                outcome = run_trial(source, [s for s in files if s], limit, _ORDINARY, left_out)
            return outcome
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _passes_unchanged(self, test: str) -> bool:
        """Whether a test that failed on a change passes without one in the same surroundings."""
        with self._lock:
            known = self._passes.get(test)
        if known is None:
            seconds = self._reach.seconds.get(test, 10.0) if self._reach else 10.0
            known = self._held(None, [[test]], seconds).status == PASSED
            with self._lock:
                self._passes[test] = known
        return known

    def _stages(self, room: Room, change: Change) -> tuple[list[list[str]], float]:
        """Tests to run, and how long they take unchanged, s."""
        reach = self._reach
        if self._tests:
            return [list(self._tests)], 120.0
        if reach is None:
            return [list(room.tests)], 120.0
        tests = reach.of(change)
        own = {test for test in tests if test.startswith(room.tests)}
        own_sorted = _by_file(reach, own)
        seconds, others = 0.0, []
        for test in reach.sorted(tests - own):
            seconds += reach.seconds.get(test, 1.0)
            if seconds > _OTHERS_S:
                break
            others.append(test)
        stages = [own_sorted, _by_file(reach, others)] if tests else [list(room.tests)]
        return stages, sum(reach.seconds.get(test, 1.0) for stage in stages for test in stage)


def _by_file(reach: Reach, tests: Iterable[str]) -> list[str]:
    """Tests of one file together, files that take least first."""
    files: dict[str, list[str]] = {}
    for test in reach.sorted(tests):
        files.setdefault(test.split("::")[0], []).append(test)
    took = {file: sum(reach.seconds.get(test, 1.0) for test in found) for file, found in files.items()}
    return [test for file in sorted(files, key=lambda file: (took[file], file)) for test in files[file]]


def _noticed_by(outcome: Outcome) -> str:
    """What noticed a change; empty if nothing did."""
    if outcome.status in (PASSED, NO_TESTS):
        return ""
    if outcome.status == -1:
        return "time limit, or the process died"
    return outcome.failed[-1] if outcome.failed else "import or collection"
