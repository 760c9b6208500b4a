"""The rows of a journal, as values. Times are those of the engine's clock, s."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobKey:
    """A job of any engine.

    Parameters
    ----------
    engine
        Name of the engine, unique in the journal.
    site
        The engine's site; empty for an engine or a load over all sites.
    id
        The job's identifier in the engine; empty if a row concerns no single job.

    Examples
    --------
    >>> str(JobKey("slurm", "iowa", "102_7")), str(JobKey("demo", "", "etl/3"))
    ('slurm:iowa:102_7', 'demo::etl/3')
    """

    engine: str
    site: str = ""
    id: str = ""

    def __str__(self) -> str:
        return f"{self.engine}:{self.site}:{self.id}"


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision of a policy about a job, or about a site.

    Parameters
    ----------
    time
        Time of the decision, s.
    job
        The job, or the site with an empty ``id``.
    decision, policy
        The decision, such as ``order``, and the name of its policy.
    answer, reason
        What the policy decided, and why, in words.
    """

    time: float
    job: JobKey
    decision: str
    policy: str
    answer: str
    reason: str


@dataclass(frozen=True, slots=True)
class EventRecord:
    """Something that an engine reported.

    Parameters
    ----------
    time
        Time of the event, s.
    job
        The job, or the site with an empty ``id``.
    kind
        One word, such as ``submitted``, ``started``, ``ended`` or ``error``.
    text
        A line of details; may be empty.
    """

    time: float
    job: JobKey
    kind: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class ViewRecord:
    """The state of an engine's site at a time.

    Parameters
    ----------
    time
        Time of the state, s.
    engine, site
        The engine and its site.
    content
        The state as text, such as JSON; the journal does not read it.
    """

    time: float
    engine: str
    site: str
    content: str


@dataclass(frozen=True, slots=True)
class ActRecord:
    """A change of an engine that is about to be made, or was made.

    Parameters
    ----------
    key
        Idempotency key: two acts of one key are the same act.
    time
        Time of the intent, s.
    job
        The job or the site that changes.
    action
        What is changed, such as ``release``.
    outcome
        The result; None while it is unknown.
    """

    key: str
    time: float
    job: JobKey
    action: str
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class ActionRecord:
    """A change that a person requested; carrying it out may lead to acts of the engine.

    Parameters
    ----------
    key
        Idempotency key: two actions of one key are the same action.
    time
        Time of the intent, s of the engine's clock.
    job
        The job, or the engine with an empty ``id``.
    action
        One word, such as ``pause``.
    by
        Name of the token or of the user.
    reason
        The reason that was given.
    undoes
        Number of the action that this one undoes; None for none.
    outcome
        The result; None while it is unknown. It begins with ``failed`` if nothing was changed.
    number
        Its number in the journal; 0 for one that is not written yet.
    undone
        True if another action has undone it.
    """

    key: str
    time: float
    job: JobKey
    action: str
    by: str
    reason: str
    undoes: int | None = None
    outcome: str | None = None
    number: int = 0
    undone: bool = False


@dataclass(frozen=True, slots=True)
class ActOutcome:
    """The outcome in words of the act, or of the action, with a key, at a time of the engine's clock, s."""

    key: str
    time: float
    outcome: str


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """The condition of an engine; the journal has the latest one of each.

    Parameters
    ----------
    engine
        Name of the engine.
    state
        ``starting``, ``running``, ``unreachable``, ``ended``, ``stopped`` or ``failed``.
    time
        Time of the engine's clock, s.
    about
        A line on what the engine is.
    error
        One line on the failure; empty if there was none.
    """

    engine: str
    state: str
    time: float
    about: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class PredictionRecord:
    """A prediction of when a waiting job starts. All times are those of the engine's clock, s.

    Parameters
    ----------
    time
        Time of the prediction.
    job
        The job.
    low, median, high
        Median of its start, and an interval.
    planned
        Its start by Slurm's rule (``squeue --start``).
    level
        Share of the starts that such intervals shall contain.
    scored
        Earlier predictions by which the interval could be calibrated.
    first
        Whether it is the job's first prediction; only these are scored.
    started
        Start of the job; None while it is unknown.
    """

    time: float
    job: JobKey
    low: float
    median: float
    high: float
    planned: float
    level: float
    scored: int
    first: bool
    started: float | None = None


@dataclass(frozen=True, slots=True)
class StartRecord:
    """The start of a job, at ``time``, by which its predictions are scored."""

    time: float
    job: JobKey


@dataclass(frozen=True, slots=True)
class PredictionsVoided:
    """Predictions of waiting jobs that are not scored: a job was cancelled, or an engine's clock begins again.

    Parameters
    ----------
    time
        Time of the engine's clock, s.
    engine
        The engine.
    job
        The job; None for all jobs of the engine.
    """

    time: float
    engine: str
    job: JobKey | None = None


#: Rows that a writer appends without an acknowledgement.
JournalRow = (
    DecisionRecord
    | EventRecord
    | ViewRecord
    | EngineStatus
    | PredictionRecord
    | StartRecord
    | PredictionsVoided
)
