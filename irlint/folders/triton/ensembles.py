"""Compares the steps of an ensemble with the models that they name.

Source: ``ValidateEnsembleSchedulingConfig`` in the server core's ``model_config_utils.cc``, and
``ValidateEnsembleConfig`` in its ``ensemble_utils.cc``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from irlint.contracts.interface import outputs
from irlint.dims import Dim
from irlint.findings.report import Related
from irlint.findings.wording import first_few
from irlint.folders.beside import Interface, Unreadable, interface, suggestion
from irlint.folders.places import folders_in, is_file, is_folder, joined, parent
from irlint.folders.rules import ENSEMBLE_MISMATCH, SIZE_EXCLUDED
from irlint.folders.statements import ConfigFault, Span
from irlint.folders.triton.completion import completed
from irlint.folders.triton.config import Config, parsed
from irlint.folders.triton.fields import ANY
from irlint.folders.triton.schema import value_name
from irlint.folders.triton.tensors import BACKEND_RULES, type_text
from irlint.inference.walk import inferred
from irlint.lazy_typing import Any
from irlint.model.tensor import tensor_shape
from irlint.parsers.opening import file_bytes
from irlint.records import NOTHING, record

#: The sizes of a tensor; None for an unknown size.
Shape = tuple[Dim | None, ...]

#: The ``model_version`` that means the latest version.
LATEST = -1


@record
class End:
    """An input or output of the ensemble or of a model."""

    #: The name of the ensemble or model.
    owner: str
    #: The name of the type, such as TYPE_FP32; "" for an unknown type.
    type: str
    #: The sizes without the batch axis; None for an unknown shape.
    dims: tuple[int, ...] | None
    #: The sizes with the batch axis; None for an unknown shape.
    full: tuple[int, ...] | None
    optional: bool = False


@record
class Step:
    """The inputs, outputs and settings of the model of a step."""

    #: The inputs by name; None if they are unknown.
    inputs: Mapping[str, End] | None
    #: The outputs by name; None if they are unknown.
    outputs: Mapping[str, End] | None
    #: 0 if neither the configuration nor the server sets it.
    max_batch_size: int
    #: The versions that the server loads; None without a version folder.
    versions: tuple[str, ...] | None
    is_decoupled: bool = False
    #: The shapes of outputs, inferred from the configured shapes of inputs.
    computed: Mapping[str, Shape] = NOTHING


def ensemble_faults(config: Config) -> Iterator[ConfigFault]:
    """The findings about steps that contradict their models or each other."""
    steps = config.message.ensemble_scheduling.step
    if not steps:
        yield _refused(config.at("ensemble_scheduling", 0), "the ensemble has no steps", "add a `step`")
        return
    own_tensors = (*config.message.input, *config.message.output)
    ends = {each.name: _end(config.name, each, batched=config.has_batches, of_ensemble=True) for each in own_tensors}
    writers: dict[str, int] = {}
    decoupled: set[int] = set()
    names = _model_names(config)
    models = {name: _model_of_step(config, name) for name in {step.model_name for step in steps}}
    for at, step in enumerate(steps):
        path = ("ensemble_scheduling", 0, "step", at)
        yield from _maps(config, path, step, at, writers)
        if not step.model_name:
            continue
        found = models[step.model_name]
        if found is None:
            help = suggestion(step.model_name, names) or "add the model"
            message = f"step {at} names the model `{step.model_name}`, which does not exist beside the ensemble"
            yield _refused(config.at(*path, "model_name", 0), message, help)
            continue
        decoupled |= {at} if found.is_decoupled else set()
        yield from _version(config, path, (at, step), found)
        yield from _batches(config, path, step, found)
        yield from _tensors(config, path, (at, step), found, ends)
    flow = [*_flow(config, steps, writers)]
    yield from flow
    if not flow:
        yield from _mixed_responses(config, steps, decoupled)
        yield from _computed_sizes(config, steps, models)
    yield from _cycle(config)


def _refused(span: Span, message: str, help: str, related: tuple[Related, ...] = ()) -> ConfigFault:
    return ConfigFault(ENSEMBLE_MISMATCH.fault(message, help=help), span, related=related)


def _end(owner: str, tensor: Any, *, batched: bool, of_ensemble: bool = False) -> End:
    """An input or output in a configuration. In the configuration of the ensemble, a reshape replaces the dims."""
    type = value_name("DataType", tensor.data_type)
    shape = tensor.reshape.shape if of_ensemble and tensor.HasField("reshape") else tensor.dims
    dims = tuple(shape) if tensor.dims else None
    full = None if dims is None else ((ANY,) if batched else ()) + dims
    return End(owner, "" if type == "TYPE_INVALID" else type, dims, full, getattr(tensor, "optional", False))


def _maps(
    config: Config, path: tuple[str | int, ...], step: Any, at: int, writers: dict[str, int]
) -> Iterator[ConfigFault]:
    """The findings about missing fields of a step, and about tensors with two writers. Fills ``writers``."""
    for field in ("model_name", "input_map", "output_map"):
        if not getattr(step, field):
            yield _refused(config.at(*path), f"step {at} has no {field}", f"add {field}")
    for name in sorted(step.output_map.values()):
        if name in writers:
            message = f"the tensor `{name}` is written by the steps {writers[name]} and {at}"
            yield _refused(config.at(*path), message, "write each tensor once")
        writers[name] = at


def _model_names(config: Config) -> list[str]:
    """The names of the folders beside an ensemble."""
    return [each for each in folders_in(parent(config.folder)) if each != config.name]


def _model_of_step(config: Config, name: str) -> Step | None:
    """The model that a step names; None if its folder does not exist."""
    folder = joined(parent(config.folder), name)
    if os.path.basename(name) != name or not is_folder(folder):
        return None
    path = joined(folder, "config.pbtxt")
    text = file_bytes(path, "configuration").decode("utf-8", "replace") if is_file(path) else ""
    found = parsed(path, text)
    if isinstance(found, ConfigFault):
        return Step(None, None, 0, None)
    model = _latest_model(found)
    if model is not None:
        found = completed(found, model)
    inputs = _listed_or_own(found, found.message.input, None if model is None else model.inputs)
    returned = _listed_or_own(found, found.message.output, None if model is None else model.outputs)
    versions = found.versions if found.all_versions else None
    decoupled = found.message.model_transaction_policy.decoupled
    computed = NOTHING if model is None else _computed(found, model)
    return Step(inputs, returned, found.message.max_batch_size, versions, decoupled, computed)


def _computed(config: Config, model: Interface) -> Mapping[str, Shape]:
    """The inferred shapes of outputs without a reshape; empty if the model has errors with the configured inputs."""
    fed: dict[str, Shape] = {}
    for each in config.message.input:
        shape = each.reshape.shape if each.HasField("reshape") else each.dims
        sizes = tuple(None if size == ANY else size for size in shape)
        fed[each.name] = (None, *sizes) if config.has_batches else sizes
    reshaped = {each.name for each in config.message.output if each.HasField("reshape")}
    known = inferred(model.known.model, fed) if fed else model.known
    if any(problem.is_error for problem in known.problems):
        return NOTHING
    shapes = {name: tensor_shape(each.type) for each in outputs(known) for name in each.names}
    return {name: shape for name, shape in shapes.items() if shape is not None and name not in reshaped}


def _latest_model(config: Config) -> Interface | None:
    """The latest loaded model, if it can be read and irlint compares models of the backend."""
    if config.backend not in BACKEND_RULES or not config.versions:
        return None
    try:
        return interface(config.model_file(config.versions[0]))
    except (OSError, Unreadable):
        return None


def _listed_or_own(config: Config, listed: Sequence[Any], stated: Any) -> Mapping[str, End] | None:
    """The inputs or outputs that the configuration lists. If it lists none, those of the model; None if it is
    unknown."""
    if listed:
        return {each.name: _end(config.name, each, batched=config.has_batches) for each in listed}
    if stated is None:
        return None
    found: dict[str, End] = {}
    for each in stated:
        kind = "" if each.dtype is None else type_text(each.dtype)
        sizes = each.sizes
        known = sizes is not None and None not in sizes and bool(sizes)
        dims = tuple(sizes[1 if config.has_batches else 0 :]) if known else None
        found |= dict.fromkeys(each.names, End(config.name, kind, dims, sizes if known else None, each.optional))
    return found


def _version(
    config: Config, path: tuple[str | int, ...], numbered: tuple[int, Any], model: Step
) -> Iterator[ConfigFault]:
    """A finding if a step names a version that the server does not load. A step without ``model_version`` names
    version 0."""
    at, step = numbered
    if step.model_version == LATEST or model.versions is None or str(step.model_version) in model.versions:
        return
    existing = f"the server loads {', '.join(model.versions) or 'none'}"
    message = f"step {at} names version {step.model_version} of `{step.model_name}`, and {existing}"
    stated = (*path, "model_version", 0) in config.places.spans
    if not stated:
        message = f"step {at} has no model_version, which means version 0 of `{step.model_name}`, and {existing}"
    help = "write `model_version: -1` for the latest"
    yield _refused(config.at(*path, "model_version" if stated else "model_name", 0), message, help)


def _batches(config: Config, path: tuple[str | int, ...], step: Any, model: Step) -> Iterator[ConfigFault]:
    own, most = config.message.max_batch_size, model.max_batch_size
    if most and most < own:
        message = f"the ensemble allows batches of {own}, and its model `{step.model_name}` of {most}"
        help = f"write `max_batch_size: {most}`, or raise that of `{step.model_name}`"
        yield _refused(config.at("max_batch_size", 0), message, help)


def _tensors(
    config: Config, path: tuple[str | int, ...], numbered: tuple[int, Any], model: Step, ends: dict[str, End]
) -> Iterator[ConfigFault]:
    """The findings about the inputs and outputs that a step maps. Adds new tensors to ``ends``."""
    at, step = numbered
    for kind, entries, known in (
        ("input", step.input_map, model.inputs),
        ("output", step.output_map, model.outputs),
    ):
        for name, tensor in sorted(entries.items()):
            span = config.places.of_key(path, f"{kind}_map", name)
            if known is None:
                continue
            if name not in known:
                message = f"step {at} maps `{tensor}` to the {kind} `{name}`, which `{step.model_name}` does not have"
                yield _refused(span, message, suggestion(name, list(known)))
                continue
            yield from _contradictions(span, tensor, ends.setdefault(tensor, known[name]), known[name])
    for name, end in (model.inputs or {}).items():
        if name not in step.input_map and not end.optional and _is_first(model.inputs, name):
            message = f"step {at} does not map the input `{name}` of `{step.model_name}`"
            yield _refused(config.at(*path), message, f"add `{name}` to input_map")


def _is_first(ends: Mapping[str, End] | None, name: str) -> bool:
    """Whether a name is the first of the names of its input."""
    found = list((ends or {}).items())
    own = next(end for each, end in found if each == name)
    return next(each for each, end in found if end is own) == name


def _contradictions(span: Span, name: str, one: End, other: End) -> Iterator[ConfigFault]:
    """The findings about different types or shapes of a tensor. It is enough that the shapes agree with
    the batch axis or without it."""
    related = (Related(one.owner, f"{one.type} {list(one.full or ())}"),) if one.owner != other.owner else ()
    if one.type and other.type and one.type != other.type:
        message = f"the tensor `{name}` is {one.type} in `{one.owner}` and {other.type} in `{other.owner}`"
        yield _refused(span, message, "make both types equal", related)
    pairs = ((one.dims, other.dims), (one.full, other.full))
    if any(a is None or b is None for a, b in pairs):
        return
    if not any(_may_be_equal(a or (), b or ()) for a, b in pairs):
        full, others = list(one.full or ()), list(other.full or ())
        message = f"the tensor `{name}` is {full} in `{one.owner}` and {others} in `{other.owner}`"
        yield _refused(span, message, "make both shapes equal", related)


def _may_be_equal(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two shapes can be equal. A size of -1 equals any size."""
    return len(one) == len(other) and all(a == b or ANY in (a, b) for a, b in zip(one, other))


def _flow(config: Config, steps: Sequence[Any], writers: Mapping[str, int]) -> Iterator[ConfigFault]:
    """The findings about tensors that nothing writes or uses, and about steps that wait for each other."""
    fed = {each.name for each in config.message.input}
    returned = {each.name for each in config.message.output}
    used = {name for step in steps for name in step.input_map.values()}
    for at, each in enumerate(config.message.input):
        if each.name not in used:
            message = f"no step uses the input `{each.name}` of the ensemble"
            yield _refused(config.at("input", at, "name", 0), message, "map it in a step, or remove it")
    for at, each in enumerate(config.message.output):
        if each.name not in writers:
            message = f"no step writes the output `{each.name}` of the ensemble"
            yield _refused(config.at("output", at, "name", 0), message, "map it in a step, or remove it")
    if not fed or not returned:
        return
    for at, step in enumerate(steps):
        path = ("ensemble_scheduling", 0, "step", at)
        for key, name in sorted(step.input_map.items()):
            if name not in writers and name not in fed:
                span = config.places.of_key(path, "input_map", key)
                names = sorted({*fed, *writers})
                yield _refused(
                    span, f"step {at} uses the tensor `{name}`, which nothing writes", suggestion(name, names)
                )
        for key, name in sorted(step.output_map.items()):
            if name not in used and name not in returned:
                span = config.places.of_key(path, "output_map", key)
                yield _refused(span, f"nothing uses the tensor `{name}`", "return it as an output, or remove the entry")
    ready = set(_order(steps, fed))
    waiting = [at for at in range(len(steps)) if at not in ready]
    awaited = {name for at in waiting for name in steps[at].input_map.values()}
    if waiting and awaited <= writers.keys() | fed:
        numbers = first_few(waiting, 8)
        span = config.at("ensemble_scheduling", 0, "step", waiting[0])
        yield _refused(span, f"the steps {numbers} wait for each other", "remove the cycle")


def _order(steps: Sequence[Any], fed: set[str]) -> list[int]:
    """The indices of the steps in an order in which they can run. Steps that never get all inputs are omitted."""
    missing = [set(step.input_map.values()) - fed for step in steps]
    readers: dict[str, list[int]] = {}
    for at, names in enumerate(missing):
        for name in names:
            readers.setdefault(name, []).append(at)
    order = [at for at, names in enumerate(missing) if not names]
    for at in order:
        for name in steps[at].output_map.values():
            for reader in readers.pop(name, []):
                missing[reader].discard(name)
                if not missing[reader]:
                    order.append(reader)
    return order


def _computed_sizes(config: Config, steps: Sequence[Any], models: Mapping[str, Step | None]) -> Iterator[ConfigFault]:
    """The findings about tensors that have a size that the model of a later step does not accept."""
    computed: dict[str, tuple[str, Shape]] = {}
    for step in steps:
        writer = models[step.model_name]
        for name, tensor in step.output_map.items():
            if writer is not None and name in writer.computed:
                computed[tensor] = (step.model_name, writer.computed[name])
    for at, step in enumerate(steps):
        reader = models[step.model_name]
        for name, tensor in sorted(step.input_map.items()):
            end = ((reader.inputs if reader is not None else None) or {}).get(name)
            owner, shape = computed.get(tensor, ("", ()))
            if end is None or end.full is None or len(end.full) != len(shape):
                continue
            known = [axis for axis, size in enumerate(shape) if isinstance(size, int) and end.full[axis] != ANY]
            wrong = next((axis for axis in known if shape[axis] != end.full[axis]), None)
            if wrong is not None:
                only = f"`{step.model_name}` accepts only {end.full[wrong]}"
                message = f"axis {wrong} of `{tensor}` is {shape[wrong]} in the results of `{owner}`, and {only}"
                help = f"make both sizes equal; `irlint shapes` lists the sizes of `{owner}`"
                span = config.places.of_key(("ensemble_scheduling", 0, "step", at), "input_map", name)
                yield ConfigFault(SIZE_EXCLUDED.fault(message, help=help), span)


def _mixed_responses(config: Config, steps: Sequence[Any], decoupled: set[int]) -> Iterator[ConfigFault]:
    """A finding if a step reads, or the ensemble returns, tensors of different origins.

    The origin of a tensor is the last step with a decoupled model before it, or None for the request. A decoupled model
    returns any number of responses.
    """
    origins: dict[str, int | None] = {each.name: None for each in config.message.input}
    for at in _order(steps, set(origins)):
        step = steps[at]
        origins_of_inputs = {origins[name] for name in step.input_map.values()}
        if len(origins_of_inputs) > 1:
            message = f"step {at} reads tensors of different decoupled models"
            span = config.at("ensemble_scheduling", 0, "step", at)
            yield _refused(span, message, "read tensors of one decoupled model")
            return
        origin = at if at in decoupled else next(iter(origins_of_inputs), None)
        origins |= dict.fromkeys(step.output_map.values(), origin)
    if len({origins.get(each.name) for each in config.message.output}) > 1:
        message = "the outputs of the ensemble come from different decoupled models"
        yield _refused(config.at("output", 0), message, "return tensors of one decoupled model")


def _cycle(config: Config) -> Iterator[ConfigFault]:
    """The findings about steps whose model needs the ensemble itself."""
    root = parent(config.folder)
    steps = config.message.ensemble_scheduling.step
    needed = {name: _needed_models(root, name) for name in {step.model_name for step in steps}}
    for at, step in enumerate(steps):
        if config.name in needed[step.model_name]:
            message = f"step {at} names `{step.model_name}`, which needs `{config.name}` itself"
            if step.model_name == config.name:
                message = f"step {at} names the ensemble itself"
            span = config.at("ensemble_scheduling", 0, "step", at, "model_name", 0)
            yield _refused(span, message, "remove the cycle")


def _needed_models(root: str, name: str) -> set[str]:
    """The names of a model and of all models that it needs, directly or indirectly."""
    found, waiting = {name}, [name]
    while waiting:
        path = joined(root, waiting.pop(), "config.pbtxt")
        if os.path.dirname(os.path.dirname(path)) != root or not is_file(path):
            continue
        config = parsed(path, file_bytes(path, "configuration").decode("utf-8", "replace"))
        if isinstance(config, Config):
            others = {step.model_name for step in config.message.ensemble_scheduling.step} - found
            found |= others
            waiting += sorted(others)
    return found
