"""Options that would be without effect, and are refused: who gave one believes that it has one."""

from __future__ import annotations

import typer

from windlass.model import InputError

#: What options are for that have no effect without something else.
_LIVE = ("--address", "--real-links")
_SHOWN = ("--out", "--report", "--json", "--csv")


def given_in(context: typer.Context) -> frozenset[str]:
    """The options that the command line has, by their long names."""
    return frozenset(
        each.opts[0]
        for each in context.command.params
        if each.name is not None and _is_on_the_line(context.get_parameter_source(each.name))
    )


def _is_on_the_line(source: object) -> bool:
    # Typer has a copy of click of its own in some versions, with an enumeration of its own.
    return getattr(source, "name", None) == "COMMANDLINE"


def check_run(given: frozenset[str], *, live: bool) -> None:
    """Refuse what has no effect among the options of ``windlass run``.

    Parameters
    ----------
    given
        The options that were given.
    live
        Whether it runs on a live engine.

    Raises
    ------
    InputError
        Names the first that would have none, and what it is for.

    Examples
    --------
    >>> check_run(frozenset({"--nodes", "--json"}), live=False)
    Traceback (most recent call last):
    windlass.model.errors.InputError: --nodes: has no effect here, it is for --engine with a live engine, or --on ray
    """
    without: list[tuple[tuple[str, ...], str]] = []
    if live:
        without.append((("--jobs",), "the simulator"))
    else:
        without.append((_LIVE, "--engine with a live engine"))
        if "--on" not in given:
            without.append((("--nodes",), "--engine with a live engine, or --on ray"))
    if given & {"--json", "--csv"}:
        without.append((("--wide",), "tables for people"))
    if "--dry-run" in given:
        without.append((_SHOWN, "what is run, and --dry-run runs nothing"))
    for options, what in without:
        for option in options:
            if option in given:
                raise InputError(f"{option}: has no effect here, it is for {what}")
