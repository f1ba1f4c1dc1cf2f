"""Hugging Face's folders of exported models: ``config.json`` and ``preprocessor_config.json`` against the models.

Sources: optimum's ``ORTModelForCausalLM``, which makes caches by the configuration; the pipelines of transformers and
transformers.js, which name classes by ``id2label``; the image processors of transformers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from irlint.dims import Dim
from irlint.findings.faults import Severity
from irlint.findings.report import Related
from irlint.findings.wording import counted
from irlint.folders.beside import Interface, Stated, Unreadable, by_name, interface, new_errors
from irlint.folders.json_text import Document, parsed
from irlint.folders.rules import SHAPE_MISMATCH, TYPE_MISMATCH, UNKNOWN_TENSOR
from irlint.folders.statements import Checked, Disagreement, Span
from irlint.inference.walk import inferred
from irlint.records import record

KIND = "huggingface"

PREPROCESSOR = "preprocessor_config.json"

#: Where exporters put the models.
FOLDERS = ("", "onnx")

#: How the architectures end whose output `logits` has a size for each class.
CLASSIFIERS = (
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForImageClassification",
    "ForAudioClassification",
)

#: The types of models whose caches are [batch, num_key_value_heads, past, head_size].
CACHED = (
    *("llama", "mistral", "mixtral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "phi", "phi3", "gpt_neox"),
    *("opt", "olmo", "olmo2", "stablelm", "starcoder2", "granite", "cohere", "smollm3", "helium"),
)

#: What variants of one model have behind its name.
VARIANT = re.compile(r"_(fp16|quantized|int8|uint8|q4|q4f16|q8|bnb4|O[1-4]|optimized)(?=\.onnx$)")

#: The input of a model of images, [batch, channels, height, width].
PIXELS = "pixel_values"


@record
class Named:
    """A model, and its path from the configuration on."""

    name: str
    model: Interface


def model_files(folder: str) -> list[str]:
    """The models that a configuration in a folder is about, by their paths from there."""
    found: list[str] = []
    for each in FOLDERS:
        try:
            names = sorted(os.listdir(os.path.join(folder, each) or os.curdir))
        except OSError:
            continue
        found += [f"{each}/{name}".lstrip("/") for name in names if name.lower().endswith(".onnx")]
    return found


def checked(path: str, text: str) -> Checked:
    """What a configuration states that its models contradict. Raises OSError where one cannot be opened."""
    folder = os.path.dirname(path)
    files = model_files(folder)
    if not files:
        return Checked(KIND, reason="no ONNX model lies beside it, or in the folder onnx")
    document = parsed(text)
    if not text.lstrip().startswith("{"):
        return Checked(KIND, reason="it is no JSON object: no configuration of transformers")
    if isinstance(document, Disagreement):
        return Checked(KIND, (document,))
    if os.path.basename(path) == PREPROCESSOR:
        return Checked(KIND, tuple(_images(document, list(_models(folder, files)))))
    if document.text("model_type") is None:
        return Checked(KIND, reason="it has no model_type: no configuration of transformers")
    return Checked(KIND, tuple(_configured(document, list(_models(folder, files)))))


def _models(folder: str, files: list[str]) -> Iterator[Named]:
    """The models that can be read; what is wrong with another one, its own check reports."""
    for name in files:
        try:
            yield Named(name, interface(os.path.join(folder, name)))
        except Unreadable:
            continue


def _configured(document: Document, models: list[Named]) -> Iterator[Disagreement]:
    for each in models:
        yield from _classes(document, each)
        yield from _caches(document, each)
    yield from _variants(models)


def _classes(document: Document, named: Named) -> Iterator[Disagreement]:
    architecture = document.text("architectures", 0) or ""
    labels, key = document.of("id2label"), "id2label"
    count = len(labels) if isinstance(labels, dict) and labels else None
    if count is None:
        count, key = document.whole_number("num_labels"), "num_labels"
    logits = by_name("logits", named.model.outputs)
    if count is None or not architecture.endswith(CLASSIFIERS) or logits is None or not logits.sizes:
        return
    size = logits.sizes[-1]
    if size is None or size < 1 or size == count:
        return
    message = f"{key} has {counted(count, 'class', 'classes')}, and the last axis of `logits` in {named.name} is {size}"
    fault = SHAPE_MISMATCH.fault(message, help="name each class of the model, or export the model that belongs to it")
    yield Disagreement(fault if size > count else fault.lowered(Severity.WARNING), document.at(key), "logits")


def _caches(document: Document, named: Named) -> Iterator[Disagreement]:
    if document.text("model_type") not in CACHED:
        return
    caches = [each for each in named.model.inputs if re.fullmatch(r"past_key_values\.\d+\.(key|value)", each.name)]
    heads = document.whole_number("num_key_value_heads") or document.whole_number("num_attention_heads")
    for axis, key, stated in (
        (1, "num_key_value_heads" if document.of("num_key_value_heads") else "num_attention_heads", heads),
        (3, "head_dim" if document.of("head_dim") else "hidden_size", _head_size(document)),
    ):
        wrong = [each for each in caches if _fixed(each, axis) not in (None, stated)]
        if stated is None or not wrong:
            continue
        what = "heads" if axis == 1 else "elements in a head"
        size = _fixed(wrong[0], axis)
        message = f"the configuration makes {stated} {what}, and `{wrong[0].name}` of {named.name} has {size}"
        fault = SHAPE_MISMATCH.fault(message, help=f"correct {key}, or export the model that belongs to it")
        yield Disagreement(fault, document.at(key), wrong[0].name)
    layers = document.whole_number("num_hidden_layers")
    found = len(caches) // 2
    if layers is not None and caches and layers != found:
        message = f"num_hidden_layers is {layers}, and {named.name} has caches of {counted(found, 'layer')}"
        fault = SHAPE_MISMATCH.fault(message, help=f"write `{found}`, or export the model that belongs to it")
        yield Disagreement(fault.lowered(Severity.WARNING), document.at("num_hidden_layers"))


def _head_size(document: Document) -> int | None:
    stated = document.whole_number("head_dim")
    width, heads = document.whole_number("hidden_size"), document.whole_number("num_attention_heads")
    if stated is not None or not width or not heads or width % heads:
        return stated
    return width // heads


def _fixed(end: Stated, axis: int) -> int | None:
    """The size of an axis of a cache, None where it is dynamic or the cache has another rank."""
    if end.sizes is None or len(end.sizes) != 4:
        return None
    size = end.sizes[axis]
    return size if size is not None and size > 0 else None


def _variants(models: list[Named]) -> Iterator[Disagreement]:
    """Variants of a model that do not have its inputs and outputs."""
    by_path = {each.name: each.model for each in models}
    for each in models:
        first = VARIANT.sub("", each.name)
        if first == each.name or first not in by_path:
            continue
        base = by_path[first]
        for kind, ends, others in (
            ("input", base.inputs, each.model.inputs),
            ("output", base.outputs, each.model.outputs),
        ):
            absent = sorted({end.name for end in ends} ^ {end.name for end in others})
            if absent:
                has = first if by_name(absent[0], ends) is not None else each.name
                other = each.name if has == first else first
                message = f"{has} has the {kind} `{absent[0]}`, and its variant {other} has not"
                fault = UNKNOWN_TENSOR.fault(message, help="export all variants from one model")
                yield Disagreement(fault.lowered(Severity.WARNING), value=absent[0])
            yield from _types(kind, (first, ends), (each.name, others))


def _types(
    kind: str, one: tuple[str, tuple[Stated, ...]], other: tuple[str, tuple[Stated, ...]]
) -> Iterator[Disagreement]:
    for end in one[1]:
        twin = by_name(end.name, other[1])
        if twin is not None and twin.dtype != end.dtype and None not in (twin.dtype, end.dtype):
            message = f"the {kind} `{end.name}` is {end.dtype} in {one[0]} and {twin.dtype} in {other[0]}"
            fault = TYPE_MISMATCH.fault(message, help="export all variants with the same types of inputs and outputs")
            yield Disagreement(fault.lowered(Severity.WARNING), value=end.name)
            return


def _images(document: Document, models: list[Named]) -> Iterator[Disagreement]:
    mean = document.of("image_mean")
    channels = len(mean) if isinstance(mean, list) and document.of("do_normalize") is not False else None
    sizes = _image_size(document)
    for each in models:
        end = by_name(PIXELS, each.model.inputs)
        if end is None or end.sizes is None or len(end.sizes) != 4:
            continue
        stated = (channels, *(size for size, _ in sizes)) if sizes else (channels, None, None)
        spans = (document.at("image_mean"), *(span for _, span in sizes)) if sizes else (document.at("image_mean"),) * 3
        yield from _pixels(each, end, stated, spans)


def _image_size(document: Document) -> tuple[tuple[int, Span], ...]:
    """Height and width of the images that the processor makes, and where they stand; () where that is not certain."""
    crops = document.of("do_center_crop")
    if crops is True:
        key = "crop_size"
    elif (crops is False or document.of("crop_size") is None) and document.of("do_resize") is not False:
        key = "size"
    else:
        return ()
    if document.of("do_pad") is True:
        return ()
    both = [(document.whole_number(key, name), document.at(key, name)) for name in ("height", "width")]
    if all(size is not None for size, _ in both):
        return tuple((size, span) for size, span in both if size is not None)
    edge = document.whole_number(key) if crops is True else None
    return () if edge is None else ((edge, document.at(key)),) * 2


def _pixels(
    named: Named, end: Stated, stated: tuple[int | None, ...], spans: tuple[Span, ...]
) -> Iterator[Disagreement]:
    sizes = (end.sizes or ())[1:]
    for what, size, own, span in zip(("channels", "rows", "columns"), stated, sizes, spans):
        if size is not None and own is not None and own > 0 and own != size:
            message = f"the processor makes images of {size} {what}, and `{PIXELS}` of {named.name} has {own}"
            help = "state the size of the model, or export the model for this size"
            yield Disagreement(SHAPE_MISMATCH.fault(message, help=help), span, PIXELS)
            return
    shape: tuple[Dim | None, ...] = (None, *stated)
    if all(size is None or own == size for size, own in zip(stated, sizes)):
        return
    errors = new_errors(named.model, inferred(named.model.known.model, {PIXELS: shape}))
    if errors:
        node = errors[0].node
        text = " x ".join(str(size) for size in stated[1:])
        reason = errors[0].fault.message
        message = f"{named.name} does not run with the images that the processor makes, {text}: {reason}"
        related = () if node is None else (Related(node.label, reason),)
        help = "state a size that `irlint contract` lists"
        yield Disagreement(SHAPE_MISMATCH.fault(message, help=help), spans[1], PIXELS, related)
