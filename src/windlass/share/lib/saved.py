"""Learned state as JSON in the container of saved state, with validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from windlass.io import seal_text, unseal_text
from windlass.io.field_errors import field_error
from windlass.model import InputError
from windlass.share.lib.mixture import Mixture

#: Kind of the container for the state of a sharing policy.
CONTAINER = "sharing"


class SavedClass(BaseModel):
    """The state of one job class."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    job_class: str
    logs: list[Annotated[float, Field(le=1e-9)]]
    risk: list[Annotated[float, Field(ge=0.0)]]
    total: list[Annotated[float, Field(ge=0.0)]]
    rounds: Annotated[int, Field(ge=0)]


class Saved(BaseModel):
    """The state of a learner of mixtures, and the settings it was learned with."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    format: Literal["windlass.share.mixtures"] = "windlass.share.mixtures"
    version: Literal[1] = 1
    update: str
    actions: list[int]
    metrics: list[str]
    classes: list[SavedClass]


def to_text(update: str, actions: tuple[int, ...], metrics: list[str], learned: Mapping[str, Mixture]) -> str:
    """Serialise the learned state, by job class.

    >>> text = to_text("printed", (0, 50), ["cpu"], {"blast": Mixture.fresh(1)})
    >>> from_text(text, "printed", (0, 50), ["cpu"])["blast"].rounds
    0
    """
    classes = [
        SavedClass(
            job_class=name,
            logs=each.logs.tolist(),
            risk=each.risk.tolist(),
            total=each.total.tolist(),
            rounds=each.rounds,
        )
        for name, each in sorted(learned.items())
    ]
    saved = Saved(update=update, actions=list(actions), metrics=metrics, classes=classes)
    return seal_text(CONTAINER, saved.model_dump_json(indent=1))


def from_text(
    text: str | bytes, update: str, actions: tuple[int, ...], metrics: list[str]
) -> dict[str, Mixture]:
    """Read the text of :func:`to_text`, for a learner with the same update, actions and experts.

    Raises
    ------
    InputError
        The text is invalid, of another version, or learned with other settings; one line with field and
        value.
    """
    try:
        saved = Saved.model_validate_json(unseal_text(text, CONTAINER))
    except ValidationError as error:
        raise InputError(f"saved state: {field_error(error, whole='text')}") from error
    for name, found, wanted in (
        ("update", saved.update, update),
        ("actions", saved.actions, list(actions)),
        ("metrics", saved.metrics, metrics),
    ):
        if found != wanted:
            raise InputError(f"saved state: {name} is {found}, expected {wanted} as in this policy")
    learned: dict[str, Mixture] = {}
    for at, each in enumerate(saved.classes):
        for name, column in (("logs", each.logs), ("risk", each.risk), ("total", each.total)):
            if len(column) != len(metrics):
                raise InputError(
                    f"saved state: classes.{at}.{name} has {len(column)} numbers, expected {len(metrics)}"
                )
        if each.job_class in learned:
            raise InputError(f"saved state: classes.{at}.job_class is {each.job_class!r}, which occurs twice")
        sums = float(np.exp(each.logs).sum())
        if abs(sums - 1.0) > 1e-6:
            raise InputError(f"saved state: classes.{at}.logs are of weights with sum {sums:g}, expected 1")
        learned[each.job_class] = Mixture(
            np.array(each.logs), np.array(each.risk), np.array(each.total), each.rounds
        )
    return learned
