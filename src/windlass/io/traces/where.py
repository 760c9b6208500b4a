"""The records of a log for which a user's condition is true."""

from __future__ import annotations

import re

import polars as pl

from windlass.io.traces.columns import quote
from windlass.model import InputError

# SQL reserves these words, but many logs have columns of these names. Quoted text is matched first and stays unchanged.
_RESERVED = re.compile(r"""("[^"]*"|'[^']*')|\b(user|group|cluster)\b""", re.IGNORECASE)

#: Words and signs that nest expressions, outside of quoted text.
_OPERATORS = re.compile(r"\b(?:AND|OR|NOT|CASE)\b|[-+*/%|(]", re.IGNORECASE)
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")
#: Polars evaluates nested expressions by recursion, which ends the process at several thousand levels.
_MOST = 1000
_SHOWN = 200


def matching(name: str, records: pl.DataFrame, where: str) -> pl.DataFrame:
    """Return the records for which a condition is true.

    Parameters
    ----------
    name
        The name of the log, for errors.
    records
        Its records.
    where
        An SQL expression over their columns.

    Raises
    ------
    InputError
        The condition cannot be evaluated.

    Examples
    --------
    >>> matching("log", pl.DataFrame({"user": [7, 8]}), "user > 7")["user"].to_list()
    [8]
    """
    operators = len(_OPERATORS.findall(_QUOTED.sub("", where)))
    if operators > _MOST:
        raise InputError(
            f"{name}: where is {quote(where)} and has {operators:,} operators, expected at most {_MOST:,}; "
            "one condition such as user IN ('ann', 'bob') may list any number of values"
        )
    quoted = _RESERVED.sub(lambda match: match[1] or f'"{match[2]}"', where)
    try:
        return records.filter(pl.sql_expr(quoted))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = next(iter(str(error).splitlines()), "no reason given")[:_SHOWN]
        shown = quote(where, _SHOWN)
        raise InputError(f"{name}: where is {shown}, expected an SQL condition: {reason}") from error
