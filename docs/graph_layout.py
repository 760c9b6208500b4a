"""Lays out a graph in rows: groups from the lowest row up, few crossings, ends of an arrow near each other."""

from __future__ import annotations

import random
from itertools import combinations
from statistics import fmean

#: What stands together in one row; and where an arrow passes a row: its two ends, and the row.
Group = tuple[str, ...]
Bend = tuple[Group, Group, int]
Item = Group | Bend
Way = tuple[Item, Item]

GAP = 16


def is_bend(item: Item) -> bool:
    """Whether an arrow passes here and nothing stands."""
    return isinstance(item[-1], int)


def rows_of(groups: list[Group], ways: list[tuple[Group, Group]]) -> list[list[Item]]:
    """Groups and bends in rows, the lowest first; what more groups import than it imports goes up to them."""
    row: dict[Group, int] = {}
    for group in reversed(groups):
        row[group] = max((row[to] + 1 for start, to in ways if start == group), default=0)
    for group in groups:
        users = [row[start] for start, to in ways if to == group]
        if len(users) > sum(start == group for start, _ in ways):
            row[group] = min(users) - 1
    rows: list[list[Item]] = [
        [own for own in groups if row[own] == at] for at in range(max(row.values()) + 1)
    ]
    for start, to in ways:
        for between in range(row[to] + 1, row[start]):
            rows[between].append((start, to, between))
    return rows


def crossings(rows: list[list[Item]], links: list[Way]) -> int:
    """How often arrows cross."""
    place = {item: (level, at) for level, row in enumerate(rows) for at, item in enumerate(row)}
    ends = [(*place[upper], place[lower][1]) for upper, lower in links]
    return sum(a[0] == b[0] and (a[1] - b[1]) * (a[2] - b[2]) < 0 for a, b in combinations(ends, 2))


def untangle(rows: list[list[Item]], links: list[Way]) -> None:
    """Swap two of a row for as long as that takes away crossings."""
    fewest, before = crossings(rows, links), -1
    while fewest != before:
        before = fewest
        for row in rows:
            for one, two in combinations(range(len(row)), 2):
                row[one], row[two] = row[two], row[one]
                if (count := crossings(rows, links)) < fewest:
                    fewest = count
                else:
                    row[one], row[two] = row[two], row[one]


def arranged(rows: list[list[Item]], links: list[Way], wide: dict[Item, float]) -> dict[Item, float]:
    """Where each item stands: of many beginnings, the one that ends with the fewest crossings and shortest ways."""
    found = []
    for seed in range(20):
        rng = random.Random(seed)
        tried = [rng.sample(row, len(row)) for row in rows]
        untangle(tried, links)
        x = centres(tried, links, wide)
        long = sum(abs(x[one] - x[two]) for one, two in links)
        found.append((crossings(tried, links), round(long + max(x.values())), seed, x))
    return min(found, key=lambda each: each[:3])[-1]


def centres(rows: list[list[Item]], links: list[Way], wide: dict[Item, float]) -> dict[Item, float]:
    """Where each group and bend stands from left to right: near to what it is tied to, and nowhere on another."""
    ends = [*links, *((lower, upper) for upper, lower in links)]
    x = {item: 0.0 for row in rows for item in row}
    for _ in range(80):
        for row in rows:
            wished = [fmean([x[to] for start, to in ends if start == item] or [x[item]]) for item in row]
            placed: list[float] = []
            for at, (item, wish) in enumerate(zip(row, wished, strict=True)):
                least = placed[-1] + (wide[row[at - 1]] + wide[item]) / 2 + GAP if at else wish
                placed.append(max(wish, least))
            shift = fmean(wished) - fmean(placed)
            x.update((item, own + shift) for item, own in zip(row, placed, strict=True))
    left = min(own - wide[item] / 2 for item, own in x.items())
    return {item: own - left for item, own in x.items()}
