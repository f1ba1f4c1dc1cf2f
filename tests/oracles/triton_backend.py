"""What the backend of ONNX Runtime in Triton's server does with a configuration and a model, step by step.

Source: ``AutoCompleteConfig``, ``ValidateInputs``, ``ValidateOutputs`` and ``CompareDimsSupported`` in the server's
onnxruntime_backend, of configurations without sequences. ONNX Runtime states the inputs and outputs of the model.
"""

from __future__ import annotations

from typing import Any

#: The largest batch that the server sets.
DEFAULT = 4

TYPES = {
    **{f"tensor({name})": f"TYPE_{name.upper()}" for name in ("bool", "uint8", "uint16", "uint32", "uint64")},
    **{f"tensor({name})": f"TYPE_{name.upper()}" for name in ("int8", "int16", "int32", "int64", "string")},
    "tensor(float16)": "TYPE_FP16",
    "tensor(float)": "TYPE_FP32",
    "tensor(double)": "TYPE_FP64",
    "tensor(bfloat16)": "TYPE_BF16",
}

Infos = dict[str, tuple[str, list[int]]]


class RefusedError(Exception):
    """Why the backend does not load the model."""


def loaded(config: Any, model: bytes | str) -> None:
    """Loads the model of a parsed ``config.pbtxt``, with completion. Raises RefusedError where it is refused."""
    session = _session(model)
    infos, outputs = _infos(session.get_inputs()), _infos(session.get_outputs())
    others = _infos(session.get_overridable_initializers())
    most = config.max_batch_size
    expected = sum(not each.optional for each in config.input) + len(config.batch_input)
    listed = [(each, False) for each in config.input], [(each, True) for each in config.output]
    if not ((config.input or config.batch_input) and config.output):
        batched = all(dims[:1] == [-1] for _, dims in (*infos.values(), *outputs.values()))
        if most and not batched:
            raise RefusedError("autofill failed: the model does not support batching")
        most = most or (DEFAULT if batched else 0)
        if not config.input and not config.batch_input:
            _judge_completed(infos)
            expected = len(infos)
        if not config.output:
            _judge_completed(outputs)
    if len(infos) != expected:
        raise RefusedError(f"{expected} inputs are expected, and the model has {len(infos)}")
    for tensor, is_output in (*listed[0], *listed[1]):
        if not is_output and tensor.optional and most:
            raise RefusedError("optional inputs are not supported with batching")
        is_scattered = is_output and any(tensor.name in each.target_name for each in config.batch_output)
        known = outputs if is_output else infos | others
        _compare(tensor, known, most, exact=is_output, is_scattered=is_scattered)


def tensors(model: bytes | str) -> tuple[Infos, Infos]:
    """The inputs and the outputs of a model: the type and the dims of each, by its name."""
    session = _session(model)
    return _infos(session.get_inputs()), _infos(session.get_outputs())


def _session(model: bytes | str) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _infos(ends: list[Any]) -> Infos:
    found = {}
    for each in ends:
        if not each.type.startswith("tensor("):
            raise RefusedError(f"{each.name} is {each.type}")
        dims = [dim if isinstance(dim, int) else -1 for dim in each.shape or ()]
        found[each.name] = TYPES.get(each.type, "TYPE_INVALID"), dims
    return found


def _judge_completed(infos: Infos) -> None:
    """What the core says of a completed input or output."""
    for name, (dtype, dims) in infos.items():
        if dtype == "TYPE_INVALID" or 0 in dims:
            raise RefusedError(f"{name} is completed to {dtype} {dims}")


def _compare(tensor: Any, infos: Infos, most: int, *, exact: bool, is_scattered: bool) -> None:
    if tensor.name not in infos:
        raise RefusedError(f"there is no {tensor.name}")
    dtype, shape = infos[tensor.name]
    stated = type(tensor).DESCRIPTOR.fields_by_name["data_type"].enum_type.values_by_number[tensor.data_type].name
    if stated != dtype:
        raise RefusedError(f"{tensor.name} is {dtype}, and not {stated}")
    dims = list(tensor.reshape.shape if tensor.HasField("reshape") else tensor.dims)
    if not exact and tensor.allow_ragged_batch:
        if shape != [-1]:
            raise RefusedError(f"{tensor.name} is ragged and {shape}")
    elif is_scattered:
        return
    elif not shape:
        if any(dim != 1 for dim in dims):
            raise RefusedError(f"{tensor.name} is a scalar, and not {dims}")
    else:
        if most and shape[0] != -1:
            raise RefusedError(f"{tensor.name} is {shape}, without a batch")
        full = [-1, *dims] if most else dims
        if len(full) != len(shape) or any(a != b for a, b in zip(shape, full) if exact or a != -1):
            raise RefusedError(f"{tensor.name} is {shape}, and not {full}")
