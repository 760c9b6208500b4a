"""``windlass plan profile``: how accurate each plan of a pipeline is on a clip, and what it costs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from windlass.cli.plan.bar import bar
from windlass.cli.plan.clip import needs_opencv
from windlass.cli.terminal import terminal
from windlass.io import check_file, write_text
from windlass.model import InputError
from windlass.model.queries import QueryPlan
from windlass.plan.profile import write_plans
from windlass.plan.profile.tracks import Tracks, read_truth
from windlass.report import BEGINS

if TYPE_CHECKING:
    from windlass.plan.profile.clipinfo import ClipInfo
    from windlass.plan.profile.pipeline import TrackerPlan
    from windlass.plan.profile.running import PlanProfile

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """What is to be profiled: files, the cache's bytes, whether each plan is run by itself too, and files to write."""

    pipeline: Path
    clip: Path
    truth: Path
    cache: float
    alone: bool
    out: Path
    report: Path | None


@dataclass(frozen=True, slots=True)
class SinglePlanRuns:
    """Every plan run by itself: CPU seconds of all, and how many gave another answer."""

    seconds: float
    differ: int


def bytes_of(given: str) -> float:
    """Bytes as a user gives them.

    Raises
    ------
    InputError
        It is no amount of bytes.

    Examples
    --------
    >>> bytes_of("900MB"), bytes_of("1.5 GiB")
    (900000000.0, 1610612736.0)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", given)
    if found is None or found[2].upper() not in _UNITS:
        raise InputError(f"--cache is {given!r}, expected bytes such as 900MB")
    return float(found[1]) * _UNITS[found[2].upper()]


def front(plans: Sequence[QueryPlan]) -> list[int]:
    """The plans to which no other is at least as accurate for fewer cores, by cores.

    >>> from windlass.model.queries import Component
    >>> some = ((0.5, 2), (0.5, 1), (0.4, 1.5))
    >>> front([QueryPlan(accuracy, (Component("a", cores, 0.0),)) for accuracy, cores in some])
    [1]
    """
    order = sorted(range(len(plans)), key=lambda place: (cores(plans[place]), -plans[place].accuracy))
    found: list[int] = []
    for place in order:
        if not found or plans[place].accuracy > plans[found[-1]].accuracy:
            found.append(place)
    return found


def cores(plan: QueryPlan) -> float:
    """CPU seconds a second of stream, of all components."""
    return sum(part.cores for part in plan.components)


def profile_command(asked: ProfileOptions, *, as_json: bool) -> None:
    """Read, run, write, print."""
    needs_opencv("profile")
    # Imported here, as OpenCV may not be there.
    from windlass.plan.profile.clip import about
    from windlass.plan.profile.pipeline import read_pipeline
    from windlass.plan.profile.running import profile

    pipeline, clip = read_pipeline(asked.pipeline), about(asked.clip)
    truth = read_truth(asked.truth, clip)
    inputs = (asked.pipeline, asked.clip, asked.truth)
    check_file("--out", asked.out, inputs, b"PAR1")
    if asked.report is not None:
        check_file("--report", asked.report, inputs, BEGINS)
    with bar("plans") as tell:
        found = profile(pipeline.plans, clip, truth, asked.cache, tell=tell)
    plans = [each.plan for each in found.plans]
    write_plans(plans, asked.out)
    alone = None
    if asked.alone:
        with bar("each plan alone") as tell:
            alone = run_alone(pipeline.plans, clip, truth, found, tell)
    lines = summary(found, asked, clip, alone)
    if asked.report is not None:
        from windlass.cli.plan.plots import page_of

        title = f"Plans of {pipeline.name} on {asked.clip.name}"
        write_text(page_of(title, lines, plans, front(plans)), asked.report)
    if as_json:
        sys.stdout.write(
            json.dumps(tree_of(pipeline.name, clip, asked, found, alone), allow_nan=False) + "\n"
        )
        return
    console = terminal()
    console.print(_table(plans))
    console.print("\n".join(lines))


def run_alone(
    plans: Sequence[TrackerPlan],
    clip: ClipInfo,
    truth: Tracks,
    together: PlanProfile,
    tell: Callable[[int, int], None],
) -> SinglePlanRuns:
    """Run each plan by itself, and hold its answer to the one that all gave together."""
    from windlass.plan.profile.running import profile

    seconds, differ = 0.0, 0
    for number, (plan, before) in enumerate(zip(plans, together.plans, strict=True)):
        own = profile([plan], clip, truth, 0.0)
        seconds += own.seconds
        differ += not own.plans[0].same_answers(before)
        tell(number + 1, len(plans))
    return SinglePlanRuns(seconds, differ)


def summary(
    found: PlanProfile, asked: ProfileOptions, clip: ClipInfo, alone: SinglePlanRuns | None
) -> list[str]:
    """What it took, a line a sentence."""
    scores = [each.plan.accuracy for each in found.plans]
    lines = [
        f"{len(scores)} plans on {clip.frames} frames of {clip.width} x {clip.height}, {clip.seconds:g} s: accuracy "
        f"(F1 of tracks) {min(scores):.3f} to {max(scores):.3f}",
        f"{found.seconds:,.1f} CPU s together; the plans' components take {found.apart:,.1f} plan by plan "
        f"({found.apart / max(found.seconds, 1e-9):.1f}x)",
        f"a step was given a frame {found.outputs:,} times, and would be {found.outputs_apart:,} times plan by plan; "
        f"the cache held {found.most_held / 1e6:,.1f} MB at most, of {asked.cache / 1e6:,.1f}",
    ]
    if alone is not None:
        said = "all with the same answers" if not alone.differ else f"{alone.differ} with OTHER answers"
        lines.append(
            f"each plan run alone: {alone.seconds:,.1f} CPU s ({alone.seconds / max(found.seconds, 1e-9):.1f}x), {said}"
        )
    return [*lines, f"written: {asked.out}"]


def _table(plans: Sequence[QueryPlan]) -> Table:
    table = Table(
        "plan",
        "accuracy",
        "cores",
        "sends, Mb/s",
        title="Most accurate for their cores",
        title_justify="left",
    )
    for place in front(plans):
        plan = plans[place]
        sent = " + ".join(f"{part.output * 8e-6:.3g}" for part in plan.components)
        table.add_row(
            ", ".join(part.name for part in plan.components),
            f"{plan.accuracy:.3f}",
            f"{cores(plan):.3f}",
            sent,
        )
    return table


def tree_of(
    name: str, clip: ClipInfo, asked: ProfileOptions, found: PlanProfile, alone: SinglePlanRuns | None
) -> dict[str, Any]:
    """As JSON has it."""
    tree: dict[str, Any] = {
        "pipeline": name,
        "clip": {"width": clip.width, "height": clip.height, "frames": clip.frames, "seconds": clip.seconds},
        "cpu_s": found.seconds,
        "cpu_plan_by_plan_s": found.apart,
        "step_runs": found.outputs,
        "step_runs_plan_by_plan": found.outputs_apart,
        "cache_bytes": asked.cache,
        "cache_most_held_bytes": found.most_held,
        "plans": [
            {
                "accuracy": each.plan.accuracy,
                "components": [
                    {"component": part.name, "cores": part.cores, "output": part.output}
                    for part in each.plan.components
                ],
            }
            for each in found.plans
        ],
    }
    return tree if alone is None else tree | {"alone_cpu_s": alone.seconds, "alone_differ": alone.differ}
