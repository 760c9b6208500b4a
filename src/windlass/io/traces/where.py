"""The records of a log for which a user's condition is true."""

from __future__ import annotations

import re

import polars as pl

from windlass.io.traces.columns import quote
from windlass.io.traces.where_terms import Term, terms_of
from windlass.model import InputError

# SQL reserves these words, but many logs have columns of these names. Quoted text is matched first and stays unchanged.
_RESERVED = re.compile(r"""("[^"]*"|'[^']*')|\b(user|group|cluster)\b""", re.IGNORECASE)

#: Words and signs that nest expressions, outside of quoted text.
_OPERATORS = re.compile(r"\b(?:AND|OR|NOT|CASE)\b|[-+*/%|(]", re.IGNORECASE)
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")
#: Polars evaluates nested expressions by recursion, which ends the process at several thousand levels.
_MOST = 1000
#: Conditions with more operators are evaluated term by term, in linear time.
_FEW = 100
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
        An SQL expression over their columns, with any number of terms.

    Raises
    ------
    InputError
        The condition cannot be evaluated.

    Examples
    --------
    >>> matching("log", pl.DataFrame({"user": [7, 8]}), "user > 7")["user"].to_list()
    [8]
    """
    try:
        if _operators(where) <= _FEW:
            return records.filter(_expression(where))
        terms = terms_of(where)
        for term in terms:
            _check_size(name, term.text)
        return records.filter(_mask(records, terms))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = next(iter(str(error).splitlines()), "no reason given")[:_SHOWN]
        shown = quote(where, _SHOWN)
        raise InputError(f"{name}: where is {shown}, expected an SQL condition: {reason}") from error


def shortened(where: str) -> str:
    """Return a condition for a note: on one line, and truncated.

    >>> shortened("run >  5"), len(shortened("run > 5 OR " * 900))
    ('run > 5', 200)
    """
    whole = " ".join(where.split())
    return whole if len(whole) <= _SHOWN else whole[: _SHOWN - 1] + "…"


def _operators(text: str) -> int:
    return len(_OPERATORS.findall(_QUOTED.sub("", text)))


def _expression(text: str) -> pl.Expr:
    return pl.sql_expr(_RESERVED.sub(lambda match: match[1] or f'"{match[2]}"', text))


def _check_size(name: str, term: str) -> None:
    count = _operators(term)
    if count > _MOST:
        raise InputError(
            f"{name}: where is {quote(term)} and has {count:,} operators, expected at most {_MOST:,} in one term; "
            "AND and OR may join any number of terms"
        )


def _mask(records: pl.DataFrame, terms: list[Term]) -> pl.Series:
    """Return the value of a condition for each record, from its terms and operators in postfix order."""
    found: list[pl.Series] = []
    for term in terms:
        match term.operator:
            case "NOT":
                found.append(~found.pop())
            case "AND":
                last = found.pop()
                found.append(found.pop() & last)
            case "OR":
                last = found.pop()
                found.append(found.pop() | last)
            case _:
                # A constant is repeated for each record.
                own = records.select(
                    pl.first().is_null().alias("other"), _expression(term.text).alias("own")
                )["own"]
                if own.dtype not in (pl.Boolean, pl.Null):
                    raise pl.exceptions.InvalidOperationError(
                        f"{quote(term.text)} is {own.dtype}, expected a condition"
                    )
                found.append(own.cast(pl.Boolean))
    return found[0]
