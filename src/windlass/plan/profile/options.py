"""What components can be, with their knobs; a class a way to do one. Needs OpenCV (the extra ``vision``)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from windlass.plan.profile.steps.appearance import Colours, Corners
from windlass.plan.profile.steps.decode import Scale
from windlass.plan.profile.steps.found import Choose, Send
from windlass.plan.profile.steps.match import Match
from windlass.plan.profile.steps.motion import Motion
from windlass.plan.profile.steps.people import People
from windlass.plan.profile.steps.step import PipelineStep

_Share = Annotated[float, Field(ge=0, le=0.5)]
_Alike = Annotated[float, Field(gt=0, le=1)]
_Above = Annotated[float, Field(gt=0)]


class Option(BaseModel):
    """A way to do a component; its fields are its knobs.

    Examples
    --------
    >>> Decode(scale=0.5).name
    'decode scale=0.5'
    >>> Mog2().name, Mog2(least=0.002).name
    ('detect mog2', 'detect mog2 least=0.002')
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=True)
    said: ClassVar[str]

    @property
    def name(self) -> str:
        """What it does: the knobs that are not as they are by default."""
        fields = type(self).model_fields
        knobs = [(name, getattr(self, name)) for name in fields]
        return " ".join(
            [self.said, *(f"{name}={value:g}" for name, value in knobs if value != fields[name].default)]
        )

    def steps(self) -> tuple[PipelineStep, ...]:
        """What it is made of, in order."""
        raise NotImplementedError


class Decode(Option):
    """Frames at a share of their width and height, of which each so many-th is looked at."""

    said: ClassVar[str] = "decode"
    scale: Annotated[float, Field(ge=0.05, le=1)] = 1.0
    every: Annotated[int, Field(ge=1)] = 1

    def steps(self) -> tuple[PipelineStep, ...]:
        return (Scale(self.scale),)


class Mog2(Option):
    """A mixture of Gaussians a pixel; ``least`` is a thing's least share of the frame's area."""

    said: ClassVar[str] = "detect mog2"
    threshold: _Above = 16.0
    history: Annotated[int, Field(ge=1)] = 200
    least: _Share = 0.001

    def steps(self) -> tuple[PipelineStep, ...]:
        return Motion("mog2", self.threshold, self.history), Choose(self.least)


class Knn(Option):
    """Nearest of a pixel's earlier values."""

    said: ClassVar[str] = "detect knn"
    threshold: _Above = 400.0
    history: Annotated[int, Field(ge=1)] = 200
    least: _Share = 0.001

    def steps(self) -> tuple[PipelineStep, ...]:
        return Motion("knn", self.threshold, self.history), Choose(self.least)


class Difference(Option):
    """What is not as it was in the frame before."""

    said: ClassVar[str] = "detect difference"
    threshold: _Above = 20.0
    least: _Share = 0.001

    def steps(self) -> tuple[PipelineStep, ...]:
        return Motion("difference", self.threshold), Choose(self.least)


class Hog(Option):
    """People by their outline; ``confidence`` is the classifier's least score."""

    said: ClassVar[str] = "detect hog"
    stride: Annotated[int, Field(ge=8, multiple_of=8)] = 8
    growth: Annotated[float, Field(ge=1.01, le=2)] = 1.05
    confidence: Annotated[float, Field(ge=0)] = 0.0

    def steps(self) -> tuple[PipelineStep, ...]:
        return People(self.stride, self.growth), Choose(self.confidence)


class Associate(Option):
    """What all associators have."""

    #: Whether it looks at pixels, which the detector then sends along.
    pixels: ClassVar[bool] = False
    alike: _Alike
    patience: Annotated[float, Field(ge=0)] = 0.5
    confirm: Annotated[int, Field(ge=1)] = 2

    def _match(self, way: str) -> Match:
        return Match(way, self.alike, self.patience, self.confirm)


class Overlap(Associate):
    """By shared area over joint area."""

    said: ClassVar[str] = "associate overlap"
    alike: _Alike = 0.2

    def steps(self) -> tuple[PipelineStep, ...]:
        return (self._match("overlap"),)


class Centroid(Associate):
    """By the distance of centres."""

    said: ClassVar[str] = "associate centroid"
    alike: _Alike = 0.3

    def steps(self) -> tuple[PipelineStep, ...]:
        return (self._match("centroid"),)


class Histogram(Associate):
    """By colours."""

    said: ClassVar[str] = "associate histogram"
    pixels: ClassVar[bool] = True
    alike: _Alike = 0.5
    bins: Annotated[int, Field(ge=2, le=256)] = 16

    def steps(self) -> tuple[PipelineStep, ...]:
        return Colours(self.bins), self._match("histogram")


class Orb(Associate):
    """By corners."""

    said: ClassVar[str] = "associate orb"
    pixels: ClassVar[bool] = True
    alike: _Alike = 0.1
    corners: Annotated[int, Field(ge=4)] = 30

    def steps(self) -> tuple[PipelineStep, ...]:
        return Corners(self.corners), self._match("orb")


DETECTORS: tuple[type[Option], ...] = (Mog2, Knn, Difference, Hog)
ASSOCIATORS: tuple[type[Associate], ...] = (Overlap, Centroid, Histogram, Orb)


def sending(detector: Option, associator: Associate) -> tuple[str, tuple[PipelineStep, ...]]:
    """The detector as it is before this associator: what it is called, and its steps, the last of which sends.

    >>> sending(Mog2(), Orb())[0]
    'detect mog2 with crops'
    """
    name = detector.name + (" with crops" if associator.pixels else "")
    return name, (*detector.steps(), Send(associator.pixels))


def way_of(kind: type[Option]) -> str:
    """As a pipeline's file calls it.

    >>> way_of(Mog2)
    'mog2'
    """
    return kind.said.split()[-1]


Knobs = dict[str, Any]
