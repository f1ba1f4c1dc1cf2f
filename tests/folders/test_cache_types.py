"""The caches that irlint infers from configurations of decoders, against a table of the library transformers."""

from __future__ import annotations

import json

from folders.cache_types import disagreement, read

from irlint.folders.caches import TYPES


def test_no_cache_contradicts_the_library() -> None:
    wrong = {text: found for text, made in read().items() if (found := disagreement(json.loads(text), made))}
    assert wrong == {}


def test_the_table_has_every_type() -> None:
    assert {json.loads(text)["model_type"] for text in read()} == set(TYPES)
