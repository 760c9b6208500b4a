"""The option ``--metrics`` of drivers: an address where Prometheus reads their metrics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from windlass.agent.options import Address
    from windlass.engines.prometheus import MetricSource

Metrics = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        help="Address for Prometheus, [HOST:]PORT; without HOST on 127.0.0.1.",
        show_default="none",
    ),
]


def metrics_address(text: str | None) -> Address | None:
    """Return the address of the option, loopback if it is only a port; None without the option.

    >>> metrics_address("9091"), metrics_address(None)
    (Address(host='127.0.0.1', port=9091), None)
    """
    from windlass.agent.options import Address

    if text is None:
        return None
    return Address.of("--metrics", f"127.0.0.1:{text}" if text.isdecimal() else text)


@contextmanager
def metrics_served(where: Address | None, source: MetricSource) -> Iterator[None]:
    """Serve metrics at an address within the context; nothing without an address."""
    if where is None:
        yield
        return
    from windlass.engines.prometheus import MetricsServer

    with MetricsServer(source, where.host, where.port):
        yield
