"""Table 4: each forecaster's errors beside what is printed, and what they say of each other."""

from __future__ import annotations

import math
from collections.abc import Sequence

from windlass_reproductions.autoscaler.compare import STATIC, Compared, Found
from windlass_reproductions.autoscaler.printed import MODELS, TABLE_4, Printed, impossible, order
from windlass_reproductions.autoscaler.verdicts import (
    is_alike,
    is_at_least,
    is_in_order,
    is_least,
    is_most,
    is_near,
    is_nothing,
    takes_longer,
)
from windlass_reproductions.reproduction import Row

_TRANSFORMER, _LSTM, _ARIMA = "transformer", "lstm", "arima"
#: Why a forecaster that is hundreds of times better than others is not found.
_SIMPLER = "of a level that moves little in a step, hardly more can be said than that it stays"


def rows_of(compared: Sequence[Compared]) -> list[Row]:
    """All rows of Table 4."""
    rows: list[Row] = []
    for each in compared:
        rows += [*_lines(each), *_claims(each)]
    return rows + _pmse(compared) if compared else rows


def _lines(each: Compared) -> list[Row]:
    """The series, and each forecaster's errors on it."""
    case = each.case
    size = f"{len(case.rows):,} rows, {case.test:,} of them to test with; {', '.join(case.columns)}"
    rows = [Row(f"{case.name}: the series", None, size, None, case.about)]
    for place in range(len(case.steps)):
        for found in each.found:
            printed = _printed(each, found.name) if place == 0 else None
            ours = found.errors[place]
            what = f"Table 4, {case.name}, {_named(found.name)}, {_ahead(each, place)}: MSE / PMSE"
            paper = None if printed is None else _pair(printed.mse, printed.pmse)
            if case.same and printed:
                alike = is_alike([(ours.mse, printed.mse), (ours.pmse, printed.pmse)])
                note = _note(each, found, printed, alike.holds)
                rows.append(Row.by(what, paper, _pair(ours.mse, ours.pmse), alike, note))
            else:
                # Of another cluster's series the paper says nothing; its numbers stand there to compare the size.
                note = _note(each, found, printed, None)
                rows.append(Row(what, paper, _pair(ours.mse, ours.pmse), None, note))
    rows += [
        Row(
            f"Table 4, {case.name}, {_named(name)}: MSE / PMSE",
            None,
            "not run",
            None,
            f"{package} is not installed: pip install 'windlass[forecast]'",
        )
        for name, package in each.left_out
    ]
    return rows


def _note(each: Compared, found: Found, printed: Printed | None, holds: bool | None) -> str:
    parts = [found.said] if found.said else []
    if printed is not None:
        if printed.pmse > printed.mse:
            parts.append("the printed PMSE is above the MSE that it is a part of")
        if not each.case.same:
            parts.append(
                f"the paper's is of its own cluster, which is private; {each.case.name} stands for it"
            )
        elif holds is False:
            parts.append(
                "not within a factor of 2: other jobs of the log, and nobody knows how it was scaled"
            )
    return "; ".join(parts)


def _claims(each: Compared) -> list[Row]:
    """What the paper says of its models, on this series."""
    case, rows = each.case, []
    pmse = {found.name: found.errors[0].pmse for found in each.found}
    rows.append(
        Row.by(
            f"{case.name}: the static allocation has the largest PMSE",
            "yes",
            f"{STATIC} {_short(pmse[STATIC])}, next {_short(sorted(pmse.values())[-2])}",
            is_most(STATIC, pmse),
            "where the test part needs less than the largest number ever, all forecasts are below it",
        )
    )
    rows += [*_beside_naive(each), *_order(each)]
    if each.of(_TRANSFORMER) is None:
        return rows
    for place in range(len(case.steps)):
        errors = each.mse(place)
        theirs = {name: errors[name] for name in MODELS if name in errors}
        for what, some in (("the paper's models", theirs), ("all forecasters", errors)):
            best = min(some, key=lambda name: some[name])
            rows.append(
                Row.by(
                    f"{case.name}, {_ahead(each, place)}: the least MSE of {what}",
                    "Transformer",
                    f"{_named(best)} {_short(some[best])}, Transformer {_short(some[_TRANSFORMER])}",
                    is_least(_TRANSFORMER, some),
                    _SIMPLER,
                )
            )
    return rows + _networks(each) + _attention(each)


def _beside_naive(each: Compared) -> list[Row]:
    """Whether the printed Transformer beats saying that all stays as it is, which the paper did not try."""
    case, errors = each.case, each.mse(0)
    if not case.same or "naive" not in errors:
        return []
    printed = TABLE_4[case.stands_for]["Transformer"].mse
    return [
        Row.by(
            f"{case.name}: the printed MSE of the Transformer, beside that of the naive forecast here",
            printed,
            float(f"{errors['naive']:.3g}"),
            is_at_least(errors["naive"], printed),
            "the paper did not try it, and its scale is not known",
        )
    ]


def _order(each: Compared) -> list[Row]:
    """The order of those of the paper's models that were run."""
    case, errors = each.case, each.mse(0)
    by_paper = {MODELS[name]: errors[name] for name in MODELS if name in errors}
    if case.stands_for not in TABLE_4 or len(by_paper) < 3:
        return []
    printed = [name for name in order(case.stands_for) if name in by_paper]
    return [
        Row.by(
            f"{case.name}: models from the least MSE to the largest",
            ", ".join(printed),
            ", ".join(sorted(by_paper, key=lambda name: by_paper[name])),
            is_in_order(printed, by_paper),
            _SIMPLER,
        )
    ]


def _networks(each: Compared) -> list[Row]:
    """How far the Transformer leads the LSTM, and how long it and ARIMA learn, where there is something printed."""
    case, errors = each.case, each.mse(0)
    if case.stands_for not in TABLE_4 or not {_TRANSFORMER, _LSTM, _ARIMA} <= set(errors):
        return []
    lines = TABLE_4[case.stands_for]
    lead = lines["LSTM"].mse / lines["Transformer"].mse
    ours = errors[_LSTM] / errors[_TRANSFORMER]
    seconds = {each.name: each.fit for each in each.found}
    return [
        Row.by(
            f"{case.name}: MSE of the LSTM over that of the Transformer",
            round(lead, 2),
            round(ours, 3),
            is_at_least(ours, lead),
            "a lead of thousands asks for leakage as its first explanation"
            if lead > 100
            else "one draw of both networks' weights",
        ),
        Row.by(
            f"{case.name}: ARIMA takes longer to learn than the Transformer",
            f"{lines['ARIMA'].minutes:g} min, {lines['Transformer'].minutes:g} min",
            f"{seconds[_ARIMA]:.3g} s, {seconds[_TRANSFORMER]:.3g} s",
            takes_longer(seconds[_ARIMA], seconds[_TRANSFORMER]),
            "ours finds its coefficients by conditional sums of squares; both on two cores, theirs had a GPU for the "
            "Transformer",
        ),
    ]


def _attention(each: Compared) -> list[Row]:
    """Figure 9: how much of the attention is paid to near rows."""
    found = each.of(_TRANSFORMER)
    if found is None or not len(found.attention):
        return []
    case, paid = each.case, found.attention / found.attention.sum()
    near = float(paid[: round(len(paid) / 4)].sum())
    rows = [
        Row.by(
            f"Figure 9, {case.name}: attention to the newest quarter of the window",
            "most of it",
            f"{near:.1%}",
            is_near(paid),
            "that of the first layer, as the newest row pays it, by one draw of weights",
        )
    ]
    day = case.seasons[0]
    if len(paid) > day:
        rows.append(
            Row.by(
                f"Figure 9, {case.name}: attention to what is over a day old",
                "none",
                f"{paid[day:].sum():.1%}",
                is_nothing(paid, day),
                f"{1 - day / len(paid):.0%} of the window is as old",
            )
        )
    return rows


def _pmse(compared: Sequence[Compared]) -> list[Row]:
    """That a part is never above the whole; and what another reading of PMSE would say."""
    errors = [error for each in compared for found in each.found for error in found.errors]
    broken, lines = impossible(), sum(len(each) for each in TABLE_4.values())
    above = sum(error.pmse > error.mse * (1 + 1e-9) for error in errors)
    other = sum(error.above > error.mse for error in errors if not math.isnan(error.above))
    return [
        Row(
            "Table 4: lines whose PMSE is above the MSE that it is a part of",
            f"{len(broken)} of {lines}",
            f"{above} of {len(errors)}",
            None,
            "by the formula of Section 5.3 there can be none, so that nothing here could confirm it; printed: "
            + ", ".join(broken),
        ),
        Row(
            "Table 4, by the other reading of PMSE: the mean over rows that are forecast too high, above the MSE",
            f"{len(broken)} of {lines}",
            f"{other} of {len(errors)}",
            None,
            "the printed lines would then be possible",
        ),
    ]


def _printed(each: Compared, name: str) -> Printed | None:
    return TABLE_4.get(each.case.stands_for, {}).get(MODELS.get(name, ""))


def _named(name: str) -> str:
    return f"{name} (the paper's {MODELS[name]})" if MODELS.get(name, name).lower() != name else name


def _ahead(each: Compared, place: int) -> str:
    return f"{each.case.steps[place] * each.case.period / 60:g} min ahead"


def _pair(mse: float, pmse: float) -> str:
    return f"{_short(mse)} / {_short(pmse)}"


def _short(value: float) -> str:
    return f"{value:.2e}" if value < 0.01 else f"{value:.3g}"
