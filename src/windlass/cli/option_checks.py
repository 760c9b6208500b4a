"""Rejection of options that would have no effect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from windlass.model import InputError

if TYPE_CHECKING:  # option checks run before the library is imported
    from windlass.cli.answer import AnswerOptions
    from windlass.experiment.experiment import Workers

#: Options of a live engine.
_LIVE = ("--address", "--real-links")
#: Options about results.
_SHOWN = (
    "--out", "--report", "--json", "--csv", "--force", "--resume", "--by", "--require", "--no-check", "--wide",
)  # fmt: skip
#: Purpose of options that have no effect together with ``--dry-run``.
RUN = "a real run; --dry-run runs nothing"
#: Purpose of options that have no effect together with the address of a cluster.
PRIVATE = "a private cluster; the address of a running one is given"
#: Purpose of options that have no effect together with ``--json``.
TABLES = "tables; --json prints everything"


def given_in(context: typer.Context) -> frozenset[str]:
    """Return the long names of the options that the command line gives."""
    return frozenset(
        each.opts[0]
        for each in context.command.params
        if each.name is not None and _is_on_the_line(context.get_parameter_source(each.name))
    )


def _is_on_the_line(source: object) -> bool:
    # Some versions of Typer include a copy of click, with a second class of this enumeration.
    return getattr(source, "name", None) == "COMMANDLINE"


def check_needs(context: typer.Context, *pairs: tuple[str, str]) -> None:
    """Reject an option that needs another one, if that is not given.

    Parameters
    ----------
    context
        The context of the command.
    pairs
        Each an option and the option that it needs.

    Raises
    ------
    InputError
        An option is given without the one that it needs; the error names both.
    """
    given = given_in(context)
    for option, other in pairs:
        if other not in given:
            _refuse(given, (option,), other)


def check_apart(context: typer.Context, other: str, options: tuple[str, ...], what: str) -> None:
    """Reject options that have no effect together with another one, if that is given.

    Parameters
    ----------
    context
        The context of the command.
    other
        The option with which the others have no effect.
    options
        The options to reject.
    what
        Their purpose, for the message.

    Raises
    ------
    InputError
        One of them is given; the error names the first, and its purpose.
    """
    given = given_in(context)
    if other in given:
        _refuse(given, options, what)


def check_run(given: frozenset[str], *, live: bool, address: bool = False) -> None:
    """Reject options of ``windlass run`` that would have no effect.

    Parameters
    ----------
    given
        The long names of the options that the command line gives.
    live
        True for a run on a live engine.
    address
        True if ``--address`` or ``--on`` names a running cluster.

    Raises
    ------
    InputError
        An option has no effect; the error names the first, and its purpose.

    Examples
    --------
    >>> check_run(frozenset({"--nodes", "--json"}), live=False)
    Traceback (most recent call last):
    windlass.model.errors.InputError: --nodes: has no effect here, it is for --engine with a live engine, or --on ray
    """
    without: list[tuple[tuple[str, ...], str]] = []
    if live:
        without.append((("--jobs", "--no-check"), "the simulator"))
    else:
        without.append((_LIVE, "--engine with a live engine"))
        if "--on" not in given:
            without.append((("--nodes",), "--engine with a live engine, or --on ray"))
    if address:
        without.append((("--nodes",), PRIVATE))
    if given & {"--json", "--csv"}:
        without.append((("--wide",), "tables"))
    if "--dry-run" in given:
        without.append((_SHOWN, RUN))
        if not live:
            without.append((("--dry-run",), "--engine with a live engine"))
    for options, what in without:
        _refuse(given, options, what)


def _refuse(given: frozenset[str], options: tuple[str, ...], what: str) -> None:
    for option in options:
        if option in given:
            raise InputError(f"{option}: has no effect here, it is for {what}")


def check_together(
    answer: AnswerOptions,
    by: Workers,
    out: Path | None,
    live: bool,
    *,
    as_json: bool,
    force: bool,
    resume: bool,
) -> None:
    """Reject options of ``windlass run`` that exclude each other or need another one.

    Raises
    ------
    InputError
        Options conflict, or one is missing; the error names both.
    """
    if as_json and answer.csv:
        raise InputError("--csv: --json is also given, expected one of the two")
    if out is None and (force or resume):
        raise InputError(f"{'--resume' if resume else '--force'}: needs --out, which is missing")
    if by.on is not None and (live or by.jobs > 1):
        raise InputError(f"--on: {'--engine' if live else '--jobs'} is also given, expected one of the two")
