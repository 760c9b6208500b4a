"""Checks that every quick reproduction must pass."""

import re

from tests.reproductions.turning import lacks_reason, rows_with_fixed_verdicts

#: Papers in which each row that does not hold or has no verdict must give the reason.
REASONED = ("rosella", "swag")


def quick(paper):
    """Reproduce a paper quickly, check the result and return it."""
    steps = []
    reproduction = paper.reproduce(quick=True, notify=lambda step, share: steps.append(share))
    assert steps == sorted(steps)
    assert len(reproduction.rows) > 5
    assert len({picture.key for picture in reproduction.pictures}) == len(reproduction.pictures)
    assert all(row.holds is not False or row.note for row in reproduction.rows), "what fails needs a reason"
    # There is no interval to print for one seed, or for a class that only one seed has.
    texts = [f"{row.ours} {row.note}" for row in reproduction.rows]
    assert [each for each in texts if re.search("± ?(nan|inf)", each)] == []
    assert rows_with_fixed_verdicts(reproduction.rows) == {}
    # Without public traces, some papers have few rows.
    assert sum(row.judged is not None for row in reproduction.rows) > (10 if paper.name in REASONED else 1)
    for row in reproduction.rows:
        reasoned = paper.name in REASONED or row.judged is not None
        assert not (reasoned and lacks_reason(row)), row.what
    return reproduction
