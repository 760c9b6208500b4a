"""A strict YAML reader.

Plain YAML may contain itself, expand a few lines with aliases to more values than fit into memory, and repeat a key, of
which the last one silently wins. This reader rejects all three and returns a tree of values of limited size.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from windlass.model import InputError
from windlass.model.limits import YAML_BYTES, YAML_VALUES
from windlass.model.nearest import did_you_mean

#: Maximum depth; hand-written files are not deeper, and Python's recursion limit is a thousand.
_DEEPEST = 50
#: Octal and base-60 numbers, such as 010 and 1:30, which users rarely intend.
_ODD_NUMBER = re.compile(r"[-+]?(0[0-7_]+|[\d_]+(:\d+)+)")
#: Maximum size of a whole number, bits.
_BITS = 64


def read_yaml(path: Path) -> Any:
    """Read the plain values of a YAML file.

    Raises
    ------
    InputError
        The file cannot be read, is too large, or is rejected by :func:`parse_yaml`; names file and line.
    """
    try:
        if path.exists() and not path.is_file():
            kind = "is a directory" if path.is_dir() else "is not a regular file"
            raise InputError(f"{path}: cannot be read: {kind}, expected a file")
        YAML_BYTES.check(path.stat().st_size, str(path))
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text") from error
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file{did_you_mean(path.name, _files_next_to(path))}") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return parse_yaml(text, str(path))


def _files_next_to(path: Path) -> list[str]:
    """Return the names of the YAML files in a file's folder; none if there is no such folder."""
    try:
        return [each.name for each in path.parent.iterdir() if each.suffix in (".yaml", ".yml")]
    except OSError:
        return []


def parse_yaml(text: str, source: str) -> Any:
    """Parse a YAML text into plain values.

    Parameters
    ----------
    text
        The text, one document.
    source
        Name of the text in error messages.

    Returns
    -------
    Any
        Mappings, lists, texts, numbers, booleans, dates and None; None for an empty text.

    Raises
    ------
    InputError
        The text is not YAML, repeats a key, has a value that contains itself or an invalid date or number, or is too
        deep or too large; names source and line.

    Examples
    --------
    >>> parse_yaml("a: [1, 2]", "s.yaml")
    {'a': [1, 2]}
    >>> parse_yaml("a: 1\\na: 2", "s.yaml")
    Traceback (most recent call last):
    windlass.model.errors.InputError: s.yaml, line 2: is not YAML: the key 'a' appears twice
    """
    try:
        return yaml.load(text, _Loader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(
            f"{source}, line {line}: is not YAML: the character {chr(int(error.character))!r} is not allowed"
        ) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}" if mark is not None else ""
        reason = " ".join(" ".join(filter(None, (error.context, error.problem))).split()) or "no reason"
        if r"'\t'" in reason:
            reason += "; indent with spaces in place of tabs"
        raise InputError(f"{source}{where}: is not YAML: {reason}") from error
    except _TooMuch as error:
        raise InputError(f"{source}, line {error.line}: {error}") from error
    except RecursionError as error:
        raise InputError(f"{source}: nested too deeply, expected at most {_DEEPEST} levels") from error


class _TooMuch(Exception):  # noqa: N818 - parse_yaml turns it into an InputError
    def __init__(self, message: str, mark: yaml.Mark) -> None:
        super().__init__(message)
        self.line = mark.line + 1


class _Loader(yaml.SafeLoader):
    """Limits size and depth: each value is measured after its parts, and an alias always follows its anchor."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._inside = 0
        self._composed = 0
        self._most = YAML_VALUES.most()
        #: Of each value: its number of values, itself included, and its depth.
        self._sizes: dict[yaml.Node, tuple[int, int]] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            known = super().compose_node(parent, index)
            if known is not None and known not in self._sizes:
                raise yaml.composer.ComposerError(None, None, "a value contains itself", mark)
            return known
        self._inside += 1
        self._composed += 1
        self._check(self._composed, self._inside, mark)
        node = super().compose_node(parent, index)
        self._inside -= 1
        if node is not None:
            within = [self._sizes[each] for each in _children(node)]
            size = 1 + sum(count for count, _ in within)
            depth = 1 + max((deep for _, deep in within), default=0)
            self._check(size, depth, mark)
            self._sizes[node] = size, depth
        return node

    def _check(self, size: int, depth: int, mark: yaml.Mark) -> None:
        if depth > _DEEPEST:
            raise _TooMuch(f"nested {depth} levels deep, expected at most {_DEEPEST}", mark)
        if size > self._most:
            try:
                YAML_VALUES.check(size)
            except InputError as error:
                raise _TooMuch(str(error), mark) from error

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            # The keys of merged mappings, which may repeat, are not expanded yet.
            if isinstance(key, yaml.ScalarNode):
                value = "<<" if key.tag == "tag:yaml.org,2002:merge" else self.construct_object(key)
                if value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {value!r} appears twice", key.start_mark
                    )
                seen.add(value)
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            found = super().construct_object(node, deep)
            if isinstance(found, int) and _ODD_NUMBER.fullmatch(str(node.value)):
                raise yaml.constructor.ConstructorError(
                    None,
                    None,
                    f"{node.value} means {found} in YAML, expected a decimal number or a text in quotes",
                    node.start_mark,
                )
            # Python refuses to print numbers with more than some thousand digits, even in a message.
            if isinstance(found, int) and found.bit_length() > _BITS:
                raise yaml.constructor.ConstructorError(
                    None,
                    None,
                    f"is a number of {found.bit_length()} bits, expected at most {_BITS}",
                    node.start_mark,
                )
            return found
        except (ValueError, OverflowError, LookupError, TypeError, AttributeError) as error:
            raise yaml.constructor.ConstructorError(
                None,
                None,
                f"{str(node.value)[:40]!r} is not a valid date or number ({error})",
                node.start_mark,
            ) from error


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
