"""The terms that AND, OR and NOT join in an SQL condition of any length, without recursion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

_TOKEN = re.compile(r"""'[^']*'|"[^"]*"|[()]|\w+|\s+|--|/\*|.""", re.DOTALL)
_BINDS = {"OR": 1, "AND": 2, "NOT": 3}


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a condition, or an operator of the terms before it.

    Parameters
    ----------
    text
        SQL of the term; empty for an operator.
    operator
        ``AND``, ``OR`` or ``NOT``; empty for a term.
    """

    text: str
    operator: str = ""


def terms_of(condition: str) -> list[Term]:
    """Return terms and operators in postfix order: the operands of an operator precede it.

    AND binds more tightly than OR, and NOT more tightly than AND. Parentheses around a condition are resolved; those of
    arithmetic, of functions and of lists remain in their term. Time and memory are linear in the length.

    Parameters
    ----------
    condition
        An SQL condition.

    Raises
    ------
    polars.exceptions.SQLSyntaxError
        Parentheses do not match, an operand is missing, or there is a comment.

    Examples
    --------
    >>> [each.operator or each.text for each in terms_of("a > 1 OR NOT (b IN (2, 3) AND c BETWEEN 4 AND 5)")]
    ['a > 1', 'b IN (2, 3)', 'c BETWEEN 4 AND 5', 'AND', 'NOT', 'OR']
    """
    found: list[Term] = []
    waiting: list[str] = []
    operand = False
    for term in _infix(condition):
        if not term.operator or term.operator == ")":
            if operand is not (term.operator == ")"):
                raise _wrong(
                    "a condition is missing" if not operand else f"no operator precedes {term.text!r}"
                )
            operand = True
            if not term.operator:
                found.append(term)
                continue
            while waiting and waiting[-1] != "(":
                found.append(Term("", waiting.pop()))
            if not waiting:
                raise _wrong("a parenthesis is closed that is not open")
            waiting.pop()
        elif term.operator in ("(", "NOT"):
            if operand:
                raise _wrong(f"no operator precedes {term.operator}")
            waiting.append(term.operator)
        else:
            if not operand:
                raise _wrong(f"no condition precedes {term.operator}")
            operand = False
            while waiting and waiting[-1] != "(" and _BINDS[waiting[-1]] >= _BINDS[term.operator]:
                found.append(Term("", waiting.pop()))
            waiting.append(term.operator)
    if not operand:
        raise _wrong("no condition is at the end")
    while waiting:
        if waiting[-1] == "(":
            raise _wrong("a parenthesis is not closed")
        found.append(Term("", waiting.pop()))
    return found


def _wrong(reason: str) -> pl.exceptions.SQLSyntaxError:
    return pl.exceptions.SQLSyntaxError(reason)


def _infix(condition: str) -> Iterator[Term]:
    """Yield terms, and the operators ``(``, ``)``, ``AND``, ``OR`` and ``NOT`` between them."""
    tokens: list[str] = _TOKEN.findall(condition)
    if "--" in tokens or "/*" in tokens:
        raise _wrong("comments are not expected in a long condition")
    words = [each.upper() for each in tokens]
    joins = _joining(words)
    begin = 0
    for at, kind in enumerate(joins):
        if kind:
            text = "".join(tokens[begin:at]).strip()
            if text:
                yield Term(text)
            yield Term("", words[at])
            begin = at + 1
    text = "".join(tokens[begin:]).strip()
    if text:
        yield Term(text)


def _joining(words: list[str]) -> list[bool]:
    """Return for each token whether it joins or groups conditions."""
    closing = _closing(words)
    joins = [False] * len(words)
    filled = [at for at, word in enumerate(words) if not word.isspace()]
    #: Position behind which tokens belong to a condition again.
    inside, cases, between, first, distinct = -1, 0, False, True, False
    for at in filled:
        word = words[at]
        if at <= inside:
            continue
        if word == "CASE":
            cases += 1
        elif word == "END" and cases:
            cases -= 1
        elif cases:
            pass
        elif word == "BETWEEN":
            between = True
        elif word == "DISTINCT":
            distinct = True
        elif word == "AND" and between:
            between = False
        elif word in ("AND", "OR") and distinct:
            # Polars compares with all that follows.
            raise _wrong("expected parentheses around a comparison with DISTINCT FROM")
        elif word in ("AND", "OR") or (word == "NOT" and first):
            joins[at], first = True, True
            continue
        elif word == "(":
            end = closing.get(at)
            if end is None:
                raise _wrong("a parenthesis is not closed")
            if first and _ends_condition(words, end):
                joins[at] = joins[end] = True
                continue
            inside = end
        elif word == ")":
            joins[at], distinct = True, False
            continue
        first = False
    return joins


def _ends_condition(words: list[str], at: int) -> bool:
    """Return whether a condition ends after a parenthesis: an operator, another parenthesis or nothing follows."""
    following = at + 1
    while following < len(words) and words[following].isspace():
        following += 1
    return following == len(words) or words[following] in ("AND", "OR", ")")


def _closing(words: list[str]) -> dict[int, int]:
    """Return the position of the parenthesis that closes each."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for at, word in enumerate(words):
        if word == "(":
            opened.append(at)
        elif word == ")":
            if not opened:
                raise _wrong("a parenthesis is closed that is not open")
            found[opened.pop()] = at
    return found
