"""Finds values of a configuration that the server refuses before it opens the model.

Source: ``ValidateModelConfig``, ``ValidateModelIOConfig`` and ``ValidateInstanceGroup`` in the server core's
``model_config_utils.cc``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from math import prod

from irlint.findings.wording import counted, first_few
from irlint.folders.rules import FIELD_REFUSED
from irlint.folders.statements import ConfigFault, Span
from irlint.folders.triton.config import BACKENDS, ENSEMBLE, Config
from irlint.folders.triton.schema import enum_values, value_name
from irlint.lazy_typing import Any

#: The accepted platforms, by backend.
PLATFORMS = {
    "onnxruntime": ("onnxruntime_onnx",),
    "tensorrt": ("tensorrt_plan",),
    "tensorflow": ("tensorflow_savedmodel", "tensorflow_graphdef"),
    "pytorch": ("pytorch_libtorch", "libtorch", "torch_aoti"),
}

#: The size of a dynamic axis.
ANY = -1


def refused(span: Span, message: str, help: str) -> ConfigFault:
    """The finding about a value that the server refuses."""
    return ConfigFault(FIELD_REFUSED.fault(message, help=help), span)


def field_faults(config: Config) -> Iterator[ConfigFault]:
    """The findings about values that the server refuses."""
    for check in CHECKS:
        yield from check(config)


def _name(config: Config) -> Iterator[ConfigFault]:
    name = config.message.name
    if name and name != config.name:
        yield refused(
            config.at("name", 0),
            f"name is `{name}`, and the folder is `{config.name}`",
            f'write `name: "{config.name}"`, remove the field, or rename the folder',
        )


def _backend(config: Config) -> Iterator[ConfigFault]:
    """The findings about the platform and the backend."""
    platform, backend = config.message.platform, config.message.backend
    if platform == ENSEMBLE:
        if backend:
            message = f"an ensemble has no backend, and this one has `{backend}`"
            yield refused(config.at("backend", 0), message, "remove it")
        return
    if config.message.HasField("ensemble_scheduling"):
        text = f"the platform is `{platform}`" if platform else "there is no platform"
        span = config.at("ensemble_scheduling", 0)
        yield refused(span, f"it has the steps of an ensemble, and {text}", 'write `platform: "ensemble"`')
    elif platform and not backend and not config.backend:
        known = sorted({each for row in BACKENDS for each in row.platforms} | {ENSEMBLE})
        is_backend = any(each.name == platform for each in BACKENDS)
        help = f'write `backend: "{platform}"`' if is_backend else f"use one of {', '.join(known)}"
        yield refused(config.at("platform", 0), f"the server has no platform `{platform}`", help)
    elif not backend and not config.backend:
        yield from _no_backend(config)
    expected = PLATFORMS.get(config.backend, ())
    if platform and expected and platform not in expected:
        yield refused(
            config.at("platform", 0),
            f"the backend `{config.backend}` has the platform `{expected[0]}`, not `{platform}`",
            f'write `platform: "{expected[0]}"`, or remove the field',
        )


def _no_backend(config: Config) -> Iterator[ConfigFault]:
    """A finding if neither the configuration nor the files of the model determine a backend."""
    file, files = config.message.default_model_filename, sorted(config.first_files)
    if not file and ("." in config.name or not files):
        return
    suffixes = {os.path.splitext(each)[1] for each in (file or files[0], *files)}
    backend = next((each.name for each in BACKENDS if os.path.splitext(each.filename)[1] in suffixes), "")
    found = f"default_model_filename is {file}" if file else f"its first folder has {first_few(files, 3)}"
    message = f"neither a backend nor a platform is stated, and {found}: the server finds no backend"
    span = config.at("default_model_filename", 0)
    yield refused(span, message, f'add `backend: "{backend}"`' if backend else "add `backend`")


def _batching(config: Config) -> Iterator[ConfigFault]:
    most = config.message.max_batch_size
    if most < 0:
        yield refused(config.at("max_batch_size", 0), f"max_batch_size is {most}", "write 0 or more")
    batching, oldest = config.message.dynamic_batching, config.message.sequence_batching.oldest
    groups = (
        (batching, ("dynamic_batching", 0)),
        (oldest, ("sequence_batching", 0, "oldest", 0)),
    )
    for group, path in groups:
        for at, size in enumerate(group.preferred_batch_size):
            span = config.at(*path, "preferred_batch_size", at)
            if size <= 0:
                yield refused(span, f"a preferred batch size is {size}", "write 1 or more")
            elif size > most >= 0:
                help = f"write at most {most}, or raise max_batch_size" if most else "set max_batch_size"
                yield refused(span, f"the preferred batch size {size} is above max_batch_size, {most}", help)


def _completes_batches(config: Config) -> bool:
    """Whether the backend may set ``max_batch_size``, because the configuration does not."""
    complete = config.message.input and config.message.output and config.backend != "openvino"
    return config.message.max_batch_size == 0 and not complete


def _priorities(config: Config) -> Iterator[ConfigFault]:
    """The findings about priority levels and queue policies of dynamic batching."""
    batching = config.message.dynamic_batching
    levels, default = batching.priority_levels, batching.default_priority_level
    path = ("dynamic_batching", 0)
    if levels and not 1 <= default <= levels:
        span = config.at(*path, "default_priority_level", 0)
        yield refused(span, f"default_priority_level is {default}, of {levels} levels", f"write 1 to {levels}")
    for level in sorted(batching.priority_queue_policy) if levels else ():
        if not 1 <= level <= levels:
            span = config.at(*path, "priority_queue_policy", 0)
            yield refused(span, f"a queue policy is for level {level}, of {levels} levels", f"write 1 to {levels}")
    if not batching.preserve_ordering:
        return
    if levels > 1:
        span = config.at(*path, "priority_levels", 0)
        yield refused(span, f"preserve_ordering allows one priority level, not {levels}", "remove one of the two")
    for policy in (batching.default_queue_policy, *batching.priority_queue_policy.values()):
        if policy.default_timeout_microseconds and policy.timeout_action == 1:
            span = config.at(*path, "preserve_ordering", 0)
            yield refused(span, "preserve_ordering and a timeout action of DELAY exclude each other", "write REJECT")


def _sequences(config: Config) -> Iterator[ConfigFault]:
    """The findings about sequence batching and its controls."""
    if not config.message.HasField("sequence_batching"):
        return
    batching = config.message.sequence_batching
    cached = config.message.response_cache.enable
    if cached:
        yield refused(config.at("response_cache", 0), "a model with sequence batching cannot be cached", "remove it")
    utilization = batching.direct.minimum_slot_utilization
    if not 0 <= utilization <= 1:
        span = config.at("sequence_batching", 0, "direct", 0, "minimum_slot_utilization", 0)
        yield refused(span, f"minimum_slot_utilization is {utilization:g}", "write a number from 0 to 1")
    seen: dict[int, str] = {}
    names: set[str] = set()
    for at, control in enumerate(batching.control_input):
        path = ("sequence_batching", 0, "control_input", at)
        if not control.name:
            yield refused(config.at(*path), "a control input has no name", "name the input of the model")
        elif control.name in names:
            yield refused(config.at(*path, "name", 0), f"`{control.name}` is listed twice", "list each tensor once")
        names.add(control.name)
        for number, each in enumerate(control.control):
            yield from _control(config, (*path, "control", number), each, seen)


def _control(config: Config, path: tuple[str | int, ...], control: Any, seen: dict[int, str]) -> Iterator[ConfigFault]:
    """The findings about one control. ``seen`` maps the numbers of the kinds of earlier controls to their names."""
    kind = value_name("ControlKind", control.kind)
    span = config.at(*path)
    if control.kind in seen:
        yield refused(span, f"{kind} is listed twice", "list it once")
    seen[control.kind] = kind
    pairs = [
        (name, list(getattr(control, name)))
        for name in ("int32_false_true", "fp32_false_true", "bool_false_true")
        if getattr(control, name)
    ]
    if kind == "CONTROL_SEQUENCE_CORRID":
        allowed = ("TYPE_UINT64", "TYPE_INT64", "TYPE_UINT32", "TYPE_INT32", "TYPE_STRING")
        if pairs:
            yield refused(span, f"{kind} has {pairs[0][0]}", "state data_type instead")
        given = value_name("DataType", control.data_type)
        if given not in allowed:
            yield refused(span, f"{kind} is of {given}", f"use one of {', '.join(allowed)}")
    elif len(pairs) != 1:
        text = "no values" if not pairs else " and ".join(name for name, _ in pairs)
        yield refused(span, f"{kind} has {text}", "state one of int32_false_true, fp32_false_true, bool_false_true")
    elif len(pairs[0][1]) != 2:
        name, values = pairs[0]
        count = counted(len(values), "entry", "entries")
        yield refused(span, f"{name} has {count}, not 2", "state the values of false and of true")


def _tensors(config: Config) -> Iterator[ConfigFault]:
    for kind in ("input", "output"):
        for at, tensor in enumerate(getattr(config.message, kind)):
            yield from _tensor(config, (kind, at), tensor)


def _tensor(config: Config, path: tuple[str | int, ...], tensor: Any) -> Iterator[ConfigFault]:
    """The findings about an input or output that the configuration lists."""
    label = f"{path[0]} `{tensor.name}`" if tensor.name else f"{path[0]} {path[1]}"
    if not tensor.name:
        yield refused(config.at(*path), f"{label} has no name", "name the tensor of the model")
    for field, dims in (("dims", tensor.dims), ("reshape", tensor.reshape.shape)):
        for at, dim in enumerate(dims):
            if dim < 1 and dim != ANY:
                place = (*path, "dims", at) if field == "dims" else (*path, "reshape", 0, "shape", at)
                help = "write 1 or more, or -1 for any size"
                yield refused(config.at(*place), f"{label} has the size {dim} on axis {at} of {field}", help)
    if tensor.HasField("reshape"):
        yield from _reshape(config, path, tensor, label)
    layout = getattr(tensor, "format", 0)
    if layout and len(tensor.dims) != 3:
        name = value_name("Format", layout)
        span = config.at(*path, "format", 0)
        count = counted(len(tensor.dims), "dim")
        yield refused(span, f"{label} has {name} and {count}", "state 3 dims, or remove the format")
    for flag in ("is_shape_tensor", "is_non_linear_format_io"):
        if getattr(tensor, flag) and config.backend not in ("", "tensorrt"):
            yield refused(config.at(*path, flag, 0), f"{label} has {flag}, which only TensorRT has", "remove it")


def _reshape(config: Config, path: tuple[str | int, ...], tensor: Any, label: str) -> Iterator[ConfigFault]:
    dims, shape = list(tensor.dims), list(tensor.reshape.shape)
    span = config.at(*path, "reshape", 0)
    if not shape and not config.has_batches and not _completes_batches(config):
        yield refused(span, f"{label} has an empty reshape without batches", "state the shape, or set max_batch_size")
    elif dims and _volumes(dims) != _volumes(shape):
        help = "state as many elements, and -1 at the corresponding places"
        yield refused(span, f"{label} has the dims {dims}, which cannot be reshaped to {shape}", help)


def _volumes(dims: list[int]) -> list[int]:
    """For each run of fixed sizes between dynamic axes, the product of the sizes. A reshape keeps these products."""
    parts: list[list[int]] = [[]]
    for dim in dims:
        if dim == ANY:
            parts.append([])
        else:
            parts[-1].append(dim)
    return [prod(each) for each in parts]


def _batch_tensors(config: Config) -> Iterator[ConfigFault]:
    """The findings about batch_input and batch_output."""
    inputs = {each.name for each in config.message.input}
    outputs = {each.name for each in config.message.output}
    for kind in ("batch_input", "batch_output"):
        for at, each in enumerate(getattr(config.message, kind)):
            if len(each.source_input) != 1:
                count = len(each.source_input)
                yield refused(config.at(kind, at), f"{kind} {at} has {count} source inputs, not 1", "name one input")
            for number, name in enumerate(each.source_input):
                if name not in inputs and inputs:
                    span = config.at(kind, at, "source_input", number)
                    yield refused(span, f"the source input `{name}` is no input", "name one of `input`")
    for at, each in enumerate(config.message.batch_input):
        given = value_name("DataType", each.data_type)
        if given not in ("TYPE_INT32", "TYPE_FP32"):
            span = config.at("batch_input", at)
            yield refused(span, f"batch_input {at} is of {given}", "use TYPE_INT32")
    for at, each in enumerate(config.message.batch_output):
        for number, name in enumerate(each.target_name):
            span = config.at("batch_output", at, "target_name", number)
            if name not in outputs and outputs:
                yield refused(span, f"the target `{name}` is no output", "name one of `output`")
            if name in list(each.target_name)[:number]:
                yield refused(span, f"the target `{name}` is listed twice", "list each output once")


def _instances(config: Config) -> Iterator[ConfigFault]:
    for at, group in enumerate(config.message.instance_group):
        path, kind = ("instance_group", at), value_name("InstanceKind", group.kind)
        if config.is_ensemble:
            yield refused(config.at(*path), "an ensemble has no instances of its own", "remove instance_group")
            return
        if kind not in enum_values("InstanceKind"):
            yield refused(config.at(*path, "kind", 0), f"there is no kind {kind} of instances", "use KIND_AUTO")
        if group.gpus and kind in ("KIND_CPU", "KIND_MODEL"):
            yield refused(config.at(*path, "gpus", 0), f"an instance group of {kind} lists GPUs", "use KIND_GPU")
        for number, gpu in enumerate(group.gpus):
            if gpu < 0:
                yield refused(config.at(*path, "gpus", number), f"there is no GPU {gpu}", "write 0 or more")
        if group.profile and config.backend not in ("", "tensorrt"):
            yield refused(config.at(*path, "profile", 0), "only TensorRT has profiles", "remove them")
        if config.backend == "openvino" and kind in ("KIND_GPU", "KIND_MODEL"):
            span = config.at(*path, "kind", 0)
            yield refused(span, f"the openvino backend has no instances of {kind}", "use KIND_CPU or KIND_AUTO")


def _cache(config: Config) -> Iterator[ConfigFault]:
    if config.message.model_transaction_policy.decoupled and config.message.response_cache.enable:
        yield refused(config.at("response_cache", 0), "a decoupled model cannot be cached", "remove one of the two")


def _metrics(config: Config) -> Iterator[ConfigFault]:
    for at, control in enumerate(config.message.model_metrics.metric_control):
        path = ("model_metrics", 0, "metric_control", at)
        if not control.metric_identifier.family:
            yield refused(config.at(*path), f"metric_control {at} names no metric", "add metric_identifier.family")
        if not control.histogram_options.buckets:
            yield refused(config.at(*path), f"metric_control {at} has no buckets", "add histogram_options.buckets")


def _ensemble_fields(config: Config) -> Iterator[ConfigFault]:
    if not config.message.HasField("ensemble_scheduling"):
        return
    for field in ("optimization", "model_warmup"):
        given = getattr(config.message, field)
        if config.message.HasField(field) if field == "optimization" else len(given):
            yield refused(config.at(field, 0), f"an ensemble has no {field}", "move it to the models of the steps")


CHECKS: tuple[Callable[[Config], Iterator[ConfigFault]], ...] = (
    _name,
    _backend,
    _batching,
    _priorities,
    _sequences,
    _tensors,
    _batch_tensors,
    _instances,
    _cache,
    _metrics,
    _ensemble_fields,
)
