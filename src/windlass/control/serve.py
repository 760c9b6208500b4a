"""``windlass serve``: engines in threads, and the pages in a process of their own, until a stop is requested."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from windlass.agent.options import Address
from windlass.agent.stop import Stop
from windlass.control.action_service import ActionService
from windlass.control.actions.channel import ActionChannel
from windlass.control.actions.tokens import read_actors
from windlass.control.engine import ControlledEngine
from windlass.control.journal import JournalReader, JournalWriter, Retention
from windlass.control.pages_process import PagesProcess
from windlass.control.supervisor import Supervisor
from windlass.model import InputError
from windlass.policy.user_code import describe_failure, imported_again

#: Reported at a second signal.
HURRIED = "stopping without patience: what does not answer is left as it is; a third signal ends the process at once"
#: Interval at which the process of the pages and the engines are polled, s.
_POLL = 0.25


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Options of the control plane.

    Parameters
    ----------
    journal
        The journal's file.
    listen
        Address of the pages; None for no pages.
    token_file
        File with the token that requests must have; None for none.
    hosts
        Further names under which the pages are requested.
    until_done
        End when all engines have ended.
    retention
        The rows that the journal keeps.
    acts
        True to accept actions of people: on the socket next to the journal, and on the pages.
    act_tokens
        File with the tokens that may act on the pages; None for actions by command only.
    """

    journal: Path
    listen: Address | None = None
    token_file: Path | None = None
    hosts: tuple[str, ...] = ()
    until_done: bool = False
    retention: Retention = field(default_factory=Retention)
    acts: bool = False
    act_tokens: Path | None = None


@dataclass(frozen=True, slots=True)
class Reload:
    """How the engines are replaced while the control plane runs.

    Parameters
    ----------
    read
        Returns the engines that the configuration names now.
    requested
        Set when they are to be read again.
    subject
        The subject of the line on a configuration that cannot be used.
    done
        Returns the line on engines that were replaced.
    """

    read: Callable[[], Sequence[ControlledEngine]]
    requested: threading.Event = field(default_factory=threading.Event)
    subject: str = "the engines go"
    done: Callable[[], str] = lambda: "reloaded"


@contextmanager
def journal_file(path: Path | None) -> Iterator[Path]:
    """Yield the journal's file; without a path, one in a temporary folder, which is removed at the end.

    Parameters
    ----------
    path
        The file, or None.

    Examples
    --------
    >>> with journal_file(None) as file:
    ...     file.name, file.parent.is_dir()
    ('journal.db', True)
    """
    if path is not None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="windlass-") as folder:
        yield Path(folder) / "journal.db"


def serve(
    engines: Sequence[ControlledEngine],
    options: ServeOptions,
    stop: Stop,
    report: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
    reload: Reload | None = None,
) -> None:
    """Run engines and show them, until a stop is requested.

    Parameters
    ----------
    engines
        The engines.
    options
        The options.
    stop
        Ends everything; all engines have ended when this returns.
    report
        Called with a line on what was started, ended or failed.
    clock
        Time that only grows, s.
    reload
        Replaces the engines when requested; None for engines that stay.

    Raises
    ------
    InputError
        The journal cannot be written, or the address cannot be listened on.

    The failure of an engine is raised, too, if it failed when it was stopped; with ``until_done``, any failure is.
    """
    if options.act_tokens is not None:
        read_actors(options.act_tokens)
    with JournalWriter(options.journal, retention=options.retention) as journal, ExitStack() as stack:
        # The tables exist before a reader opens them.
        journal.flush()
        supervisor = Supervisor(engines, journal, stop, report, _paused(engines, options.journal))
        actions = stack.enter_context(ExitStack())
        if options.acts:
            service = ActionService(supervisor, journal, options.act_tokens)
            actions.enter_context(service.left())
            actions.enter_context(ActionChannel(options.journal, service.answer))
        pages = None if options.listen is None else _pages(options, options.listen, clock, report)
        if pages is not None:
            stack.callback(pages.close)

        def poll() -> bool:
            if pages is not None:
                pages.poll()
            return not journal.failed

        # An action that is under way ends first; none begins after it.
        _supervise(supervisor, stop, report, reload, poll, actions.close, options.until_done)


def serve_alone(
    engine: ControlledEngine, stop: Stop, report: Callable[[str], None], reload: Reload | None = None
) -> None:
    """Run one engine without a journal and without pages, until it ends or a stop is requested.

    Parameters
    ----------
    engine
        The engine. It reports its own lines.
    stop
        Ends the engine, which has ended when this returns.
    report
        Called with a line on each reload.
    reload
        Replaces the engine when requested; None for one that stays.

    Raises
    ------
    InputError
        The engine cannot run.

    Any failure of the engine is raised.

    Examples
    --------
    >>> class Idle:
    ...     name, about, scope, now = "idle", "an engine without work", "idle", 0.0
    ...     def run(self, journal, stop):
    ...         print("ran")
    >>> serve_alone(Idle(), Stop(), print)
    ran
    """
    supervisor = Supervisor([engine], None, stop, lambda line: None)
    _supervise(supervisor, stop, report, reload, lambda: True, lambda: None, until_done=True)


def _supervise(
    supervisor: Supervisor,
    stop: Stop,
    report: Callable[[str], None],
    reload: Reload | None,
    poll: Callable[[], bool],
    before_join: Callable[[], None],
    until_done: bool,
) -> None:
    """Run engines until a stop, until ``poll`` returns False, or until all have ended; then raise their failures."""
    try:
        supervisor.start()
        while not stop.wait(_POLL) and poll():
            if reload is not None and reload.requested.is_set():
                _reload(supervisor, reload, report)
            if until_done and not supervisor.running:
                break
    finally:
        stop.notify()
        before_join()
        supervisor.join()
    for error in (supervisor.failures if until_done else supervisor.late).values():
        raise error


def _reload(supervisor: Supervisor, reload: Reload, report: Callable[[str], None]) -> None:
    """Replace the engines; with a configuration that cannot be used, they go on as they are."""
    reload.requested.clear()
    try:
        with imported_again():
            engines = reload.read()
            supervisor.prepare(engines)
    except (InputError, SystemExit) as error:
        # A policy may exit while it is made.
        report(f"not reloaded, {reload.subject} on: {describe_failure(error) or error}")
        return
    supervisor.replace(engines)
    report(reload.done())


def _paused(engines: Sequence[ControlledEngine], journal: Path) -> set[str]:
    """Return the engines that an action has paused, also before a restart."""
    with JournalReader(journal) as reader:
        return {engine.name for engine in engines if reader.actions.paused(engine.name)}


def _pages(
    options: ServeOptions, listen: Address, clock: Callable[[], float], report: Callable[[str], None]
) -> PagesProcess:
    # The extra with uvicorn is needed for pages only.
    from windlass.agent.web import listening
    from windlass.control.web.access import check_access

    check_access(listen, options.token_file)
    bound = listening("pages", listen)
    address = Address(listen.host, bound.getsockname()[1])
    words = ["--host", address.host]
    for each in options.hosts:
        words += ["--host", each]
    if options.token_file is not None:
        words += ["--token-file", str(options.token_file)]
    if options.act_tokens is not None:
        words.append("--act")
    report(f"pages: {address.url}")
    return PagesProcess(bound, options.journal, words, clock, report)
