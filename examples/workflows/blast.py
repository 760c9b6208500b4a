"""Search a database for DNA sequences: no waits. Parallel, then sequential; uses about 96 % of its cores.

Each query is searched in a part of the database. Places that share many words of eight letters with it are found first,
then aligned letter by letter (Smith and Waterman's local alignment, with a linear gap). At the end the best places of
all queries are aligned once more with their surroundings, and listed.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import common
import numpy as np

#: Letters of a query, of a word, and of the part of the database in which a query is searched.
QUERY, WORD, PART = 240, 8, 40_000
#: Letters of an aligned place, and number of places for each query.
PLACE, PLACES = 480, 24
MATCH, MISMATCH, GAP = 5, -4, 6
#: Nominal seconds for one query.
SECONDS = 0.048
#: Share of the allocated memory that the database takes.
DATABASE = 0.35


def database(options: common.Options) -> np.ndarray:
    """Return letters 0 to 3, over a third of the memory."""
    rng = np.random.default_rng([options.seed, 1])
    letters = max(4 * PART, int(options.memory * DATABASE))
    return rng.integers(0, 4, letters, dtype=np.uint8)


def query_of(letters: np.ndarray, seed: int, number: int) -> tuple[int, np.ndarray]:
    """Return the start of the searched part, and the query: cut from that part, with one in eight letters redrawn."""
    rng = np.random.default_rng([seed, 2, number])
    start = int(rng.integers(0, len(letters) - PART))
    cut = start + int(rng.integers(0, PART - QUERY))
    changed = rng.random(QUERY) < 1 / 8
    return start, np.where(changed, rng.integers(0, 4, QUERY), letters[cut : cut + QUERY]).astype(np.uint8)


def words(letters: np.ndarray) -> np.ndarray:
    """Return the number of the word that begins at each letter."""
    found = np.zeros(len(letters) - WORD + 1, np.int64)
    for at in range(WORD):
        found = 4 * found + letters[at : at + len(found)]
    return found


def align(query: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the score of the best local alignment of a query with each place, computed for all places at once."""
    steps = GAP * np.arange(places.shape[1] + 1)
    row = np.zeros((len(places), places.shape[1] + 1), np.int64)
    best = np.zeros(len(places), np.int64)
    for letter in query:
        fresh = np.zeros_like(row)
        np.maximum(fresh[:, 1:], row[:, :-1] + np.where(places == letter, MATCH, MISMATCH), out=fresh[:, 1:])
        np.maximum(fresh, row - GAP, out=fresh)
        # Gaps along the row: the best of all cells to the left, less the cost of the gap.
        row = np.maximum.accumulate(fresh + steps, axis=1) - steps
        np.maximum(best, row.max(axis=1), out=best)
    return best


def search(letters: np.ndarray, seed: int, number: int) -> np.ndarray:
    """Return the best places for a query: rows of (score, position), best first."""
    start, query = query_of(letters, seed, number)
    part = letters[start : start + PART]
    shared = np.isin(words(part), words(query))
    # Of windows that overlap by half, choose those that share the most words; the first of equal ones.
    counts = np.add.reduceat(shared, np.arange(0, len(shared) - PLACE, PLACE // 2))
    chosen = np.argsort(-counts.astype(np.int64), kind="stable")[:PLACES] * (PLACE // 2)
    scores = align(query, np.stack([part[at : at + PLACE] for at in chosen]))
    order = np.lexsort((chosen, -scores))
    return np.stack([scores[order], start + chosen[order]], axis=1)


def run(options: common.Options, progress: Path | None, folder: Path) -> common.Checksum:
    """Run both stages; return the checksum of the list."""
    queries = options.count(SECONDS)
    stages = common.Stages(progress, [queries, queries])
    letters = database(options)
    checksum = common.Checksum()
    stages.begin(parallel=True)
    task = partial(search, letters, options.seed)
    found = list(stages.each(common.spread(task, range(queries), options.cores)))
    stages.begin(parallel=False)
    with (folder / "hits.tsv").open("w", encoding="ascii") as file:
        for number in stages.each(range(queries)):
            score, where = map(int, found[number][0])
            _, query = query_of(letters, options.seed, number)
            around = letters[max(0, where - PLACE // 4) : where + PLACE][None, :]
            print(number, where, score, int(align(query[: QUERY // 4], around)[0]), sep="\t", file=file)
    checksum.add((folder / "hits.tsv").read_bytes())
    return checksum


if __name__ == "__main__":
    common.main("blast", __doc__ or "", run)
