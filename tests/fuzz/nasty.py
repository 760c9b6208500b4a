"""Changes that make valid input invalid or unusual."""

from __future__ import annotations

import random
import re
from typing import Any

import yaml

#: Replacements of a word or a number.
WORDS = (
    "", " ", "-1", "0", "1.5", "1e400", "-1e308", "NaN", "inf", "9" * 30, "9" * 5000, "1e18", "9223372036854775808",
    "-9223372036854775809", "true", "null", "\0", "\x1b[31m", "\u202e", "2024-13-45T99:99:99", "1969-12-31",
    "9999-12-31T23:59:59", "0001-01-01", "99:99:99", "0x10", "1_000", "\u0661\u0662", "[", "{", '"', "'", "\\", ":",
    "#", "a" * 10_000, "../..", "/dev/zero", "/", "[/b]", "[red]", "%s%n", "\r", "\ufeff", "\ud800", "&a *a", "!!int x",
)  # fmt: skip
#: Replacements of a value in a tree.
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 0.5, 10**12, 10**400, -(10**30), 1e308, -1e-300, float("nan"), float("inf"), "", "x", "\x1b[2J",
    "a" * 3000, "\0", [], {}, [[]], [None], {"a": {"b": 1}}, [1, "x"], "2024-13-45", "/dev/zero", "/nowhere/x", "1",
    b"x",
)  # fmt: skip


def bytes_of(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogatepass")


def corrupted(text: str, rng: random.Random) -> bytes:
    """A text with one to three changes; mostly one, because the first detected error hides the others."""
    data = bytes_of(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(_CHANGES)(data, rng)
    return data


def _word(data: bytes, rng: random.Random) -> bytes:
    words = list(re.finditer(rb"[\w.+:-]+", data))
    if not words:
        return data
    found = rng.choice(words)
    return data[: found.start()] + bytes_of(rng.choice(WORDS)) + data[found.end() :]


def _inserted(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + bytes_of(rng.choice(WORDS)) + data[at:]


def _byte(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(max(len(data), 1))
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def _gap(data: bytes, rng: random.Random) -> bytes:
    first, last = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
    return data[:first] + data[last:]


def _lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(3)
    if how == 0:
        lines[at : at + 1] = [lines[at]] * rng.choice((2, 1000))
    elif how == 1:
        lines[at], lines[to] = lines[to], lines[at]
    else:
        del lines[at]
    return b"\n".join(lines)


_CHANGES = (_word, _word, _word, _inserted, _byte, _cut, _gap, _lines)


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of each value of a tree, inner nodes included."""
    below = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    found = [path] if path else []
    for key, value in below:
        found += places(value, (*path, key))
    return found


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def put(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of a tree with another value at a path."""
    if not path:
        return value
    copied = dict(tree) if isinstance(tree, dict) else list(tree)
    copied[path[0]] = put(copied[path[0]], path[1:], value)
    return copied


def without(tree: Any, path: tuple[Any, ...]) -> Any:
    """A copy of a tree without the value at a path."""
    copied = dict(tree) if isinstance(tree, dict) else list(tree)
    if len(path) == 1:
        del copied[path[0]]
    else:
        copied[path[0]] = without(copied[path[0]], path[1:])
    return copied


def numbers(tree: Any) -> list[tuple[Any, ...]]:
    """The paths of numbers, without truth values."""
    return [path for path in places(tree) if type(at(tree, path)) in (int, float)]


def dumped(tree: Any) -> str:
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)
