"""The option ``--log`` of drivers: the format of their log on standard error."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class LogFormat(StrEnum):
    """Formats of the log."""

    TEXT = "text"
    JSON = "json"


Log = Annotated[LogFormat, typer.Option("--log", help="Format of the log on standard error.")]
