"""The change of a metric from the first to the last point of a sweep over one field, in words."""

from __future__ import annotations

from windlass.report.phrases import label, listed, measured, quoted
from windlass.report.units import PERCENT, Unit, number, percentage, sentence_unit
from windlass.results.sweep_change import SweepChange, SweepChanges


def change_over_sweep(found: SweepChanges | None) -> str:
    """Return how a metric changes over a sweep for each variant; empty without a change.

    Parameters
    ----------
    found
        From :func:`windlass.results.sweep_change.sweep_changes`.

    Examples
    --------
    >>> change = SweepChange("easy", 600.0, 900.0, True)
    >>> change_over_sweep(SweepChanges("mean_wait_s", "load=0.5", "load=0.9", (change,)))
    'From load=0.5 to load=0.9, the mean wait changes from 10 to 15 min under easy (+50 %, significant).'
    """
    if found is None:
        return ""
    changes = [_change(found.metric, each) for each in found.changes]
    return f"From {found.first} to {found.last}, the {label(found.metric)} changes {listed(changes)}."


def _change(metric: str, of: SweepChange) -> str:
    unit = sentence_unit(metric, [of.first, of.last])
    values = f"from {number(of.first * unit.factor)} to {measured(of.last, unit)}"
    tested = {True: "significant", False: "not significant", None: ""}[
        of.significant if of.first != of.last else None
    ]
    remarks = ", ".join(filter(None, (_part(of.first, of.last, unit), tested)))
    return f"{values} under {quoted(of.name)}" + (f" ({remarks})" if remarks else "")


def _part(first: float, last: float, unit: Unit) -> str:
    if unit is PERCENT or not first or first == last or abs(last - first) >= 10 * abs(first):
        return ""
    return f"{'+' if last > first else '−'}{percentage(abs(last - first) / abs(first))}"
