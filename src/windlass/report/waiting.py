"""What one job waited for, in sentences."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

from windlass.report.units import counted, duration
from windlass.results.explanation import Moment, StartExplanation, WaitExplanation

#: So many jobs are named in a sentence, and the others counted.
_NAMED = 6


def waiting_sentences(waited: WaitExplanation) -> tuple[str, ...]:
    """A wait as a whole: what was asked for, how the site was, who was started meanwhile, what was promised, and why
    it ended.

    Parameters
    ----------
    waited
        The job and all decisions while it waited.

    Examples
    --------
    >>> started = (StartExplanation(7, 3, True, "fits"),)
    >>> moment = Moment(at=5.0, place=0, idle=4, left=1, running=0, ended=(), started=started)
    >>> for line in waiting_sentences(WaitExplanation(7, 3, 4, 5.0, 5.0, 60.0, 60.0, "fits", (moment,))):
    ...     print(line)
    Job 7 asked for 3 of 4 processors for 1 min.
    It was started at the instant at which it was submitted: fits.
    """
    wanted = _and([f"{waited.procs:,} of {counted(waited.processors, 'processor')}", *waited.beside])
    asked = f"Job {waited.job} asked for {wanted} for {duration(waited.request)}"
    if waited.expected != waited.request:
        asked += f", and was expected to run for {duration(waited.expected)}"
    if waited.wait == 0:
        return f"{asked}.", f"It was started at the instant at which it was submitted: {waited.why}."
    return tuple(
        line
        for line in (
            f"{asked}.",
            f"It waited {duration(waited.wait)}, through {counted(len(waited.moments), 'decision')}.",
            _came(waited),
            _overtaken(waited),
            _room(waited),
            _promised(waited),
            _began(waited),
        )
        if line
    )


def moment_lines(waited: WaitExplanation, everything: bool = False) -> tuple[str, ...]:
    """A line for each decision that changed something for the job: who was started and why, what was promised.

    Parameters
    ----------
    waited
        The job and all decisions while it waited.
    everything
        Whether also those that changed nothing for it.

    Examples
    --------
    >>> started = (StartExplanation(7, 3, True, "fits"),)
    >>> moment = Moment(at=5.0, place=0, idle=4, left=1, running=0, ended=(), started=started)
    >>> moment_lines(WaitExplanation(7, 3, 4, 5.0, 5.0, 60.0, 60.0, "fits", (moment,)))
    ('after 0 s: job 7 itself is started (fits); 1 processor stays idle.',)
    """
    lines: list[str] = []
    before: Moment | None = None
    for moment in waited.moments:
        said = list(_said_of(moment, before, waited))
        if not said and not everything:
            before = moment
            continue
        since = "after " + duration(moment.at - waited.submit)
        idle = f"{counted(moment.left, 'processor')} {'stays' if moment.left == 1 else 'stay'} idle"
        lacks = [f"it lacks {_and(moment.short)}"] if waited.beside and moment.short else []
        lines.append(f"{since}: {'; '.join([*(said or ['nobody is started']), idle, *lacks])}.")
        before = moment
    return tuple(lines)


def _said_of(moment: Moment, before: Moment | None, waited: WaitExplanation) -> Iterator[str]:
    if before is not None and moment.place == 0 < before.place:
        yield "nobody who came before it waits any more"
    for why in dict.fromkeys(each.why for each in moment.started if each.job != waited.job):
        alike = [each for each in moment.started if each.why == why and each.job != waited.job]
        for ahead in (True, False):
            jobs = [each for each in alike if each.before == ahead]
            if jobs:
                came = "came before it" if ahead else "came after it"
                yield f"{_jobs([each.job for each in jobs])}, which {came}, {_be(jobs)} started ({why})"
    if any(each.job == waited.job for each in moment.started):
        yield f"job {waited.job} itself is started ({waited.why})"
    elif (promise := _new_promise(moment, before, waited.submit)) is not None:
        yield promise


def _new_promise(moment: Moment, before: Moment | None, submit: float) -> str | None:
    """What is promised from now on; None where nothing has changed."""
    old = math.nan if before is None else before.promise
    if math.isnan(moment.promise) or moment.promise == old:
        return None
    if math.isinf(moment.promise):
        return "it is wider than what is left of the site, and is promised nothing"
    return f"it is promised a start {duration(moment.promise - submit)} after it came at the latest"


def _be(jobs: list[StartExplanation]) -> str:
    return "is" if len(jobs) == 1 else "are"


def _came(waited: WaitExplanation) -> str:
    first = waited.moments[0]
    idle = f"{counted(first.idle, 'processor')} {'was' if first.idle == 1 else 'were'} idle"
    ran = f"{counted(first.running, 'job')} ran" if first.running else "no job ran"
    ahead = (
        f"{counted(first.place, 'job')} that had come before it waited"
        if first.place
        else "nobody waited before it"
    )
    return f"When it came, {idle}, {ran}, and {ahead}."


def _overtaken(waited: WaitExplanation) -> str:
    """Who was started while it waited."""
    others = [each for moment in waited.moments for each in moment.started if each.job != waited.job]
    if not others:
        return "Nobody else was started meanwhile."
    before = [each for each in others if each.before]
    later = [each for each in others if not each.before]
    parts = [
        f"{counted(len(jobs), 'job')} that came {came} it ({_reasons(jobs)})"
        for jobs, came in ((before, "before"), (later, "after"))
        if jobs
    ]
    return f"Meanwhile the policy started {' and '.join(parts)}."


def _reasons(jobs: list[StartExplanation]) -> str:
    found = Counter(each.why for each in jobs)
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{count:,} {why}" for why, count in found.most_common())


def _room(waited: WaitExplanation) -> str:
    """How long too few processors were idle, and how long there were enough that were kept for others."""
    if waited.beside:
        return _lacked(waited)
    kept = sum(
        later.at - moment.at
        for moment, later in itertools.pairwise(waited.moments)
        if moment.left >= waited.procs
    )
    few = waited.wait - kept
    if not kept:
        return "All the time fewer processors were idle than it asked for."
    enough = f"for {duration(kept)} enough were idle, and the policy kept them for others"
    return (
        f"For {duration(few)} too few processors were idle for it; {enough}."
        if few
        else f"{enough.capitalize()}."
    )


def _lacked(waited: WaitExplanation) -> str:
    """How long it lacked what, where jobs wait for more than processors; the longest first."""
    lengths: Counter[tuple[str, ...]] = Counter()
    for moment, later in itertools.pairwise(waited.moments):
        lengths[moment.short] += later.at - moment.at  # type: ignore[assignment]
    parts = [
        f"for {duration(length)} it lacked {_and(short)}"
        if short
        else f"for {duration(length)} all that it asked for was idle, and the policy kept it for others"
        for short, length in lengths.most_common()
        if length
    ]
    said = "; ".join(parts)
    return f"{said[0].upper()}{said[1:]}."


def _and(parts: Sequence[str]) -> str:
    """Such as ``a``, ``a and b`` and ``a, b and c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _promised(waited: WaitExplanation) -> str:
    made = [moment for moment in waited.moments if not math.isnan(moment.promise)]
    if not made:
        return ""
    first = made[0]
    moved = sum(one.promise != two.promise for one, two in itertools.pairwise(made))
    when = "When it came" if first is waited.moments[0] else f"After {duration(first.at - waited.submit)}"
    if math.isinf(first.promise):
        return f"{when} it could be promised nothing, as it is wider than what was left of the site."
    said = f"{when} it was promised a start {duration(first.promise - waited.submit)} after it came at the latest"
    gain = first.promise - waited.start
    came = (
        "just then" if gain == 0 else f"{duration(abs(gain))} {'earlier' if gain > 0 else 'later'} than that"
    )
    changed = f"; the promise moved {'once' if moved == 1 else f'{moved:,} times'}, and" if moved else ", and"
    return f"{said}{changed} it started {came}."


def _began(waited: WaitExplanation) -> str:
    last = waited.moments[-1]
    when = f", when {_jobs(last.ended)} ended" if last.ended else ""
    return f"It was started{when}: {waited.why}."


def _jobs(numbers: list[int] | tuple[int, ...]) -> str:
    """Such as ``job 4``, ``jobs 4 and 7`` and ``jobs 1, 2, 3, 4, 5, 6 and 10 more``."""
    names = [str(number) for number in numbers]
    if len(names) > _NAMED + 1:
        names = [*names[:_NAMED], f"{len(names) - _NAMED:,} more"]
    return f"job {names[0]}" if len(names) == 1 else f"jobs {', '.join(names[:-1])} and {names[-1]}"
