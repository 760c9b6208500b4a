"""Judging a candidate: its policy runs through telemetry step by step, as it would live."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from windlass.admit.context import AdmitContext
from windlass.admit.evaluation.candidates import CandidateRole, PolicyCandidate
from windlass.admit.evaluation.certainty import (
    Integers,
    Intervals,
    SignalDifference,
    difference,
    episodes,
    intervals,
)
from windlass.admit.evaluation.node import NodeTelemetry
from windlass.admit.lib.subspace import Floats
from windlass.admit.measure import Bools, Quality, leads, quality
from windlass.admit.view import AdmitView
from windlass.model import InputError
from windlass.model.values import whole
from windlass.policy.registry import Registry


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The result of a candidate on all nodes, with confidence intervals.

    Parameters
    ----------
    candidate
        The policy and its downtime.
    quality, intervals
        Over all nodes, concatenated.
    each
        Quality on each node.
    leads
        (k,) steps from the candidate's first raise to each onset of all nodes; NaN for an onset not predicted.
    clusters
        Clusters of onsets: episodes, and blocks of time.
    """

    candidate: PolicyCandidate
    quality: Quality
    intervals: Intervals
    each: tuple[Quality, ...]
    leads: Floats
    clusters: tuple[Integers, Integers]

    @property
    def hits(self) -> Bools:
        """(k,) whether the candidate predicted each onset."""
        return ~np.isnan(self.leads)


def signal(
    registry: Registry,
    candidate: PolicyCandidate,
    node: NodeTelemetry,
    within: int,
    rng: np.random.Generator,
    apart: int = 5,
) -> Bools:
    """Return (t,) the answers of a candidate over a node's telemetry, True where it rejects.

    Parameters
    ----------
    registry
        Registry of admission policies.
    candidate, node
        The policy, and the telemetry.
    within, apart
        Steps within which an onset must be predicted, and steps without a spike required before it.
    rng
        For policies that draw random numbers.
    """
    context = AdmitContext(rng, node.metrics.shape[1], node.policy_level, within, apart)
    policy = registry.make(candidate.policy, context, **candidate.parameters)
    busy = np.full(len(node.ready), np.nan) if node.busy is None else np.clip(node.busy, 0.0, 1.0)
    ready = np.maximum(node.ready, 0.0)
    return np.array(
        [
            policy.decide(AdmitView(float(step), row, float(busy[step]), float(ready[step]))).reject
            for step, row in enumerate(node.metrics)
        ],
        np.bool_,
    )


def judge(
    registry: Registry,
    candidate: PolicyCandidate,
    nodes: Sequence[NodeTelemetry],
    rng: np.random.Generator,
    *,
    within: int = 10,
    apart: int = 5,
    blocks: int = 20,
) -> Judged:
    """Judge a candidate on nodes, concatenated.

    Parameters
    ----------
    registry
        Registry of admission policies.
    candidate, nodes
        The policy, and the telemetry.
    rng
        For policies that draw random numbers.
    within, apart
        Steps within which an onset must be predicted, and steps without a spike required before it.
    blocks
        Number of blocks of a node's time, for the intervals.

    Raises
    ------
    InputError
        There are no nodes, or a policy rejects its parameters.

    Examples
    --------
    >>> from windlass.admit import POLICIES
    >>> ready = np.tile([0.0] * 18 + [1.0] * 2, 20)
    >>> node = NodeTelemetry(np.zeros((400, 2)), ready, 0.5, 0.5, warm=40)
    >>> found = judge(POLICIES, PolicyCandidate("always down", "never", 1.0), [node], np.random.default_rng(1))
    >>> found.quality.onsets, found.quality.recall, found.quality.downtime
    (18, 1.0, 1.0)
    """
    ups = _ups(registry, candidate, nodes, rng, within, apart)
    return _judged(candidate, nodes, ups, within, apart, blocks)


def judge_apart(
    registry: Registry,
    candidate: PolicyCandidate,
    nodes: Sequence[NodeTelemetry],
    rng: np.random.Generator,
    *,
    within: int = 10,
    apart: int = 5,
    blocks: int = 20,
) -> tuple[Judged, ...]:
    """Judge a candidate on all nodes as :func:`judge` does, and then on each node.

    The policy runs through each node's telemetry once, so that all results are of the same signals.

    Examples
    --------
    >>> from windlass.admit import POLICIES
    >>> often, seldom = (np.tile([0.0] * low + [1.0] * 2, 400 // (low + 2)) for low in (18, 38))
    >>> nodes = [NodeTelemetry(np.zeros((400, 2)), ready, 0.5, 0.5, warm=40) for ready in (often, seldom)]
    >>> found = judge_apart(POLICIES, PolicyCandidate("always down", "never", 1.0), nodes, np.random.default_rng(1))
    >>> [each.quality.onsets for each in found]
    [27, 18, 9]
    """
    ups = _ups(registry, candidate, nodes, rng, within, apart)
    parts = [(nodes, ups), *(([node], [up]) for node, up in zip(nodes, ups, strict=True))]
    return tuple(_judged(candidate, own, up, within, apart, blocks) for own, up in parts)


def _ups(
    registry: Registry,
    candidate: PolicyCandidate,
    nodes: Sequence[NodeTelemetry],
    rng: np.random.Generator,
    within: int,
    apart: int,
) -> list[Bools]:
    """Return the answers over the judged steps of each node."""
    if not nodes:
        raise InputError("there are no nodes to judge on")
    return [signal(registry, candidate, node, within, rng, apart)[node.warm :] for node in nodes]


def _judged(
    candidate: PolicyCandidate,
    nodes: Sequence[NodeTelemetry],
    ups: Sequence[Bools],
    within: int,
    apart: int,
    blocks: int,
) -> Judged:
    whole("blocks", blocks, 2)
    spikes = [node.onsets(apart) for node in nodes]
    up, spike = np.concatenate(ups), np.concatenate(spikes)
    whole_time = blocks * len(nodes)
    block = np.arange(len(up)) * whole_time // len(up)
    return Judged(
        candidate,
        quality(up, spike, within),
        intervals(up, spike, within, blocks=whole_time),
        tuple(quality(*pair, within) for pair in zip(ups, spikes, strict=True)),
        leads(up, spike, within),
        (episodes(spike, within), np.asarray(block[spike], np.int64)),
    )


def against_best(judged: Judged, found: Sequence[Judged]) -> tuple[Judged, SignalDifference] | None:
    """Return the best baseline at the same downtime, and the difference in recall from it.

    The best is the one that predicted the most of the judged onsets, the first of several. Choosing it by the judged
    onsets makes the comparison harder than with any fixed baseline. None without baselines at that downtime, or
    without onsets.
    """
    return _compared(judged, _of(found, CandidateRole.BASELINE))


def against_pronto(judged: Judged, found: Sequence[Judged]) -> tuple[Judged, SignalDifference] | None:
    """Return the best form of Pronto at the same downtime, and the difference in recall from it."""
    return _compared(judged, _of(found, CandidateRole.PRONTO))


def best_pronto(found: Sequence[Judged], downtime: float) -> Judged | None:
    """Return the form of Pronto that predicted the most judged onsets at a downtime; None if there is none."""
    return _best(_of(found, CandidateRole.PRONTO), downtime)


def _compared(judged: Judged, others: Sequence[Judged]) -> tuple[Judged, SignalDifference] | None:
    best = _best(others, judged.candidate.downtime)
    if best is None or not len(judged.leads):
        return None
    return best, difference(judged.hits, best.hits, judged.clusters)


def _of(found: Sequence[Judged], role: CandidateRole) -> list[Judged]:
    return [each for each in found if each.candidate.role is role]


def _best(found: Sequence[Judged], downtime: float) -> Judged | None:
    """Return the candidate that predicted the most onsets at a downtime, the first of several."""
    own = [each for each in found if each.candidate.downtime == downtime]
    return max(own, key=lambda each: int(each.hits.sum()), default=None)
