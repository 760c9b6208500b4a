"""``windlass list``: decisions, policies with their parameters, priorities, worlds, log formats and papers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import TypeVar

from rich.box import SIMPLE_HEAD
from rich.table import Table

from windlass.cli.output import print_lines, print_tables, write_json
from windlass.cli.reproduce import installed_reproductions
from windlass.experiment.catalogue import Catalogue, DecisionEntry, PolicyEntry, catalogue
from windlass.model import InputError
from windlass.model.nearest import did_you_mean

_Entry = TypeVar("_Entry")


@dataclass(frozen=True, slots=True)
class PaperEntry:
    """A paper that ``windlass reproduce`` reproduces: its name and its title."""

    name: str
    title: str


def list_command(text: str | None = None, decision: str | None = None, *, as_json: bool = False) -> None:
    """Print the catalogue.

    Parameters
    ----------
    text
        Print only entries with this text in their names and descriptions, in any case.
    decision
        Print only the policies of one decision.
    as_json
        Print one JSON document.

    Raises
    ------
    InputError
        There is no such decision.
    """
    found = _of_decision(catalogue(), decision)
    papers = _papers() if decision is None else ()
    if text is not None:
        found, papers = _with_text(found, text.casefold()), _matching(papers, text.casefold(), _of_paper)
    if as_json:
        write_json({**asdict(found), "papers": [asdict(each) for each in papers]})
        return
    tables = list(_tables(found, papers))
    if not tables:
        print_lines([f"Nothing in the catalogue contains {text!r}."])
    print_tables(*tables)


def _of_decision(found: Catalogue, decision: str | None) -> Catalogue:
    if decision is None:
        return found
    known = [each.decision for each in found.decisions]
    if decision not in known:
        raise InputError(
            f"--decision: unknown decision {decision!r}, expected one of {', '.join(known)}"
            f"{did_you_mean(decision, known)}"
        )
    return Catalogue(
        tuple(each for each in found.decisions if each.decision == decision),
        found.priorities if decision == "order.site" else (),
        (),
        (),
    )


def _papers() -> tuple[PaperEntry, ...]:
    package = installed_reproductions()
    return () if package is None else tuple(PaperEntry(each.name, each.title) for each in package.papers())


def _with_text(found: Catalogue, text: str) -> Catalogue:
    decisions = []
    for each in found.decisions:
        policies = _matching(each.policies, text, _of_policy)
        if text in f"{each.decision} {each.question}".casefold():
            decisions.append(each)
        elif policies:
            decisions.append(replace(each, policies=policies))
    return Catalogue(
        tuple(decisions),
        _matching(found.priorities, text, _of_policy),
        _matching(found.worlds, text, lambda each: f"{each.name} {each.summary}"),
        _matching(found.formats, text, lambda each: f"{each.name} {each.summary} {' '.join(each.suffixes)}"),
    )


def _matching(entries: Iterable[_Entry], text: str, of: Callable[[_Entry], str]) -> tuple[_Entry, ...]:
    return tuple(each for each in entries if text in of(each).casefold())


def _of_policy(each: PolicyEntry) -> str:
    return f"{each.name} {each.summary} {' '.join(parameter.name for parameter in each.parameters)}"


def _of_paper(each: PaperEntry) -> str:
    return f"{each.name} {each.title}"


def _tables(found: Catalogue, papers: tuple[PaperEntry, ...]) -> Iterator[Table]:
    # Batch scheduling first: it is the default world of a scenario.
    for decision in sorted(found.decisions, key=lambda each: each.decision != "order.site"):
        yield _policies(_title(decision), "policy", decision.policies)
        if decision.decision == "order.site" and found.priorities:
            yield _policies("Priorities of the policy queue", "priority", found.priorities)
    if found.priorities and all(each.decision != "order.site" for each in found.decisions):
        yield _policies("Priorities of the policy queue of order.site", "priority", found.priorities)
    if found.worlds:
        table = _table("Worlds: what a scenario can simulate", "world", "description", "decisions")
        for world in found.worlds:
            table.add_row(world.name, world.summary, ", ".join(world.decisions))
        yield table
    if found.formats:
        table = _table("Log formats", "format", "description", "suffixes")
        for known in found.formats:
            table.add_row(known.name, known.summary, ", ".join(known.suffixes))
        yield table
    if papers:
        table = _table("Papers: windlass reproduce PAPER", "paper", "title")
        for paper in papers:
            table.add_row(paper.name, paper.title)
        yield table


def _title(decision: DecisionEntry) -> str:
    return (
        f"{decision.decision}: {decision.question}\nScenarios: {decision.field}. Called when {decision.upon}."
    )


def _policies(title: str, name: str, entries: tuple[PolicyEntry, ...]) -> Table:
    table = _table(title, name, "description", "parameters")
    for each in entries:
        parameters = ", ".join(f"{parameter.name}={parameter.default}" for parameter in each.parameters)
        table.add_row(each.name, each.summary, parameters)
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(
        *columns, title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    table.columns[0].no_wrap = True
    return table
