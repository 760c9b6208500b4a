"""What every quick reproduction must be."""

import re

from tests.reproductions.turning import lacks_reason, rows_with_fixed_verdicts

#: Papers of which each row besides says why it does not hold, or has no verdict.
REASONED = ("rosella", "swag")


def quick(paper):
    """Reproduce a paper quickly; what came out, which was checked."""
    steps = []
    reproduction = paper.reproduce(quick=True, notify=lambda step, share: steps.append(share))
    assert steps == sorted(steps)
    assert len(reproduction.rows) > 5
    assert len({picture.key for picture in reproduction.pictures}) == len(reproduction.pictures)
    assert all(row.holds is not False or row.note for row in reproduction.rows), "what fails needs a reason"
    # Of one seed, or of a class that one seed has, there is no interval to print.
    texts = [f"{row.ours} {row.note}" for row in reproduction.rows]
    assert [each for each in texts if re.search("± ?(nan|inf)", each)] == []
    assert rows_with_fixed_verdicts(reproduction.rows) == {}
    # Where no public trace is at hand, some papers have few rows.
    assert sum(row.judged is not None for row in reproduction.rows) > (10 if paper.name in REASONED else 1)
    for row in reproduction.rows:
        reasoned = paper.name in REASONED or row.judged is not None
        assert not (reasoned and lacks_reason(row)), row.what
    return reproduction
