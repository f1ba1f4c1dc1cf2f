"""Sums the parameters and bytes that a model stores, by element type and by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from irlint.binding.calls import Call
from irlint.dims import elements
from irlint.inference.known import Known
from irlint.model import Constant, Graph, Node, Stored, Value
from irlint.model.order import graphs, used_values
from irlint.model.tensor import BITS, Tensor, tensor_shape
from irlint.ops.signatures import signature
from irlint.records import record

#: The names of parameters that operators read as shapes, axes, indices, counts or lengths.
SETTINGS = frozenset(
    {
        *(
            "shape",
            "target_shape",
            "output_shape",
            "image_shape",
            "block_shape",
            "batch_shape",
            "dense_shape",
            "b_shape",
        ),
        *("pattern", "repeats", "tiles", "size", "sizes", "scales_or_sizes", "target_spatial_shape", "output_size"),
        *("signal_size", "signal_length", "dft_length", "frame_length", "frame_step", "frame_size", "num_mel_bins"),
        *("kernel_size", "image_size", "crop_size", "num_rows", "num_columns", "depth", "num_segments", "num_samples"),
        *("axes", "axis", "axes_mapping", "input_order", "reversed_axes", "diagonal_index"),
        *("indices", "batch_indices", "write_indices", "position", "position_ids", "sequence_lens", "seq_lengths"),
        *("sequence_lengths", "sequence_length", "seqlens_k", "total_sequence_length", "past_sequence_length"),
        *("nonpad_kv_seqlen", "query_length", "key_length", "token_offset", "default_index", "padding_idx"),
        *("starts", "ends", "steps", "start", "stop", "step", "limit", "delta", "begin", "end", "begins", "stride"),
        *("strides", "split", "split_lengths", "pads", "pads_begin", "pads_end", "crops_begin", "crops_end", "roi"),
        *("max_output_boxes_per_class", "K", "trip_count", "execution_condition", "m", "shift", "sample_rate"),
    }
)

#: The names of parameters that operators read as scales, zero points or quantized ranges.
QUANTIZATION = frozenset(
    {
        *("zero_points", "absmax", "g_idx", "scale_a", "scale_b", "scale_x", "scale_y", "scale_input"),
        *("scale_q_gemm", "scale_k_gemm", "scale_v_gemm", "scale_q_weight", "scale_k_weight", "scale_v_weight"),
        *("input_low", "input_high", "output_low", "output_high"),
    }
)

#: By operator, further names of parameters that are settings or quantization parameters.
SETTINGS_OF_OPERATORS = {
    "If": ("cond", "condition"),
    "Loop": ("cond",),
    "ConstantOfShape": ("input",),
    "Resize": ("scales",),
    "Upsample": ("scales",),
    "Interpolate": ("scales",),
    "TopK": ("k",),
    "Trilu": ("k",),
    "MatMulNBits": ("scales",),
    "GatherBlockQuantized": ("scales",),
    "FakeConvert": ("scale", "shift"),
    "ArrayFeatureExtractor": ("y",),
    "MaxUnpool": ("I",),
}


#: Operators that keep the elements of their input.
MOVES = frozenset({"Convert", "Cast", "Identity", "Reshape", "Unsqueeze", "Squeeze", "Transpose"})

#: Operators whose second input is a zero point or scale if the first one is quantized.
DEQUANTIZES = frozenset({"Subtract", "Sub", "Multiply", "Mul"})


@record
class Sums:
    """The numbers of parameters and bytes that a model stores.

    A parameter is an element of a stored tensor with which the model computes, or that nothing uses. Settings (shapes,
    axes, indices, counts and lengths) and quantization parameters are no parameters. Tensors of the same type, shape
    and position in a file are counted once. Sparse tensors count their values.
    """

    parameters: int
    bytes: int
    parameters_by_type: Mapping[str, int]
    bytes_by_type: Mapping[str, int]
    #: By the first node that uses the tensor.
    by_node: Mapping[Node, int]
    bytes_by_node: Mapping[Node, int]
    #: The parameters that no node uses.
    unused: int


@record
class Entry:
    """A stored tensor, and the first node that uses it."""

    dtype: str
    elements: int
    bytes: int
    user: Node | None


def sums(known: Known) -> Sums:
    """The sums over all stored tensors of a model."""
    data = values_as_data(known)
    users, used = _users(known)
    parameters: dict[object, Entry] = {}
    every: dict[object, Entry] = {}
    for value, constant in _constants(known):
        for position, (key, entry) in enumerate(_entries(constant, users.get(value))):
            every.setdefault(key, entry)
            if position == 0 and (value in data or value not in used):
                parameters.setdefault(key, entry)
    return Sums(
        sum(entry.elements for entry in parameters.values()),
        sum(entry.bytes for entry in every.values()),
        _by_type((entry.dtype, entry.elements) for entry in parameters.values()),
        _by_type((entry.dtype, entry.bytes) for entry in every.values()),
        _by_node((entry.user, entry.elements) for entry in parameters.values()),
        _by_node((entry.user, entry.bytes) for entry in every.values()),
        sum(entry.elements for entry in parameters.values() if entry.user is None),
    )


def _by_node(pairs: Iterable[tuple[Node | None, int]]) -> dict[Node, int]:
    found: dict[Node, int] = {}
    for node, count in pairs:
        if node is not None:
            found[node] = found.get(node, 0) + count
    return found


def _by_type(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The sums by element type, the largest first."""
    found: dict[str, int] = {}
    for dtype, count in pairs:
        found[dtype] = found.get(dtype, 0) + count
    return dict(sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))


def _constants(known: Known) -> Iterator[tuple[Value, Constant]]:
    """All constants with their values: initializers, Const layers, and attributes of constant nodes."""
    for graph in graphs(known.model):
        yield from graph.constants.items()
        for node in graph.nodes:
            value = node.outputs[0] if node.op == known.format.constant_node and node.outputs else None
            if value is None or value in graph.constants:
                continue
            found = known.types.get(value)
            if isinstance(found, Tensor):
                yield value, _of_attribute(node, found)


def _of_attribute(node: Node, found: Tensor) -> Constant:
    """The tensor attribute of a constant node, or ``found`` for numbers and texts."""
    constants = (attribute.value for attribute in node.attributes.values() if isinstance(attribute.value, Constant))
    return next(constants, None) or Constant(found)


def _entries(constant: Constant, user: Node | None) -> Iterator[tuple[object, Entry]]:
    """The tensors of a constant, each with a key. Tensors with the same stored data have equal keys.

    Of a sparse constant, the first tensor has the values, and the second the indices. Tensors of unknown size are
    omitted.
    """
    for part in constant.parts or (constant,):
        shape, dtype = tensor_shape(part.tensor), part.tensor.dtype or ""
        sizes = [dim for dim in shape or () if isinstance(dim, int)]
        if shape is None or len(sizes) < len(shape):
            continue
        count = elements(sizes)
        stored = part.stored
        size = (count * BITS[dtype] + 7) // 8 if dtype in BITS else _text_bytes(stored)
        place = stored is not None and stored.file is not None and size
        key = (stored.file, stored.offset, dtype, shape) if stored is not None and place else id(part)
        yield key, Entry(dtype, count, size, user)


def _text_bytes(stored: Stored | None) -> int:
    if stored is None:
        return 0
    first, end = stored.coded or (0, 0)
    return stored.size or end - first


def _users(known: Known) -> tuple[dict[Value, Node], set[Value]]:
    """(first node that uses each value, values that nodes or graph outputs use)."""
    first: dict[Value, Node] = {}
    used: set[Value] = set()
    for graph in graphs(known.model):
        used.update(graph.outputs)
        for node in graph.nodes:
            for value in node.inputs:
                if value is not None:
                    first.setdefault(value, node)
    return first, used | first.keys()


# --- settings ---------------------------------------------------------------------------------------------------------


def values_as_data(known: Known) -> set[Value]:
    """The values whose elements a model uses as data. The other values are settings or quantization parameters."""
    data: set[Value] = set()
    quantized = _quantized(known)
    done: set[Graph] = set()
    for graph in graphs(known.model):
        _mark(graph, known, data, quantized=quantized, done=done)
    return data


def _mark(graph: Graph, known: Known, data: set[Value], *, quantized: set[Value], done: set[Graph]) -> None:
    """Adds to ``data`` the values that a graph, its bodies and the functions that it calls use as data."""
    if graph in done:
        return
    done.add(graph)
    data.update(graph.outputs)
    used = used_values(graph)
    for node in reversed(known.order(graph).nodes):
        call = known.calls.get(node)
        function = call.function if call is not None else None
        for body in [*(body for _, body in node.bodies), *([function.graph] if function is not None else ())]:
            _mark(body, known, data, quantized=quantized, done=done)
        outputs = [value for value in node.outputs if value in used]
        if outputs and not node.bodies and data.isdisjoint(outputs):
            continue
        settings = _settings(node, call, quantized)
        formal = function.graph.inputs if function is not None else ()
        for index, value in enumerate(node.inputs):
            inner = index < len(formal) and formal[index] not in data
            if value is not None and index not in settings and not inner:
                data.add(value)


def _settings(node: Node, call: Call | None, quantized: set[Value]) -> set[int]:
    if call is None or call.operator is None:
        return set()
    names = signature(call.operator.function).inputs
    found = {index for index, name in enumerate(names) if _is_setting(call.op, name)}
    if call.op in DEQUANTIZES and not quantized.isdisjoint(filter(None, node.inputs[:1])):
        found.add(1)
    return found


def _is_setting(op: str, name: str) -> bool:
    return (
        name in SETTINGS
        or name in QUANTIZATION
        or name.endswith(("_scale", "_zero_point"))
        or name in SETTINGS_OF_OPERATORS.get(op, ())
    )


def _quantized(known: Known) -> set[Value]:
    """The constants of at most 8 bits except booleans, and the values that MOVES and subtractions compute from them."""
    found: set[Value] = set()
    for value, constant in _constants(known):
        dtype = constant.tensor.dtype or ""
        if dtype != "bool" and BITS.get(dtype, 64) <= 8:
            found.add(value)
    for graph in graphs(known.model):
        for node in known.order(graph).nodes:
            if node.inputs and node.inputs[0] in found and (node.op in MOVES or node.op in ("Subtract", "Sub")):
                found.update(value for value in node.outputs if value is not None)
    return found
