"""Joining a Ray cluster: its address is tried first, and Ray is told to take it as it stands."""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections.abc import Iterator
from typing import Any

import grpc
import ray
from ray._private import gcs_utils, services, utils
from ray.core.generated.gcs_service_pb2 import CheckAliveRequest
from ray.core.generated.gcs_service_pb2_grpc import NodeInfoGcsServiceStub

from windlass.engines.address import ray_head
from windlass.model import InputError

#: A head that is there takes a connection and answers within so long, s: Ray itself would try for a minute.
_PATIENCE_S = 4.0


def connect(address: str, option: str = "--address") -> None:
    """Connect to a cluster that somebody else runs; nothing of it is ever stopped.

    Parameters
    ----------
    address
        Host and port of its head; ``auto`` for the one that Ray finds on this machine.
    option
        How the user named it, for messages.

    Raises
    ------
    InputError
        There is no cluster at this address, or it does not let us in; within five seconds.
    """
    refuse_if_connected()
    reach(address, option)
    try:
        with own_signals():
            join(address)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise InputError(f"{option}: no Ray cluster at {address!r}: {str(error).splitlines()[0]}") from error


def reach(address: str, option: str = "--address") -> None:
    """Have an answer from a cluster's head, and nothing more.

    Raises
    ------
    InputError
        As of :func:`connect`.
    """
    head = ray_head(option, address)
    if head is None:
        return
    until = time.monotonic() + _PATIENCE_S
    try:
        socket.create_connection(head, _PATIENCE_S).close()
    except OSError as error:
        raise InputError(f"{option}: no Ray cluster at {address!r}: {error.strerror or error}") from error
    if not address.startswith("ray://"):
        _ask(address, option, until)


def join(address: str) -> None:
    """Connect this process."""
    with _as_it_stands():
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)


def refuse_if_connected() -> None:
    """Raise InputError where this process has a cluster."""
    if ray.is_initialized():
        raise InputError("--engine: this process is connected to a Ray cluster already; ray.shutdown() first")


@contextlib.contextmanager
def own_signals() -> Iterator[None]:
    """Have Ray leave SIGTERM alone: its own handlers wait for half a minute and end the process without our cleanup."""
    before = utils.set_sigterm_handler
    utils.set_sigterm_handler = lambda handler: None
    try:
        yield
    finally:
        utils.set_sigterm_handler = before


@contextlib.contextmanager
def _as_it_stands() -> Iterator[None]:
    """Have Ray take 127.0.0.1 for 127.0.0.1: it would ask at the machine's own address, where nobody listens."""
    before = services.resolve_ip_for_localhost
    services.resolve_ip_for_localhost = lambda host: host
    try:
        yield
    finally:
        services.resolve_ip_for_localhost = before


def _ask(address: str, option: str, until: float) -> None:
    channel = gcs_utils.create_gcs_channel(address)
    try:
        NodeInfoGcsServiceStub(channel).CheckAlive(CheckAliveRequest(), timeout=until - time.monotonic())
    except grpc.RpcError as error:
        raise InputError(f"{option}: no Ray cluster at {address!r}: {_reason(error)}") from error
    finally:
        channel.close()


def _reason(error: Any) -> str:
    if error.code() == grpc.StatusCode.UNAUTHENTICATED:
        return "it asks for a token; RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH name one"
    return f"what listens there does not answer as Ray does ({error.code().name.lower()})"
