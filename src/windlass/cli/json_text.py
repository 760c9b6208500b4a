"""Results as one JSON object."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import yaml

from windlass.results import Results, VariantResult


def results_json(results: Results, verdict: dict[str, Any] | None = None) -> str:
    """Scenario, notes, verdict, and per variant its policies and metrics: means over the seeds, and each seed's own."""
    tree = {
        "scenario": yaml.safe_load(results.as_run),
        "notes": results.notes(),
        "verdict": verdict,
        "variants": [_variant(variant) for variant in results.variants],
    }
    return json.dumps(tree, allow_nan=False)


def _variant(variant: VariantResult) -> dict[str, Any]:
    summaries = variant.summaries()
    return {
        "name": variant.name,
        "policies": {choice.decision: choice.policy for choice in variant.choices},
        "metrics": {summary.metric: _number(summary.mean) for summary in summaries},
        "ci95_half_width": {summary.metric: _number(summary.half_width) for summary in summaries},
        "seeds": [
            {"seed": outcome.seed}
            | {name: _number(value) for name, value in dataclasses.asdict(outcome.metrics).items()}
            for outcome in variant.outcomes
        ],
    }


def _number(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else value
