"""Reader of throughput and prices between cloud regions, from CSV files in the format of Skyplane's profiles."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.nearest import did_you_mean

_Floats = NDArray[np.float64]
_TIER = "PREMIUM"


@dataclass(frozen=True, slots=True)
class WanMatrix:
    """Throughput and price between regions.

    Parameters
    ----------
    regions
        Names of the regions, such as ``aws:us-east-1``; ``gcp`` regions without their zone.
    throughput
        (n, n) throughput between a pair of machines, bytes/s; 0 within a region.
    price
        (n, n) price of sending, USD per byte; 0 if unknown.
    """

    regions: tuple[str, ...]
    throughput: _Floats
    price: _Floats


def read_wan(file: Path, regions: Sequence[str], prices: Path | None = None) -> WanMatrix:
    """Read the measured throughput between some regions.

    Parameters
    ----------
    file
        CSV with src_region, src_tier, dst_region, dst_tier, throughput_bits_per_s; only premium tiers are used.
    regions
        Regions to read, in this order; ``gcp`` regions with or without the zone.
    prices
        CSV with src, dest and cost (USD per GB); None for no prices.

    Raises
    ------
    InputError
        A file cannot be read, a line has an invalid number, a region does not occur, or there is no measurement between
        two regions.

    Examples
    --------
    >>> import tempfile
    >>> head = "src_region,src_tier,dst_region,dst_tier,throughput_bits_per_s"
    >>> lines = [head, "aws:a,PREMIUM,aws:b,PREMIUM,8e9", "aws:b,PREMIUM,aws:a,PREMIUM,4e9"]
    >>> path = Path(tempfile.mkdtemp()) / "wan.csv"
    >>> _ = path.write_text(chr(10).join(lines))
    >>> read_wan(path, ["aws:a", "aws:b"]).throughput.tolist()
    [[0.0, 1000000000.0], [500000000.0, 0.0]]
    """
    wanted = [_name(region) for region in regions]
    if len(wanted) < 2 or len(set(wanted)) != len(wanted):
        raise InputError(f"regions: {', '.join(regions)}: expected at least two different regions")
    index = {region: place for place, region in enumerate(wanted)}
    n = len(wanted)
    throughput, price = np.zeros((n, n)), np.zeros((n, n))
    known: set[str] = set()
    for line, row in _rows(file, ("src_region", "dst_region", "throughput_bits_per_s")):
        ends = _name(row["src_region"]), _name(row["dst_region"])
        known.update(ends)
        tiers = row.get("src_tier", _TIER), row.get("dst_tier", _TIER)
        if tiers == (_TIER, _TIER) and ends[0] in index and ends[1] in index and ends[0] != ends[1]:
            bits = _number(row["throughput_bits_per_s"], file, line, "throughput_bits_per_s")
            throughput[index[ends[0]], index[ends[1]]] = bits / 8
    for region in wanted:
        if region not in known:
            near = difflib.get_close_matches(region, sorted(known), n=3)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise InputError(f"{file}: no region {region!r}{hint}")
    missing = np.argwhere((throughput == 0) & ~np.eye(n, dtype=bool))
    if len(missing):
        source, site = missing[0]
        raise InputError(f"{file}: no measurement from {wanted[source]} to {wanted[site]}")
    if prices is not None:
        for line, row in _rows(prices, ("src", "dest", "cost")):
            ends = _name(row["src"]), _name(row["dest"])
            if ends[0] in index and ends[1] in index:
                price[index[ends[0]], index[ends[1]]] = _number(row["cost"], prices, line, "cost") / 1e9
    return WanMatrix(tuple(wanted), throughput, price)


def _name(region: str) -> str:
    """Return the region without its zone, by which measurements of gcp are named."""
    region = region.strip()
    cloud, _, place = region.partition(":")
    head, dash, tail = place.rpartition("-")
    return f"{cloud}:{head}" if cloud == "gcp" and dash and len(tail) == 1 and tail.isalpha() else region


def _rows(file: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines)
            for name in needed:
                names = reader.fieldnames or ()
                if name not in names:
                    found = ", ".join(map(repr, names)) or "none"
                    hint = did_you_mean(name, names)
                    raise InputError(f"{file}: no column {name!r} in the first line, found {found}{hint}")
            for row in reader:
                short = next((name for name in reader.fieldnames or () if row[name] is None), None)
                if short is not None:
                    raise InputError(
                        f"{file}, line {reader.line_num}: {short} is missing, expected all columns"
                    )
                yield reader.line_num, row
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 text") from error
    except csv.Error as error:
        raise InputError(f"{file}: cannot be read as CSV: {error}") from error


def _number(text: str, file: Path, line: int, name: str) -> float:
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = np.nan
    if not 0.0 <= value < np.inf:
        raise InputError(f"{file}, line {line}: {name} is {text!r}, expected a number of 0 or more")
    return value
