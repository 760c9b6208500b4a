"""The ``windlass`` command: ``run``, ``list``, ``trace``, ``place``, ``cluster``, ``forecast``, ``reproduce``,
``slurm``, ``agent``, ``admit``, ``plan``, ``k8s``, ``ray``.

Exit status: 0 done, 1 a task of a live run failed or a batch system stayed away, 2 wrong use or input (one line on
standard error says what), 130 interrupted.

- :mod:`~windlass.cli.app`: the commands and their options; each hands over to one of the modules below.
- :mod:`~windlass.cli.run`: ``run``; :mod:`~windlass.cli.overrides`: what its options say over a scenario;
  :mod:`~windlass.cli.answer`: the sentences that it begins with.
- :mod:`~windlass.cli.inspect`: ``list`` and ``trace``.
- :mod:`~windlass.cli.place`, :mod:`~windlass.cli.cluster`, :mod:`~windlass.cli.reproduce`: the commands of these names.
- :mod:`~windlass.cli.forecast`: ``forecast``.
- :mod:`~windlass.cli.nested`: ``cluster from-wan`` and ``admit evaluate``, and their options.
- :mod:`~windlass.cli.slurm`: ``slurm up``, ``down``, ``drive``, ``give-back`` and ``log``.
- :mod:`~windlass.cli.scaling`: ``k8s autoscale`` and ``remove``, ``ray autoscale``.
- :mod:`~windlass.cli.agent`: ``agent record``, ``run`` and ``aggregate``.
- :mod:`~windlass.cli.admit`: ``admit evaluate``.
- :mod:`~windlass.cli.plan`: ``plan solve``, ``profile`` and ``clip``.
- :mod:`~windlass.cli.json_text`, :mod:`~windlass.cli.progress`, :mod:`~windlass.cli.signals`: results as JSON, a
  progress bar, and what ends a command that has started something.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from windlass.model import BatchError, InputError, PolicyError, TaskError

__all__ = ["main"]


def main() -> None:
    """Entry point of the command."""
    # Imported here, so that an interrupt while libraries load is handled too.
    from windlass.cli.app import app

    try:
        app(standalone_mode=True)
    except (BatchError, InputError, PolicyError, TaskError) as error:
        print(f"windlass: {error}", file=sys.stderr)
        sys.exit(1 if isinstance(error, BatchError | TaskError) else 2)
    except KeyboardInterrupt:
        _interrupted()
    except SystemExit as stop:
        # Typer makes a status of an interrupt, and says nothing; that of one who has said something has no cause.
        if stop.__context__ is not None and isinstance(stop.__context__.__cause__, KeyboardInterrupt):
            _interrupted()
        raise
    except BrokenPipeError:
        # The reader of our output has gone; Python would complain again while it flushes on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _interrupted() -> NoReturn:
    print("windlass: interrupted", file=sys.stderr)
    sys.exit(130)
