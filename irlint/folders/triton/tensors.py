"""What the backends of ONNX Runtime and OpenVINO refuse when they compare a configuration with the model.

Source: ``ValidateInputs``, ``ValidateOutputs``, ``AutoCompleteMaxBatch`` and ``CompareDimsSupported`` in the server's
onnxruntime_backend and openvino_backend.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.findings.wording import counted
from irlint.folders.beside import Interface, Size, Stated, by_name, suggestion
from irlint.folders.rules import INPUTS_MISSING, NO_BATCH_AXIS, SHAPE_MISMATCH, TYPE_MISMATCH, UNKNOWN_TENSOR
from irlint.folders.statements import Disagreement
from irlint.folders.triton.config import Config
from irlint.folders.triton.fields import ANY, refused
from irlint.folders.triton.schema import enum_values
from irlint.lazy_typing import Any
from irlint.records import record

#: The element types of the server, in the order of their numbers from 1.
TYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "string", "bfloat16"),
)

#: The least rank of a model that takes batches.
BATCHED = 1


@record
class Backend:
    """How a backend compares a configuration with the model.

    ``converts``: it converts element types. ``takes_others``: values that are no tensors are no fault.
    ``batch_is_set``: it sets the size of the first axis, else that axis has to be dynamic. ``any_meets``: a dynamic
    axis of the model meets any size, else only -1 where it is an output. ``filename`` is what it loads where the
    configuration names nothing, ``not_taken`` are element types that it does not have.
    """

    filename: str
    converts: bool = False
    takes_others: bool = False
    batch_is_set: bool = False
    any_meets: bool = False
    takes_scalars: bool = True
    not_taken: tuple[str, ...] = ()


BACKENDS = {
    "onnxruntime": Backend("model.onnx"),
    "openvino": Backend(
        "model.xml",
        converts=True,
        takes_others=True,
        batch_is_set=True,
        any_meets=True,
        takes_scalars=False,
        not_taken=("float64", "string", "bfloat16"),
    ),
}


def dtype_of(number: int) -> str:
    """The element type of a value of ``DataType``, "" for none."""
    return TYPES[number - 1] if 1 <= number <= len(TYPES) else ""


def type_text(dtype: str | None) -> str:
    """An element type as a configuration states it."""
    return enum_values("DataType")[TYPES.index(dtype) + 1] if dtype in TYPES else str(dtype)


def tensor_faults(config: Config, model: Interface) -> Iterator[Disagreement]:
    """Where the configuration and the model contradict each other."""
    backend = BACKENDS[config.backend]
    if not backend.takes_others:
        yield from _others(config, model)
    yield from _counts(config, model)
    for kind, ends in (("input", model.inputs), ("output", model.outputs)):
        for at, tensor in enumerate(getattr(config.message, kind)):
            yield from _tensor(config, backend, (kind, at), tensor, ends)
    if config.batches and not backend.batch_is_set and not (config.message.input and config.message.output):
        yield from _batches(config, model)
    yield from _controls(config, model)
    yield from _warmup(config, model)


def _others(config: Config, model: Interface) -> Iterator[Disagreement]:
    for kind, ends in (("input", model.inputs), ("output", model.outputs)):
        for end in ends:
            if not end.is_tensor:
                message = f"the {kind} `{end.name}` is no tensor, and the {config.backend} backend takes tensors only"
                help = "export the model without the ZipMap or sequence that makes it"
                yield Disagreement(TYPE_MISMATCH.fault(message, help=help), config.at(kind, 0), end.name)


def _counts(config: Config, model: Interface) -> Iterator[Disagreement]:
    message, batching = config.message, config.message.sequence_batching
    if not message.input:
        return
    listed = [each for each in message.input if not each.optional]
    kinds = {control.kind for each in batching.control_input for control in each.control}
    expected = len(listed) + len(message.batch_input) + len(kinds) + len(batching.state)
    fed = [each for each in model.inputs if not each.optional]
    if expected == len(fed):
        return
    names = {each.name for each in message.input}
    names |= {each.name for each in batching.control_input} | {each.input_name for each in batching.state}
    names |= {name for each in message.batch_input for name in each.target_name}
    absent = [each.name for each in fed if names.isdisjoint(each.names)]
    unknown = [each.name for each in listed if by_name(each.name, model.inputs) is None]
    if unknown and len(unknown) == len(absent):
        return
    defaults = [end.name for each in listed if (end := by_name(each.name, model.inputs)) is not None and end.optional]
    text = f"the configuration lists {counted(expected, 'input')}, and the model has {len(fed)}"
    help = "list every input of the model, or none"
    if absent:
        text, help = f"{text}: {', '.join(absent)} {'is' if len(absent) == 1 else 'are'} missing", f"add `{absent[0]}`"
    elif defaults:
        text = f"{text}: {', '.join(defaults)} has a default in the model"
        help = f"write `optional: true` for `{defaults[0]}`"
    yield Disagreement(INPUTS_MISSING.fault(text, help=help), config.at("input", 0))


def _tensor(
    config: Config, backend: Backend, path: tuple[str, int], tensor: Any, ends: tuple[Stated, ...]
) -> Iterator[Disagreement]:
    kind = path[0]
    if not tensor.name:
        return
    end = by_name(tensor.name, ends)
    if end is None:
        help = suggestion(tensor.name, [each.name for each in ends])
        fault = UNKNOWN_TENSOR.fault(f"the model has no {kind} `{tensor.name}`", help=help)
        yield Disagreement(fault, config.at(*path, "name", 0), tensor.name)
        return
    if kind == "input" and tensor.optional and config.batches and not backend.batch_is_set:
        span = config.at(*path, "optional", 0)
        yield refused(span, f"input `{tensor.name}` is optional, which excludes batches", "set max_batch_size: 0")
    given = dtype_of(tensor.data_type)
    if given and end.dtype is not None and given != end.dtype and not backend.converts:
        stated = enum_values("DataType")[tensor.data_type]
        message = f"{kind} `{tensor.name}` is {end.dtype} in the model, and {stated} in the configuration"
        fault = TYPE_MISMATCH.fault(message, help=f"write `data_type: {type_text(end.dtype)}`")
        yield Disagreement(fault, config.at(*path, "data_type", 0), tensor.name)
    given_shape = len(tensor.reshape.shape) + config.batches if tensor.HasField("reshape") else len(tensor.dims)
    if end.is_tensor and given_shape and config.message.max_batch_size >= 0:
        yield from _shape(config, backend, path, tensor, end)


def _shape(config: Config, backend: Backend, path: tuple[str, int], tensor: Any, end: Stated) -> Iterator[Disagreement]:
    kind = path[0]
    if end.sizes is None or (kind == "output" and _is_gathered(config, tensor.name)):
        return
    field = "reshape" if tensor.HasField("reshape") else "dims"
    dims = list(tensor.reshape.shape if field == "reshape" else tensor.dims)
    span = config.at(*path, field, 0)
    label = f"{kind} `{tensor.name}`"
    if kind == "input" and tensor.allow_ragged_batch and not backend.batch_is_set:
        if end.sizes != (ANY,):
            text = f"{label} is a ragged batch, which needs the shape [-1]; the model has {_text(end.sizes)}"
            yield Disagreement(SHAPE_MISMATCH.fault(text, help="remove allow_ragged_batch"), span, tensor.name)
        return
    if not end.sizes and not backend.batch_is_set:
        if any(dim != 1 for dim in dims):
            text = f"{label} is a scalar in the model, and {field} is {dims}"
            yield Disagreement(SHAPE_MISMATCH.fault(text, help="write `dims: [ 1 ]`"), span, tensor.name)
        return
    if config.batches and not backend.batch_is_set and end.sizes[0] not in (ANY, None):
        yield _without_batch(config, label, end, span_at=(*path, "name", 0))
        return
    batch = [ANY] if config.batches else []
    if not _fits(batch + dims, end.sizes, exact=kind == "output", backend=backend, skips=len(batch)):
        yield _mismatch(config, label, end, batch + dims, field, span)


def _fits(dims: list[int], sizes: Sequence[Size], *, exact: bool, backend: Backend, skips: int) -> bool:
    """Whether a full shape of the configuration is one of the model; ``skips`` axes were compared before."""
    if len(dims) != len(sizes):
        return False
    for dim, size in list(zip(dims, sizes))[skips:]:
        if size is None or size == dim:
            continue
        if size == ANY:
            if exact and not backend.any_meets:
                return False
        elif not (backend.batch_is_set and not exact and skips and dim == ANY):
            return False
    return True


def _mismatch(config: Config, label: str, end: Stated, full: list[int], field: str, span: Any) -> Disagreement:
    sizes = end.sizes or ()
    added = " (the batch axis and its dims)" if config.batches else ""
    text = f"{label} is {_text(sizes)} in the model, and {_text(full)}{added} in the configuration"
    if len(full) == len(sizes):
        axis = next(at for at, (a, b) in enumerate(zip(full, sizes)) if b is not None and a != b)
        if label.startswith("output") and sizes[axis] == ANY:
            text += f": axis {axis} is dynamic, which has to be -1 in an output"
    own = list(sizes)[1 if config.batches else 0 :]
    if field == "reshape":
        help = f"write a reshape to {_text(own)}"
    else:
        help = f"write `dims: {_text(own)}`" if None not in own else "state the shape of the model"
    if config.batches and len(full) == len(sizes) + 1:
        help += ", as the batch axis is added"
    return Disagreement(SHAPE_MISMATCH.fault(text, help=help), span, end.name)


def _without_batch(config: Config, label: str, end: Stated, *, span_at: tuple[str | int, ...]) -> Disagreement:
    first = f"axis 0 of {_text(end.sizes or ())} is fixed" if end.sizes else "the model has a scalar there"
    text = f"max_batch_size is {config.message.max_batch_size}, but {label} takes no batches: {first}"
    help = "export the model with a dynamic first axis, or write `max_batch_size: 0` and full dims"
    return Disagreement(NO_BATCH_AXIS.fault(text, help=help), config.at(*span_at), end.name)


def _batches(config: Config, model: Interface) -> Iterator[Disagreement]:
    """Inputs and outputs that keep the server from completing a configuration that allows batches."""
    for kind, ends in (("input", model.inputs), ("output", model.outputs)):
        listed = {each.name for each in getattr(config.message, kind)}
        for end in ends:
            fixed = end.sizes is not None and (not end.sizes or end.sizes[0] not in (ANY, None))
            if fixed and not end.optional and listed.isdisjoint(end.names):
                yield _without_batch(config, f"{kind} `{end.name}`", end, span_at=("max_batch_size", 0))


def _controls(config: Config, model: Interface) -> Iterator[Disagreement]:
    batching = config.message.sequence_batching
    names = [each.name for each in model.inputs]
    for at, control in enumerate(batching.control_input):
        end, span = by_name(control.name, model.inputs), config.at("sequence_batching", 0, "control_input", at)
        if end is None and control.name:
            fault = UNKNOWN_TENSOR.fault(
                f"the model has no input `{control.name}` for a sequence control", help=suggestion(control.name, names)
            )
            yield Disagreement(fault, span, control.name)
        elif (
            end is not None
            and end.sizes is not None
            and list(end.sizes[1 if config.batches else 0 :]) not in ([1], [None])
        ):
            shape = _text(end.sizes)
            text = f"the sequence control `{control.name}` is {shape} in the model; without the batch it has to be [1]"
            yield Disagreement(SHAPE_MISMATCH.fault(text, help="export it with the shape [1]"), span, control.name)
    for at, state in enumerate(batching.state):
        for name, ends, kind in (
            (state.input_name, model.inputs, "input"),
            (state.output_name, model.outputs, "output"),
        ):
            if by_name(name, ends) is None:
                help = suggestion(name, [each.name for each in ends])
                fault = UNKNOWN_TENSOR.fault(f"the model has no {kind} `{name}` for a state", help=help)
                yield Disagreement(fault, config.at("sequence_batching", 0, "state", at), name)


def _warmup(config: Config, model: Interface) -> Iterator[Disagreement]:
    names = [each.name for each in config.message.input] or [each.name for each in model.inputs]
    for at, request in enumerate(config.message.model_warmup):
        for name in sorted(request.inputs):
            if name not in names:
                span = config.places.of_key(("model_warmup", at), "inputs", name)
                fault = UNKNOWN_TENSOR.fault(f"the warm-up input `{name}` is no input", help=suggestion(name, names))
                yield Disagreement(fault, span, name)


def _is_gathered(config: Config, name: str) -> bool:
    """Whether an output is scattered over requests, whose shape the server does not compare."""
    return any(name in each.target_name for each in config.message.batch_output)


def _text(sizes: Sequence[Size]) -> str:
    return f"[{', '.join('?' if size is None else str(size) for size in sizes)}]"
