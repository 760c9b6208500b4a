"""The fields of a table of jobs, the names of columns that hold them, and columns that the user names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from windlass.io.traces.columns import quote
from windlass.model import InputError
from windlass.model.nearest import did_you_mean

Kind = Literal["time", "duration", "whole", "number", "text"]

#: Seconds per unit that the name of a column may end in, as in ``run_ms`` or ``Run (h)``.
UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "usec", "microseconds"), 1e-6),
    **dict.fromkeys(("ns", "nanoseconds"), 1e-9),
    **dict.fromkeys(("min", "mins", "minutes"), 60.0),
    **dict.fromkeys(("h", "hours"), 3600.0),
}
_TIMED = frozenset({"time", "duration"})
_SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SIGNS = re.compile(r"[\W_]+")
_NUMBER_OR_DATE = re.compile(r"[-+]?[0-9][-+0-9.,:/ TZeE]*")


@dataclass(frozen=True, slots=True)
class Role:
    """A field of a job.

    Parameters
    ----------
    name
        Its column in a trace.
    kind
        What its cells hold.
    names
        Names of columns that hold it, the preferred one first. Times and durations may end in one of :data:`UNITS`.
    """

    name: str
    kind: Kind
    names: tuple[str, ...]


ROLES = (
    Role("job", "text", ("job", "job_id", "jobid", "id")),
    Role(
        "submit",
        "time",
        ("submit", "submit_time", "arrival", "arrival_time", "submitted", "submitted_at", "submission_time"),
    ),
    Role(
        "run",
        "duration",
        ("run", "runtime", "run_time", "duration", "elapsed", "elapsed_time", "elapsed_raw"),
    ),
    Role("procs_allocated", "whole", ("procs_allocated",)),
    Role(
        "procs_requested",
        "whole",
        (
            *("procs_requested", "procs", "processors", "cpus", "cores", "gpus", "nodes"),
            *("num_procs", "num_cpus", "num_cores", "ncpus"),
        ),
    ),
    Role("request", "duration", ("request", "walltime", "time_limit", "timelimit", "requested_time")),
    Role("start", "time", ("start", "start_time", "started", "started_at")),
    Role("end", "time", ("end", "end_time", "ended", "ended_at", "finish_time", "finished", "finished_at")),
    Role("wait", "duration", ("wait", "wait_time")),
    Role("user", "text", ("user", "username", "user_name", "user_id")),
    Role("group", "text", ("group",)),
    Role("queue", "text", ("queue",)),
    Role("partition", "text", ("partition",)),
    Role("gpus", "number", ("gpus",)),
    Role("memory", "number", ("memory",)),
    Role("site_procs", "whole", ("site_procs",)),
)
_ROLES = {role.name: role for role in ROLES}
#: Names of fields on the command line, in addition to those of the roles.
_SHORT = {"procs": "procs_requested", "job_id": "job"}


@dataclass(frozen=True, slots=True)
class ChosenColumn:
    """The column of a file that holds a field.

    Parameters
    ----------
    role
        The field.
    column
        The column's name in the file.
    unit
        Seconds per unit of its numbers; None if its name has no unit.
    exact
        Whether its name is one of those that :class:`Role` lists.
    """

    role: Role
    column: str
    unit: float | None = None
    exact: bool = True


def normal_name(name: str) -> str:
    """Return a column's name in lower case, with underscores for all other signs and before capitals.

    >>> [normal_name(name) for name in ("Submit Time", "submitTime", " CPUs", "Run (h)")]
    ['submit_time', 'submit_time', 'cpus', 'run_h']
    """
    return _SIGNS.sub("_", _SPLIT.sub("_", name.strip().lstrip("#"))).strip("_").casefold()


def field_and_unit(field: str) -> tuple[Role, float | None] | None:
    """Return the field that a name such as ``run`` or ``run_ms`` in ``--columns`` stands for, and its unit.

    >>> role, unit = field_and_unit("run_ms")
    >>> role.name, unit
    ('run', 0.001)
    """
    known = _ROLES.get(_SHORT.get(field, field))
    if known is not None:
        return known, None
    base, _, unit = field.rpartition("_")
    role = _ROLES.get(base)
    return (role, UNITS[unit]) if role is not None and role.kind in _TIMED and unit in UNITS else None


def check_fields(columns: Mapping[str, str]) -> None:
    """Check the fields that a user names.

    Raises
    ------
    InputError
        There is no such field.

    Examples
    --------
    >>> check_fields({"submt": "a"})
    Traceback (most recent call last):
    windlass.model.errors.InputError: columns: 'submt' is no field, expected job, submit, run, procs_allocated, \
procs_requested, request, start, end, wait, user, group, queue, partition, gpus, memory or \
site_procs; did you mean 'submit'?
    """
    for field in columns:
        if field_and_unit(field) is None:
            names = [role.name for role in ROLES]
            hint = did_you_mean(field, names)
            raise InputError(
                f"columns: {field!r} is no field, expected {', '.join(names[:-1])} or {names[-1]}{hint}"
            )


def known_names(names: Iterable[str], columns: Mapping[str, str]) -> int:
    """Return how many of these columns hold a field.

    >>> known_names(["Submit Time", "run", "Weight"], {"procs": "Weight"})
    3
    """
    mapped = {name.strip() for name in columns.values()}
    return sum(name.strip() in mapped or _role_of(normal_name(name)) is not None for name in names)


def choose_columns(
    file: str, found: Sequence[str], columns: Mapping[str, str] | None = None
) -> tuple[ChosenColumn, ...]:
    """Return the column of each field that the file has.

    Parameters
    ----------
    file
        Name of the file in messages.
    found
        Names of its columns.
    columns
        Columns by field that the user names.

    Raises
    ------
    InputError
        A required field has no column, a named column is missing, or several columns fit a field equally well.

    Examples
    --------
    >>> [(each.role.name, each.column) for each in choose_columns("a.csv", ["Submit", "run", "cpus"])]
    [('submit', 'Submit'), ('run', 'run'), ('procs_requested', 'cpus')]
    """
    chosen = _named(file, found, columns or {})
    taken = {each.column for each in chosen.values()}
    for role in ROLES:
        # A table of GPUs alone has processors only.
        free = [column for column in found if column not in taken]
        if role.name not in chosen and (own := _fitting(file, role, free)) is not None:
            chosen[role.name] = own
            taken.add(own.column)
    for needed, others in (
        ("submit", ()),
        ("run", ("start", "end")),
        ("procs_requested", ("procs_allocated",)),
    ):
        alternative = bool(others) and all(name in chosen for name in others)
        if needed not in chosen and not alternative:
            raise _no_column(file, needed, found)
    return tuple(chosen[role.name] for role in ROLES if role.name in chosen)


def _named(file: str, found: Sequence[str], columns: Mapping[str, str]) -> dict[str, ChosenColumn]:
    check_fields(columns)
    chosen: dict[str, ChosenColumn] = {}
    for field, column in columns.items():
        known = field_and_unit(field)
        assert known is not None  # Checked above.
        fitting = [name for name in found if name == column] or [
            name for name in found if name.strip() == column.strip()
        ]
        if not fitting:
            names = ", ".join(map(quote, found)) or "none"
            hint = did_you_mean(column, found)
            raise InputError(f"{file}: no column {column!r} for {field}, found {names}{hint}")
        role, unit = known
        if role.name in chosen:
            raise InputError(f"columns: {role.name} is given twice, expected one column of each field")
        chosen[role.name] = ChosenColumn(role, fitting[0], unit, exact=False)
    return chosen


def _fitting(file: str, role: Role, found: Sequence[str]) -> ChosenColumn | None:
    """Return the column of a field: by an exact name, or else by one that differs in capitals, spaces or signs."""
    for name in role.names:
        for fits in (str.strip, normal_name):
            fitting = [column for column in found if _is_of(fits(column), name, role)]
            fitting.sort(key=lambda column: fits(column) != name)
            if len(fitting) > 1 and fits(fitting[0]) == fits(fitting[1]):
                both = " and ".join(map(quote, fitting[:2]))
                raise InputError(
                    f"{file}: columns {both} both may hold {role.name}, expected one; "
                    f"select it with {columns_option(f'{role.name}=NAME')}"
                )
            if fitting:
                unit = UNITS.get(fits(fitting[0]).rpartition("_")[2]) if fits(fitting[0]) != name else None
                return ChosenColumn(role, fitting[0], unit, exact=fits is str.strip)
    return None


def _is_of(name: str, base: str, role: Role) -> bool:
    if name == base:
        return True
    front, _, unit = name.rpartition("_")
    return role.kind in _TIMED and front == base and unit in UNITS


def _role_of(name: str) -> Role | None:
    return next((role for role in ROLES for base in role.names if _is_of(name, base, role)), None)


def _no_column(file: str, needed: str, found: Sequence[str]) -> InputError:
    shown = ", ".join(map(quote, found)) or "none"
    if found and all(_NUMBER_OR_DATE.fullmatch(each.strip()) for each in found):
        return InputError(
            f"{file}: the first line has numbers ({shown}), expected names of columns, such as submit,run,procs; "
            "write them above the jobs"
        )
    names = _ROLES[needed].names
    instead = ", or start and end" if needed == "run" else ""
    field = "procs" if needed == "procs_requested" else needed
    return InputError(
        f"{file}: no column {needed!r} (or {', '.join(names[1:])}){instead}, found {shown}; "
        f"name it with {columns_option(f'{field}=NAME')}"
    )


def columns_option(value: str) -> str:
    """Return how a user states which column holds a field.

    >>> columns_option("submit=NAME")
    '--columns submit=NAME, or with workload.columns in a scenario'
    """
    return f"--columns {value}, or with workload.columns in a scenario"
