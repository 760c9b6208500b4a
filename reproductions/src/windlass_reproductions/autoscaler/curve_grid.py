"""The grid of policies and knobs, fixed before the first run over the test weeks."""

from __future__ import annotations

from windlass_reproductions.autoscaler.curve_runs import Point

REACTIVE, PREDICTIVE, NEWSVENDOR = "reactive", "predictive", "newsvendor"
HAZARD, THRIFTY = "hazard", "thrifty"
CLAIRVOYANT = "clairvoyant"
#: Idle time before scale-down in Kubernetes' autoscaler, by default; the reference of all comparisons.
DEFAULT = "10 min"
_IDLE_MIN = (0, 2, 5, 10, 20, 30, 60)
_QUANTILES = (0.5, 0.9, 0.99)
_WAIT_PRICES = (0.1, 1.0, 10.0, 100.0)
_WORTHS = (1.0, 3.0, 10.0, 20.0, 40.0, 80.0, 160.0)


def grid(by_money: bool = False) -> tuple[Point, ...]:
    """Return the whole grid; with ``by_money`` also `thrifty`, which counts money instead of hours.

    Without different prices, `thrifty` decides the same as `hazard`.
    """
    priced = [Point(THRIFTY, f"{each:g} h", "thrifty", (("worth", each),)) for each in _WORTHS if by_money]
    return (
        *(Point(REACTIVE, f"{each} min", "reactive", (("unneeded", 60.0 * each),)) for each in _IDLE_MIN),
        *(Point(HAZARD, f"{each:g} h", "hazard", (("worth", each),)) for each in _WORTHS),
        *priced,
        *(Point(NEWSVENDOR, f"{each:g} USD", "newsvendor", (("wait_price", each),)) for each in _WAIT_PRICES),
        Point(CLAIRVOYANT, "", CLAIRVOYANT),
        Point("consolidate", "", "consolidate"),
        *(
            Point(
                f"{PREDICTIVE}, {name}", f"{each:g}", "predictive", (("forecaster", name), ("quantile", each))
            )
            for name in ("nlinear", "seasonal-naive")
            for each in _QUANTILES
        ),
        Point("static", "", "static"),
    )


def quick_grid(by_money: bool = False) -> tuple[Point, ...]:
    """Return a part of the grid for a quick run."""
    wanted = {"0 min", DEFAULT, "30 min", "60 min", "20 h", "40 h", "80 h", "1 USD", "10 USD"}
    return tuple(
        each
        for each in grid(by_money)
        if each.knob in wanted or each.curve in ("clairvoyant", "consolidate", "static")
    )
