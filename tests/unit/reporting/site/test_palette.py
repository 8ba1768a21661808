"""The colours of series: apart for colour-blind eyes, and one look for each framework of the catalog."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from orchestrator.catalog.shipped import shipped_catalog
from orchestrator.reporting.formats import html
from orchestrator.reporting.site.front import FRONT, STYLE

PAGE_OF_A_RUN = Path(html.__file__).with_name("templates") / "report.css"
HUES = 8
LEAST_DISTANCE = 20.0
"""The least ΔE*ab between two hues, for each kind of vision. A difference of about 2 can just be seen."""
LEAST_CONTRAST = 3.0
"""Of marks and lines on what is behind them: WCAG 2.2, success criterion 1.4.11."""
VISION = {
    "all three cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
"""Linear RGB as seen without one kind of cone: Machado, Oliveira and Fernandes 2009, at their severity of 1."""
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
Colour = NDArray[np.float64]


def _schemes() -> dict[str, dict[str, Colour]]:
    """Return the colours by name, as linear RGB, for each scheme of the site and of a run's page."""
    return {
        f"{page}, {scheme}": {name: _linear(code) for name, code in re.findall(r"--([\w-]+): #(\w{6})", block)}
        for page, style in (("site", FRONT / STYLE), ("run", PAGE_OF_A_RUN))
        for scheme, block in zip(
            ("light", "dark"), re.findall(r":root \{(.*?)\}", style.read_text(), re.DOTALL)[:2], strict=True
        )
    }


def _linear(code: str) -> Colour:
    value = np.array([int(code[place : place + 2], 16) for place in (0, 2, 4)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _lab(linear: Colour) -> Colour:
    """Return a colour in CIELAB, for the white of sRGB."""
    ratio = XYZ @ linear / XYZ.sum(axis=1)
    x, y, z = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def _contrast(one: Colour, other: Colour) -> float:
    low, high = sorted(float(XYZ[1] @ each) + 0.05 for each in (one, other))
    return high / low


SCHEMES = _schemes()
LOOKS = {
    name: (int(hue), int(turn))
    for name, hue, turn in re.findall(r'\["([\w-]+)", \[(\d), (\d)\]\]', (FRONT / "app" / "colours.js").read_text())
}


def test_lab_is_that_of_the_standard() -> None:
    assert _lab(_linear("ff0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.02)


@pytest.mark.parametrize("eyes", VISION)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_hues_stay_apart_for_all_eyes(scheme: str, eyes: str) -> None:
    """Any two, since lines of different frameworks may share a shape and a dash."""
    seen = {
        hue: _lab(np.clip(np.asarray(VISION[eyes]) @ SCHEMES[scheme][f"series-{hue}"], 0, 1))
        for hue in range(1, HUES + 1)
    }

    distances = {(one, other): np.linalg.norm(seen[one] - seen[other]) for one, other in combinations(seen, 2)}
    assert min(distances.values()) >= LEAST_DISTANCE, min(distances, key=lambda pair: distances[pair])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_hues_stand_out_from_what_is_behind_them(scheme: str) -> None:
    colours = SCHEMES[scheme]

    for behind in ("paper", "surface"):
        for hue in range(1, HUES + 1):
            assert _contrast(colours[f"series-{hue}"], colours[behind]) >= LEAST_CONTRAST, (hue, behind)


def test_every_framework_of_the_catalog_has_a_look_of_its_own() -> None:
    assert set(LOOKS) == set(shipped_catalog().names())
    assert len(set(LOOKS.values())) == len(LOOKS)
    assert {hue for hue, _ in LOOKS.values()} <= set(range(1, HUES + 1))
    assert {turn for _, turn in LOOKS.values()} <= {0, 1}
