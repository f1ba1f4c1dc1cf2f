"""Random configurations of image processors, and what the library transformers makes of images with them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

Json = dict[str, Any]

Shape = tuple[int, ...]

#: What ``tests/make/processors.py`` writes: a configuration and the shapes of images in each line.
TABLE = Path(__file__).with_name("processors.txt")

#: Height and width of the images that a processor is asked about: none of their sizes is one of a configuration.
IMAGES = ((50, 44), (31, 70))

MEAN = [0.5, 0.4, 0.3]


#: How the processors that pad by default begin.
PADDING = ("Detr", "ConditionalDetr", "DeformableDetr", "Yolos")


def configuration(kind: str, rng: random.Random) -> Json:
    """A ``preprocessor_config.json`` of a class, in which each key is absent, plain or unusual."""
    found: Json = {rng.choice(("image_processor_type", "feature_extractor_type")): kind}
    if found.get("feature_extractor_type"):
        found["feature_extractor_type"] = kind.removesuffix("ImageProcessor") + "FeatureExtractor"
    edge, other = rng.choice((16, 24, 32)), rng.choice((24, 40))
    square = {"height": edge, "width": edge}
    sizes = (None, square, square, {"height": edge, "width": other}, {"shortest_edge": edge}, edge)
    long = ({"shortest_edge": edge, "longest_edge": other}, {"longest_edge": edge}, {"height": edge}, [edge, other])
    crops = (None, None, square, {"height": other, "width": edge}, other, {"shortest_edge": edge})
    flags = (None, None, True, False)
    values = {
        "size": rng.choice(sizes + (long if rng.random() < 0.3 else ())),
        "crop_size": rng.choice(crops),
        "do_resize": rng.choice((*flags, True)),
        "do_center_crop": rng.choice(flags),
        "do_normalize": rng.choice(flags),
        "image_mean": rng.choice((None, MEAN, MEAN)),
        "do_rescale": rng.choice((None, None, None, True, False)),
        **{key: rng.choice((None, *each)) for key, each in RARE.items() if rng.random() < 0.15},
    }
    if kind.startswith(PADDING):
        values["do_pad"] = rng.choice((None, True, False, False))
    if values["image_mean"]:
        values["image_std"] = values["image_mean"]
    return {**found, **{key: value for key, value in values.items() if value is not None}}


#: Keys that few configurations have, with values.
RARE: dict[str, tuple[object, ...]] = {
    "do_pad": (True, False),
    "pad_size": ({"height": 48, "width": 56}, None),
    "keep_aspect_ratio": (True, False),
    "ensure_multiple_of": (1, 14),
    "crop_pct": (0.875, 0.9),
    "do_thumbnail": (True, False),
    "do_grayscale": (True, False),
    "do_convert_rgb": (True, False),
    "size_divisor": (8, 32),
    "do_flip_channel_order": (True, False),
    "use_square_size": (True, False),
    "default_to_square": (True, False),
    "crop": (True, False),
    "do_crop": (True, False),
    "patch_size": (8, 16),
    "image_mean": ([0.5],),
    "max_size": (40,),
    "format": ("coco_detection",),
    "apply_ocr": (False,),
}


def shapes(folder: Path, values: Json) -> list[Shape] | str:
    """The shapes that the library makes of both images by a configuration with either of its implementations, or why it
    makes none. ``apply_ocr`` is off, as it needs a program."""
    import numpy as np
    from PIL import Image
    from transformers import AutoImageProcessor

    (folder / "preprocessor_config.json").write_text(json.dumps(values))
    rng, found, reasons = np.random.default_rng(0), [], []
    for use_fast in (False, True):
        try:
            processor = AutoImageProcessor.from_pretrained(folder, use_fast=use_fast, apply_ocr=False)
        except Exception as error:
            reasons.append(f"{type(error).__name__}: {error}")
            continue
        for height, width in IMAGES:
            image = Image.fromarray(rng.integers(0, 255, (height, width, 3), np.uint8))
            try:
                made = processor(images=image, return_tensors="pt")["pixel_values"]
            except Exception as error:
                reasons.append(f"{type(error).__name__}: {error}")
                continue
            found.append(tuple(made.shape))
    return found or reasons[0]


def read() -> dict[str, list[Shape]]:
    """The table: the shapes by the texts of the configurations."""
    found = {}
    for line in TABLE.read_text().splitlines():
        text, _, made = line.rpartition(" ->")
        found[text] = [tuple(map(int, each.split("x"))) for each in made.split()]
    return found


def stated(values: Json) -> tuple[int | None, ...]:
    """Channels, rows and columns of the images as irlint infers them from a configuration."""
    from irlint.folders.json_text import Document, parsed
    from irlint.folders.preprocessing import image_axes

    document = parsed(json.dumps(values))
    assert isinstance(document, Document)
    return tuple(axis.size for axis in image_axes(document))


def fits(sizes: tuple[int | None, ...], shape: Shape) -> bool:
    """Whether the shape of an image is none that irlint contradicts."""
    return not any(sizes) or (len(shape) == 4 and all(a in (None, b) for a, b in zip(sizes, shape[1:], strict=True)))
