"""What is told for a decision, and what skew, the number of sites and errors of estimates change: Figures 3.13–3.16."""

from __future__ import annotations

from typing import Any

import numpy as np

from windlass.metrics.fleet import BYTES_PER_SUBJOB
from windlass.model.fleet import Fleet
from windlass.papers.plots import Line, Picture
from windlass.papers.reproduction import Row
from windlass.papers.swag.runs import REORDERED, SHOWN, SRPT, Experiment, Size, experiment


def told_figure(size: Size) -> tuple[list[Row], Picture]:
    """Figure 3.13: bytes told for a decision."""
    names = ("FCFS", "Global-SRPT", *REORDERED, "SWAG")
    found = {
        load: experiment(
            min(size.seeds, 3), names, law="exponential", jobs=size.jobs["exponential"], utilisation=load
        )
        for load in size.utilisations
    }

    def kbytes(load: float, name: str) -> float:
        return float(np.mean([run.told for run in found[load].runs[name]])) * BYTES_PER_SUBJOB / 1000

    high = {name: kbytes(0.78, name) for name in names if name != "FCFS"}
    least = min(high, key=lambda name: high[name])
    rows = [
        Row(
            "Fig. 3.13, 78%: kB told for a decision",
            "SWAG tells least; 10–100 kB",
            ", ".join(f"{name} {value:.2f}" for name, value in high.items()),
            high["SWAG"] <= 1.02 * high[least],
            "8 bytes a sub-job with tasks left, an encoding of ours; FCFS and Independent-SRPT need none. Holds where "
            "SWAG is within 2% of the least; fewer bytes because fewer jobs wait",
        )
    ]
    lines = [Line(name, list(found), [kbytes(load, name) for load in found]) for name in high]
    return rows, Picture("told", "Fig. 3.13: told for a decision", "utilisation", "kB", tuple(lines))


def skew_figure(size: Size) -> tuple[list[Row], Picture]:
    """Figure 3.14: how unevenly tasks lie over the sites."""
    settings: dict[str, Any] = {str(skew): skew for skew in ("uniform", 1.0, 2.0, 3.0, 4.0, "one-site")}
    found = {
        name: experiment(min(size.seeds, 3), law="exponential", jobs=size.jobs["exponential"], skew=skew)
        for name, skew in settings.items()
    }
    gains = {name: each.below("SWAG", ("Global-SRPT", "Independent-SRPT")) for name, each in found.items()}
    worse = {
        name: 1 - each.response("SWAG") / max(each.response(srpt) for srpt in SRPT)
        for name, each in found.items()
    }
    one = found["one-site"]
    same = max(abs(one.response(name) / one.response("SWAG") - 1) for name in SHOWN)
    inner = max(worse[name] for name in list(worse)[1:-1])
    rows = [
        Row(
            "Fig. 3.14: SWAG below the better (and the worse) SRPT by skew",
            "rises with the skew, then falls",
            ", ".join(f"{name} {gains[name]:.1%} ({worse[name]:.1%})" for name in gains),
            inner >= worse["uniform"] and inner >= worse["one-site"],
            "judged by the gain on the worse SRPT",
        ),
        Row(
            "Fig. 3.14, one site: largest difference between all but FCFS",
            "none",
            f"{same:.2%}",
            same < 0.005,
        ),
    ]
    return rows, _bars("skew", "Fig. 3.14: skew of tasks over sites", "skew of Zipf's law", found)


def sites_figure(size: Size) -> tuple[list[Row], Picture]:
    """Figure 3.15: the number of sites."""
    found = {
        str(sites): experiment(
            min(size.seeds, 3),
            law="exponential",
            jobs=size.jobs["exponential"],
            fleet=Fleet.of(np.full(sites, 9000 // sites)),
        )
        for sites in (10, 15, 20, 25, 30)
    }
    gains = [each.normalised("SWAG").mean for each in found.values()]
    rows = [
        Row(
            "Fig. 3.15: SWAG's response over FCFS's at 10, 15, 20, 25, 30 sites",
            "falls with the number of sites",
            ", ".join(f"{gain:.3f}" for gain in gains),
            gains[-1] < gains[0],
        )
    ]
    return rows, _bars("sites", "Fig. 3.15: number of sites, 9,000 slots in all", "sites", found)


def accuracy_figure(size: Size) -> tuple[list[Row], Picture]:
    """Figure 3.16: how true estimates are."""
    found = {
        f"{accuracy:.0%}": experiment(
            min(size.seeds, 3), law="exponential", jobs=size.jobs["exponential"], accuracy=accuracy
        )
        for accuracy in (0.0, 0.4, 0.8, 1.0)
    }
    means = [each.response("SWAG") for each in found.values()]
    rows = [
        Row(
            "Fig. 3.16: SWAG's response at estimates of 0, 40, 80, 100% accuracy, s",
            "falls marginally",
            ", ".join(f"{mean:.2f}" for mean in means),
            means[-1] <= means[0],
            "0% draws the expected time from 0 to twice the true one",
        )
    ]
    return rows, _bars("accuracy", "Fig. 3.16: accuracy of estimates", "accuracy", found)


def _bars(key: str, title: str, x_title: str, found: dict[str, Experiment]) -> Picture:
    lines = tuple(
        Line(name, range(len(found)), [each.normalised(name).mean for each in found.values()])
        for name in SHOWN
    )
    return Picture(key, title, x_title, "response over FCFS's", lines, categories=tuple(found))
