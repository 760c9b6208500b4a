"""The ``windlass`` command: ``run``, ``explain``, ``check``, ``validate``, ``list``, ``trace``, ``place``,
``cluster``, ``forecast``, ``reproduce``, ``slurm``, ``agent``, ``admit``, ``plan``, ``k8s``, ``ray``.

Exit status: 0 done, 1 a task of a live run failed, a batch system stayed away, or a policy failed a check, 2 wrong use
or input (one line on standard error says what; a policy that fails is named with its file and line), 3 a mistake of
ours, 130 interrupted.
An error is one line. ``WINDLASS_TRACEBACK=1`` shows how it came about.

- :mod:`~windlass.cli.app`: the commands and their options; each hands over to one of the modules below.
- :mod:`~windlass.cli.run`: ``run``; :mod:`~windlass.cli.overrides`: what its options say over a scenario;
  :mod:`~windlass.cli.fields`: ``--set``; :mod:`~windlass.cli.answer`: the sentences that it begins with.
- :mod:`~windlass.cli.asking`: what says what a run did or would do, and its options; :mod:`~windlass.cli.explain`,
  :mod:`~windlass.cli.check`, :mod:`~windlass.cli.validate`: the commands of these names.
- :mod:`~windlass.cli.inspect`: ``list`` and ``trace``.
- :mod:`~windlass.cli.place`, :mod:`~windlass.cli.cluster`, :mod:`~windlass.cli.reproduce`: the commands of these names.
- :mod:`~windlass.cli.forecast`: ``forecast``.
- :mod:`~windlass.cli.nested`: ``cluster from-wan``, ``admit evaluate`` and ``reproduce``, and their options.
- :mod:`~windlass.cli.slurm`: ``slurm up``, ``down``, ``drive``, ``give-back`` and ``log``.
- :mod:`~windlass.cli.scaling`: ``k8s autoscale`` and ``remove``, ``ray autoscale``.
- :mod:`~windlass.cli.agent`: ``agent record``, ``run`` and ``aggregate``.
- :mod:`~windlass.cli.admit`: ``admit evaluate``.
- :mod:`~windlass.cli.plan`: ``plan solve``, ``profile`` and ``clip``.
- :mod:`~windlass.cli.options`: options that several commands have.
- :mod:`~windlass.cli.json_text`, :mod:`~windlass.cli.progress`, :mod:`~windlass.cli.signals`: results as JSON, a
  progress bar, and what ends a command that has started something; :mod:`~windlass.cli.apart`: what libraries write to
  standard error by themselves goes to a file.
- :mod:`~windlass.cli.terminal`: consoles on which nothing from outside steers the terminal.
- :mod:`~windlass.cli.effects`: options that would be without effect.
- :mod:`~windlass.cli.boundary`: whatever ends a command with an error, as one line and a status.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from windlass.cli.boundary import status_of
from windlass.foreign import blamed

__all__ = ["main"]


def main() -> None:
    """Entry point of the command."""
    try:
        try:
            # Imported here, so that an interrupt while libraries load is handled too.
            from windlass.cli.app import app

            app(standalone_mode=True)
        finally:
            # What cannot be written is to be said here, and not by Python on its way out.
            if sys.stdout is not None:
                sys.stdout.flush()
    except KeyboardInterrupt:
        _interrupted()
    except SystemExit as stop:
        if blamed(stop) is not None:
            sys.exit(status_of(stop))
        # Typer makes a status of an interrupt, and says nothing; that of one who has said something has no cause.
        if stop.__context__ is not None and isinstance(stop.__context__.__cause__, KeyboardInterrupt):
            _interrupted()
        raise
    except BrokenPipeError as error:
        if blamed(error) is not None:
            sys.exit(status_of(error))
        # The reader of our output has gone; Python would complain again while it flushes on exit.
        _close_output()
        sys.exit(0)
    except BaseException as error:
        status = status_of(error)
        _close_output()
        sys.exit(status)


def _close_output() -> None:
    """Have what is still to be written to standard output go nowhere, where it cannot be written."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _interrupted() -> NoReturn:
    print("windlass: interrupted", file=sys.stderr)
    sys.exit(130)
