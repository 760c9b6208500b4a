"""The wait of one job, explained in sentences."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from windlass.report.units import counted, duration
from windlass.results.explanation import Moment, StartExplanation, WaitExplanation

#: Maximum number of jobs that a sentence names before it counts the others.
_NAMED = 6


@dataclass(frozen=True, slots=True)
class ExplainedWait:
    """A wait for ``windlass explain``; see :class:`~windlass.results.explanation.Explanation`.

    Parameters
    ----------
    waited
        The job and all decisions while it waited.
    """

    waited: WaitExplanation

    def sentences(self) -> tuple[str, ...]:
        """Return :func:`waiting_sentences`."""
        return waiting_sentences(self.waited)

    def moments(self, everything: bool) -> tuple[str, ...]:
        """Return :func:`moment_lines`; none for a job that did not wait."""
        return moment_lines(self.waited, everything) if self.waited.wait > 0 else ()

    def tree(self) -> dict[str, Any]:
        """Return everything as plain values."""
        waited = self.waited
        found = {"sentences": self.sentences(), **asdict(waited)}
        named = found.pop("job_ids")
        if waited.calendar is None:
            del found["calendar"]
        return {**found, "job_id": waited.name(waited.job), "job_ids": named} if named else found

    def check(self, where: str, row: dict[str, Any]) -> str:
        """Return how the start differs from that in the table; empty if it does not."""
        if self.waited.start == row["start_s"]:
            return ""
        then = duration(row["start_s"] - row["submit_s"])
        return f"{where} waits {duration(self.waited.wait)} in the replay and {then} in the tables"


def waiting_sentences(waited: WaitExplanation) -> tuple[str, ...]:
    """Return sentences on a wait: the job's request, the site's state, jobs started meanwhile, promises and the end.

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
    Job 7 requested 3 of 4 processors for 1 min.
    It started immediately: fits.
    """
    wanted = _and([f"{waited.procs:,} of {counted(waited.processors, 'processor')}", *waited.beside])
    request = f"Job {waited.name(waited.job)} requested {wanted} for {duration(waited.request)}"
    if waited.expected != waited.request:
        request += f", and was expected to run for {duration(waited.expected)}"
    if waited.wait == 0:
        dates = filter(None, [_dates(waited)])
        return f"{request}.", *dates, f"It started immediately: {waited.why}."
    return tuple(
        line
        for line in (
            f"{request}.",
            _dates(waited),
            f"It waited {duration(waited.wait)}, over {counted(len(waited.moments), 'scheduling decision')}.",
            _at_submission(waited),
            _overtaken(waited),
            _room(waited),
            _promised(waited),
            _started(waited),
        )
        if line
    )


def moment_lines(waited: WaitExplanation, everything: bool = False) -> tuple[str, ...]:
    """Return a line for each decision that changed something for the job: the jobs that it started, or a new promise.

    Parameters
    ----------
    waited
        The job and all decisions while it waited.
    everything
        Whether to include decisions that changed nothing for the job.

    Examples
    --------
    >>> started = (StartExplanation(7, 3, True, "fits"),)
    >>> moment = Moment(at=5.0, place=0, idle=4, left=1, running=0, ended=(), started=started)
    >>> moment_lines(WaitExplanation(7, 3, 4, 5.0, 5.0, 60.0, 60.0, "fits", (moment,)))
    ('after 0 s: job 7 starts (fits); 1 processor stays idle.',)
    """
    lines: list[str] = []
    before: Moment | None = None
    for moment in waited.moments:
        changes = list(_changes(moment, before, waited))
        if not changes and not everything:
            before = moment
            continue
        since = "after " + duration(moment.at - waited.submit)
        idle = f"{counted(moment.left, 'processor')} {'stays' if moment.left == 1 else 'stay'} idle"
        lacks = [f"it lacks {_and(moment.short)}"] if waited.beside and moment.short else []
        lines.append(f"{since}: {'; '.join([*(changes or ['no job starts']), idle, *lacks])}.")
        before = moment
    return tuple(lines)


def _changes(moment: Moment, before: Moment | None, waited: WaitExplanation) -> Iterator[str]:
    if before is not None and moment.place == 0 < before.place:
        yield "no earlier job is waiting any more"
    for why in dict.fromkeys(each.why for each in moment.started if each.job != waited.job):
        same_reason = [each for each in moment.started if each.why == why and each.job != waited.job]
        for ahead in (True, False):
            jobs = [each for each in same_reason if each.before == ahead]
            if jobs:
                start = "starts" if len(jobs) == 1 else "start"
                yield f"{'earlier' if ahead else 'later'} {_jobs(waited, [each.job for each in jobs])} {start} ({why})"
    if any(each.job == waited.job for each in moment.started):
        yield f"job {waited.name(waited.job)} starts ({waited.why})"
    elif (promise := _new_promise(moment, before, waited.submit)) is not None:
        yield promise


def _new_promise(moment: Moment, before: Moment | None, submit: float) -> str | None:
    """Return a clause on the promise if it has changed; else None."""
    old = math.nan if before is None else before.promise
    if math.isnan(moment.promise) or moment.promise == old:
        return None
    if math.isinf(moment.promise):
        return "no start can be promised, because the job is wider than what is left of the site"
    return f"a start is promised within {duration(moment.promise - submit)} of submission"


def _dates(waited: WaitExplanation) -> str:
    """Return the dates of submission and start, on the clock of the log; empty without a calendar."""
    calendar = waited.calendar
    if calendar is None:
        return ""
    submitted, started = calendar.text(waited.submit), calendar.text(waited.start)
    if submitted == started:
        return f"It was submitted and started on {started} ({calendar.zone_text})."
    return f"It was submitted on {submitted} and started on {started} ({calendar.zone_text})."


def _at_submission(waited: WaitExplanation) -> str:
    first = waited.moments[0]
    idle = f"{counted(first.idle, 'processor')} {_were(first.idle)} idle"
    running = (
        f"{counted(first.running, 'job') if first.running else 'no job'} {_were(first.running or 1)} running"
    )
    earlier = counted(first.place, "earlier job") if first.place else "no earlier job"
    ahead = f"{earlier} {_were(first.place or 1)} waiting"
    return f"At submission, {idle}, {running}, and {ahead}."


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _overtaken(waited: WaitExplanation) -> str:
    """Return a sentence on the other jobs that started while the job waited."""
    others = [each for moment in waited.moments for each in moment.started if each.job != waited.job]
    if not others:
        return "No other job started meanwhile."
    earlier = [each for each in others if each.before]
    later = [each for each in others if not each.before]
    parts = [
        f"{counted(len(jobs), f'{when} job')} ({_reasons(jobs)})"
        for jobs, when in ((earlier, "earlier"), (later, "later"))
        if jobs
    ]
    return f"Meanwhile the policy started {' and '.join(parts)}."


def _reasons(jobs: list[StartExplanation]) -> str:
    found = Counter(each.why for each in jobs)
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{count:,} {why}" for why, count in found.most_common())


def _room(waited: WaitExplanation) -> str:
    """Return a sentence on how long too few processors were idle, and how long the policy kept enough for others."""
    if waited.beside:
        return _shortages(waited)
    kept = sum(
        later.at - moment.at
        for moment, later in itertools.pairwise(waited.moments)
        if moment.left >= waited.procs
    )
    few = waited.wait - kept
    if not kept:
        return "Throughout the wait, fewer processors were idle than the job requested."
    enough = f"for {duration(kept)}, enough were idle, but the policy kept them for other jobs"
    return (
        f"For {duration(few)}, too few processors were idle; {enough}." if few else f"{enough.capitalize()}."
    )


def _shortages(waited: WaitExplanation) -> str:
    """Return a sentence on how long the job lacked which resources, the longest time first."""
    lengths: Counter[tuple[str, ...]] = Counter()
    for moment, later in itertools.pairwise(waited.moments):
        lengths[moment.short] += later.at - moment.at  # type: ignore[assignment]
    parts = [
        f"for {duration(length)}, it lacked {_and(short)}"
        if short
        else f"for {duration(length)}, its whole request was idle, but the policy kept it for other jobs"
        for short, length in lengths.most_common()
        if length
    ]
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _and(parts: Sequence[str]) -> str:
    """Join parts, as in ``a``, ``a and b`` and ``a, b and c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _promised(waited: WaitExplanation) -> str:
    made = [moment for moment in waited.moments if not math.isnan(moment.promise)]
    if not made:
        return ""
    first = made[0]
    moved = sum(one.promise != two.promise for one, two in itertools.pairwise(made))
    when = "At submission" if first is waited.moments[0] else f"After {duration(first.at - waited.submit)}"
    if math.isinf(first.promise):
        return (
            f"{when}, no start could be promised, because the job was wider than what was left of the site."
        )
    promised = (
        f"{when}, the policy promised a start within {duration(first.promise - waited.submit)} of submission"
    )
    gain = first.promise - waited.start
    when = f"{duration(abs(gain))} {'before' if gain > 0 else 'after'}" if gain else "exactly at"
    if not moved:
        return f"{promised}; the job started {when} the promised time."
    times = "once" if moved == 1 else f"{moved:,} times"
    return f"{promised}; the promise changed {times}, and the job started {when} the first promised time."


def _started(waited: WaitExplanation) -> str:
    last = waited.moments[-1]
    when = f" when {_jobs(waited, last.ended)} ended" if last.ended else ""
    return f"It started{when}: {waited.why}."


def _jobs(waited: WaitExplanation, numbers: Sequence[int]) -> str:
    """List jobs, as in ``job 4``, ``jobs 4 and 7`` and ``jobs 1, 2, 3, 4, 5, 6 and 10 more``."""
    names = [waited.name(number) for number in numbers]
    if len(names) > _NAMED + 1:
        names = [*names[:_NAMED], f"{len(names) - _NAMED:,} more"]
    return f"job {names[0]}" if len(names) == 1 else f"jobs {', '.join(names[:-1])} and {names[-1]}"
