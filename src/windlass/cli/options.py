"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="The log's format, as in swf or sacct; `windlass list` shows them.",
        show_default="told by content and suffix",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output, nothing else.")]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        help="Spread runs over a Ray cluster: ray for a private one on this machine, ray:HOST:PORT for one that runs.",
    ),
]
