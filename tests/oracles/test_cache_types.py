"""The caches that irlint infers from configurations of decoders, against random models of the library transformers.

It is asked where transformers and torch are installed, which no extra brings.
"""

from __future__ import annotations

import random
from importlib.util import find_spec
from pathlib import Path

import pytest
from folders.cache_types import NO_CACHE, configuration, disagreement, shapes

from irlint.folders.caches import TYPES

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(
        any(find_spec(each) is None for each in ("transformers", "torch")),
        reason="transformers and torch are not installed",
    ),
]


@pytest.mark.parametrize("kind", TYPES)
def test_no_cache_contradicts_the_library(kind: str, tmp_path: Path) -> None:
    rng, found, asked, reasons = random.Random(f"caches of {kind}"), [], 0, set[str]()
    for _ in range(12):
        values = configuration(kind, rng)
        made = shapes(tmp_path, values)
        if isinstance(made, list):
            asked += 1
            found += [(disagreement(values, made), values)] if disagreement(values, made) else []
        else:
            reasons.add(made)
    assert found == []
    if NO_CACHE in reasons:
        pytest.skip("this release makes no cache for these models by itself")
    assert asked
