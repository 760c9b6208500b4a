"""What runs and what waits now, of each engine: for the page Now, and for the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from windlass.control.journal import JournalReader
from windlass.control.journal.reader import SeenStatus
from windlass.control.site_status import JobState, SiteStatus, status_from_text


@dataclass(frozen=True, slots=True)
class SiteJob:
    """A job and its site; the site of a load over all sites is empty."""

    site: str
    job: JobState


@dataclass(frozen=True, slots=True)
class EngineSummary:
    """The state of an engine, over some of its sites.

    Parameters
    ----------
    seen
        Its condition.
    sites
        Names of all its sites.
    statuses
        The state of each of the chosen sites, with its name.
    """

    seen: SeenStatus
    sites: tuple[str, ...]
    statuses: tuple[tuple[str, SiteStatus], ...]

    @property
    def name(self) -> str:
        """Name of the engine."""
        return self.seen.status.engine

    @property
    def now(self) -> float:
        """Time of the engine's clock, s."""
        return self.seen.status.time

    @property
    def waiting(self) -> list[SiteJob]:
        """The listed waiting jobs, the longest waiting first."""
        jobs = [SiteJob(site, job) for site, status in self.statuses for job in status.waiting]
        return sorted(jobs, key=lambda each: each.job.since)

    @property
    def running(self) -> list[SiteJob]:
        """The listed running jobs, the latest started first."""
        jobs = [SiteJob(site, job) for site, status in self.statuses for job in status.running]
        return sorted(jobs, key=lambda each: -each.job.since)

    @property
    def waiting_count(self) -> int:
        """The number of waiting jobs."""
        return sum(status.waiting_count for _, status in self.statuses)

    @property
    def running_count(self) -> int:
        """The number of running jobs."""
        return sum(status.running_count for _, status in self.statuses)

    @property
    def lists_jobs(self) -> bool:
        """False if the jobs of its sites are counted only, or not known."""
        return not self.statuses or any(status.lists_jobs for _, status in self.statuses)

    @property
    def accepting(self) -> str:
        """Of the machines of agents, how many accept tasks; empty if there is none of an agent."""
        found = [status.accepting for _, status in self.statuses if status.accepting is not None]
        some, all_of = (sum(each[place] for each in found) for place in (0, 1))
        return f"{some:,} of {all_of:,}" if found else ""

    @property
    def cores(self) -> int:
        """The cores that are up."""
        return sum(status.cores for _, status in self.statuses)

    @property
    def held(self) -> int:
        """The cores that loads hold."""
        return self.cores - sum(status.idle for _, status in self.statuses)

    @property
    def note(self) -> str:
        """A sentence on work that is not listed; empty if there is none."""
        notes = [f"{site or 'all sites'}: {status.note}" for site, status in self.statuses if status.note]
        return f"Not listed: {'; '.join(notes)}." if notes else ""


def summaries(
    reader: JournalReader, engine: str | None = None, site: str | None = None
) -> tuple[EngineSummary, ...]:
    """Return the state of each engine.

    Parameters
    ----------
    reader
        The journal.
    engine, site
        Only this engine and this site; None for all.

    Raises
    ------
    InputError
        The journal cannot be read, or a view in it is not the state of a site.
    """
    views = reader.views()
    found = []
    for seen in reader.engines():
        if engine in (None, seen.status.engine):
            own = [view for view in views if view.engine == seen.status.engine]
            statuses = [
                (view.site, status_from_text(view.content)) for view in own if site in (None, view.site)
            ]
            found.append(EngineSummary(seen, tuple(view.site for view in own), tuple(statuses)))
    return tuple(found)
