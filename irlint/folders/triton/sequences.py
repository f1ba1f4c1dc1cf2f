"""Checks the controls and states of sequences, and warm-up requests.

Sources: ``ValidateBooleanSequenceControl`` and ``ValidateTypedSequenceControl`` in the server's onnxruntime_backend,
``GenerateInitialStateData`` in the server core's ``sequence_batch_scheduler.cc``, ``GenerateWarmupData`` in its
``backend_model_instance.cc`` and ``Normalize`` in its ``infer_request.cc``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.findings.faults import Severity
from irlint.folders.beside import Interface, Reported, by_name, suggestion
from irlint.folders.rules import INPUTS_MISSING, SHAPE_MISMATCH, TYPE_MISMATCH, UNKNOWN_TENSOR
from irlint.folders.statements import ConfigFault, Span
from irlint.folders.triton.config import Config
from irlint.folders.triton.fields import ANY, refused
from irlint.folders.triton.schema import value_name
from irlint.folders.triton.tensors import BACKEND_RULES, dtype_of, shape_text, type_text
from irlint.lazy_typing import Any

#: The element types of the fields with the values of a control.
CONTROL_TYPES = {"int32_false_true": "int32", "fp32_false_true": "float32", "bool_false_true": "bool"}


def sequence_faults(config: Config, model: Interface) -> Iterator[ConfigFault]:
    """The findings about controls and states that contradict a model of the ONNX Runtime backend."""
    if not BACKEND_RULES[config.backend].sets_batch_size:
        yield from _controls(config, model)
        yield from _states(config, model)


def _controls(config: Config, model: Interface) -> Iterator[ConfigFault]:
    """The findings about controls for which the model has no input of the same name, shape and element type."""
    required = tuple(each for each in model.inputs if not each.optional)
    for at, control in enumerate(config.message.sequence_batching.control_input):
        end, span = by_name(control.name, required), config.at("sequence_batching", 0, "control_input", at)
        if not control.name or not control.control:
            continue
        if end is None:
            help = suggestion(control.name, [each.name for each in required])
            fault = UNKNOWN_TENSOR.fault(f"the model has no input `{control.name}` for a sequence control", help=help)
            yield ConfigFault(fault, span, control.name)
            continue
        if end.sizes is not None and list(end.sizes[1 if config.has_batches else 0 :]) not in ([1], [None]):
            shape = shape_text(end.sizes)
            text = f"the sequence control `{control.name}` is {shape} in the model; without the batch it has to be [1]"
            yield ConfigFault(SHAPE_MISMATCH.fault(text, help="export it with the shape [1]"), span, control.name)
        dtype = _type_of(control.control[0])
        if dtype and end.dtype is not None and dtype != end.dtype:
            stated = type_text(dtype)
            text = (
                f"the sequence control `{control.name}` is {end.dtype} in the model, and {stated} in the configuration"
            )
            yield ConfigFault(TYPE_MISMATCH.fault(text, help="make both types equal"), span, control.name)


def _type_of(control: Any) -> str:
    """The element type of the values of a control. Without values, its ``data_type``; "" if the type is unknown."""
    stated = [dtype for field, dtype in CONTROL_TYPES.items() if getattr(control, field)]
    if not stated:
        return dtype_of(control.data_type)
    return stated[0] if len(stated) == 1 else ""


def _states(config: Config, model: Interface) -> Iterator[ConfigFault]:
    """A warning for each input or output of a state that the model does not have. The server loads
    this model, but requests fail."""
    for at, state in enumerate(config.message.sequence_batching.state):
        path = ("sequence_batching", 0, "state", at)
        for kind, ends in (("input", model.inputs), ("output", model.outputs)):
            name = getattr(state, f"{kind}_name")
            if by_name(name, ends) is None:
                help = suggestion(name, [each.name for each in ends])
                fault = UNKNOWN_TENSOR.fault(f"the model has no {kind} `{name}` for a state", help=help)
                yield ConfigFault(fault.lowered(Severity.WARNING), config.at(*path, f"{kind}_name", 0), name)


def warmup_faults(config: Config, inputs: Sequence[Reported] = ()) -> Iterator[ConfigFault]:
    """The findings about warm-up requests that contradict the inputs of the configuration.

    If the configuration lists no inputs, the requests are compared with ``inputs``, the inputs of the model.
    """
    message, batching = config.message, config.message.sequence_batching
    listed = {each.name: each for each in message.input}
    of_model = [each.name for each in inputs if not each.optional]
    required = [name for name, each in listed.items() if not each.optional] if listed else of_model
    known = {*listed, *of_model, *(each.name for each in batching.control_input)}
    for at, request in enumerate(message.model_warmup):
        if not request.batch_size:
            continue
        for name in sorted(request.inputs):
            span = config.places.of_key(("model_warmup", at), "inputs", name)
            if name not in known:
                help = suggestion(name, required)
                fault = UNKNOWN_TENSOR.fault(f"the warm-up input `{name}` is no input", help=help)
                yield ConfigFault(fault, span, name)
            elif name in listed:
                yield from _warmup_input(span, name, request.inputs[name], listed[name])
        missing = [name for name in required if name not in request.inputs]
        if missing and all(name in known for name in request.inputs):
            text = f"the warm-up request `{request.name}` has no data for the input `{missing[0]}`"
            fault = INPUTS_MISSING.fault(text, help=f"add `{missing[0]}` to its inputs")
            yield ConfigFault(fault, config.at("model_warmup", at), missing[0])


def _warmup_input(span: Span, name: str, given: Any, listed: Any) -> Iterator[ConfigFault]:
    """The findings about an input of a warm-up request that differs from the ``listed`` input."""
    if listed.data_type and given.data_type != listed.data_type:
        stated, wanted = value_name("DataType", given.data_type), value_name("DataType", listed.data_type)
        text = f"the warm-up input `{name}` is {stated}, and {wanted} in `input`"
        yield ConfigFault(TYPE_MISMATCH.fault(text, help=f"write `data_type: {wanted}`"), span, name)
    dims, expected = list(given.dims), list(listed.dims)
    if ANY in dims:
        help = "write 0 or more instead of -1: the server generates data of exactly these dims"
        yield refused(span, f"the warm-up input `{name}` has the dims {dims}", help)
    elif expected and not _are_allowed(dims, expected):
        text = f"the warm-up input `{name}` has the dims {dims}, and {expected} in `input`"
        yield ConfigFault(SHAPE_MISMATCH.fault(text, help="write dims that `input` allows"), span, name)


def _are_allowed(dims: list[int], expected: list[int]) -> bool:
    """Whether each of ``dims`` is the expected number. An expected -1 allows any number."""
    return len(dims) == len(expected) and all(b in (a, ANY) for a, b in zip(dims, expected))
