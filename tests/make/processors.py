"""Writes ``processors.txt`` and ``cache_types.txt`` of ``tests/folders``: what transformers makes of configurations.

``python tests/make/processors.py`` needs transformers, torch, torchvision and pillow. A second run with another release
of transformers adds its shapes.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

#: How many configurations of each processor are kept with a size that irlint infers, and as many without.
EACH = 5


def main() -> None:
    images()
    caches()


def caches() -> None:
    """Three configurations of each type of decoders, with the shapes of their caches."""
    from folders.cache_types import SMALL, TABLE, configuration, shapes

    from irlint.folders.caches import TYPES

    found = {}
    for kind in TYPES:
        rng, kept = random.Random(kind), 0
        while kept < EACH - 2:
            values = configuration(kind, rng)
            with tempfile.TemporaryDirectory() as folder:
                made = shapes(Path(folder), values)
            if isinstance(made, list):
                text = json.dumps(
                    {
                        key: value
                        for key, value in values.items()
                        if SMALL.get(key) != value or key == TYPES[kind].layers
                    }
                )
                found[text], kept = made, kept + 1
    lines = [f"{text} -> {' '.join('x'.join(map(str, shape)) for shape in made)}" for text, made in found.items()]
    TABLE.write_text("".join(f"{line}\n" for line in lines))


def images() -> None:
    """Configurations of image processors, with the shapes of images."""
    from folders.processors import TABLE, configuration, read, shapes, stated

    from irlint.folders.preprocessing import PROCESSORS

    found = read() if TABLE.exists() else {}
    for kind in PROCESSORS:
        rng = random.Random(kind)
        drawn = [configuration(f"{kind}ImageProcessor", rng) for _ in range(99)]
        certain = [each for each in drawn if stated(each)[1] is not None]
        others = [each for each in drawn if stated(each)[1] is None]
        for text in map(json.dumps, certain[:EACH] + others[:EACH]):
            with tempfile.TemporaryDirectory() as folder:
                made = shapes(Path(folder), json.loads(text))
            found[text] = sorted({*found.get(text, []), *(made if isinstance(made, list) else ())})
    lines = [f"{text} -> {' '.join('x'.join(map(str, shape)) for shape in made)}" for text, made in found.items()]
    TABLE.write_text("".join(f"{line.rstrip()}\n" for line in lines))


if __name__ == "__main__":
    main()
