"""``windlass place``: the sites at which the tasks of one job run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from windlass.cli.output import print_lines, print_tables, write_json
from windlass.experiment.placement import JobAnswer, StageAnswer, place_job, read_job
from windlass.model import InputError

#: The most sources of transfers that a cell lists.
_SOURCES = 4


def place_command(job: Path, cluster: Path | None, *, explain: bool, as_json: bool) -> None:
    """Place a job and print the placement of each stage."""
    listed, fleet = read_job(job, cluster)
    try:
        answer = place_job(listed, fleet)
    except InputError as error:
        raise InputError(f"{job}: {error}") from error
    if as_json:
        write_json(asdict(answer))
        return
    print_lines([_summary(answer)])
    for stage in answer.stages:
        print_tables(_table(stage))
        print_lines([f"transfer {stage.transfer_s:,.4g} s, then compute {stage.compute_s:,.4g} s"])
        print_lines(f"  {line}" for line in (stage.why if explain else ()))


def _table(stage: StageAnswer) -> Table:
    table = Table(
        "site", "tasks", "receives", title=f"Stage {stage.stage}, {stage.kind}", title_justify="left"
    )
    for site, tasks in stage.tasks.items():
        received = [move for move in stage.moves if move[1] == site]
        text = ", ".join(f"{_bytes(amount)} from {source}" for source, _, amount in received[:_SOURCES])
        more = f" and {len(received) - _SOURCES} more" if len(received) > _SOURCES else ""
        table.add_row(site, f"{tasks:,}", text + more)
    return table


def _summary(answer: JobAnswer) -> str:
    cost = f", {answer.egress_usd:,.2f} USD of egress" if answer.egress_usd else ""
    return f"{answer.job}: {answer.total_s:,.4g} s, {_bytes(answer.moved_bytes)} between sites{cost}"


def _bytes(amount: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if amount >= size:
            return f"{amount / size:,.3g} {unit}"
    return f"{amount:,.3g} B"
