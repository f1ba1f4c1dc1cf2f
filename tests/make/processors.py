"""Writes ``tests/folders/processors.txt``: configurations of image processors, and the shapes of images made with them.

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
