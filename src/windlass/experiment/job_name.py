"""The name of a job in the table of a run: its number, and where several loads have their own numbers, its load."""

from __future__ import annotations

import re
from dataclasses import dataclass

from windlass.model.errors import ParameterError

_FORM = re.compile(r"(?:(?P<load>[^@/\s]+)(?:@(?P<site>[^@/\s]+))?/)?(?P<number>-?\d+)")


@dataclass(frozen=True, slots=True)
class JobName:
    """A job's number, with its load and site if the table has these columns.

    Parameters
    ----------
    number
        The number.
    load, site
        The load, and the site of a load that each site has separately; else empty.

    Examples
    --------
    >>> JobName.parse("17"), JobName.parse("batch@iowa/17").site, str(JobName.parse("etl/3"))
    (JobName(number=17, load='', site=''), 'iowa', 'etl/3')
    """

    number: int
    load: str = ""
    site: str = ""

    @staticmethod
    def parse(text: str) -> JobName:
        """Read a name.

        Raises
        ------
        ParameterError
            It has none of the three forms.
        """
        found = _FORM.fullmatch(text)
        if found is None:
            raise ParameterError(
                "job", f"{text!r} names no job, expected a number as in 17, or etl/3 or batch@iowa/17"
            )
        return JobName(int(found["number"]), found["load"] or "", found["site"] or "")

    @property
    def group(self) -> str:
        """The load with its site, such as ``batch@iowa``; empty for a number alone."""
        return f"{self.load}@{self.site}" if self.site else self.load

    def __str__(self) -> str:
        return f"{self.group}/{self.number}" if self.load else str(self.number)
