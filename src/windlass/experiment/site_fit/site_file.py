"""The fitted site as a scenario, which ``windlass run`` replays and changes."""

from __future__ import annotations

from pathlib import Path

import yaml

from windlass.experiment.site_fit.calibrate import CalibratedSite
from windlass.report.units import duration


def scenario_text(found: CalibratedSite, log: Path) -> str:
    """Return a scenario of the world ``batch`` that replays the log on the fitted site.

    The latency of dispatches is not part of a scenario.

    Parameters
    ----------
    found
        The fitted site.
    log
        The log, as the scenario names it.
    """
    policy = found.model.policy()
    tree = {
        "workload": {"trace": str(log)},
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
