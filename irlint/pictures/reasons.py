"""How a size came to be, in words: the arithmetic of the operator that made it, or the place that declares it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from irlint.dims import MaybeDim
from irlint.inference.known import Known
from irlint.inference.origins import Maker, Trail, contents_of, first_number, names, numbers, shape_of, text
from irlint.lazy_typing import Protocol
from irlint.model import Node, Value
from irlint.model.tensor import shape_text, size_text

#: So many operators that handed a size on are named.
NAMED = 4

DECLARED = " is declared: "

_SLICING = names(
    """
    Slice StridedSlice Split VariadicSplit Crop CenterCropPad TopK Compress
    """
)
_BACKWARD = frozenset(["ConvTranspose", "ConvolutionBackpropData", "GroupConvolutionBackpropData"])
_WINDOWS = names(
    """
    Conv Convolution GroupConvolution BinaryConvolution ConvInteger QLinearConv MaxPool AveragePool AvgPool
    LpPool
    """
)


class Speech(Protocol):
    """How nodes and declarations are called in the format of the model."""

    known: Known

    def node(self, node: Node) -> str:
        """``Conv[0] "/backbone/Conv"``, or ``layer 5 "/backbone/Conv" (Convolution)``."""

    def short(self, node: Node) -> str:
        """``Relu[1]``, or ``Relu (layer 12)``."""

    def at(self, node: Node) -> str:
        """Where the node stands: ``m.xml:52:3``; "" in a file without lines."""

    def declared(self, value: Value, maker: Maker) -> str:
        """What declares an input of a graph: ``graph input `x```."""

    def shows(self, value: Value, maker: Maker) -> bool:
        """Whether a table that has the value says already what made it."""

    def constant(self, value: Value, maker: Maker) -> str:
        """``initializer `w```, or ``Const layer 3 "w"``."""


def reasons(trails: Iterable[Trail], speech: Speech) -> list[str]:
    """A sentence for each size on where it comes from; of sizes that one place declares, one."""
    told = dict.fromkeys(text for found in trails if (text := reason(found, speech)))
    declared: dict[str, list[str]] = {}
    for text in told:
        dim, _, place = text.partition(DECLARED)
        declared.setdefault(place or text, []).append(dim)
    return [
        f"{', '.join(dims[:-1])} and {dims[-1]} are{DECLARED.removeprefix(' is')}{place}"
        if len(dims) > 1
        else dims[0] + (DECLARED + place) * (place != dims[0])
        for place, dims in declared.items()
    ]


def reason(found: Trail, speech: Speech) -> str:
    """One sentence on where a size comes from, "" where the table of shapes says it all."""
    maker = found.maker
    if maker is None or (not found.kept and speech.shows(found.value, maker)):
        return ""
    told = _made(found, maker, speech)
    return f"{told}{_kept(found.kept, speech)}" if told else ""


def _made(found: Trail, maker: Maker, speech: Speech) -> str:
    dim = "?" if found.dim is None else str(found.dim)
    if maker.constant is not None:
        return f"{dim} is axis {found.axis} of {speech.constant(found.value, maker)}"
    node = maker.node
    if node is None or node.op == "Parameter":
        if dim in speech.known.symbols and "[" in speech.known.symbols[dim]:
            told = size_text(found.dim).removeprefix(dim).strip(" ()")
            open_as = f"which allows {told}" if told else "which leaves it open"
            return f"{dim} is axis {found.axis} of {speech.declared(found.value, maker)}, {open_as}"
        if node is None and maker.graph.path:
            return f"{dim} comes in as {speech.declared(found.value, maker)}"
        verb = " is given by --shape for " if _overridden(found.value, speech.known) else DECLARED
        return f"{dim}{verb}{speech.declared(found.value, maker)}"
    call = speech.known.calls.get(node)
    unknown = call is None or (call.operator is None and call.function is None)
    if node in speech.known.faulted or unknown:
        return f"{dim} is declared for the output of {_where(node, speech)}, which could not be worked out"
    return _computed(found, node, dim, speech)


def _overridden(value: Value, known: Known) -> bool:
    return value in known.overridden


def _kept(nodes: tuple[Node, ...], speech: Speech) -> str:
    if not nodes:
        return ""
    shown = [speech.short(node) for node in nodes]
    if len(shown) > NAMED:
        shown = [*shown[: NAMED - 1], f"{len(shown) - NAMED} more", shown[-1]]
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f", then kept by {listed}"


def _where(node: Node, speech: Speech) -> str:
    place = speech.at(node)
    return f"{speech.node(node)}, {place}" if place else speech.node(node)


def _computed(found: Trail, node: Node, dim: str, speech: Speech) -> str:
    known = speech.known
    for arithmetic in _ARITHMETIC:
        told = arithmetic(found, node, known)
        if told is not None:
            formula, details = told
            place = speech.at(node)
            return f"{dim} = {formula} in {speech.node(node)}{f' ({details})' if details else ''}{f', {place}' * bool(place)}"
    if node.op in _SLICING:
        whole = _input_dim(node, found.axis, known)
        if whole is not None:
            return f"{dim} is what {_where(node, speech)} leaves of {whole}"
    shapes = [shape_text(shape) for value in node.inputs if (shape := shape_of(value, known)) is not None]
    given = f" from {' and '.join(shapes[:3])}{' ...' * (len(shapes) > 3)}" if shapes else ""
    return f"{dim} is made by {_where(node, speech)}{given}"


def _input_dim(node: Node, axis: int, known: Known) -> MaybeDim:
    shape = shape_of(node.inputs[0], known) if node.inputs else None
    return shape[axis] if shape is not None and axis < len(shape) else None


Arithmetic = tuple[str, str]


def _windowed(found: Trail, node: Node, known: Known) -> Arithmetic | None:
    """``(224 + 3 + 3 - 7) / 4 + 1`` where that is the size, and what the numbers are."""
    backward = node.op in _BACKWARD
    if not backward and node.op not in _WINDOWS:
        return None
    size, spatial = _input_dim(node, found.axis, known), found.axis - 2
    kernel = _kernel(node, spatial, known)
    if spatial < 0 or kernel is None or not isinstance(size, int) or not isinstance(found.dim, int):
        return None
    stride, dilation = _entry(node, ("strides",), spatial, 1), _entry(node, ("dilations",), spatial, 1)
    before, after = _padding(node, spatial)
    auto = (text(node, "auto_pad") or "").lower()
    details = f"kernel {kernel}, stride {stride}" + f", dilation {dilation}" * (dilation > 1)
    if stride < 1 or dilation < 1:
        return None
    if auto.startswith("same") and not backward:
        if -(-size // stride) != found.dim:
            return None
        return (f"{size}" if stride == 1 else f"ceil({size} / {stride})"), f"{details}, auto_pad {auto.upper()}"
    if auto == "valid":
        before = after = 0
    details += f", pads {before}+{after}" if before or after else ""
    if backward:
        more = _entry(node, ("output_padding",), spatial, 0)
        given = (size - 1) * stride + dilation * (kernel - 1) + 1 - before - after + more
        pieces = [f"({size} - 1) * {stride} + {dilation * (kernel - 1) + 1}", *_minus(before, after)]
        return (" ".join(pieces) + f" + {more}" * bool(more), details) if given == found.dim else None
    return _forward(size, before, after, dilation * (kernel - 1) + 1, stride, found.dim, details)


def _minus(*terms: int) -> list[str]:
    return [f"- {term}" for term in terms if term]


def _forward(size: int, before: int, after: int, reach: int, stride: int, dim: int, details: str) -> Arithmetic | None:
    room = size + before + after - reach
    inner = f"{size}" + f" + {before} + {after}" * bool(before or after) + f" - {reach}"
    if stride == 1:
        return (f"{inner} + 1", details) if room + 1 == dim else None
    if room % stride == 0:
        return (f"({inner}) / {stride} + 1", details) if room // stride + 1 == dim else None
    for name, steps in (("floor", room // stride), ("ceil", -(-room // stride))):
        if steps + 1 == dim:
            return f"{name}(({inner}) / {stride}) + 1", details
    return None


def _kernel(node: Node, spatial: int, known: Known) -> int | None:
    for name in ("kernel_shape", "kernel"):
        sizes = numbers(node, name)
        if sizes is not None:
            return sizes[spatial] if 0 <= spatial < len(sizes) else None
    index = 3 if node.op == "QLinearConv" else 1
    weights = shape_of(node.inputs[index], known) if index < len(node.inputs) else None
    data = shape_of(node.inputs[0], known)
    if weights is None or data is None or spatial < 0:
        return None
    at = len(weights) - (len(data) - 2) + spatial
    size = weights[at] if 0 <= at < len(weights) else None
    return size if isinstance(size, int) else None


def _entry(node: Node, names: tuple[str, ...], at: int, default: int) -> int:
    for name in names:
        found = numbers(node, name)
        if found is not None and 0 <= at < len(found):
            return found[at]
    return default


def _padding(node: Node, spatial: int) -> tuple[int, int]:
    pads = numbers(node, "pads")
    if pads:
        half = len(pads) // 2
        return (pads[spatial], pads[half + spatial]) if 0 <= spatial < half else (0, 0)
    return _entry(node, ("pads_begin",), spatial, 0), _entry(node, ("pads_end",), spatial, 0)


def _joined(found: Trail, node: Node, known: Known) -> Arithmetic | None:
    if node.op != "Concat":
        return None
    sizes: list[str] = []
    for value in node.inputs:
        shape = shape_of(value, known)
        if shape is None or found.axis >= len(shape):
            return None
        sizes.append(str(shape[found.axis]))
    if len(sizes) > 8:
        sizes = [*sizes[:4], "...", *sizes[-2:]]
    return " + ".join(sizes), f"axis {found.axis} of its inputs"


def _padded(found: Trail, node: Node, known: Known) -> Arithmetic | None:
    size = _input_dim(node, found.axis, known)
    if node.op != "Pad" or size is None:
        return None
    pads: tuple[MaybeDim, ...] | None = numbers(node, "pads") or numbers(node, "paddings")
    if pads is None and len(node.inputs) > 1:
        pads = contents_of(node.inputs[1], known)
        if node.domain == "openvino" and len(node.inputs) > 2:
            ends = contents_of(node.inputs[2], known)
            pads = None if pads is None or ends is None else (*pads, *ends)
    if pads is None or len(pads) // 2 <= found.axis:
        return None
    before, after = pads[found.axis], pads[len(pads) // 2 + found.axis]
    if not isinstance(before, int) or not isinstance(after, int) or before < 0 or after < 0:
        return None
    if isinstance(size, int) and size + before + after != found.dim:
        return None
    return f"{size} + {before} + {after}", f"pads {before}+{after} on axis {found.axis}"


def _reshaped(found: Trail, node: Node, known: Known) -> Arithmetic | None:
    if node.op != "Reshape" or len(node.inputs) < 2:
        return None
    target = contents_of(node.inputs[1], known)
    data = shape_of(node.inputs[0], known)
    if target is None or found.axis >= len(target):
        return None
    written = f"[{', '.join('?' if entry is None else str(entry) for entry in target)}]"
    source = "" if data is None else f", data {shape_text(data)}"
    entry = target[found.axis]
    if entry != -1:
        return f"entry {found.axis} of the shape {written}", source.removeprefix(", ")
    return "what is left for -1", f"shape {written}{source}"


def _flattened(found: Trail, node: Node, known: Known) -> Arithmetic | None:
    shape = shape_of(node.inputs[0], known) if node.inputs else None
    if node.op != "Flatten" or shape is None:
        return None
    axis = first_number(node, "axis", 1)
    axis += len(shape) * (axis < 0)
    dims = shape[:axis] if found.axis == 0 else shape[axis:]
    sizes = [f"({dim})" if " " in str(dim) else str(dim) for dim in dims]
    return " * ".join(sizes) or "1", f"axis {axis}, input {shape_text(shape)}"


_ARITHMETIC: tuple[Callable[[Trail, Node, Known], Arithmetic | None], ...] = (
    _windowed,
    _joined,
    _padded,
    _reshaped,
    _flattened,
)
