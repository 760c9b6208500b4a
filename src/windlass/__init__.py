"""Windlass schedules work on clusters; the same policy runs in a simulated cluster and on real engines.

The main entry points of the library::

    import windlass

    log = windlass.load_log("jobs.swf.gz")
    results = windlass.run(log, ["fcfs", "sjf", "easy"])
    results.sentences, results.table()

Each decision of a cluster has a package: :mod:`windlass.order` (which job goes first?), :mod:`windlass.place` (at which
site does each task run?), :mod:`windlass.dispatch` (which worker gets this task?), :mod:`windlass.scale`,
:mod:`windlass.share`, :mod:`windlass.admit` and :mod:`windlass.plan`. ``docs/architecture.md`` describes the others.
"""

# Nothing is imported here, not even from the standard library: an interrupt during any import must reach the handler
# of `windlass.cli`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from windlass.experiment.experiment import Experiment
    from windlass.experiment.judged import JudgedResults
    from windlass.experiment.library import JobLog, load_log, policies, run, simulate
    from windlass.model.errors import InputError

    __version__: str

__all__ = [
    "Experiment",
    "InputError",
    "JobLog",
    "JudgedResults",
    "__version__",
    "load_log",
    "policies",
    "run",
    "simulate",
]

_HOMES = {
    "Experiment": "windlass.experiment.experiment",
    "InputError": "windlass.model.errors",
    "JobLog": "windlass.experiment.library",
    "JudgedResults": "windlass.experiment.judged",
    "load_log": "windlass.experiment.library",
    "policies": "windlass.experiment.library",
    "run": "windlass.experiment.library",
    "simulate": "windlass.experiment.library",
}


def __getattr__(name: str) -> "Any":
    # Loaded on first use: a command that prints its help must not import the simulator.
    import importlib

    if name == "gym":
        found: Any = importlib.import_module("windlass.experiment.gym")
    elif name == "__version__":
        found = importlib.import_module("windlass.model.version").version()
    elif name in _HOMES:
        found = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
