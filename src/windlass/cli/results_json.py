"""Results of a run as one JSON document: scenario, notes, verdict, and the metrics of each variant."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import yaml

from windlass.experiment.answer import Answer
from windlass.report.sentence import point_sentence
from windlass.results import Results, VariantResult
from windlass.results.capacity import CapacityAnswer
from windlass.results.verdict import PointVerdict, Verdict
from windlass.results.verdict.evidence import PairedEvidence
from windlass.results.verdict.paired import ConfidenceInterval
from windlass.results.winners import WinnerMatrix


def results_tree(results: Results, verdict: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the document: per variant its policies and metrics, as means over the seeds and for each seed."""
    return {
        "scenario": yaml.safe_load(results.as_run),
        "notes": results.notes(),
        "verdict": verdict,
        "variants": [_variant(variant) for variant in results.variants],
    }


def verdict_tree(answer: Answer) -> dict[str, Any] | None:
    """Return the verdict as plain values: its sentences, and for each point the winner, intervals and costs."""
    if answer.verdict is None:
        return None
    verdict = answer.verdict
    return {
        "sentence": answer.sentences[0] if answer.sentences else None,
        "more": list(answer.sentences[1:]),
        "by": verdict.metric,
        "better": "higher" if verdict.better > 0 else "lower",
        "points": [_point(verdict, point) for point in verdict.points],
        "headlines": [
            {"metric": each.metric, "points": [_point(each, point) for point in each.points]}
            for each in answer.headlines
        ],
        "matrices": [_matrix(each) for each in answer.matrices],
        "sizes": [_capacity(each) for each in answer.sizes],
        "cut_share": answer.cut,
        "without_cutting": (
            None if answer.uncut is None else [_point(answer.uncut, point) for point in answer.uncut.points]
        ),
    }


def _variant(variant: VariantResult) -> dict[str, Any]:
    summaries = variant.summaries()
    return {
        "name": variant.name,
        "policies": {choice.decision: choice.policy for choice in variant.choices},
        "metrics": {summary.metric: _whole(summary.mean) for summary in summaries},
        "ci95_half_width": {summary.metric: _whole(summary.half_width) for summary in summaries},
        "seeds": [
            {"seed": outcome.seed}
            | {name: _whole(value) for name, value in dataclasses.asdict(outcome.metrics).items()}
            for outcome in variant.outcomes
        ],
    }


def _whole(value: float) -> float | int:
    """Return whole numbers as integers, which are shorter."""
    return int(value) if math.isfinite(value) and float(value).is_integer() else value


def _point(verdict: Verdict, point: PointVerdict) -> dict[str, Any]:
    found = point.comparison
    return {
        "point": point.point,
        "sentence": point_sentence(verdict, point),
        "winner": None if point.winner is None else point.names[point.winner],
        "best": None if found.best is None else point.names[found.best],
        "not_told_from_best": [point.names[row] for row in point.tied],
        "paired_over": found.over,
        "worse_than_best_by": [
            {"variant": name, "mean": mean, "interval": interval_tree(found.against[row])}
            | signs_tree(found.evidence_on(row))
            for row, (name, mean) in enumerate(zip(point.names, found.means, strict=True))
        ],
        "costs": [
            {
                "metric": cost.comparison.metric,
                "best": None if cost.comparison.best is None else point.names[cost.comparison.best],
                "means": list(cost.comparison.means),
                "beyond_chance": cost.tested,
            }
            for cost in point.costs
        ],
        "ruled_out": [
            {
                "variant": point.names[each.row],
                "requirement": each.requirement.text,
                "value": each.value,
                "bound": each.bound,
            }
            for each in point.broken
        ],
    }


def signs_tree(found: PairedEvidence | None) -> dict[str, Any]:
    """Return in how many seeds or blocks a variant is worse than the best, and why there is no interval."""
    if found is None:
        return {"worse_in": None, "pairs_counted": None, "sign_flip_p": None, "no_interval": None}
    return {
        "worse_in": found.signs.above,
        "pairs_counted": found.signs.pairs,
        "sign_flip_p": None if math.isnan(found.signs.p_value) else found.signs.p_value,
        "no_interval": None if found.refusal is None else dataclasses.asdict(found.refusal),
    }


def _matrix(matrix: WinnerMatrix) -> dict[str, Any]:
    return {
        "metric": matrix.metric,
        "point": matrix.point,
        "rows": {"field": matrix.axes[0], "values": list(matrix.rows)},
        "columns": {"field": matrix.axes[1], "values": list(matrix.columns)} if matrix.axes[1] else None,
        "cells": [
            [None if cell is None else dataclasses.asdict(cell) for cell in row] for row in matrix.cells
        ],
    }


def _capacity(answer: CapacityAnswer) -> dict[str, Any]:
    least = answer.smallest
    return {
        "field": answer.axis,
        "policy": answer.policy,
        "point": answer.point,
        "metric": answer.metric,
        "today": "recorded" if answer.recorded else "largest",
        "tolerance": answer.tolerance,
        "smallest": None if least is None else least.size,
        "sizes": [
            {
                "size": each.size,
                "mean": each.mean,
                "today": each.today,
                "worse_by": interval_tree(each.difference),
                "keeps": each.keeps,
                "refused_jobs": each.refused,
                "refused_work": each.refused_work,
            }
            for each in answer.sizes
        ],
    }


def interval_tree(found: ConfidenceInterval | None) -> dict[str, Any] | None:
    """Return a confidence interval as plain values."""
    if found is None:
        return None
    return {
        "mean": found.mean,
        "low": found.low,
        "high": found.high,
        "pairs": found.count,
        "neighbours_alike": found.correlated,
    }
