"""The sizes of images that irlint infers from configurations of image processors, against the library transformers.

It is asked where transformers, torchvision and pillow are installed, which no extra brings.
"""

from __future__ import annotations

import random
from importlib.util import find_spec
from pathlib import Path

import pytest
from folders.processors import configuration, fits, shapes, stated

from irlint.folders.preprocessing import PROCESSORS

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(
        any(find_spec(each) is None for each in ("transformers", "torchvision", "PIL")),
        reason="transformers, torchvision and pillow are not installed",
    ),
]


@pytest.mark.parametrize("kind", PROCESSORS)
def test_no_size_contradicts_the_library(kind: str, tmp_path: Path) -> None:
    rng, wrong, certain = random.Random(f"sizes of {kind}"), [], 0
    for _ in range(60):
        values = configuration(f"{kind}ImageProcessor", rng)
        made, sizes = shapes(tmp_path, values), stated(values)
        if isinstance(made, str):
            continue
        certain += sizes[1] is not None
        if not all(fits(sizes, each) for each in made):
            wrong.append((values, sizes, made))
    assert wrong == []
    assert certain
