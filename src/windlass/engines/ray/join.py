"""Joining a Ray cluster: its address is tested first, and passed to Ray unchanged."""

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
from windlass.model.errors import ParameterError

#: Time limit for a head's answer, s: Ray itself would try for a minute.
_PATIENCE_S = 4.0


def connect(address: str, option: str = "address") -> None:
    """Connect to a user's cluster; nothing of it is ever stopped.

    Parameters
    ----------
    address
        Host and port of its head; ``auto`` for the one that Ray finds on this machine.
    option
        The parameter or the option with the address, for messages.

    Raises
    ------
    InputError
        No cluster answers at this address within five seconds, or it rejects this process.
    """
    refuse_if_connected()
    reach(address, option)
    try:
        with own_signals():
            join(address)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ParameterError(
            option, f"no Ray cluster at {address!r}: {str(error).splitlines()[0]}"
        ) from error


def reach(address: str, option: str = "address") -> None:
    """Check that a cluster's head answers, without connecting.

    Raises
    ------
    InputError
        See :func:`connect`.
    """
    head = ray_head(option, address)
    if head is None:
        return
    until = time.monotonic() + _PATIENCE_S
    try:
        socket.create_connection(head, _PATIENCE_S).close()
    except OSError as error:
        raise ParameterError(option, f"no Ray cluster at {address!r}: {error.strerror or error}") from error
    if not address.startswith("ray://"):
        _ask(address, option, until)


def join(address: str) -> None:
    """Connect this process to the cluster at an address."""
    with _as_it_stands():
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)


def refuse_if_connected() -> None:
    """Raise InputError if this process is connected to a cluster."""
    if ray.is_initialized():
        raise ParameterError(
            "engine", "this process is already connected to a Ray cluster; call ray.shutdown() first"
        )


@contextlib.contextmanager
def own_signals() -> Iterator[None]:
    """Keep Ray from handling SIGTERM: its handler waits half a minute and ends the process without our cleanup."""
    before = utils.set_sigterm_handler
    utils.set_sigterm_handler = lambda handler: None
    try:
        yield
    finally:
        utils.set_sigterm_handler = before


@contextlib.contextmanager
def _as_it_stands() -> Iterator[None]:
    """Keep Ray from replacing 127.0.0.1 by the machine's own address, on which a private cluster does not listen."""
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
        raise ParameterError(option, f"no Ray cluster at {address!r}: {_reason(error)}") from error
    finally:
        channel.close()


def _reason(error: Any) -> str:
    if error.code() == grpc.StatusCode.UNAUTHENTICATED:
        return "it requires a token; set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH"
    return f"the server there does not answer as Ray does ({error.code().name.lower()})"
