"""The commands that drive one engine: it runs as under ``windlass serve``, without a journal and pages of its own."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from windlass.control.engine import ControlledEngine
    from windlass.control.serve import Reload


def run_engine(
    engine: ControlledEngine,
    message: str,
    log: Callable[[str], None],
    *,
    report: Callable[[str], None] = lambda message: print(f"windlass: {message}", file=sys.stderr),
    left_held: Callable[[], bool] | None = None,
    reload: Reload | None = None,
) -> None:
    """Run an engine until it ends, fails, or a signal stops it.

    Parameters
    ----------
    engine
        The engine.
    message
        Reported after a stop by a signal.
    log
        Called with a line on a reload, and at the second signal.
    report
        Called with the message.
    left_held
        Returns whether jobs may still be held, which the engine has reported: then the exit status after SIGTERM is 1,
        and otherwise 0. None for an engine that holds no jobs: then it is 130, as after the other signals.
    reload
        Replaces the engine at SIGHUP, in a process without a terminal; None to stop.
    """
    from windlass.cli.signals import stop_on_signals
    from windlass.control.serve import HURRIED, serve_alone
    from windlass.model import BatchError

    on_hangup = None if reload is None else reload.requested.set
    with stop_on_signals(on_hangup, on_second=lambda: log(HURRIED)) as signals:
        try:
            serve_alone(engine, signals.stop, log, reload)
        except BatchError:
            if not signals.numbers or left_held is None or not left_held():
                raise
    if signals.numbers:
        # A closed terminal cannot be written to.
        with contextlib.suppress(OSError):
            report(message)
        if left_held is not None and signals.numbers[0] == signal.SIGTERM:
            sys.exit(int(left_held()))
        sys.exit(130)
