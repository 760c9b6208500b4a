"""Reference pages made from the code: the command line, the fields of a scenario, and the metrics of each world."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import click
import typer

from windlass.cli.app import app
from windlass.experiment.worlds import worlds
from windlass.results.summary import better_of

#: Words for the sign that ``better_of`` returns.
_BETTER = {-1: "lower", 0: "", 1: "higher"}


def command_line() -> str:
    """Return the page of all commands with their options."""
    parts = ["# Command line", "Each command prints the same with `--help`."]
    for name, command in _commands("windlass", typer.main.get_command(app)):
        parts += [f"## {name}", _cell(command.help or "")]
        rows = [_option(each) for each in command.params if each.name != "help"]
        if rows:
            parts.append("\n".join(["| option | meaning | default |", "|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _commands(name: str, command: Any) -> Iterator[tuple[str, click.Command]]:
    inner: Mapping[str, Any] = getattr(command, "commands", {})
    if not inner:
        yield name, command
    for key in inner:
        yield from _commands(f"{name} {key}", inner[key])


def _option(each: Any) -> str:
    names = each.opts if each.param_type_name == "option" else [each.name.upper()]
    default = "required" if each.required else getattr(each, "show_default", None)
    if not isinstance(default, str):
        default = "" if each.default is None or callable(each.default) else f"`{each.default}`"
    words = ", ".join(f"`{each}`" for each in names)
    return f"| {words} | {_cell(getattr(each, 'help', None) or '')} | {_cell(default)} |"


def scenario_fields() -> str:
    """Return the page of all fields of a scenario, world by world, with types, bounds and defaults."""
    parts = [
        "# Scenario fields",
        "These are the fields that Windlass checks. [Scenarios](../scenarios.md) explains those of the world `batch`.",
    ]
    for world in worlds():
        schema = world.setting.model_json_schema()
        parts += [f"## {world.name}", f"{world.summary[0].upper()}{world.summary[1:]}.", _fields_of(schema)]
        for name, spec in sorted(schema.get("$defs", {}).items()):
            if spec.get("properties"):
                parts += [f"### {world.name}: {name}", _plain(spec.get("description", "")), _fields_of(spec)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _fields_of(spec: Mapping[str, Any]) -> str:
    needed = set(spec.get("required", ()))
    rows = ["| field | value | default |", "|---|---|---|"]
    for name, each in spec["properties"].items():
        default = "required" if name in needed else f"`{each.get('default')}`"
        rows.append(f"| `{name}` | {_cell(_value(each))} | {_cell(default)} |")
    return "\n".join(rows)


def _value(each: Mapping[str, Any]) -> str:
    """Return the type of a value with its bounds."""
    if "$ref" in each:
        return str(each["$ref"]).rpartition("/")[2]
    if "anyOf" in each or "oneOf" in each:
        return " or ".join(dict.fromkeys(map(_value, each.get("anyOf") or each["oneOf"])))
    if "const" in each or "enum" in each:
        return " or ".join(f"`{value}`" for value in each.get("enum", [each.get("const")]))
    kind = {"null": "none", "array": "list"}.get(str(each.get("type", "any")), str(each.get("type", "any")))
    if kind == "list" and each.get("items"):
        kind = f"list of {_value(each['items'])}"
    bounds = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = [f"{sign} {each[name]:g}" for name, sign in bounds.items() if name in each]
    return f"{kind} {', '.join(limits)}".strip()


def metrics() -> str:
    """Return the page of all metrics, world by world, with their meaning and which values are better."""
    parts = ["# Metrics", "`--by` and `--require` take these names, with or without the unit at the end."]
    for world in worlds():
        meaning = _parameters(world.metrics.__doc__ or "")
        rows = ["| metric | meaning | better |", "|---|---|---|"]
        rows += [
            f"| `{each.name}` | {_cell(meaning.get(each.name, ''))} | {_BETTER[better_of(each)]} |"
            for each in fields(world.metrics)
        ]
        parts += [f"## {world.name}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def _parameters(doc: str) -> dict[str, str]:
    """Return the description of each parameter in a docstring of NumPy's form.

    >>> _parameters("A.\\n\\n    Parameters\\n    ----------\\n    a, b\\n        Both, s.\\n")
    {'a': 'Both, s.', 'b': 'Both, s.'}
    """
    found: dict[str, str] = {}
    section = re.search(r"Parameters\n *-+\n(.*?)(?=\n\n *\w+\n *---|\Z)", doc, flags=re.DOTALL)
    for names, text in re.findall(
        r"^    ([\w, ]+)\n((?: {8}.*\n?|\n)+)", section[1] if section else "", re.MULTILINE
    ):
        found.update((name.strip(), " ".join(text.split())) for name in names.split(","))
    return found


def _plain(text: str) -> str:
    """Return the text of a docstring as Markdown; roles and double backquotes become code."""
    text = re.sub(r":\w+:`~?([\w.]+)`", r"`\1`", text)
    return text.replace("``", "`").split("\n\nExamples")[0].split("\n\nRaises")[0]


def _cell(text: str) -> str:
    return " ".join(_plain(text).split()).replace("|", "\\|").replace("<", "&lt;")


#: The generated pages by their place on the site: title and function.
PAGES: Mapping[str, tuple[str, Callable[[], str]]] = {
    "reference/command-line.md": ("Command line", command_line),
    "reference/scenario-fields.md": ("Scenario fields", scenario_fields),
    "reference/metrics.md": ("Metrics", metrics),
}
