"""Available components with their knobs, one class for each. Needs OpenCV (the extra ``vision``)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from windlass.plan.profile.steps.appearance import Colours, Corners
from windlass.plan.profile.steps.decode import Scale
from windlass.plan.profile.steps.detections import Choose, Send
from windlass.plan.profile.steps.match import Match
from windlass.plan.profile.steps.motion import Motion
from windlass.plan.profile.steps.people import People
from windlass.plan.profile.steps.step import PipelineStep

_Share = Annotated[float, Field(ge=0, le=0.5)]
_Alike = Annotated[float, Field(gt=0, le=1)]
_Above = Annotated[float, Field(gt=0)]


class Option(BaseModel):
    """An implementation of a component; its fields are its knobs.

    Examples
    --------
    >>> Decode(scale=0.5).name
    'decode scale=0.5'
    >>> Mog2().name, Mog2(least=0.002).name
    ('detect mog2', 'detect mog2 least=0.002')
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=True)
    title: ClassVar[str]

    @property
    def name(self) -> str:
        """Name of the component, with the knobs that differ from their defaults."""
        fields = type(self).model_fields
        knobs = [(name, getattr(self, name)) for name in fields]
        return " ".join(
            [self.title, *(f"{name}={value:g}" for name, value in knobs if value != fields[name].default)]
        )

    def steps(self) -> tuple[PipelineStep, ...]:
        """Return its steps, in order."""
        raise NotImplementedError


class Decode(Option):
    """Decoding at a fraction of width and height, and of every n-th frame only."""

    title: ClassVar[str] = "decode"
    scale: Annotated[float, Field(ge=0.05, le=1)] = 1.0
    every: Annotated[int, Field(ge=1)] = 1

    def steps(self) -> tuple[PipelineStep, ...]:
        return (Scale(self.scale),)


class Mog2(Option):
    """Background subtraction with a mixture of Gaussians per pixel; ``least`` is the minimum area of an object."""

    title: ClassVar[str] = "detect mog2"
    threshold: _Above = 16.0
    history: Annotated[int, Field(ge=1)] = 200
    least: _Share = 0.001

    def steps(self) -> tuple[PipelineStep, ...]:
        return Motion("mog2", self.threshold, self.history), Choose(self.least)


class Knn(Option):
    """Background subtraction by the nearest of a pixel's earlier values."""

    title: ClassVar[str] = "detect knn"
    threshold: _Above = 400.0
    history: Annotated[int, Field(ge=1)] = 200
    least: _Share = 0.001

    def steps(self) -> tuple[PipelineStep, ...]:
        return Motion("knn", self.threshold, self.history), Choose(self.least)


class Difference(Option):
    """Pixels that differ from the previous frame."""

    title: ClassVar[str] = "detect difference"
    threshold: _Above = 20.0
    least: _Share = 0.001

    def steps(self) -> tuple[PipelineStep, ...]:
        return Motion("difference", self.threshold), Choose(self.least)


class Hog(Option):
    """Detection of people by histograms of oriented gradients; ``confidence`` is the minimum score."""

    title: ClassVar[str] = "detect hog"
    stride: Annotated[int, Field(ge=8, multiple_of=8)] = 8
    growth: Annotated[float, Field(ge=1.01, le=2)] = 1.05
    confidence: Annotated[float, Field(ge=0)] = 0.0

    def steps(self) -> tuple[PipelineStep, ...]:
        return People(self.stride, self.growth), Choose(self.confidence)


class Associate(Option):
    """Base class of associators."""

    #: Whether it uses pixels, which the detector then sends along.
    pixels: ClassVar[bool] = False
    alike: _Alike
    patience: Annotated[float, Field(ge=0)] = 0.5
    confirm: Annotated[int, Field(ge=1)] = 2

    def _match(self, way: str) -> Match:
        return Match(way, self.alike, self.patience, self.confirm)


class Overlap(Associate):
    """Association by the intersection over union of boxes."""

    title: ClassVar[str] = "associate overlap"
    alike: _Alike = 0.2

    def steps(self) -> tuple[PipelineStep, ...]:
        return (self._match("overlap"),)


class Centroid(Associate):
    """Association by the distance of centres."""

    title: ClassVar[str] = "associate centroid"
    alike: _Alike = 0.3

    def steps(self) -> tuple[PipelineStep, ...]:
        return (self._match("centroid"),)


class Histogram(Associate):
    """Association by colour histograms."""

    title: ClassVar[str] = "associate histogram"
    pixels: ClassVar[bool] = True
    alike: _Alike = 0.5
    bins: Annotated[int, Field(ge=2, le=256)] = 16

    def steps(self) -> tuple[PipelineStep, ...]:
        return Colours(self.bins), self._match("histogram")


class Orb(Associate):
    """Association by ORB keypoints."""

    title: ClassVar[str] = "associate orb"
    pixels: ClassVar[bool] = True
    alike: _Alike = 0.1
    corners: Annotated[int, Field(ge=4)] = 30

    def steps(self) -> tuple[PipelineStep, ...]:
        return Corners(self.corners), self._match("orb")


DETECTORS: tuple[type[Option], ...] = (Mog2, Knn, Difference, Hog)
ASSOCIATORS: tuple[type[Associate], ...] = (Overlap, Centroid, Histogram, Orb)


def sending(detector: Option, associator: Associate) -> tuple[str, tuple[PipelineStep, ...]]:
    """Return the name and the steps of a detector in front of this associator; the last step sends its output.

    >>> sending(Mog2(), Orb())[0]
    'detect mog2 with crops'
    """
    name = detector.name + (" with crops" if associator.pixels else "")
    return name, (*detector.steps(), Send(associator.pixels))


def way_of(kind: type[Option]) -> str:
    """Return the name of an option in a pipeline file.

    >>> way_of(Mog2)
    'mog2'
    """
    return kind.title.split()[-1]


Knobs = dict[str, Any]
