"""Finds inputs and outputs for which the ONNX Runtime and OpenVINO backends refuse a configuration.

Source: ``ValidateInputs``, ``ValidateOutputs``, ``AutoCompleteMaxBatch`` and ``CompareDimsSupported`` in the server's
onnxruntime_backend and openvino_backend.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.findings.wording import counted
from irlint.folders.beside import Interface, Reported, Size, by_name, suggestion
from irlint.folders.rules import INPUTS_MISSING, NO_BATCH_AXIS, SHAPE_MISMATCH, TYPE_MISMATCH, UNKNOWN_TENSOR
from irlint.folders.statements import ConfigFault
from irlint.folders.triton.completion import lists_everything
from irlint.folders.triton.config import Config
from irlint.folders.triton.fields import ANY, refused
from irlint.folders.triton.schema import enum_values, value_name
from irlint.lazy_typing import Any
from irlint.records import record

#: The element types of the server, in the order of their numbers from 1.
TYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "string", "bfloat16"),
)


@record
class BackendRules:
    """How a backend compares a configuration with the model."""

    #: The default model file.
    filename: str
    #: Does not know all names of a tensor, but only the first one and the alphabetically first one.
    knows_one_name: bool = False
    converts_types: bool = False
    allows_non_tensors: bool = False
    #: Sets the size of the first axis, which need not be dynamic.
    sets_batch_size: bool = False
    #: Accepts any size for a dynamic axis of an output, instead of only -1.
    allows_any_output_size: bool = False
    allows_scalars: bool = True
    refused_types: tuple[str, ...] = ()


BACKEND_RULES = {
    "onnxruntime": BackendRules("model.onnx"),
    "openvino": BackendRules(
        "model.xml",
        knows_one_name=True,
        converts_types=True,
        allows_non_tensors=True,
        sets_batch_size=True,
        allows_any_output_size=True,
        allows_scalars=False,
        refused_types=("float64", "string", "bfloat16"),
    ),
}


def dtype_of(number: int) -> str:
    """The element type with a number of the enum ``DataType``; "" for other numbers."""
    return TYPES[number - 1] if 1 <= number <= len(TYPES) else ""


def type_text(dtype: str | None) -> str:
    """The name of an element type in a configuration, such as TYPE_FP32; the type itself if it has no such name."""
    return enum_values("DataType")[TYPES.index(dtype) + 1] if dtype in TYPES else str(dtype)


def tensor_faults(config: Config, model: Interface) -> Iterator[ConfigFault]:
    """The findings about inputs and outputs for which the configuration and the model differ."""
    backend = BACKEND_RULES[config.backend]
    if not backend.allows_non_tensors:
        yield from _non_tensors(config, model)
    yield from _input_count(config, model)
    for kind, ends in (("input", model.inputs), ("output", model.outputs)):
        for at, tensor in enumerate(getattr(config.message, kind)):
            yield from _tensor(config, backend, (kind, at), tensor, ends)
        if not getattr(config.message, kind):
            yield from _unlisted_tensors(config, backend, kind, ends)
    if config.has_batches and not backend.sets_batch_size and not lists_everything(config):
        yield from _unlisted_without_batch(config, model)


def _non_tensors(config: Config, model: Interface) -> Iterator[ConfigFault]:
    for kind, ends in (("input", model.inputs), ("output", model.outputs)):
        for end in ends:
            if not end.is_tensor:
                message = f"the {kind} `{end.name}` is no tensor, and the {config.backend} backend accepts only tensors"
                help = "export the model without the ZipMap or sequence"
                yield ConfigFault(TYPE_MISMATCH.fault(message, help=help), config.at(kind, 0), end.name)


def _input_count(config: Config, model: Interface) -> Iterator[ConfigFault]:
    """A finding if the configuration lists another number of inputs than the model requires."""
    message = config.message
    if not message.input:
        return
    backend = BACKEND_RULES[config.backend]
    listed = [each for each in message.input if backend.sets_batch_size or not each.optional]
    expected, names = len(listed), {each.name for each in message.input}
    if not backend.sets_batch_size:
        number, others = _fed_by_the_server(message)
        expected, names = expected + number, names | others
    fed = [each for each in model.inputs if not each.optional]
    if expected == len(fed):
        return
    absent = [each.name for each in fed if names.isdisjoint(each.names)]
    unknown = [each.name for each in listed if by_name(each.name, model.inputs) is None]
    # ``_tensor`` reports inputs with wrong names.
    if unknown and len(unknown) == len(absent):
        return
    defaults = [end.name for each in listed if (end := by_name(each.name, model.inputs)) is not None and end.optional]
    text = f"the configuration lists {counted(expected, 'input')}, and the model requires {len(fed)}"
    help = "list every input of the model, or none"
    if absent:
        text, help = f"{text}: {', '.join(absent)} {'is' if len(absent) == 1 else 'are'} missing", f"add `{absent[0]}`"
    elif defaults:
        text = (
            f"{text}: {', '.join(defaults)} {'has a default' if len(defaults) == 1 else 'have defaults'} in the model"
        )
        help = f"write `optional: true` for `{defaults[0]}`"
    yield ConfigFault(INPUTS_MISSING.fault(text, help=help), config.at("input", 0))


def _fed_by_the_server(message: Any) -> tuple[int, set[str]]:
    """(number of inputs that the server feeds instead of the client, their names)."""
    batching = message.sequence_batching
    kinds = {control.kind for each in batching.control_input for control in each.control}
    names = {each.name for each in batching.control_input} | {each.input_name for each in batching.state}
    names |= {name for each in message.batch_input for name in each.target_name}
    return len(message.batch_input) + len(kinds) + len(batching.state), names


def _unlisted_tensors(
    config: Config, backend: BackendRules, kind: str, ends: tuple[Reported, ...]
) -> Iterator[ConfigFault]:
    """The findings about inputs or outputs that the server cannot add to a configuration."""
    for end in ends:
        if end.optional or not end.is_tensor:
            continue
        label = f"the {kind} `{end.name}`"
        if end.dtype is not None and (end.dtype not in TYPES or end.dtype in backend.refused_types):
            message = f"{label} is {end.dtype}, a type that the {config.backend} backend does not have"
            fault = TYPE_MISMATCH.fault(message, help="export the model with another element type")
            yield ConfigFault(fault, config.at(kind, 0), end.name)
        elif end.sizes is not None and (0 in end.sizes or not (end.sizes or backend.allows_scalars)):
            what = "axis of size 0" if end.sizes else "scalar"
            text = f"{label} is {shape_text(end.sizes)}: the server accepts no {what}"
            yield ConfigFault(SHAPE_MISMATCH.fault(text, help="export the model again"), config.at(kind, 0), end.name)


def _tensor(
    config: Config, backend: BackendRules, path: tuple[str, int], tensor: Any, ends: tuple[Reported, ...]
) -> Iterator[ConfigFault]:
    """The findings about the name, type and shape of a listed input or output."""
    kind = path[0]
    if not tensor.name:
        return
    end = by_name(tensor.name, ends)
    if end is None or (backend.knows_one_name and tensor.name not in (end.name, min(end.names))):
        names = [each.name for each in ends]
        help = suggestion(tensor.name, names) if end is None else f"write `{end.name}`"
        other = "" if end is None else f"; the {config.backend} backend knows this tensor only as `{end.name}`"
        fault = UNKNOWN_TENSOR.fault(f"the model has no {kind} `{tensor.name}`{other}", help=help)
        yield ConfigFault(fault, config.at(*path, "name", 0), tensor.name)
        return
    if kind == "input" and tensor.optional and config.has_batches and not backend.sets_batch_size:
        span = config.at(*path, "optional", 0)
        yield refused(span, f"input `{tensor.name}` is optional, which excludes batches", "set max_batch_size: 0")
    yield from _type(config, backend, path, tensor, end)
    stated_rank = len(tensor.reshape.shape) + config.has_batches if tensor.HasField("reshape") else len(tensor.dims)
    if end.is_tensor and stated_rank and config.message.max_batch_size >= 0:
        yield from _shape(config, backend, path, tensor, end)


def _type(
    config: Config, backend: BackendRules, path: tuple[str, int], tensor: Any, end: Reported
) -> Iterator[ConfigFault]:
    dtype, stated = dtype_of(tensor.data_type), value_name("DataType", tensor.data_type)
    span = config.at(*path, "data_type", 0)
    if dtype in backend.refused_types:
        message = f"{path[0]} `{tensor.name}` is {stated}, which the {config.backend} backend does not have"
        yield ConfigFault(TYPE_MISMATCH.fault(message, help="write another type"), span, tensor.name)
    elif dtype and end.dtype is not None and dtype != end.dtype and not backend.converts_types:
        message = f"{path[0]} `{tensor.name}` is {end.dtype} in the model, and {stated} in the configuration"
        fault = TYPE_MISMATCH.fault(message, help=f"write `data_type: {type_text(end.dtype)}`")
        yield ConfigFault(fault, span, tensor.name)


def _shape(
    config: Config, backend: BackendRules, path: tuple[str, int], tensor: Any, end: Reported
) -> Iterator[ConfigFault]:
    """A finding if the dims or the reshape contradict the shape in the model."""
    kind = path[0]
    if end.sizes is None or (kind == "output" and _is_batch_output_target(config, tensor.name)):
        return
    field = "reshape" if tensor.HasField("reshape") else "dims"
    dims = list(tensor.reshape.shape if field == "reshape" else tensor.dims)
    span = config.at(*path, field, 0)
    label = f"{kind} `{tensor.name}`"
    if kind == "input" and tensor.allow_ragged_batch and not backend.sets_batch_size:
        if end.sizes != (ANY,):
            text = f"{label} is a ragged batch, which needs the shape [-1]; the model has {shape_text(end.sizes)}"
            yield ConfigFault(SHAPE_MISMATCH.fault(text, help="remove allow_ragged_batch"), span, tensor.name)
        return
    if not end.sizes and not backend.sets_batch_size:
        if any(dim != 1 for dim in dims):
            text = f"{label} is a scalar in the model, and {field} is {dims}"
            yield ConfigFault(SHAPE_MISMATCH.fault(text, help="write `dims: [ 1 ]`"), span, tensor.name)
        return
    if config.has_batches and not backend.sets_batch_size and end.sizes[0] not in (ANY, None):
        yield _no_batch_axis(config, label, end, span_at=(*path, "name", 0))
        return
    batch = [ANY] if config.has_batches else []
    if not _fits(batch + dims, end.sizes, backend, is_output=kind == "output", has_batch_axis=config.has_batches):
        yield _mismatch(config, label, end, batch + dims, field, span)


def _fits(
    dims: list[int], sizes: Sequence[Size], backend: BackendRules, *, is_output: bool, has_batch_axis: bool
) -> bool:
    """Whether a shape of the configuration agrees with the sizes of the model after the batch axis."""
    if len(dims) != len(sizes):
        return False
    for dim, size in list(zip(dims, sizes))[1 if has_batch_axis else 0 :]:
        if size is None or size == dim:
            continue
        if size == ANY:
            if is_output and not backend.allows_any_output_size:
                return False
        elif not (backend.sets_batch_size and not is_output and has_batch_axis and dim == ANY):
            return False
    return True


def _mismatch(config: Config, label: str, end: Reported, full: list[int], field: str, span: Any) -> ConfigFault:
    """The finding about a shape. ``full`` includes the batch axis, and ``field`` is ``dims`` or ``reshape``."""
    sizes = end.sizes or ()
    added = " (the batch axis and the dims)" if config.has_batches else ""
    if config.is_completed:
        added = f" (the dims after a batch axis: the server sets max_batch_size to {config.message.max_batch_size})"
    text = f"{label} is {shape_text(sizes)} in the model, and {shape_text(full)}{added} in the configuration"
    if len(full) == len(sizes):
        axis = next(at for at, (a, b) in enumerate(zip(full, sizes)) if b is not None and a != b)
        if label.startswith("output") and sizes[axis] == ANY:
            text += f": axis {axis} is dynamic in the model, so the configuration must state -1"
    own = list(sizes)[1 if config.has_batches else 0 :]
    if field == "reshape":
        help = f"write a reshape to {shape_text(own)}"
    else:
        help = f"write `dims: {shape_text(own)}`" if None not in own else "state the shape of the model"
    if config.has_batches and len(full) == len(sizes) + 1:
        help += ", because the server adds the batch axis"
        help += "; or list every input and output" if config.is_completed else ""
    return ConfigFault(SHAPE_MISMATCH.fault(text, help=help), span, end.name)


def _no_batch_axis(config: Config, label: str, end: Reported, *, span_at: tuple[str | int, ...]) -> ConfigFault:
    """The finding about an input or output without a dynamic first axis."""
    reason = f"axis 0 of {shape_text(end.sizes or ())} is fixed" if end.sizes else "it is a scalar in the model"
    text = f"max_batch_size is {config.message.max_batch_size}, but {label} has no batch axis: {reason}"
    help = "export the model with a dynamic first axis, or write `max_batch_size: 0` and full dims"
    return ConfigFault(NO_BATCH_AXIS.fault(text, help=help), config.at(*span_at), end.name)


def _unlisted_without_batch(config: Config, model: Interface) -> Iterator[ConfigFault]:
    """The findings about unlisted inputs and outputs without a dynamic first axis."""
    for kind, ends in (("input", model.inputs), ("output", model.outputs)):
        listed = {each.name for each in getattr(config.message, kind)}
        for end in ends:
            fixed = end.sizes is not None and (not end.sizes or end.sizes[0] not in (ANY, None))
            if fixed and not end.optional and listed.isdisjoint(end.names):
                yield _no_batch_axis(config, f"{kind} `{end.name}`", end, span_at=("max_batch_size", 0))


def _is_batch_output_target(config: Config, name: str) -> bool:
    """Whether an output is the target of a ``batch_output``. The server does not compare the shape of a target."""
    return any(name in each.target_name for each in config.message.batch_output)


def shape_text(sizes: Sequence[Size]) -> str:
    """Sizes as text such as ``[-1, 3]``, with ``?`` for an uncertain size."""
    return f"[{', '.join('?' if size is None else str(size) for size in sizes)}]"
