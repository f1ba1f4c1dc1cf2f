"""Checks the mean values and mean images in ``<pre-process>`` of an IR."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from irlint.dims import Shape
from irlint.findings.faults import Rule, Severity
from irlint.findings.wording import counted
from irlint.model import Place
from irlint.model.tensor import shape_text
from irlint.parsers.openvino.constants import WeightsFile
from irlint.parsers.openvino.layers import Element, Layer, LayerReader
from irlint.parsers.openvino.outputs import GOOD, PRE_PROCESS_INVALID
from irlint.parsers.openvino.types import BLANKS, integer, partial_shape

MEAN_VALUES_REFUSED = Rule(
    "IRL152",
    "pre-process-mean-refused",
    Severity.ERROR,
    "The mean values of the pre-process section do not fit their input.",
    why=(
        "OpenVINO subtracts one mean value, or one mean image, from each channel of the input. The shape of the "
        "input must be known, and the number of channels must match. Otherwise, OpenVINO refuses the model."
    ),
    fix="Write one <channel> with one <mean> for each channel of the input, or remove the section.",
    bad=GOOD.replace(
        "  <layers>",
        '  <pre-process reference-layer-name="x"><channel id="0"><mean value="1.5"/></channel></pre-process>\n  '
        "<layers>",
    ),
    good=GOOD.replace(
        "  <layers>",
        '  <pre-process reference-layer-name="x"><channel id="0"><mean value="1.5"/></channel><channel id="1"><mean '
        'value="2"/>'
        '</channel><channel id="2"><mean value="0"/></channel></pre-process>\n  <layers>',
    ),
)

#: The size in bytes of one element of a mean image, which is float32.
_BYTES = 4


def check_pre_process(element: Element, layers: Sequence[Layer], weights: WeightsFile, reader: LayerReader) -> None:
    """Complains of a ``<pre-process>`` for a missing input, or with mean values that do not fit the input."""
    inputs = [layer for layer in layers if layer.type == "Parameter"]
    reference = element.get("reference-layer-name", "").strip(BLANKS)
    layer = next((each for each in inputs if not reference or each.name == reference), None)
    if layer is None:
        listed = ", ".join(f'"{each.name}"' for each in inputs)
        fault = PRE_PROCESS_INVALID.fault(
            f'<pre-process> is for the input "{reference}"; the inputs are {listed or "none"}',
            help="write the name of an input, or remove <pre-process>",
        )
        reader.complain(fault, Place(reader.ordinals[element], "reference-layer-name"))
        return
    is_readable, shape = _shape(layer)
    remark, at = _remark(element, shape, weights) if is_readable else ("", element)
    if remark:
        fault = MEAN_VALUES_REFUSED.fault(
            f'<pre-process> for the input "{layer.name}", {shape_text(shape)}: {remark}',
            help="write a <mean> for each channel of the input, or remove <pre-process>",
        )
        reader.complain(fault, Place(reader.ordinals[at]))


def _shape(layer: Layer) -> tuple[bool, Shape | None]:
    """(whether the shape of a Parameter is valid, the shape or None if it is invalid or the rank is unknown)."""
    attribute = layer.attributes.get("shape")
    try:
        return True, partial_shape(attribute.value if attribute is not None else "", "size")
    except ValueError:
        return False, None


def _remark(element: Element, shape: Shape | None, weights: WeightsFile) -> tuple[str, Element]:
    """(why OpenVINO refuses the mean values or "", element at fault).

    The channels are on axis 1. If the input has 3 axes, they are on axis 0.
    """
    if shape is None or not all(isinstance(size, int) for size in shape):
        return "the sizes of the input are dynamic, and OpenVINO subtracts nothing from such an input", element
    sizes = [size for size in shape if isinstance(size, int)]
    if len(sizes) < 2:
        return f"an input of {counted(len(sizes), 'axis', 'axes')} has no channels", element
    sizes = sizes if len(sizes) == 3 else sizes[1:]
    kinds: dict[str, set[tuple[int, float]]] = {"value": set(), "size": set()}
    last = -1
    for channel in element.iterchildren("channel"):
        try:
            last = integer(channel.get("id", str(last + 1)))
        except ValueError:
            return f'channel id="{channel.get("id")}" is not an integer', channel
        mean = next(channel.iterchildren("mean"), None)
        if mean is None:
            continue
        remark = _remark_on_mean(mean, sizes, weights)
        if remark:
            return remark, mean
        if "value" in mean.attrib:
            kinds["value"].add((last, float(mean.attrib["value"].strip(BLANKS) or 0)))
        if "size" in mean.attrib and "offset" in mean.attrib:
            kinds["size"].add((last, integer(mean.attrib["offset"])))
    if all(kinds.values()):
        return "it has mean values and mean images", element
    return _remark_on_number(kinds["value"] | kinds["size"], sizes), element


def _remark_on_number(means: set[tuple[int, float]], sizes: Sequence[int]) -> str:
    """Why the (channel, mean) pairs do not fit the channels, or "". ``sizes`` begins with the number of channels."""
    count, channels = sizes[0], {channel for channel, _ in means}
    if not channels:
        return ""
    if len(channels) != count:
        return f"it has {counted(len(channels), 'mean')}, but the input has {counted(count, 'channel')}"
    if len(means) != count:
        again = next(one for (one, _), (other, _) in pairwise(sorted(means)) if one == other)
        return f"channel {again} has several means that differ"
    outside = next((each for each in sorted(channels) if not 0 <= each < count), None)
    return "" if outside is None else f"there is no channel {outside}: the input has {counted(count, 'channel')}"


def _remark_on_mean(mean: Element, sizes: Sequence[int], weights: WeightsFile) -> str:
    if "value" not in mean.attrib and "size" not in mean.attrib:
        return "a <mean> has neither a value nor a size"
    if not _is_number(mean.get("value", "0")):
        return f'mean value="{mean.get("value")}" is not a number'
    if "size" not in mean.attrib or "offset" not in mean.attrib:
        return ""
    try:
        size, offset = integer(mean.attrib["size"]), integer(mean.attrib["offset"])
    except ValueError as error:
        return f"the size or offset of a mean image is invalid: {error}"
    needed = _BYTES * prod(sizes[1:])
    if size != needed:
        return f"a mean image has {size} bytes, and {list(sizes[1:])} of float32 needs {needed}"
    if weights.size is not None and offset + size > weights.size:
        return f"a mean image reaches to byte {offset + size} of {weights.name}, which has {weights.size}"
    return ""


def _is_number(text: str) -> bool:
    """Whether a C++ stream reads the complete text as a number; an empty text is 0."""
    text = text.strip(BLANKS)
    if not text:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and set(text.lower()) <= set("0123456789+-.e")
