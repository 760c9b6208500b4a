"""The name of a job in the table of a run: its identifier or number, with its load if there are several."""

from __future__ import annotations

import re
from dataclasses import dataclass

from windlass.model.errors import ParameterError

_FORM = re.compile(r"(?:(?P<load>[^@/\s]+)(?:@(?P<site>[^@/\s]+))?/)?(?P<own>[^\s](?:.*[^\s])?)")
_NUMBER = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class JobName:
    """A job's identifier or number, with its load and site if the table has these columns.

    Parameters
    ----------
    text
        The whole name.
    own
        Its last part: the job's identifier in the log, or its number in the table.
    load, site
        The load, and the site of a load that each site has separately; else empty.
    by_number
        Whether ``own`` can only be a number of the table, as in ``#17``.

    Examples
    --------
    >>> JobName.parse("17").number, JobName.parse("batch@iowa/17").site, JobName.parse("102_7").number
    (17, 'iowa', None)
    """

    text: str
    own: str
    load: str = ""
    site: str = ""
    by_number: bool = False

    @staticmethod
    def parse(text: str) -> JobName:
        """Read a name: ``17``, ``102_7``, ``#17``, ``etl/3`` or ``batch@iowa/102_7``.

        Raises
        ------
        ParameterError
            It is empty, or ``#`` is not followed by a number.
        """
        found = _FORM.fullmatch(text.strip())
        own = "" if found is None else found["own"]
        marked = own.startswith("#") and _NUMBER.fullmatch(own[1:]) is not None
        if found is None:
            raise ParameterError(
                "job",
                f"{text!r} names no job, expected an identifier of the log as in 102_7, "
                "a number as in 17, or etl/3 or batch@iowa/17",
            )
        return JobName(
            text.strip(), own[1:] if marked else own, found["load"] or "", found["site"] or "", marked
        )

    @property
    def number(self) -> int | None:
        """The number; None for an identifier that is no number."""
        return int(self.own) if _NUMBER.fullmatch(self.own) else None

    @property
    def group(self) -> str:
        """The load with its site, such as ``batch@iowa``; empty for a name without a load."""
        return f"{self.load}@{self.site}" if self.site else self.load

    def __str__(self) -> str:
        return self.text
