"""The inputs of images and sounds of Hugging Face's exported models against ``preprocessor_config.json``.

Source: the image processors and feature extractors of transformers. One whose code lies beside the model is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from irlint.dims import Dim
from irlint.findings.report import Related
from irlint.folders.beside import Interface, Stated, by_name, new_errors, shown
from irlint.folders.json_text import Document
from irlint.folders.rules import SHAPE_MISMATCH
from irlint.folders.statements import Disagreement, Span
from irlint.inference.walk import inferred
from irlint.records import record

#: The input of a model of images, [batch, channels, height, width].
PIXELS = "pixel_values"

#: The processors, without the ends of their names, that make images of `size`, or of `crop_size`, and how a file states
#: that: with some of them a key that is absent means yes. Others resize after they crop, pad, or keep the ratio.
PROCESSORS: Mapping[str, str] = {
    **dict.fromkeys(("", "ViT", "Siglip", "Segformer", "LayoutLMv2", "LayoutLMv3", "DPT", "Image", "RTDetr"), ""),
    **dict.fromkeys(("CLIP", "ChineseCLIP", "DeiT", "Beit", "Bit", "ConvNext", "EfficientNet"), "do_center_crop"),
    **dict.fromkeys(("MobileViT", "MobileNetV1", "MobileNetV2", "OwlViT", "PoolFormer"), "do_center_crop"),
    **dict.fromkeys(("Detr", "ConditionalDetr", "DeformableDetr", "Yolos"), "do_pad"),
}
END = re.compile(r"(ImageProcessor(Fast|Pil)?|FeatureExtractor)$")

#: Keys with which `size` is a limit, or not the last step.
LIMITS = ("do_pad", "keep_aspect_ratio", "do_grayscale", "do_thumbnail", "do_image_splitting")

#: The extractors of sounds: the input, and the keys of its axes behind the first one.
SOUNDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "WhisperFeatureExtractor": ("input_features", ("feature_size", "nb_max_frames")),
    "ASTFeatureExtractor": ("input_values", ("max_length", "num_mel_bins")),
}


@record
class Axis:
    """The size that a processor gives to an axis, the words for it, and its position in the configuration."""

    what: str
    size: int | None
    span: Span


def disagreements(document: Document, name: str, model: Interface) -> Iterator[Disagreement]:
    """The inputs of a model that the processor contradicts."""
    kind = document.text("feature_extractor_type") or ""
    if kind in SOUNDS:
        yield from _sounds(document, name, model, kind)
    pixels = by_name(PIXELS, model.inputs)
    if document.of("auto_map", "AutoImageProcessor") is not None:
        return
    if pixels is not None and pixels.sizes is not None and len(pixels.sizes) == 4:
        yield from _pixels(name, model, pixels, _axes(document))


def _sounds(document: Document, name: str, model: Interface, kind: str) -> Iterator[Disagreement]:
    wanted, keys = SOUNDS[kind]
    end = by_name(wanted, model.inputs)
    if end is None or end.sizes is None or len(end.sizes) != len(keys) + 1:
        return
    for axis, (key, own) in enumerate(zip(keys, end.sizes[1:]), 1):
        stated = document.whole_number(key)
        if stated is not None and own is not None and own > 0 and own != stated:
            message = f"{key} is {stated}, and axis {axis} of `{wanted}` of {name} is {own}"
            fault = SHAPE_MISMATCH.fault(message, help="state the size of the model, or export the model for this size")
            yield Disagreement(fault, document.at(key), wanted, shown(name, end))


def _axes(document: Document) -> tuple[Axis, ...]:
    """The channels, rows and columns of the images that the processor makes."""
    mean = document.of("image_mean")
    gray = document.of("do_grayscale") is True
    known = isinstance(mean, list) and document.of("do_normalize") is not False and not gray
    sizes = _size(document) or ((None, document.at("image_mean")),) * 2
    channels = Axis("channels", len(mean) if known else None, document.at("image_mean"))
    return (channels, *(Axis(what, size, span) for what, (size, span) in zip(("rows", "columns"), sizes)))


def _size(document: Document) -> tuple[tuple[int, Span], ...]:
    """Height and width of the images, with their positions in the file; () if they are uncertain."""
    kind = END.sub("", document.text("image_processor_type") or document.text("feature_extractor_type") or "")
    stated = PROCESSORS.get(kind)
    if stated is None or (stated and document.of(stated) is None):
        return ()
    if any(document.of(key) not in (None, False) for key in LIMITS):
        return ()
    crops = document.of("do_center_crop")
    if crops is True:
        key = "crop_size"
    elif (crops is False or document.of("crop_size") is None) and document.of("do_resize") is not False:
        key = "size"
    else:
        return ()
    both = [(document.whole_number(key, name), document.at(key, name)) for name in ("height", "width")]
    if all(size is not None for size, _ in both):
        return tuple((size, span) for size, span in both if size is not None)
    edge = document.whole_number(key) if crops is True else None
    return () if edge is None else ((edge, document.at(key)),) * 2


def _pixels(name: str, model: Interface, end: Stated, axes: tuple[Axis, ...]) -> Iterator[Disagreement]:
    sizes = (end.sizes or ())[1:]
    if sizes[0] != axes[0].size and sizes[2] == axes[0].size and (sizes[0] or 0) > 0:
        message = (
            f"the processor makes [batch, channels, height, width], and `{PIXELS}` of {name} has its channels last"
        )
        fault = SHAPE_MISMATCH.fault(message, help="export the model with its channels on axis 1")
        yield Disagreement(fault, axes[0].span, PIXELS, shown(name, end))
        return
    for axis, own in zip(axes, sizes):
        if axis.size is not None and own is not None and own > 0 and own != axis.size:
            message = f"the processor makes images of {axis.size} {axis.what}, and `{PIXELS}` of {name} has {own}"
            help = "state the size of the model, or export the model for this size"
            yield Disagreement(SHAPE_MISMATCH.fault(message, help=help), axis.span, PIXELS, shown(name, end))
            return
    stated = tuple(axis.size for axis in axes)
    if all(size is None or own == size for size, own in zip(stated, sizes)):
        return
    shape: tuple[Dim | None, ...] = (None, *stated)
    errors = new_errors(model, inferred(model.known.model, {PIXELS: shape}))
    if errors:
        node = errors[0].node
        text = " x ".join("any" if size is None else str(size) for size in stated[1:])
        reason = errors[0].fault.message
        message = f"{name} does not run with the images that the processor makes, {text}: {reason}"
        related = () if node is None else (Related(node.label, reason),)
        help = "state a size that `irlint contract` lists"
        yield Disagreement(SHAPE_MISMATCH.fault(message, help=help), axes[1].span, PIXELS, related)
