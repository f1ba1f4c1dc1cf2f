"""Compares the image and sound inputs of Hugging Face's exported models with ``preprocessor_config.json``.

Source: the image processors and feature extractors of transformers. Image processors with custom code are not compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from irlint.dims import Dim
from irlint.findings.faults import Severity
from irlint.findings.report import Related
from irlint.folders.beside import Interface, Reported, by_name, new_errors, shown
from irlint.folders.json_text import Document
from irlint.folders.rules import SHAPE_MISMATCH
from irlint.folders.statements import ConfigFault, Span
from irlint.inference.walk import inferred
from irlint.records import record

#: The input of images, [batch, channels, height, width].
PIXELS = "pixel_values"


@record
class Steps:
    """The last steps of an image processor, which determine the size of the images."""

    #: Resizes to ``size``.
    resizes: bool = True
    #: Crops to ``crop_size``.
    crops: bool = False
    #: Resizes to squares of ``size.shortest_edge``.
    squares: bool = False
    #: A key without which the size of the images is uncertain, because its default varies.
    required_key: str = ""


_RESIZES = Steps()
_CROPS = Steps(crops=True, required_key="do_center_crop")
_PADS = Steps(required_key="do_pad")

#: The steps of processors in transformers 4.57 and 5.24, by the names of their classes without ``CLASS_SUFFIX``. Other
#: processors resize after they crop, pad, or keep the aspect ratio.
PROCESSORS: Mapping[str, Steps] = {
    **dict.fromkeys(("ViT", "Siglip", "Segformer", "LayoutLMv2", "LayoutLMv3", "DPT", "RTDetr"), _RESIZES),
    **dict.fromkeys(("CLIP", "ChineseCLIP", "DeiT", "Beit", "Bit", "EfficientNet", "MobileViT"), _CROPS),
    **dict.fromkeys(("MobileNetV1", "MobileNetV2", "OwlViT"), _CROPS),
    **dict.fromkeys(("Detr", "ConditionalDetr", "DeformableDetr", "Yolos"), _PADS),
    "PoolFormer": Steps(resizes=False, crops=True),
    "ConvNext": Steps(resizes=False, squares=True),
}
CLASS_SUFFIX = re.compile(r"(ImageProcessor(Fast|Pil)?|FeatureExtractor)$")

#: With one of these keys, `size` is only a limit, or another step follows.
LIMITING_KEYS = (
    *("do_pad", "pad_size", "keep_aspect_ratio", "ensure_multiple_of", "do_grayscale", "do_thumbnail"),
    *("do_image_splitting", "use_square_size"),
)

#: (name of the input, keys of the sizes of its axes from axis 1 on), by extractor.
SOUND_EXTRACTORS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "WhisperFeatureExtractor": ("input_features", ("feature_size", "nb_max_frames")),
    "ASTFeatureExtractor": ("input_values", ("max_length", "num_mel_bins")),
}


@record
class Axis:
    """An axis of the images that a processor returns."""

    name: str
    #: None if the size is uncertain.
    size: int | None
    #: The position of the size in the configuration.
    span: Span


def faults(document: Document, name: str, model: Interface) -> Iterator[ConfigFault]:
    """The findings about the inputs of sounds and images."""
    kind = document.text("feature_extractor_type") or ""
    if kind in SOUND_EXTRACTORS:
        yield from _sounds(document, name, model, kind)
    pixels = by_name(PIXELS, model.inputs)
    if document.of("auto_map", "AutoImageProcessor") is not None:
        return
    if pixels is not None and pixels.sizes is not None and len(pixels.sizes) == 4:
        yield from _mean(document, name, model, pixels)
        yield from _pixels(name, model, pixels, image_axes(document))


def _sounds(document: Document, name: str, model: Interface, kind: str) -> Iterator[ConfigFault]:
    """The findings about fixed sizes of the input that differ from the sizes that the extractor returns."""
    input_name, keys = SOUND_EXTRACTORS[kind]
    end = by_name(input_name, model.inputs)
    if end is None or end.sizes is None or len(end.sizes) != len(keys) + 1:
        return
    for axis, (key, size) in enumerate(zip(keys, end.sizes[1:]), 1):
        stated = document.integer(key)
        if stated is not None and size is not None and size > 0 and size != stated:
            message = f"{key} is {stated}, and axis {axis} of `{input_name}` of {name} is {size}"
            fault = SHAPE_MISMATCH.fault(message, help="state the size of the model, or export the model for this size")
            yield ConfigFault(fault, document.at(key), input_name, shown(name, end))


def image_axes(document: Document) -> tuple[Axis, ...]:
    """The channels, rows and columns of the images that the processor returns."""
    mean = document.of("image_mean")
    is_gray = document.of("do_grayscale") is True
    # Implementations differ in a mean of one number, and in the default of ``do_normalize``.
    is_certain = isinstance(mean, list) and len(mean) > 1 and document.of("do_normalize") is True and not is_gray
    sizes = _size(document) or ((None, document.at("image_mean")),) * 2
    channels = Axis("channels", len(mean) if is_certain else None, document.at("image_mean"))
    return (channels, *(Axis(what, size, span) for what, (size, span) in zip(("rows", "columns"), sizes)))


def _size(document: Document) -> tuple[tuple[int, Span], ...]:
    """(size, position) of the height and the width of the images; () if they are uncertain."""
    kind = CLASS_SUFFIX.sub("", document.text("image_processor_type") or document.text("feature_extractor_type") or "")
    steps = PROCESSORS.get(kind)
    if steps is None or (steps.required_key and document.of(steps.required_key) is None):
        return ()
    if any(document.of(key) not in (None, False) for key in LIMITING_KEYS):
        return ()
    crops, resizes = document.of("do_center_crop"), document.of("do_resize") is not False
    if crops is True:
        return _edges(document, "crop_size", square="") if steps.crops else ()
    if not resizes or not (steps.resizes or steps.squares):
        return ()
    return _edges(document, "size", square="shortest_edge" if steps.squares else None)


def _edges(document: Document, key: str, *, square: str | None) -> tuple[tuple[int, Span], ...]:
    """(size, position) of the height and the width that a key states; () if it does not state both.

    If ``square`` is None, the inner keys ``height`` and ``width`` state them. If it is "", these keys do, or the
    value of ``key`` itself is one number for both. Otherwise, the inner key ``square`` is one number for both.
    """
    if square != "shortest_edge":
        both = [(document.integer(key, name), document.at(key, name)) for name in ("height", "width")]
        if all(size is not None for size, _ in both):
            return tuple((size, span) for size, span in both if size is not None)
    if square is None:
        return ()
    path = (key, square) if square else (key,)
    edge = document.integer(*path)
    return () if edge is None else ((edge, document.at(*path)),) * 2


def _mean(document: Document, name: str, model: Interface, end: Reported) -> Iterator[ConfigFault]:
    """A warning if ``image_mean`` has one number, but the model accepts no images of 1 channel.

    Processors without torchvision refuse such a mean for several channels.
    """
    mean, channels = document.of("image_mean"), (end.sizes or (None, None))[1]
    if document.of("do_normalize") is not True or document.of("do_grayscale") is True:
        return
    if not isinstance(mean, list) or len(mean) != 1:
        return
    one_channel = {PIXELS: (None, 1, None, None)}
    if channels == 1 or (channels in (None, -1) and not new_errors(model, inferred(model.known.model, one_channel))):
        return
    message = f"image_mean has 1 number, and `{PIXELS}` of {name} accepts no images of 1 channel"
    fault = SHAPE_MISMATCH.fault(message, help="state the mean of each channel").lowered(Severity.WARNING)
    yield ConfigFault(fault, document.at("image_mean"), PIXELS, shown(name, end))


def _pixels(name: str, model: Interface, end: Reported, axes: tuple[Axis, ...]) -> Iterator[ConfigFault]:
    """At most one finding about the images that the processor returns."""
    sizes = (end.sizes or ())[1:]
    if sizes[0] != axes[0].size and sizes[2] == axes[0].size and (sizes[0] or 0) > 0:
        layout = "[batch, channels, height, width]"
        message = f"the processor returns {layout}, and `{PIXELS}` of {name} has its channels last"
        fault = SHAPE_MISMATCH.fault(message, help="export the model with its channels on axis 1")
        yield ConfigFault(fault, axes[0].span, PIXELS, shown(name, end))
        return
    for axis, own in zip(axes, sizes):
        if axis.size is not None and own is not None and own > 0 and own != axis.size:
            message = f"the processor returns images of {axis.size} {axis.name}, and `{PIXELS}` of {name} has {own}"
            help = "state the size of the model, or export the model for this size"
            yield ConfigFault(SHAPE_MISMATCH.fault(message, help=help), axis.span, PIXELS, shown(name, end))
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
        message = f"{name} does not run with the images that the processor returns, {text}: {reason}"
        related = () if node is None else (Related(node.label, reason),)
        help = "state a size that `irlint contract` lists"
        yield ConfigFault(SHAPE_MISMATCH.fault(message, help=help), axes[1].span, PIXELS, related)
