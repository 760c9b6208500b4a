"""Single-line changes of a source file, found on its syntax tree.

:func:`changes_of` lists every change that it knows how to make in a file. Each is one edit of the source text at one
place. Text that does not decide anything is left alone: docstrings, annotations, decorators,
imports, messages of errors and formatted strings, signatures of compiled functions, and assertions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_NEGATED: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_BOUNDARY: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_OPPOSITE: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "//",
}
#: Functions with a twin that takes the same arguments and returns something else.
_TWIN = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
    "cumsum": "cumprod",
    "flatnonzero": "argsort",
}
#: Their arguments may be given in any order.
_COMMUTATIVE = frozenset(
    {"min", "max", "minimum", "maximum", "hypot", "isclose", "gcd", "logical_and", "add"}
)
#: Calls that declare a compiled function or its types; a change there does not compile, or changes its speed alone.
_DECLARATIONS = frozenset({"types", "Kernel", "opening", "TypeVar", "NewType", "Path", "namedtuple"})
#: Below this, a constant is a tolerance for rounding.
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Change:
    """One edit of one source file.

    Parameters
    ----------
    file
        The file, relative to ``src/windlass``.
    kind
        The rule that made it, for example ``boundary``.
    function
        Qualified name of the function around it; empty at the top of a module.
    line
        Line number in the unchanged file, from 1.
    first, last
        Lines of the statement around it; of a compound statement, its head.
    text
        The line itself, without the space around it.
    start, end
        Range in the unchanged file's UTF-8 bytes.
    old, new
        The text in that range, and its replacement.
    """

    file: str
    kind: str
    function: str
    line: int
    first: int
    last: int
    text: str
    start: int
    end: int
    old: str
    new: str

    def apply(self, source: bytes) -> bytes:
        """Return the file's bytes with the edit made."""
        if source[self.start : self.end] != self.old.encode():
            raise ValueError(f"{self.file}:{self.line}: expected {self.old!r} at byte {self.start}")
        return source[: self.start] + self.new.encode() + source[self.end :]

    def describe(self) -> str:
        """Return one line that names the place and the edit."""
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        where = f"{self.file}:{self.line}" + (f" ({self.function})" if self.function else "")
        return f"{where}: {self.kind}: {_short(old)} -> {_short(new)}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def changes_of(path: Path, root: Path) -> list[Change]:
    """Return all changes of a file, in the order of their place.

    Parameters
    ----------
    path
        A Python file below ``root``.
    root
        The package's folder, ``src/windlass``.
    """
    source = path.read_bytes()
    finder = _Finder(path.relative_to(root).as_posix(), source)
    finder.visit(ast.parse(source))
    unique = {(each.start, each.end, each.new): each for each in finder.found}
    return sorted(unique.values(), key=lambda each: (each.start, each.end, each.new))


def is_valid(change: Change, root: Path) -> bool:
    """True if the changed file is valid Python with another syntax tree."""
    source = (root / change.file).read_bytes()
    try:
        changed = ast.parse(change.apply(source))
    except (SyntaxError, ValueError):
        return False
    return ast.dump(changed) != ast.dump(ast.parse(source))


class _Finder(ast.NodeVisitor):
    """Collects changes while it walks a module."""

    def __init__(self, file: str, source: bytes) -> None:
        self.found: list[Change] = []
        self._file, self._source = file, source
        self._texts = source.decode().splitlines()
        self._statement = (1, 1)
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._scope: list[str] = []
        self._defaults: list[dict[str, str]] = []

    def visit(self, node: ast.AST) -> None:
        """Visit a node, and know which statement it is in."""
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = node.end_lineno or node.lineno
            self._statement = node.lineno, max(node.lineno, body[0].lineno - 1) if body else end
        super().visit(node)

    # Places

    def _range(self, node: ast.AST) -> tuple[int, int]:
        start = self._lines[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        return start, self._lines[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def _text(self, node: ast.AST) -> str:
        start, end = self._range(node)
        return self._source[start:end].decode()

    def _add(self, kind: str, start: int, end: int, new: str) -> None:
        line = self._source.count(b"\n", 0, start) + 1
        old, text = self._source[start:end].decode(), self._texts[line - 1].strip()
        scope, first, last = ".".join(self._scope), *self._statement
        self.found.append(Change(self._file, kind, scope, line, first, last, text, start, end, old, new))

    def _replace(self, kind: str, node: ast.AST, new: str) -> None:
        self._add(kind, *self._range(node), new)

    # Statements

    def _body(self, statements: list[ast.stmt]) -> None:
        for number, statement in enumerate(statements):
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not (number == 0 and is_text):
                self.visit(statement)

    def visit_Module(self, node: ast.Module) -> None:
        self._body(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if any("Protocol" in self._text(base) for base in node.bases):
            return
        self._scope.append(node.name)
        self._body(node.body)
        self._scope.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if node.name == "__repr__":
            return
        self._scope.append(node.name)
        arguments = [*node.args.posonlyargs, *node.args.args]
        pairs = list(zip(arguments[::-1], node.args.defaults[::-1], strict=False))
        pairs += [(a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d]
        for _, default in pairs:
            self.visit(default)
        self._defaults.append({a.arg: self._text(d) for a, d in pairs if isinstance(d, ast.Constant)})
        self._body(node.body)
        self._defaults.pop()
        self._scope.pop()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Import(self, node: ast.Import) -> None: ...
    def visit_ImportFrom(self, node: ast.ImportFrom) -> None: ...
    def visit_Raise(self, node: ast.Raise) -> None: ...
    def visit_Assert(self, node: ast.Assert) -> None: ...
    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(target, (ast.Subscript, ast.Attribute)) for target in node.targets):
            self._replace("dropped statement", node, "pass")
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._replace("dropped statement", node, "pass")
        sign = _OPPOSITE.get(type(node.op))
        if sign is not None:
            between = self._range(node.target)[1], self._range(node.value)[0]
            self._add("sign", *between, f" {sign}= ")
        self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, (ast.Call, ast.Await)):
            self._replace("dropped statement", node, "pass")
        self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" in self._text(node.test) or "__main__" in self._text(node.test):
            return
        leaves = (ast.Return, ast.Raise, ast.Continue, ast.Break)
        if isinstance(node.body[-1], leaves) and not node.orelse:
            self._replace("dropped guard", node.test, "False")
        elif not isinstance(node.test, (ast.Compare, ast.BoolOp)):
            self._replace("condition", node.test, f"not ({self._text(node.test)})")
        self.generic_visit(node)

    # Expressions

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for operator, left, right in zip(node.ops, operands, operands[1:], strict=False):
            between = self._range(left)[1], self._range(right)[0]
            text = self._source[between[0] : between[1]].decode()
            before, after = (")" * text.count(")"), "(" * text.count("("))
            for kind, table in (("comparison", _NEGATED), ("boundary", _BOUNDARY)):
                if type(operator) in table:
                    self._add(kind, *between, f"{before} {table[type(operator)]} {after}")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        sign = _OPPOSITE.get(type(node.op))
        texts = isinstance(node.left, (ast.JoinedStr, ast.Constant)) and not _is_number(node.left)
        texts = texts or (
            isinstance(node.right, (ast.JoinedStr, ast.Constant)) and not _is_number(node.right)
        )
        if sign is not None and not texts:
            between = self._range(node.left)[1], self._range(node.right)[0]
            text = self._source[between[0] : between[1]].decode()
            before, after = (")" * text.count(")"), "(" * text.count("("))
            self._add("sign", *between, f"{before} {sign} {after}")
            self._replace("dropped term", node, f"({self._text(node.left)})")
            if not isinstance(node.op, (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod)):
                self._replace("dropped term", node, f"({self._text(node.right)})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = " and " if isinstance(node.op, ast.And) else " or "
        for left_out in range(len(node.values)):
            kept = [f"({self._text(v)})" for k, v in enumerate(node.values) if k != left_out]
            self._replace("dropped term", node, kept[0] if len(kept) == 1 else f"({word.join(kept)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
            self._replace("sign", node, f"({self._text(node.operand)})")
        if not isinstance(node.operand, ast.Constant):
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        new = f"({self._text(node.orelse)}) if ({self._text(node.test)}) else ({self._text(node.body)})"
        self._replace("swapped branches", node, new)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._replace("constant", node, str(not value))
        elif isinstance(value, int):
            self._replace("constant", node, str(value + 1))
            if value > 0:
                self._replace("constant", node, str(value - 1))
        elif isinstance(value, float) and (value == 0.0 or abs(value) > _TOLERANCE):
            self._replace("constant", node, "1.0" if value == 0.0 else repr(2.0 * value))

    def visit_Name(self, node: ast.Name) -> None:
        default = self._defaults[-1].get(node.id) if self._defaults else None
        if isinstance(node.ctx, ast.Load) and default is not None:
            self._replace("ignored parameter", node, f"({default})")

    def visit_Call(self, node: ast.Call) -> None:
        root: ast.expr = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in _DECLARATIONS:
            return
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        self._twin(node, name)
        if name == "zip":
            # Whether lengths are compared is an assertion, as assert statements are.
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "strict"]
        self._arguments(node, name)
        self.generic_visit(node)

    def _twin(self, node: ast.Call, name: str) -> None:
        if name in _TWIN:
            end = self._range(node.func)[1]
            self._add("function", end - len(name), end, _TWIN[name])
        if name in {"min", "max", "minimum", "maximum"} and len(node.args) == 2 and not node.keywords:
            for argument in node.args:
                self._replace("dropped term", node, f"({self._text(argument)})")

    def _arguments(self, node: ast.Call, name: str) -> None:
        plain = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant)
        for left, right in zip(node.args, node.args[1:], strict=False):
            both = isinstance(left, plain) and isinstance(right, plain)
            if both and name not in _COMMUTATIVE and self._text(left) != self._text(right):
                start, end = self._range(left)[0], self._range(right)[1]
                self._add("swapped argument", start, end, f"{self._text(right)}, {self._text(left)}")
        for keyword in node.keywords:
            if keyword.arg is not None:
                start, end = self._range(keyword)
                comma = len(self._source[end:]) - len(self._source[end:].lstrip())
                if self._source[end + comma : end + comma + 1] == b",":
                    end += comma + 1
                self._add("ignored parameter", start, end, "")


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def lines_of(changes: list[Change]) -> Iterator[tuple[tuple[str, int], list[Change]]]:
    """Group changes by file and line, in order."""
    grouped: dict[tuple[str, int], list[Change]] = {}
    for change in changes:
        grouped.setdefault((change.file, change.line), []).append(change)
    yield from sorted(grouped.items())
