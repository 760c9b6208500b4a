"""``windlass act``: pause engines, hold and release jobs, undo that, and list what was done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from windlass.cli.output import print_lines

if TYPE_CHECKING:
    from windlass.control.actions.messages import ActionRequest

act_app = typer.Typer(
    help="Pause engines of windlass serve --act, hold and release jobs, and undo that.", no_args_is_help=True
)
_Journal = Annotated[Path, typer.Argument(help="Journal that windlass serve --act writes.")]
_Engine = Annotated[str, typer.Argument(help="Name of the engine.")]
_Job = Annotated[str, typer.Argument(help="Identifier of the job.")]
_Reason = Annotated[str, typer.Option("--reason", help="Reason, for the journal.")]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would happen, and change nothing.")]


@act_app.command()
def pause(journal: _Journal, engine: _Engine, reason: _Reason, dry_run: _DryRun = False) -> None:
    """Stop an engine: it gives back what it holds and decides nothing, also after a restart."""
    _act(journal, "pause", engine, "", reason, dry_run)


@act_app.command()
def resume(journal: _Journal, engine: _Engine, reason: _Reason, dry_run: _DryRun = False) -> None:
    """Start an engine that is paused or has failed."""
    _act(journal, "resume", engine, "", reason, dry_run)


@act_app.command()
def hold(journal: _Journal, engine: _Engine, job: _Job, reason: _Reason, dry_run: _DryRun = False) -> None:
    """Hold a waiting job, so that no policy starts it."""
    _act(journal, "hold", engine, job, reason, dry_run)


@act_app.command()
def unhold(journal: _Journal, engine: _Engine, job: _Job, reason: _Reason, dry_run: _DryRun = False) -> None:
    """End such a hold: the policy decides about the job again."""
    _act(journal, "unhold", engine, job, reason, dry_run)


@act_app.command()
def release(journal: _Journal, engine: _Engine, job: _Job, reason: _Reason, dry_run: _DryRun = False) -> None:
    """Release a held job, whatever the policy decides."""
    _act(journal, "release", engine, job, reason, dry_run)


@act_app.command()
def undo(
    journal: _Journal,
    number: Annotated[int, typer.Argument(help="Number of the action; windlass act list prints it.")],
    reason: _Reason,
    dry_run: _DryRun = False,
) -> None:
    """Undo an action."""
    from windlass.control.actions.messages import ActionRequest, RequestKind

    _carry_out(journal, ActionRequest(RequestKind.PREVIEW, undoes=number, reason=reason), dry_run)


@act_app.command("list")
def list_(
    journal: Annotated[Path, typer.Argument(help="Journal that windlass serve writes or has written.")],
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="Maximum number of actions.")] = 50,
) -> None:
    """Print the latest actions, with the name of the token or of the user and the reason."""
    from windlass.control.journal import JournalReader
    from windlass.control.words import action_line

    with JournalReader(journal) as reader:
        rows = reader.actions.latest(limit=limit)
    print_lines([action_line(each) for each in rows] or ["No action is in the journal."])


def _act(journal: Path, action: str, engine: str, job: str, reason: str, dry_run: bool) -> None:
    from windlass.control.actions.messages import ActionRequest, RequestKind

    request = ActionRequest(RequestKind.PREVIEW, action, engine, job, reason)
    _carry_out(journal, request, dry_run)


def _carry_out(journal: Path, request: ActionRequest, dry_run: bool) -> None:
    from windlass.control.actions.channel import dry_run_then

    print_lines(dry_run_then(journal, request, carries_out=not dry_run))
