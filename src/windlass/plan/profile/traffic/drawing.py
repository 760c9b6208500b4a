"""Drawing of the street, cars, people and their shadows. Needs OpenCV (the extra ``vision``)."""

from __future__ import annotations

import math

import cv2
import numpy as np

from windlass.plan.profile.clip import Image
from windlass.plan.profile.traffic.scene import LANES, RoadUser, Traffic

Box = tuple[int, int, int, int]


def street(traffic: Traffic) -> Image:
    """Return the background: houses, pavements, and a road of four lanes."""
    rng = np.random.default_rng([traffic.seed, 100])
    high, wide = traffic.height, traffic.width
    picture = np.empty((high, wide, 3), np.uint8)
    picture[:] = (190, 180, 170)
    at = 0
    while at < wide:
        width = int(rng.uniform(0.08, 0.2) * wide) + 4
        shade = tuple(int(value) for value in rng.integers(90, 170, 3))
        cv2.rectangle(picture, (at, 0), (at + width, int(0.33 * high)), shade, -1)
        step = max(6, width // 5)
        for left in range(at + step // 2, at + width - step // 2, step):
            for top in range(int(0.03 * high), int(0.29 * high), max(8, int(0.09 * high))):
                cv2.rectangle(
                    picture, (left, top), (left + step // 2, top + int(0.05 * high)), (70, 60, 55), -1
                )
        at += width
    for first, last, grey in ((0.33, 0.42, 150), (0.42, 0.85, 95), (0.85, 1.0, 150)):
        picture[int(first * high) : int(last * high)] = grey
    for share in (0.51, 0.60, 0.71):
        for left in range(0, wide, max(12, wide // 16)):
            cv2.line(
                picture,
                (left, int(share * high)),
                (left + wide // 32, int(share * high)),
                (215, 215, 215),
                max(1, high // 360),
            )
    grain = cv2.GaussianBlur(rng.normal(0.0, 14.0, (high, wide)).astype(np.float32), (0, 0), 1.2)
    return np.clip(picture + grain[..., None], 0, 255).astype(np.uint8)


def shadow(picture: Image, box: Box, strength: float) -> None:
    """Darken the ground next to an object. The shadow is outside the box: a detector should not include it."""
    left, top, right, bottom = box
    high, wide = picture.shape[:2]
    lean = (bottom - top) * 0.45
    corners = np.array(
        [
            (left, bottom - 1),
            (right, bottom - 1),
            (right + lean, bottom + 0.35 * lean),
            (left + lean, bottom + 0.35 * lean),
        ]
    )
    low, most = np.floor(corners.min(axis=0)).astype(int), np.ceil(corners.max(axis=0)).astype(int) + 1
    low, most = np.maximum(low, 0), np.minimum(most, (wide, high))
    if (most <= low).any():
        return
    part = picture[low[1] : most[1], low[0] : most[0]]
    mask = np.zeros(part.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.round(corners - low).astype(np.int32), 255)
    part[mask > 0] = (part[mask > 0] * (1.0 - strength)).astype(np.uint8)


def thing(picture: Image, mover: RoadUser, box: Box, at: float, night: bool) -> None:
    """Draw a car or a person within its box."""
    left, top, right, bottom = box
    high, wide = picture.shape[:2]
    if right <= 0 or left >= wide:
        return
    tile = np.zeros((bottom - top, right - left, 3), np.uint8)
    mask = np.zeros(tile.shape[:2], np.uint8)
    (_person if LANES[mover.lane].person else _car)(tile, mask, mover, at, night)
    low, most = max(left, 0), min(right, wide)
    first, last = max(top, 0), min(bottom, high)
    part = (slice(first - top, last - top), slice(low - left, most - left))
    np.copyto(picture[first:last, low:most], tile[part], where=mask[part][..., None] > 0)


def _car(tile: Image, mask: Image, mover: RoadUser, at: float, night: bool) -> None:
    high, wide = mask.shape
    way = LANES[mover.lane].way
    body = (0, int(0.4 * high)), (wide - 1, int(0.85 * high))
    roof = np.array([(0.15, 0.42), (0.28, 0.0), (0.70, 0.0), (0.88, 0.42)]) * (wide - 1, high)
    glass = np.array([(0.22, 0.40), (0.32, 0.08), (0.66, 0.08), (0.80, 0.40)]) * (wide - 1, high)
    for shape, colour in ((roof, mover.colour), (glass, (90, 75, 60))):
        points = np.round(
            shape if way > 0 else (wide - 1 - shape[:, 0]).reshape(-1, 1) * (1, 0) + shape * (0, 1)
        ).astype(np.int32)
        cv2.fillConvexPoly(tile, points, colour)
        cv2.fillConvexPoly(mask, points, 255)
    cv2.rectangle(tile, *body, mover.colour, -1)
    cv2.rectangle(mask, *body, 255, -1)
    dark = tuple(int(0.7 * value) for value in mover.colour)
    cv2.line(tile, (0, int(0.62 * high)), (wide - 1, int(0.62 * high)), dark, max(1, high // 24))
    wheel = max(1, int(0.16 * high))
    for share in (0.2, 0.8):
        centre = (int(share * wide), high - 1 - wheel)
        cv2.circle(tile, centre, wheel, (25, 25, 25), -1)
        cv2.circle(mask, centre, wheel, 255, -1)
    if night:
        front = wide - 1 - wheel // 2 if way > 0 else wheel // 2
        cv2.circle(tile, (front, int(0.6 * high)), max(1, wheel // 2), (235, 250, 255), -1)


def _person(tile: Image, mask: Image, mover: RoadUser, at: float, night: bool) -> None:
    high, wide = mask.shape
    middle, thick = wide // 2, max(1, int(0.11 * high))
    swing = math.sin(2 * math.pi * (2.0 * at + mover.phase)) * 0.5
    skin, legs = (140, 170, 215), tuple(int(0.5 * value) for value in mover.colour)
    hip, foot = (middle, int(0.5 * high)), int(0.97 * high)
    parts = [
        (hip, (middle + int(swing * 0.8 * wide), foot), legs, thick),
        (hip, (middle - int(swing * 0.8 * wide), foot), legs, thick),
        (
            (middle, int(0.22 * high)),
            (middle - int(swing * 0.6 * wide), int(0.5 * high)),
            skin,
            max(1, thick // 2),
        ),
    ]
    for begin, end, colour, width in parts:
        cv2.line(tile, begin, end, colour, width)
        cv2.line(mask, begin, end, 255, width)
    shapes = (((middle, int(0.34 * high)), (int(0.27 * wide), int(0.19 * high)), mover.colour),
              ((middle, int(0.08 * high)), (int(0.17 * wide), int(0.08 * high)), skin))  # fmt: skip
    for centre, axes, colour in shapes:
        cv2.ellipse(tile, centre, axes, 0, 0, 360, colour, -1)
        cv2.ellipse(mask, centre, axes, 0, 0, 360, 255, -1)
