"""Colours of the page, each for a light and a dark background.

Variants use the Okabe-Ito palette, designed for colour-blind readers, darkened or lightened for contrast with each
background. After eight variants the colours repeat with another dash. Areas of loads have colours of their own.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ink:
    """One colour as ``#rrggbb``, for a light and a dark background. Each ink has a different light colour."""

    name: str
    light: str
    dark: str


@dataclass(frozen=True, slots=True)
class Stroke:
    """The line style of one variant: an ink, and a dash in the notations of plotly and of SVG."""

    ink: Ink
    dash: str
    svg_dash: str


TEXT = Ink("text", "#1b1f24", "#e7eaee")
QUIET = Ink("quiet", "#59626d", "#a3adb8")
PAPER = Ink("paper", "#ffffff", "#14171b")
GRID = Ink("grid", "#e4e8ec", "#2c323a")
AXIS = Ink("axis", "#9aa4af", "#66707b")
RAISED = Ink("raised", "#f5f7f9", "#1d2127")

_VARIANTS = (
    Ink("v0", "#0072b2", "#4aa8e0"),
    Ink("v1", "#d55e00", "#ff8a4c"),
    Ink("v2", "#009e73", "#2fc79a"),
    Ink("v3", "#b0568f", "#e29cc6"),
    Ink("v4", "#d99a00", "#f2c230"),
    Ink("v5", "#4db3e6", "#9adcff"),
    Ink("v6", "#5c6570", "#c3cad2"),
    Ink("v7", "#6b3e1d", "#bd8f62"),
)
#: Fills of areas, from Paul Tol's light scheme, which no variant has.
_FILLS = (
    Ink("f0", "#77aadd", "#3f6ea3"),
    Ink("f1", "#ee8866", "#a8573a"),
    Ink("f2", "#eedd88", "#94843a"),
    Ink("f3", "#44bb99", "#2a7d66"),
    Ink("f4", "#ffaabb", "#a8697a"),
    Ink("f5", "#99ddff", "#5691ab"),
    Ink("f6", "#bbcc33", "#75801f"),
    Ink("f7", "#aaaa00", "#66660a"),
)
_DASHES = (("solid", "none"), ("dash", "6 4"), ("dot", "1.5 3"))

INKS = (TEXT, QUIET, PAPER, GRID, AXIS, RAISED, *_VARIANTS, *_FILLS)


def stroke(variant: int) -> Stroke:
    """Return the stroke of the variant at a position; after 24 different ones, strokes repeat."""
    return stroke_in(variant, variant // len(_VARIANTS))


def stroke_in(policy: int, point: int) -> Stroke:
    """Return the stroke in a sweep: one colour per policy, and one dash per point, repeating after three points."""
    return Stroke(_VARIANTS[policy % len(_VARIANTS)], *_DASHES[point % len(_DASHES)])


def quiet_stroke() -> Stroke:
    """Return the stroke of the recorded schedule, a dashed grey line."""
    return Stroke(QUIET, *_DASHES[1])


def site_ink(used: float) -> str:
    """Return the colour of a site of which a share of the cores, 0 to 1, is in use: blue, darker for more.

    >>> site_ink(1.0), site_ink(0.0)
    ('#0072b2ff', '#0072b214')
    """
    # Opacity instead of another colour: the dark theme replaces the ink and keeps its opacity.
    opacity = round(20 + 235 * min(max(used, 0.0), 1.0))
    return f"{_VARIANTS[0].light}{opacity:02x}"


def fill(part: int) -> Ink:
    """Return the ink of the area at a position; after eight, inks repeat."""
    return _FILLS[part % len(_FILLS)]
