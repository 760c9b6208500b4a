"""The fitted site as a scenario, which ``windlass run`` replays and changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from windlass.experiment.site_fit.calibrate import CalibratedSite
from windlass.report.units import duration


def scenario_text(
    found: CalibratedSite,
    log: Path,
    *,
    log_format: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: str | None = None,
) -> str:
    """Return a scenario of the world ``batch`` that replays the log on the fitted site.

    The latency of dispatches is not part of a scenario.

    Parameters
    ----------
    found
        The fitted site.
    log
        The log, as the scenario names it.
    log_format, columns, where
        How the log was read, and which of its jobs the site was fitted to.
    """
    policy = found.model.policy()
    reading = {"trace": str(log), "format": log_format, "columns": dict(columns or {}), "where": where}
    tree = {
        "workload": {name: value for name, value in reading.items() if value},
        "cluster": {"processors": found.model.processors},
        "policies": {"order": [{policy.name: dict(policy.parameters)} if policy.parameters else policy.name]},
        "kill_at_walltime": False,
    }
    notes = (
        "The site of a log, fitted by windlass calibrate on the first part of the log.",
        f"Mean wait of the rest: replayed {duration(found.judged.replayed_mean)},"
        f" recorded {duration(found.judged.recorded_mean)}.",
        f"Not in a scenario: each start takes {duration(found.model.latency)}.",
    )
    head = "".join(f"# {note}\n" for note in notes)
    return head + yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)
