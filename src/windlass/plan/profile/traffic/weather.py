"""Rain, snow, night, and camera noise. Needs OpenCV (the extra ``vision``)."""

from __future__ import annotations

import cv2
import numpy as np

from windlass.plan.profile.clip import Image
from windlass.plan.profile.traffic.scene import Traffic

#: Standard deviation of camera noise, of 255, and strength of shadows.
NOISE = {"clear": 3.0, "rain": 5.0, "snow": 5.0, "night": 9.0}
SHADOW = {"clear": 0.45, "rain": 0.15, "snow": 0.2, "night": 0.1}


class Weather:
    """Applies the weather to successive frames.

    Parameters
    ----------
    traffic
        The scene, with its weather, size and seed.
    """

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self._rng = np.random.default_rng([traffic.seed, 200])
        shape = (traffic.height, traffic.width, 3)
        spread = NOISE[traffic.weather]
        # A few tiles of noise, shifted randomly in each frame, replace fresh noise, which is much slower to
        # draw.
        self._noise = [self._rng.normal(0.0, spread, shape).astype(np.int16) for _ in range(4)]
        drops = int(traffic.width * traffic.height / 4000)
        self._drops = self._rng.uniform(0, 1, (drops, 3))

    def on(self, picture: Image) -> Image:
        """Return the next frame with weather and noise."""
        weather = self._traffic.weather
        if weather == "night":
            picture = (picture * 0.35).astype(np.uint8)
        if weather in ("rain", "snow"):
            picture = self._falling(picture, snow=weather == "snow")
        noise = self._noise[int(self._rng.integers(len(self._noise)))]
        noise = np.roll(noise, int(self._rng.integers(noise.shape[1])), axis=1)
        return np.clip(picture + noise, 0, 255).astype(np.uint8)

    def _falling(self, picture: Image, snow: bool) -> Image:
        high, wide = picture.shape[:2]
        fresh = self._rng.uniform(-0.01, 0.01, len(self._drops))
        fall = (0.35 if snow else 1.6) / self._traffic.rate * (0.6 + 0.8 * self._drops[:, 2])
        self._drops[:, 0] = (self._drops[:, 0] + (fresh if snow else 0.1 * fall)) % 1.0
        self._drops[:, 1] = (self._drops[:, 1] + fall) % 1.0
        layer = picture.copy()
        for across, down, near in self._drops:
            at = int(across * wide), int(down * high)
            if snow:
                cv2.circle(layer, at, max(1, int(near * high / 240)), (250, 250, 250), -1)
            else:
                cv2.line(layer, at, (at[0] + 1, at[1] + int((0.01 + 0.02 * near) * high)), (205, 200, 195), 1)
        return cv2.addWeighted(layer, 0.7 if snow else 0.45, picture, 0.3 if snow else 0.55, 0.0).astype(
            np.uint8
        )
