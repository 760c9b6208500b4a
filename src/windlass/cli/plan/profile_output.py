"""What ``windlass plan profile`` prints: sentences, a table of plans, and values for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from windlass.model.queries import QueryPlan
from windlass.plan.profile.comparison import SinglePlanRuns, cores, front

if TYPE_CHECKING:
    from windlass.cli.plan.profile import ProfileOptions
    from windlass.plan.profile.agreement import GoldenAgreement
    from windlass.plan.profile.clipinfo import ClipInfo
    from windlass.plan.profile.running import PlanProfile


#: A plan with at least this part of the best accuracy is nearly as accurate.
_NEARLY = 0.9


def best_plans(plans: Sequence[QueryPlan]) -> str:
    """Return the cost of the most accurate plan, and of the cheapest one that is nearly as accurate.

    >>> from windlass.model.queries import Component
    >>> some = ((0.5, 0.25), (0.75, 1.0), (0.8, 4.0))
    >>> best_plans([QueryPlan(accuracy, (Component("a", cores, 0.0),)) for accuracy, cores in some])
    'The most accurate plan has 0.800 (F1 of tracks) for 4.000 cores; 94 % of that, 0.750, needs 1.000 cores (25 %).'
    """
    cheapest = [plans[place] for place in front(plans)]
    best = cheapest[-1]
    if best.accuracy == 0:
        return "No plan follows any track: the accuracy (F1 of tracks) of each is 0."
    near = next(plan for plan in cheapest if plan.accuracy >= _NEARLY * best.accuracy)
    line = f"The most accurate plan has {best.accuracy:.3f} (F1 of tracks) for {cores(best):.3f} cores"
    if near is best:
        return f"{line}; every plan with fewer cores has less than {100 * _NEARLY:.0f} % of that."
    return (
        f"{line}; {100 * near.accuracy / best.accuracy:.0f} % of that, {near.accuracy:.3f}, needs {cores(near):.3f} "
        f"cores ({100 * cores(near) / cores(best):.0f} %)."
    )


def summary(
    found: PlanProfile,
    options: ProfileOptions,
    clip: ClipInfo,
    alone: SinglePlanRuns | None,
    agreed: GoldenAgreement | None,
) -> list[str]:
    """Return accuracy, CPU time and cache of the profile, and what the golden plan is worth, one sentence each."""
    scores = [each.plan.accuracy for each in found.plans]
    lines = [
        f"{len(scores)} plans on {clip.frames} frames of {clip.width} x {clip.height}, {clip.seconds:g} s: accuracy "
        f"(F1 of tracks) {min(scores):.3f} to {max(scores):.3f}",
        f"{found.seconds:,.1f} CPU s for all plans together; separate plans would take {found.apart:,.1f} "
        f"({found.apart / max(found.seconds, 1e-9):.1f}x)",
        f"steps processed {found.outputs:,} frames, and separate plans would process {found.outputs_apart:,}; "
        f"the cache held at most {found.most_held / 1e6:,.1f} of {options.cache / 1e6:,.1f} MB",
    ]
    if alone is not None:
        same = "all results are equal" if not alone.differ else f"{alone.differ} results DIFFER"
        lines.append(
            f"separate plans: {alone.seconds:,.1f} CPU s ({alone.seconds / max(found.seconds, 1e-9):.1f}x), {same}"
        )
    if agreed is not None:
        lines.append(_agreement_line(agreed))
    return lines


def _agreement_line(agreed: GoldenAgreement) -> str:
    """Return what a golden plan's labels are worth, as a sentence."""
    start = f"the golden plan ({agreed.label}) has an accuracy of {agreed.accuracy:.3f}"
    lost = f"lose {agreed.mean_loss:.3f} in the mean and {agreed.largest_loss:.3f} at most"
    if agreed.correlation is None:
        return (
            f"{start}; by the true tracks or by its labels all plans are equally accurate, and plans chosen by its "
            f"labels {lost}"
        )
    return (
        f"{start}; its labels order the plans with a Kendall's tau of {agreed.correlation:.2f}, and plans chosen with "
        f"them {lost}"
    )


def table_of(plans: Sequence[QueryPlan]) -> Table:
    """Return the plans of which none has more accuracy for fewer cores."""
    table = Table(
        "plan",
        "accuracy",
        "cores",
        "sends, Mb/s",
        title="Most accurate plans by cores",
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
    name: str,
    clip: ClipInfo,
    options: ProfileOptions,
    found: PlanProfile,
    alone: SinglePlanRuns | None,
    agreed: GoldenAgreement | None,
) -> dict[str, Any]:
    """Return the profile as plain values for JSON."""
    tree: dict[str, Any] = {
        "pipeline": name,
        "clip": {"width": clip.width, "height": clip.height, "frames": clip.frames, "seconds": clip.seconds},
        "cpu_s": found.seconds,
        "cpu_plan_by_plan_s": found.apart,
        "step_runs": found.outputs,
        "step_runs_plan_by_plan": found.outputs_apart,
        "cache_bytes": options.cache,
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
    if alone is not None:
        tree |= {"alone_cpu_s": alone.seconds, "alone_differ": alone.differ}
    if agreed is not None:
        tree["golden"] = {
            "plan": agreed.label,
            "accuracy": agreed.accuracy,
            "kendall_tau": agreed.correlation,
            "mean_loss": agreed.mean_loss,
            "largest_loss": agreed.largest_loss,
        }
    return tree
