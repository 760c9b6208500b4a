"""Run cases in a separate process under limits: ``python -m tests.fuzz.child SEED FIRST LAST FOLDER``.

A line is written before and after each case, so that the parent knows which case ended the process.

The limit on memory is on data (``RLIMIT_DATA``), 2 GB above the memory of the loaded libraries. Compilers and
thread pools reserve address space that they never use, so a limit on address space (``RLIMIT_AS``) would not help.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import sys
from pathlib import Path

from tests.fuzz.case import Case
from tests.fuzz.contacts import Contacts, block_other_hosts
from tests.fuzz.targets import case_of
from windlass.cli import main
from windlass.model import InputError

MEMORY = 2 * 2**30
CPU_SECONDS = 30
#: Maximum length of an error that must name an option.
LONGEST = 1000


def outcome(case: Case, folder: Path, contacts: Contacts) -> str:
    """Run a case and return ``taken``, ``refused`` or a description of the failure."""
    contacts.requested.clear()
    before = [os.dup(1), os.dup(2)]
    try:
        for number, name in ((1, "out"), (2, "err")):
            handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(handle, number)
            os.close(handle)
        status = _run_command(case, folder) if case.call is None else _call(case)
    finally:
        for number, copy in enumerate(before, 1):
            os.dup2(copy, number)
            os.close(copy)
    printed = [(folder / name).read_bytes().decode(errors="surrogateescape") for name in ("out", "err")]
    if contacts.requested:
        return f"contacts another host: {contacts.requested[0]!r}"
    if case.call is None:
        found = verdict_of(status, *printed)
        return naming_error(case, printed[1]) or found if found == "refused" else found
    return f"a library that gives up: {printed[1][:200]}" if "panicked at" in printed[1] else str(status)


def _call(case: Case) -> str:
    assert case.call is not None
    try:
        case.call()
    except InputError as error:
        return "refused" if str(error) else "an error without a word"
    except MemoryError:
        return "refused"
    except case.raises:
        return "refused"
    except BaseException as error:
        import traceback

        place = traceback.extract_tb(error.__traceback__)[-1]
        ours = [each for each in traceback.extract_tb(error.__traceback__) if "/windlass/" in each.filename]
        last = ours[-1] if ours else place
        return f"{type(error).__name__}: {str(error)[:200]!r} at {last.filename}:{last.lineno}"
    return "taken"


def _run_command(case: Case, folder: Path) -> object:
    sys.argv = ["windlass", *case.command]
    here = Path.cwd()
    os.chdir(folder)
    try:
        main()
    except SystemExit as stop:
        return stop.code or 0
    except BaseException as error:
        return f"{type(error).__name__} came through"
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.chdir(here)
    return 0


def verdict_of(status: object, out: str, err: str) -> str:
    """Return the verdict on a finished command: ``taken``, ``refused`` or a description of the failure."""
    last = err.strip().splitlines()[-1:] or [""]
    if "Traceback (most recent call last)" in err + out or "panicked at" in err:
        return f"a traceback: {last[0][:300]}"
    if re.search(r"[\x1b\x07\x9b\u202e]", out + err):
        return f"a sign that steers a terminal: {last[0][:300]!r}"
    if status == 0:
        return "taken"
    lines = [line for line in err.splitlines() if line.startswith("windlass: ")]
    if status != 2:
        return f"status {status}: {last[0][:300]}"
    if out:
        return f"results beside an error: {out[:100]!r}"
    if len(lines) == 1 or (not lines and "Usage: " in err):
        return "refused"
    return f"{len(lines)} lines instead of one: {err[:300]!r}"


def naming_error(case: Case, err: str) -> str:
    """Return what is wrong with the error of a case, or an empty text if it names the right option."""
    line = err.strip().splitlines()[-1]
    if case.names and len(line) > LONGEST:
        return f"a line of {len(line)} characters"
    if case.names and not any(name in line for name in case.names):
        return f"names none of {', '.join(case.names)}: {line[:300]}"
    return ""


def limit() -> None:
    """Limit the CPU time until the next call."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + CPU_SECONDS + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def data_bytes() -> int:
    """Return the data memory of this process (bytes)."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmData:\s+(\d+) kB", text).group(1)) * 1024  # type: ignore[union-attr]


def run_all(seed: int, first: int, last: int, folder: Path) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes() + MEMORY, resource.RLIM_INFINITY))
    contacts = block_other_hosts()
    notify = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    for number in range(first, last):
        own = folder / str(number)
        own.mkdir()
        target, case = case_of(seed, number, own)
        print(f"begin {number} {target}", file=notify, flush=True)
        limit()
        found = outcome(case, own, contacts)
        if case.refuse and found == "taken":
            found = "taken, and it must be refused"
        print(f"end {number} {target} {found!r}", file=notify, flush=True)
        if found in ("taken", "refused"):
            shutil.rmtree(own)


if __name__ == "__main__":
    run_all(*(int(each) for each in sys.argv[1:4]), Path(sys.argv[4]))
