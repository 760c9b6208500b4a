"""A search of DNA sequences in a database: computes all the time. Parallel, then sequential; about 96 % of its cores.

Each query is looked for in a part of the database: places that share many words of eight letters with it are found
first, then aligned letter by letter (Smith and Waterman's local alignment, with a linear gap). At the end the best
places of all queries are aligned once more with their surroundings, and listed.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import common
import numpy as np

#: Letters of a query, of a word, and of the part of the database that a query is looked for in.
QUERY, WORD, PART = 240, 8, 40_000
#: Letters of a place that is aligned, and how many are for each query.
PLACE, PLACES = 480, 24
MATCH, MISMATCH, GAP = 5, -4, 6
#: Nominal seconds for one query.
SECONDS = 0.048
#: Of the memory that it was given, what the database takes.
DATABASE = 0.35


def database(given: common.Options) -> np.ndarray:
    """Letters 0 to 3, over a third of the memory."""
    rng = np.random.default_rng([given.seed, 1])
    letters = max(4 * PART, int(given.memory * DATABASE))
    return rng.integers(0, 4, letters, dtype=np.uint8)


def query_of(letters: np.ndarray, seed: int, number: int) -> tuple[int, np.ndarray]:
    """Where a query is looked for, and the query: cut out of the database there, with every eighth letter changed."""
    rng = np.random.default_rng([seed, 2, number])
    start = int(rng.integers(0, len(letters) - PART))
    cut = start + int(rng.integers(0, PART - QUERY))
    changed = rng.random(QUERY) < 1 / 8
    return start, np.where(changed, rng.integers(0, 4, QUERY), letters[cut : cut + QUERY]).astype(np.uint8)


def words(letters: np.ndarray) -> np.ndarray:
    """The number of the word that begins at each letter."""
    found = np.zeros(len(letters) - WORD + 1, np.int64)
    for at in range(WORD):
        found = 4 * found + letters[at : at + len(found)]
    return found


def align(query: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The best local alignment of a query with each place: a row a letter of the query, all places at once."""
    steps = GAP * np.arange(places.shape[1] + 1)
    row = np.zeros((len(places), places.shape[1] + 1), np.int64)
    best = np.zeros(len(places), np.int64)
    for letter in query:
        fresh = np.zeros_like(row)
        np.maximum(fresh[:, 1:], row[:, :-1] + np.where(places == letter, MATCH, MISMATCH), out=fresh[:, 1:])
        np.maximum(fresh, row - GAP, out=fresh)
        # Gaps along the row: the best of all cells to the left, less what the way costs.
        row = np.maximum.accumulate(fresh + steps, axis=1) - steps
        np.maximum(best, row.max(axis=1), out=best)
    return best


def search(letters: np.ndarray, seed: int, number: int) -> np.ndarray:
    """The best places for a query: (score, where) a row, best first."""
    start, query = query_of(letters, seed, number)
    part = letters[start : start + PART]
    shared = np.isin(words(part), words(query))
    # Of windows that overlap by half, those that share the most words; of equals the first.
    counts = np.add.reduceat(shared, np.arange(0, len(shared) - PLACE, PLACE // 2))
    chosen = np.argsort(-counts.astype(np.int64), kind="stable")[:PLACES] * (PLACE // 2)
    scores = align(query, np.stack([part[at : at + PLACE] for at in chosen]))
    order = np.lexsort((chosen, -scores))
    return np.stack([scores[order], start + chosen[order]], axis=1)


def run(given: common.Options, told: Path | None, folder: Path) -> common.Checksum:
    """Both stages; the checksum is of the list."""
    queries = given.count(SECONDS)
    stages = common.Stages(told, [queries, queries])
    letters = database(given)
    checksum = common.Checksum()
    stages.begin(parallel=True)
    look = partial(search, letters, given.seed)
    found = list(stages.each(common.spread(look, range(queries), given.cores)))
    stages.begin(parallel=False)
    with (folder / "hits.tsv").open("w", encoding="ascii") as file:
        for number in stages.each(range(queries)):
            score, where = map(int, found[number][0])
            _, query = query_of(letters, given.seed, number)
            around = letters[max(0, where - PLACE // 4) : where + PLACE][None, :]
            print(number, where, score, int(align(query[: QUERY // 4], around)[0]), sep="\t", file=file)
    checksum.add((folder / "hits.tsv").read_bytes())
    return checksum


if __name__ == "__main__":
    common.main("blast", __doc__ or "", run)
