"""Plotly's script without what the figures of a page do not use: maps, three dimensions, and most kinds of traces."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: The releases of Plotly's script whose shortened form is tested in a browser. Others are used in full.
_TESTED = ("4.1.1",)
_VERSION = re.compile(r"plotly\.js v(\S+)")
_BODY = re.compile(r"var Plotly=\(\(\)=>\{(.*)return [\w$]+\(\);\}\)\(\);", re.S)
#: The call that makes all kinds of traces known. The kind ``scatter`` is known without it.
_REGISTER = re.compile(r"([\w$]+)\.register\(\[[\w$(),]+\]\);(?=[\w$]+\.exports=\1)")
#: What may contain brackets that are none of the program: comments, strings, templates and regular expressions; and
#: the characters that divide statements.
_TOKEN = re.compile(
    r"""/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"""
    r"""|`(?:\\.|[^`\\$]|\$(?!\{)|\$\{(?:[^{}`]|`(?:\\.|[^`\\])*`|\{[^{}]*\})*\})*`"""
    r"""|(?:(?<=[(,=:\[!&|?{};+*%~^<>-])|(?<=return)|(?<=case\ ))/(?![*/])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[\n])+/"""
    r"""|//[^\n]*|[(){}\[\];,]""",
    re.S,
)
_WORD = re.compile(r"[\w$]+")
_DECLARATION = re.compile(r"(?:async )?(?:function\*?|class|var|let|const)\s+([\w$]+)")
#: A call that only adds names to an object, such as the exports of a module.
_ADDITION = re.compile(r"[\w$]+\(([\w$]+),\{")
_NEXT = re.compile(r"(?:async )?function\b|class |var |let |const |[\w$]+\(")


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement of a script, and the names that it declares; none if it has an effect without its names."""

    text: str
    names: tuple[str, ...]


def scatter_only(script: str) -> str:
    """Return the part of Plotly's script that draws scatter traces, the only kind in pages.

    The script consists of statements that declare modules. Those that none of the others mentions are left out. A
    release that was not tested is returned unchanged.

    Parameters
    ----------
    script
        Plotly's script, as ``plotly.offline.get_plotlyjs`` returns it.

    Examples
    --------
    >>> scatter_only("an unknown script")
    'an unknown script'
    """
    found = _VERSION.search(script)
    return used_part(script) if found is not None and found[1] in _TESTED else script


def used_part(script: str) -> str:
    """Return a script in the form of Plotly's without the statements that draw other traces than scatter.

    Parameters
    ----------
    script
        The script; one of another form is returned unchanged.

    Examples
    --------
    >>> used_part("var Plotly=(()=>{var a=1;var b=2;function c(){return a};return c();})();")
    'var Plotly=(()=>{var a=1;function c(){return a};return c();})();'
    """
    shorter = _REGISTER.sub(r"\1.register([]);", script)
    body = _BODY.search(shorter)
    statements = None if body is None else _statements(body[1])
    if body is None or statements is None:
        return script
    begin, end = body.span(1)
    rest = shorter[:begin] + shorter[end:]
    return shorter[:begin] + "".join(_reached(statements, rest)) + shorter[end:]


def _statements(body: str) -> tuple[_Statement, ...] | None:
    """Return the statements of a function's body; None if the brackets do not match."""
    depth, begin, commas = 0, 0, []
    found = []
    for token in _TOKEN.finditer(body):
        sign = token[0]
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth < 0:
                return None
        if depth == 0 and sign == ",":
            commas.append(token.end())
        elif depth == 0 and (sign == ";" or (sign == "}" and _NEXT.match(body, token.end()))):
            found.append(_statement(body, begin, token.end(), commas))
            begin, commas = token.end(), []
    if depth != 0:
        return None
    return (*found, _Statement(body[begin:], ()))


def _statement(body: str, begin: int, end: int, commas: list[int]) -> _Statement:
    declared = _DECLARATION.match(body, begin) or _ADDITION.match(body, begin)
    names = () if declared is None else (declared[1], *_names_at(body, commas))
    return _Statement(body[begin:end], names)


def _names_at(body: str, places: list[int]) -> list[str]:
    return [word[0] for place in places if (word := _WORD.match(body, place)) is not None]


def _reached(statements: tuple[_Statement, ...], rest: str) -> list[str]:
    """Return the texts of the statements that the rest of the script needs, in their order."""
    declaring: dict[str, list[int]] = {}
    for number, each in enumerate(statements):
        for name in each.names:
            declaring.setdefault(name, []).append(number)
    reached = {number for number, each in enumerate(statements) if not each.names}
    texts = [rest, *(statements[number].text for number in reached)]
    while texts:
        for word in set(_WORD.findall(texts.pop())) & declaring.keys():
            for number in declaring.pop(word):
                if number not in reached:
                    reached.add(number)
                    texts.append(statements[number].text)
    return [statements[number].text for number in sorted(reached)]
