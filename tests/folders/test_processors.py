"""The sizes of images that irlint infers from configurations of image processors, against a table of the library."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from folders.processors import TABLE, fits, read, stated

from irlint.folders.preprocessing import CLASS_SUFFIX, PROCESSORS

pytestmark = pytest.mark.skipif(not TABLE.exists(), reason="the table is not written yet")


def kind(text: str) -> str:
    values = json.loads(text)
    return CLASS_SUFFIX.sub("", values.get("image_processor_type") or values["feature_extractor_type"])


def test_no_size_contradicts_the_library() -> None:
    wrong = [text for text, made in read().items() if not all(fits(stated(json.loads(text)), each) for each in made)]
    assert wrong == []


def test_the_table_has_certain_sizes_of_every_processor() -> None:
    sizes = {text: stated(json.loads(text)) for text, made in read().items() if made}
    certain = Counter(kind(text) for text, size in sizes.items() if size[1] is not None)
    assert {each for each in PROCESSORS if not certain[each]} == set()


def test_a_size_that_the_library_makes_for_one_image_only_is_unknown() -> None:
    varying = [text for text, made in read().items() if len({each[2:] for each in made}) > 1]
    assert len(varying) > 20
    assert [text for text in varying if stated(json.loads(text))[1] is not None] == []
