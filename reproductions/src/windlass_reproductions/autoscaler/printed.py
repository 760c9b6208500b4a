"""Table 4 as printed in the paper, and the names of its models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Printed:
    """A line of Table 4: MSE, PMSE, and minutes of training if given."""

    mse: float
    pmse: float
    minutes: float | None = None


#: The paper's names of forecasters, by Windlass's names. Its SES is *seasonal* exponential smoothing, with α 0.5,
#: β 0.001, γ 0.3.
MODELS = {
    "transformer": "Transformer",
    "lstm": "LSTM",
    "holt-winters": "SES",
    "arima": "ARIMA",
    "static": "Static",
}

#: Lines by the paper's names of data and model.
TABLE_4: Mapping[str, Mapping[str, Printed]] = {
    "Ours": {
        "Transformer": Printed(2.51e-7, 1.97e-7, 44.0),
        "LSTM": Printed(0.0047, 0.0039, 28.0),
        "SES": Printed(0.0110, 0.0046, 37.0),
        "ARIMA": Printed(0.027, 0.0063, 130.0),
        "Static": Printed(0.7841, 0.7841),
    },
    "Fuxi": {
        "Transformer": Printed(0.0021, 0.0010, 11.0),
        "LSTM": Printed(0.0035, 0.0074, 8.0),
        "SES": Printed(0.0026, 0.0025, 28.0 / 60.0),
        "ARIMA": Printed(0.025, 0.021, 20.0),
        "Static": Printed(0.8927, 0.8927),
    },
    "Philly": {
        "Transformer": Printed(0.0003, 0.0004, 38.0),
        "LSTM": Printed(0.0040, 0.0028, 31.0),
        "SES": Printed(0.1470, 0.1470, 46.0),
        "ARIMA": Printed(0.020, 0.093, 84.0),
        "Static": Printed(0.7054, 0.7054),
    },
}


def impossible() -> tuple[str, ...]:
    """Return the lines whose PMSE exceeds the MSE, although PMSE is a part of MSE.

    >>> impossible()
    ('Fuxi LSTM', 'Philly Transformer', 'Philly ARIMA')
    """
    return tuple(
        f"{data} {model}"
        for data, lines in TABLE_4.items()
        for model, line in lines.items()
        if line.pmse > line.mse
    )


def order(data: str) -> tuple[str, ...]:
    """Return the paper's models in increasing order of MSE.

    >>> order("Philly")
    ('Transformer', 'LSTM', 'ARIMA', 'SES', 'Static')
    """
    lines = TABLE_4[data]
    return tuple(sorted(lines, key=lambda model: lines[model].mse))
